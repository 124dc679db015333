//! Where things are in the repository.

use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned()
}

/// Downloads and builds of the chores; inside `target`, so never committed.
pub(crate) fn cache(name: &str) -> PathBuf {
    root().join("target").join("xtask").join(name)
}
