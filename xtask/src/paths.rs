//! Where things are in the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned()
}

/// Downloads and builds of the chores; inside `target`, so never committed.
pub(crate) fn cache(name: &str) -> PathBuf {
    root().join("target").join("xtask").join(name)
}

/// The program, built for release.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    process::run(
        Command::new("cargo").args(["build", "--quiet", "--release", "--package", "occupant"]).current_dir(root()),
    )?;
    Ok(root().join("target/release/occupant"))
}
