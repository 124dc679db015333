//! `cargo xtask bench-compare`: speed and memory as ratios against a peer, both measured in one run.
//!
//! The two sides alternate and the median of each is compared, so a noisy machine disturbs both alike.

mod batch;
mod decode;
mod engine;
mod limit;
mod need;
mod questions;
mod reports;
mod scan;

use std::time::Instant;

use clap::Args;

/// Options of `cargo xtask bench-compare`.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds of each side
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Also the largest libraries, some 9 GB unpacked
    #[arg(long)]
    full: bool,
    /// Only the scans
    #[arg(long)]
    scans: bool,
    /// Only the machine code
    #[arg(long, conflicts_with = "scans")]
    sass: bool,
    /// Only whole runs that answer one question
    #[arg(long, conflicts_with_all = ["scans", "sass"])]
    questions: bool,
    /// Only the model of needed warps
    #[arg(long, conflicts_with_all = ["scans", "sass", "questions"])]
    need: bool,
    /// Only the reader of profiler reports, on those of a folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scans", "sass", "questions", "need"])]
    reports: Option<std::path::PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.sass {
        return decode::run(options.rounds, options.full);
    }
    if options.questions {
        return questions::run(options.rounds);
    }
    if let Some(folder) = &options.reports {
        return reports::run(folder);
    }
    if options.need {
        return need::run(options.rounds);
    }
    if !options.scans {
        questions::run(options.rounds)?;
        need::run(options.rounds)?;
        engine::run(options.rounds)?;
        batch::run(options.rounds)?;
        decode::run(options.rounds, options.full)?;
    }
    scan::run(options.rounds, options.full)
}

/// The middle of the values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds that `work` takes.
pub(crate) fn seconds<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed().as_secs_f64(), result))
}
