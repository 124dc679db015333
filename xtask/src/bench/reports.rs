//! Reading profiler reports: from bytes to every value, in process, against NVIDIA's own reader.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use occupant_profile::ncu::{Report, unpack};

use crate::{paths, process, wheels};

/// Rounds; the median counts.
const ROUNDS: usize = 20;
/// Reports under this size are mostly start-up.
const LEAST: u64 = 200 * 1024;
/// How many times as fast as NVIDIA's reader.
const WANTED: f64 = 5.0;

/// Times of NVIDIA's reader on one report, seconds: loading, and loading and giving all values.
const READER: &str = r#"
import sys, time, statistics
sys.path.insert(0, sys.argv[1])
import ncu_report
load, whole = [], []
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    context = ncu_report.load_report(sys.argv[2])
    load.append(time.perf_counter() - start)
    count = 0
    for number in range(context.num_ranges()):
        span = context.range_by_idx(number)
        for index in range(span.num_actions()):
            action = span.action_by_idx(index)
            for name in action.metric_names():
                metric = action.metric_by_name(name)
                metric.value()
                for instance in range(metric.num_instances()):
                    metric.value(instance)
                    count += 1
    whole.append(time.perf_counter() - start)
print(statistics.median(load), statistics.median(whole))
"#;

pub(super) fn run(folder: &PathBuf) -> anyhow::Result<()> {
    let reader = wheels::unpacked("ncu_report==2026.3.1")?.join("ncu_report-2026.3.1.data/purelib");
    let script = paths::cache("reports").join("time.py");
    fs::create_dir_all(paths::cache("reports"))?;
    fs::write(&script, READER)?;
    let mut reports = crate::reports::reports(std::slice::from_ref(folder))?;
    reports.retain(|path| fs::metadata(path).is_ok_and(|metadata| metadata.len() > LEAST));
    ensure!(!reports.is_empty(), "no report over 200 KiB in {}", folder.display());
    println!(
        "| report | MiB | here | NVIDIA's reader: loading | and all values | times as fast: loading | all values |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for path in &reports {
        ratios.push(one(path, &reader, &script)?);
    }
    ratios.sort_by(f64::total_cmp);
    let (least, median) = (ratios[0], ratios[ratios.len() / 2]);
    println!("\nall values of {} reports: {median:.0} times as fast in the middle, {least:.0} at least", ratios.len());
    ensure!(least >= WANTED, "{least:.1} times as fast, {WANTED} wanted");
    Ok(())
}

fn one(path: &Path, reader: &Path, script: &Path) -> anyhow::Result<f64> {
    let packed = fs::read(path)?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let bytes = unpack(&packed)?;
        let report = Report::read(&bytes)?;
        let values: usize =
            report.launches.iter().flat_map(|launch| &launch.metrics).map(|metric| 1 + metric.instances.len()).sum();
        times.push(start.elapsed().as_secs_f64());
        ensure!(values > 0, "no values");
    }
    times.sort_by(f64::total_cmp);
    let here = times[ROUNDS / 2];
    let output = process::output(Command::new("python3").arg(script).arg(reader).arg(path).arg(ROUNDS.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    let mut next = || numbers.next().context("NVIDIA's reader printed no time")?.map_err(anyhow::Error::from);
    let (load, whole) = (next()?, next()?);
    println!(
        "| {} | {:.1} | {:.2} ms | {:.2} ms | {:.1} ms | {:.1} | {:.0} |",
        path.file_name().unwrap_or_default().to_string_lossy(),
        packed.len() as f64 / (1 << 20) as f64,
        here * 1e3,
        load * 1e3,
        whole * 1e3,
        load / here,
        whole / here
    );
    Ok(whole / here)
}
