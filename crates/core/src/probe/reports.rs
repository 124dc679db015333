//! Measurements of an experiment from profiler reports: whether they are of one experiment at all, and their occupancy by
//! the engine. Not for: what the times say ([`super::read`]).

use std::collections::BTreeMap;

use occupant_occupancy::Occupancy;
use occupant_profile::Measurement;

use super::read::{Axis, Of, Run, median, read, refused};
use crate::report::ProbeReading;
use crate::verdict::{launch_engine, launch_shape, measured_name};

/// Percent that clocks may differ.
const SAME_CLOCK: f64 = 3.0;
/// Clocks of the SMs, renamed between versions and chips.
const SM_CLOCKS: [&str; 4] = [
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
    "gpc__cycles_elapsed.max.per_second",
];
/// The clock of the memory.
const MEMORY_CLOCKS: [&str; 2] = ["dram__cycles_elapsed.avg.per_second", "fbpa__dram_cycles_elapsed.avg.per_second"];

/// Why measurements are not of one experiment.
type Refusal = (&'static str, String);

/// What launches of reports say, each with the file that it is from.
#[must_use]
pub fn read_reports(launches: &[(String, Measurement)]) -> ProbeReading {
    let of = Of {
        kernel: launches.first().map(|(_, measured)| measured.name.clone()),
        gpu: launches.first().and_then(|(_, measured)| measured_name(measured)),
        notes: Vec::new(),
    };
    let refuse = |of: Of, (code, why): Refusal| refused(of, Axis::Warps, Vec::new(), code, why);
    if launches.is_empty() {
        let why = "no launches: the reports hold none, or --kernel and --launch leave none of them".to_owned();
        return refuse(of, ("no_measurements", why));
    }
    if let Err(refusal) = one_experiment(launches) {
        return refuse(of, refusal);
    }
    match launches.iter().map(run).collect::<Result<Vec<Run>, Refusal>>() {
        Ok(runs) => read(Of { notes: confounded(launches), ..of }, Axis::Warps, &runs),
        Err(refusal) => refuse(of, refusal),
    }
}

fn run((file, measured): &(String, Measurement)) -> Result<Run, Refusal> {
    let time_ns = measured.get("gpu__time_duration.sum").filter(|time| *time > 0.0).ok_or_else(|| {
        ("no_time", format!("{file}: the time was not measured: profile it with `ncu --section SpeedOfLight`"))
    })?;
    let found = engine(measured).filter(|found| found.blocks_per_sm > 0).ok_or_else(|| {
        let why = format!("{file}: the launch's shape was not measured: profile it with `ncu --section LaunchStats`");
        ("no_shape", why)
    })?;
    Ok(Run {
        blocks: Some(found.blocks_per_sm),
        warps: Some(found.warps_per_sm()),
        percent: Some(found.percent()),
        shared_dynamic: launch_shape(measured).map(|shape| shape.shared_dynamic),
        time_ns,
    })
}

/// The occupancy at the carve-out that the driver chose, where it is known.
fn engine(measured: &Measurement) -> Option<Occupancy> {
    launch_engine(measured).map(|(largest, chosen)| chosen.unwrap_or(largest))
}

/// Whether all launches are the same but for their dynamic shared memory.
fn one_experiment(launches: &[(String, Measurement)]) -> Result<(), Refusal> {
    // A name for reading says less than the mangled one, which not every file has.
    let mangled = launches.iter().all(|(_, measured)| measured.mangled.is_some());
    let kernel = |measured: &Measurement| match &measured.mangled {
        Some(name) if mangled => Some(name.clone()),
        _ => Some(measured.name.clone()),
    };
    let hint = "an experiment is of one kernel: name it with --kernel, its launches with --launch";
    same(launches, "kernels_differ", "kernels", &kernel, hint)?;
    same(launches, "gpus_differ", "GPUs", &|measured| measured.gpu.clone(), "measure on one GPU")?;
    let alike = "only dynamic shared memory may differ between the runs";
    let dimensions = |sizes: [u64; 3]| format!("{}x{}x{}", sizes[0], sizes[1], sizes[2]);
    same(launches, "grids_differ", "grids", &|measured| measured.grid.map(dimensions), alike)?;
    same(launches, "kernels_differ", "blocks", &|measured| measured.block.map(dimensions), alike)?;
    for (what, metric) in [
        ("registers", "launch__registers_per_thread"),
        ("static shared memory", "launch__shared_mem_per_block_static"),
        ("clusters", "launch__cluster_size"),
    ] {
        let value = |measured: &Measurement| measured.get(metric).map(|value| value.to_string());
        same(launches, "kernels_differ", what, &value, alike)?;
    }
    same_clock(launches, "SM", &SM_CLOCKS)?;
    same_clock(launches, "memory", &MEMORY_CLOCKS)
}

fn same(
    launches: &[(String, Measurement)],
    code: &'static str,
    what: &str,
    value: &dyn Fn(&Measurement) -> Option<String>,
    hint: &str,
) -> Result<(), Refusal> {
    let mut known = launches.iter().filter_map(|(file, measured)| Some((file, value(measured)?)));
    let Some((first, expected)) = known.next() else { return Ok(()) };
    match known.find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some((file, found)) => {
            Err((code, format!("the {what} differ: {expected} in {first}, {found} in {file}; {hint}")))
        }
    }
}

