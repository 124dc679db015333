//! `occupant inspect` to jsonl against `cuobjdump --dump-resource-usage`, wall time and peak memory, warm cache.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::limit::read_and_unpack;
use super::{median, seconds};
use crate::corpus::{cuobjdump, inspected};
use crate::paths;

pub(super) fn run(rounds: usize, full: bool) -> anyhow::Result<()> {
    let program = paths::program()?;
    let oracle = cuobjdump()?;
    for path in inspected(full)? {
        let (mut ours, mut theirs, mut limit) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            limit.push(read_and_unpack(&path)?);
            ours.push(measure(Command::new(&program).args(["inspect", "--format", "jsonl"]).arg(&path))?);
            theirs.push(measure(Command::new(&oracle).arg("--dump-resource-usage").arg(&path))?);
        }
        let size = fs::metadata(&path)?.len() >> 20;
        println!("{} ({size} MiB): {}", name(&path), compared(&ours, &theirs));
        let (time, limit) = (median(ours.iter().map(|run| run.0).collect()), median(limit));
        println!("  only reading and unpacking: {limit:.3} s, so {:.2} times the limit", time / limit);
    }
    Ok(())
}

fn compared(ours: &[(f64, u64)], theirs: &[(f64, u64)]) -> String {
    let time = |runs: &[(f64, u64)]| median(runs.iter().map(|run| run.0).collect());
    let memory = |runs: &[(f64, u64)]| median(runs.iter().map(|run| run.1 as f64 / 1024.0).collect());
    format!(
        "{:.3} s and {:.0} MiB, cuobjdump {:.3} s and {:.0} MiB: {:.2} times its time, {:.2} times its memory",
        time(ours),
        memory(ours),
        time(theirs),
        memory(theirs),
        time(ours) / time(theirs),
        memory(ours) / memory(theirs)
    )
}

/// Seconds, and peak resident memory in KiB.
fn measure(command: &mut Command) -> anyhow::Result<(f64, u64)> {
    let out = File::create(paths::cache("bench.out"))?;
    let errors = File::create(paths::cache("bench.err"))?;
    // The standard library does not tell the peak memory of a child; Python's resource module does.
    let mut timed = Command::new("python3");
    timed.args(["-c", MEASURE]).arg(command.get_program()).args(command.get_args()).stdout(out).stderr(errors);
    let (_, status) = seconds(|| timed.status().context("python3"))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    let errors = fs::read_to_string(paths::cache("bench.err"))?;
    let last = errors.lines().last().context("the measurement prints a line")?;
    let (time, peak) = last.split_once(' ').context("time and peak")?;
    Ok((time.parse()?, peak.parse()?))
}

/// Runs its arguments; prints wall seconds and peak KiB as the last line of standard error.
const MEASURE: &str = "\
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[1:])
spent = time.perf_counter() - start
print(spent, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
";

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
