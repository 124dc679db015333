//! The reader of profiler reports against NVIDIA's own reader, value by value, and the occupancy engine against the
//! curves that the profiler stored in them.
//!
//! NVIDIA's reader is a wheel that is fetched when the check runs; nothing of it is committed. Reports are brought by
//! whoever runs the check: their licences are not ours to give on.

mod curves;
mod labels;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// What to compare.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folders or files with reports
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Compare the verdicts with the labels that readers gave public launches instead
    #[arg(long)]
    labels: bool,
    /// Compare the occupancy engine with the curves in the reports instead
    #[arg(long, conflicts_with = "labels")]
    curves: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let reports = reports(&options.paths)?;
    if reports.is_empty() {
        bail!("no reports in {:?}", options.paths);
    }
    match (options.labels, options.curves) {
        (true, _) => labels::compare(&reports),
        (_, true) => curves::compare(&reports),
        _ => values::compare(&reports),
    }
}

/// The reports in folders and among files, sorted.
pub(crate) fn reports(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = fs::read_dir(path).with_context(|| format!("reading {}", path.display()))?;
            found.extend(entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?);
        } else {
            found.push(path.clone());
        }
    }
    found.retain(|path| is_report(path));
    found.sort();
    Ok(found)
}

fn is_report(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| matches!(extension, "ncu-rep" | "ncu-repz" | "nsight-cuprof-report"))
}
