//! `cargo xtask fuzz`: every fuzz target for a while, on a corpus grown from the fixtures.
//!
//! Needs `cargo install cargo-fuzz`. The instrumentation is an unstable flag, so the compiler is told to take it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use clap::Args;
use occupant_binary::Cubin;
use occupant_sass::Family;

use crate::{paths, process};

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

const TARGETS: [&str; 6] = ["file", "cubin", "names", "tables", "sass", "logs"];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let fuzz = paths::root().join("fuzz");
    seed()?;
    for target in TARGETS {
        let mut command = Command::new("cargo");
        command.env("RUSTC_BOOTSTRAP", "1").current_dir(paths::root());
        command.args(["fuzz", "run", "--sanitizer", "none", "--fuzz-dir"]).arg(&fuzz).arg(target).arg("--");
        command.arg(format!("-max_total_time={}", options.seconds));
        command.args(["-max_len=1000000", "-rss_limit_mb=1024", "-timeout=10", "-print_final_stats=1"]);
        let output = process::output(&mut command).with_context(|| format!("target {target} found a fault"))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let runs = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        println!("{target}: {} runs in {} s, no fault", runs.unwrap_or(" ?").trim(), options.seconds);
    }
    Ok(())
}

/// The fixtures are the seeds; what fuzzing finds beside them stays in `fuzz/corpus`.
fn seed() -> anyhow::Result<()> {
    let corpus = |target: &str| paths::root().join("fuzz/corpus").join(target);
    for target in TARGETS {
        fs::create_dir_all(corpus(target))?;
    }
    for entry in fs::read_dir(paths::root().join("fixtures/bin"))? {
        let path = entry?.path();
        let name = path.file_name().context("a name")?;
        fs::copy(&path, corpus("file").join(name))?;
        if path.extension().is_some_and(|extension| extension == "cubin") {
            fs::copy(&path, corpus("cubin").join(name))?;
            seed_code(&path, &corpus("sass"))?;
        }
    }
    for entry in fs::read_dir(paths::root().join("fixtures/expected"))? {
        for row in csv::Reader::from_path(entry?.path())?.records() {
            let name = row?.get(0).unwrap_or("").to_owned();
            fs::write(corpus("names").join(&name), &name)?;
        }
    }
    fs::write(corpus("tables").join("batch"), "cc,registers,block,shared_dynamic,carveout\n9.0,128,256,48K,50%\n")?;
    fs::write(corpus("tables").join("launches"), "kernel,block,shared_dynamic\nsaxpy,16x16,48K\n")?;
    Ok(())
}

/// The code of each function, behind a byte that chooses its family.
fn seed_code(path: &Path, corpus: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(path)?;
    let cubin = Cubin::parse(&bytes)?;
    let family = Family::of(cubin.architecture.capability)? as u8;
    for function in &cubin.functions {
        let code = function.read_code(&bytes)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        fs::write(corpus.join(format!("{stem}.{}", function.name)), [&[family], code.as_ref()].concat())?;
    }
    Ok(())
}
