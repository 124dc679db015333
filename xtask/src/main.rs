//! The project's chores. `cargo xtask help` lists them.
//!
//! For: what developers and CI run and users do not: oracles, corpora, fixtures, benchmarks. Not for: anything that
//! the program needs at run time.
#![allow(clippy::disallowed_methods, reason = "chores read files, start processes and measure time")]
#![allow(clippy::print_stdout, reason = "chores report to a terminal")]

mod bench;
mod census;
mod corpus;
mod fixture_report;
mod fixtures;
mod fuzz;
mod oracle;
mod paths;
mod process;
mod reports;
mod sass;
mod schema;
mod tuning;
mod validate;
mod wheels;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's chores")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that continuous integration runs, as `.ci/run` does
    Ci,
    /// Compare the occupancy engine with NVIDIA's own header, point by point
    Oracle(oracle::Options),
    /// Compare the reader with NVIDIA's cuobjdump on real libraries
    Corpus(corpus::Options),
    /// Measure speed and memory against peers
    BenchCompare(bench::Options),
    /// Write the tables of docs/census.md again, from cuBLASLt and FlashAttention
    Census,
    /// Write the made-up profiler report of the fixtures again
    FixtureReport {
        /// Only compare with what is committed
        #[arg(long)]
        check: bool,
    },
    /// Rebuild the fixtures with NVIDIA's compilers and say which bytes changed
    Fixtures(fixtures::Options),
    /// Run every fuzz target for a while; needs cargo-fuzz
    Fuzz(fuzz::Options),
    /// Compare the reader of profiler reports with NVIDIA's own, value by value
    Reports(reports::Options),
    /// Write the JSON Schemas of every report, or check that they are up to date
    Schema(schema::Options),
    /// Write the table and the picture of docs/occupancy-is-not-speed.md again, or check that they are up to date
    Tuning(tuning::Options),
    /// Compare the model of needed warps with published measurements, and fit its constants to them
    Validate(validate::Options),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Ci => process::run(std::process::Command::new("bash").arg(paths::root().join(".ci/run"))),
        Chore::Oracle(options) => oracle::run(&options),
        Chore::Corpus(options) => corpus::run(&options),
        Chore::BenchCompare(options) => bench::run(&options),
        Chore::Census => census::run(),
        Chore::FixtureReport { check } => {
            let same = fixture_report::write(check)?;
            println!("fixtures/reports/streams.ncu-rep: {}", if same { "the same" } else { "differs" });
            anyhow::ensure!(same || !check, "write it again with `cargo xtask fixture-report`");
            Ok(())
        }
        Chore::Fixtures(options) => fixtures::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::Reports(options) => reports::run(&options),
        Chore::Schema(options) => schema::run(&options),
        Chore::Validate(options) => validate::run(&options),
        Chore::Tuning(options) => tuning::run(&options),
    }
}
