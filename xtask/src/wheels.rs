//! Python wheels by name and version, downloaded once and unpacked under `target/xtask/wheels`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};

use crate::{paths, process};

/// The folder with the unpacked wheel of a requirement such as `nvidia-cuda-runtime==13.5.37`. For another Python or
/// platform than this one's, it follows: `torchvision==0.8.2@3.7`, `bitsandbytes==0.50.2@win_amd64`.
pub(crate) fn unpacked(requirement: &str) -> anyhow::Result<PathBuf> {
    tree(&requirement.replace("==", "-"), &[requirement])
}

/// A folder into which several wheels are unpacked, as an installation would.
pub(crate) fn tree(name: &str, requirements: &[&str]) -> anyhow::Result<PathBuf> {
    // Threads that need the same wheel: one fetches it, the others wait.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = paths::cache("wheels").join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    // Unpacked beside its place and then renamed, so that a broken run leaves nothing that looks complete.
    let partial = paths::cache("wheels").join(format!("{name}.partial"));
    let download = paths::cache("wheels").join(format!("{name}.download"));
    for left_over in [&partial, &download].into_iter().filter(|folder| folder.is_dir()) {
        fs::remove_dir_all(left_over)?;
    }
    for requirement in requirements {
        fs::create_dir_all(&download)?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        let (package, made_for) = requirement.split_once('@').unwrap_or((requirement, ""));
        pip.args(["--only-binary=:all:", "--dest"]).arg(&download).arg(package);
        match made_for {
            "" => {}
            "win_amd64" => drop(pip.args(["--platform", made_for])),
            python => drop(pip.args(["--platform", "manylinux1_x86_64", "--python-version", python])),
        }
        process::output(&mut pip).with_context(|| format!("downloading {requirement}"))?;
        let wheel = only_wheel(&download)?;
        process::output(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&partial))?;
        fs::remove_dir_all(&download)?;
    }
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

/// A program in an unpacked wheel. Python's zipfile loses the right to execute, so that is given back.
pub(crate) fn program(wheel: &Path, path: &str) -> anyhow::Result<PathBuf> {
    let program = wheel.join(path);
    process::output(Command::new("chmod").arg("+x").arg(&program))?;
    Ok(program)
}
