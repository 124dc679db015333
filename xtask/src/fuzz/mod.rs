//! `cargo xtask fuzz`: every fuzz target for a while, on a corpus grown from the fixtures.
//!
//! Needs `cargo install cargo-fuzz`. The instrumentation is an unstable flag, so the compiler is told to take it. Not for:
//! what the fuzzing starts from; that is [`seeds`].

mod seeds;

use std::process::Command;

use anyhow::Context;
use clap::Args;

use crate::{paths, process};

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Only these targets
    #[arg(long, value_parser = TARGETS.map(|target| target.name))]
    target: Vec<String>,
}

/// A fuzz target.
struct Target {
    name: &'static str,
    /// Bytes of the longest input; longer ones are slower and reach nothing more.
    longest: usize,
    /// Whether `fuzz/NAME.dict` has words that inputs are made of.
    words: bool,
}

const fn target(name: &'static str, longest: usize) -> Target {
    Target { name, longest, words: false }
}

const TARGETS: [Target; 12] = [
    target("file", 1_000_000),
    target("containers", 1_000_000),
    target("zstd_frames", 100_000),
    target("cubin", 1_000_000),
    // A little more than is demangled at all.
    Target { words: true, ..target("names", 40_000) },
    Target { words: true, ..target("shapes", 40_000) },
    target("companion", 100_000),
    target("tables", 1_000_000),
    target("sass", 1_000_000),
    target("logs", 1_000_000),
    target("report", 1_000_000),
    target("profile_text", 1_000_000),
];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let fuzz = paths::root().join("fuzz");
    seeds::write(&fuzz.join("corpus"))?;
    let wanted = |target: &&Target| options.target.is_empty() || options.target.iter().any(|name| name == target.name);
    for target in TARGETS.iter().filter(wanted) {
        let mut command = Command::new("cargo");
        command.env("RUSTC_BOOTSTRAP", "1").current_dir(paths::root());
        command.args(["fuzz", "run", "--sanitizer", "none", "--fuzz-dir"]).arg(&fuzz).arg(target.name).arg("--");
        command.arg(format!("-max_total_time={}", options.seconds)).arg(format!("-max_len={}", target.longest));
        command.args(["-rss_limit_mb=1024", "-timeout=10", "-print_final_stats=1"]);
        if target.words {
            command.arg(format!("-dict={}", fuzz.join(target.name).with_extension("dict").display()));
        }
        let output = process::output(&mut command).with_context(|| format!("target {} found a fault", target.name))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        println!("{}: {} runs in {} s, no fault", target.name, runs.unwrap_or(" ?").trim(), options.seconds);
    }
    Ok(())
}
