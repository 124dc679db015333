//! `cargo xtask fuzz`: every fuzz target for a while, on a corpus grown from the fixtures.
//!
//! Needs `cargo install cargo-fuzz`. The instrumentation is an unstable flag, so the compiler is told to take it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use clap::Args;
use occupant_binary::Cubin;
use occupant_profile::ncu::{
    Device, Instance, Launch, Message, Metric, Module, Private, Report, ReportWriter, Rule, Session, SourceFile, Value,
};
use occupant_sass::Family;

use crate::{paths, process};

/// Options of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

const TARGETS: [&str; 8] = ["file", "cubin", "names", "tables", "sass", "logs", "report", "profile_text"];

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
            seed_report(&path, &corpus("report"))?;
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
    seed_text(&corpus("profile_text"))
}

/// What profilers print: a table of each kind, and a trace.
fn seed_text(corpus: &Path) -> anyhow::Result<()> {
    let raw = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\",\"launch__registers_per_thread\",\"gpu__time_duration.sum\"\n\
               \"\",\"\",\"\",\"\",\"\",\"register/thread\",\"us\"\n\
               \"0\",\"k(int)\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"8.6\",\"40\",\"1,024.5\"\n";
    let details = "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                   \"0\",\"k\",\"Occupancy\",\"Achieved Occupancy\",\"%\",\"43.21\"\n";
    let trace = r#"{"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB","numSms":108}],"traceEvents":[
        {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2.5,"args":{"grid":[8,1,1],"block":[128,1,1],"registers per thread":32}}]}"#;
    for (name, text) in [("raw", raw), ("details", details), ("trace", trace)] {
        fs::write(corpus.join(name), text)?;
    }
    Ok(())
}

/// A report of the first kernel of a cubin, with one of everything that a report can hold.
fn seed_report(path: &Path, corpus: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(path)?;
    let cubin = Cubin::parse(&bytes)?;
    let Some(function) = cubin.functions.first() else { return Ok(()) };
    let metric = |name, value| Metric { name, value: Value::Double(value), instances: Vec::new() };
    let at =
        |number| Instance { correlation: Value::Unsigned64(0x7f00 + number * 16), value: Value::Unsigned64(number) };
    let capability = cubin.architecture.capability;
    let said = Message { title: Some("Limited"), text: "at /home/someone/x.cu:3", kind: 3 };
    let launch = Launch {
        mangled: &function.name,
        demangled: &function.name,
        grid: [64, 1, 1],
        block: [256, 1, 1],
        module: Some(1),
        metrics: vec![
            metric("device__attribute_compute_capability_major", f64::from(capability.major)),
            metric("device__attribute_compute_capability_minor", f64::from(capability.minor)),
            metric("launch__registers_per_thread", 32.0),
            metric("launch__sm_count", 100.0),
            metric("launch__function_pcs", f64::from(0x7f00)),
            metric("sm__warps_active.avg.per_cycle_active", 20.0),
            metric("sm__cycles_active.avg", 9000.0),
            Metric { instances: (0..9).map(at).collect(), ..metric("inst_executed", 9.0) },
            Metric { instances: (0..9).map(at).collect(), ..metric("smsp__pcsamp_sample_count", 9.0) },
        ],
        rules: vec![Rule { identifier: "TheoreticalOccupancy", messages: vec![said], ..Rule::default() }],
        ..Launch::default()
    };
    let device = Device { number: 0, name: "NVIDIA H100 PCIe", attributes: Vec::new() };
    let report = Report {
        session: Session { devices: vec![device], versions: vec![("Nsight Compute Target", "2025.1.0.0")] },
        modules: vec![Module {
            reference: 1,
            cubin: Some(&bytes),
            files: vec![SourceFile { path: "/home/someone/x.cu", text: Some("text") }],
            ..Module::default()
        }],
        launches: vec![launch],
        faults: Vec::new(),
    };
    let private = Private { host: "host", program: "/home/someone/a.out", range: "range", ..Private::default() };
    let stem = path.file_stem().unwrap_or_default();
    fs::write(corpus.join(stem), ReportWriter::new(&report).private(private).bytes())?;
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
