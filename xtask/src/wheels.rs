//! Python wheels by name and version, downloaded once and unpacked under `target/xtask/wheels`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::{paths, process};

/// The folder with the unpacked wheel of a requirement such as `nvidia-cuda-runtime==13.5.37`.
pub(crate) fn unpacked(requirement: &str) -> anyhow::Result<PathBuf> {
    unpacked_for(requirement, None)
}

/// The same for another platform, e.g. `win_amd64`.
pub(crate) fn unpacked_for(requirement: &str, platform: Option<&str>) -> anyhow::Result<PathBuf> {
    let name = requirement.replace("==", "-");
    let folder = paths::cache("wheels").join(platform.map_or(name.clone(), |platform| format!("{name}-{platform}")));
    if folder.is_dir() {
        return Ok(folder);
    }
    let download = folder.with_extension("download");
    fs::create_dir_all(&download)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]);
    if let Some(platform) = platform {
        pip.args(["--platform", platform]);
    }
    process::output(pip.arg("--dest").arg(&download).arg(requirement))
        .with_context(|| format!("downloading {requirement}"))?;
    let wheel = only_wheel(&download)?;
    // Unpacked beside its place and then renamed, so that a broken run leaves nothing that looks complete.
    let partial = folder.with_extension("partial");
    process::output(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&partial))?;
    fs::remove_dir_all(&download)?;
    fs::rename(&partial, &folder)?;
    Ok(folder)
}

fn only_wheel(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut wheels: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    wheels.retain(|path| path.extension().is_some_and(|extension| extension == "whl"));
    match wheels.as_slice() {
        [wheel] => Ok(wheel.clone()),
        other => bail!("expected one wheel in {}, found {}", folder.display(), other.len()),
    }
}
