//! CPU time of whole runs of the program that answer one question: a sweep, the matrix of a kernel over all models. The
//! limits are absolute, since there is no peer that answers them; a run that does nothing stands beside.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::median;
use crate::{paths, process};

/// Runs the same command many times and prints the CPU seconds of one, user and system.
const MEASURE: &str = "\
import resource, subprocess, sys
times = int(sys.argv[1])
for _ in range(times):
    code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert code in (0, 1), code
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print((used.ru_utime + used.ru_stime) / times)
";

const TIMES: &str = "20";

/// CPU milliseconds of one run of the program, the median of some rounds of `times` runs each.
pub(super) fn cpu_ms(program: &Path, arguments: &[&str], times: &str, rounds: usize) -> anyhow::Result<f64> {
    let mut spent = Vec::new();
    for _ in 0..rounds {
        let mut command = Command::new("python3");
        command.args(["-c", MEASURE, times]).arg(program).args(arguments);
        let said = process::output(&mut command)?;
        spent.push(String::from_utf8_lossy(&said.stdout).trim().parse::<f64>()? * 1000.0);
    }
    Ok(median(spent))
}

pub(super) fn run(rounds: usize) -> anyhow::Result<()> {
    let program = paths::program()?;
    let library = paths::root().join("fixtures/bin/libkernels.so");
    let library = library.to_string_lossy();
    let questions: [(&str, f64, Vec<&str>); 5] = [
        ("nothing (--version)", f64::INFINITY, vec!["--version"]),
        (
            "sweep registers",
            10.0,
            vec!["sweep", "registers", "--gpu", "h100-sxm", "--block", "256", "--registers", "90"],
        ),
        ("sweep shared", 10.0, vec!["sweep", "shared", "--gpu", "h100-sxm", "--block", "256", "--registers", "90"]),
        (
            "one kernel over all models",
            20.0,
            vec!["fit", &library, "--kernel", "^saxpy", "--block", "256", "--gpu", "all"],
        ),
        ("one shape over all models", 20.0, vec!["fit", "--registers", "90", "--block", "256", "--gpu", "all"]),
    ];
    for (name, limit, arguments) in questions {
        let spent = cpu_ms(&program, &arguments, TIMES, rounds).context(name)?;
        if limit.is_finite() {
            println!("{name}: {spent:.1} ms of CPU a run, {limit} allowed");
            ensure!(spent < limit, "{name} takes {spent:.1} ms");
        } else {
            println!("{name}: {spent:.1} ms of CPU a run");
        }
    }
    Ok(())
}