/// Whether the clocks of the files, each the median of its launches, are the same.
fn same_clock(launches: &[(String, Measurement)], what: &str, metrics: &[&'static str]) -> Result<(), Refusal> {
    let all = |metric: &&&'static str| launches.iter().all(|(_, measured)| measured.get(metric).is_some());
    let Some(metric) = metrics.iter().find(all) else { return Ok(()) };
    let mut by_file: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (file, measured) in launches {
        by_file.entry(file).or_default().extend(measured.get(metric).filter(|clock| *clock > 0.0));
    }
    let mut clocks: Vec<(f64, &str)> = Vec::new();
    for (file, mut of_file) in by_file {
        of_file.sort_by(f64::total_cmp);
        clocks.extend(median(&of_file).map(|clock| (clock, file)));
    }
    clocks.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(b.1)));
    let (Some((low, slow)), Some((high, fast))) = (clocks.first(), clocks.last()) else { return Ok(()) };
    if (high / low - 1.0) * 100.0 <= SAME_CLOCK {
        return Ok(());
    }
    let why = format!(
        "the {what} clocks differ: {:.0} MHz in {slow}, {:.0} MHz in {fast}; lock them (`ncu --clock-control base`, or \
         `nvidia-smi -lgc`) and measure again",
        low / 1e6,
        high / 1e6
    );
    Err(("clocks_differ", why))
}

/// What else than occupancy differs between the runs.
fn confounded(launches: &[(String, Measurement)]) -> Vec<String> {
    let sizes = launches.iter().filter_map(|(_, measured)| measured.get("launch__shared_mem_config_size"));
    let (low, high) = sizes.fold((f64::MAX, 0.0), |(low, high): (f64, f64), size| (low.min(size), high.max(size)));
    let mut notes = Vec::new();
    if low < high {
        notes.push(format!(
            "the driver chose carve-outs from {:.0} to {:.0} KiB, so L1 was smaller in some runs: part of a difference may be \
             its; set cudaFuncAttributePreferredSharedMemoryCarveout to 100 in every run",
            low / 1024.0,
            high / 1024.0
        ));
    }
    let waves = launches.iter().filter_map(|(_, measured)| measured.get("launch__waves_per_multiprocessor"));
    if waves.fold(f64::MAX, f64::min) < 1.0 {
        notes.push(
            "the grid fills the SMs less than once at the highest occupancies, which then change nothing: measure with a \
             larger grid"
                .to_owned(),
        );
    }
    notes
}
