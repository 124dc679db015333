//! The occupancy engine against the curves that the profiler stored in reports: warps by registers, block size, barriers and
//! shared memory, each from NVIDIA's own calculator.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use occupant_advice::verdict::measured_shape;
use occupant_hardware::limits;
use occupant_occupancy::{Carveout, Shape, occupancy};
use occupant_profile::Measurement;
use occupant_profile::ncu::{Launch, Report, unpack};

/// A curve: its metric, its axis in words, and the shape at a point.
type Curve = (&'static str, &'static str, fn(&Shape, u32, u32) -> Shape);

const CURVES: [Curve; 4] = [
    ("launch__occupancy_per_register_count", "registers", |shape, x, _| Shape { registers_per_thread: x, ..*shape }),
    ("launch__occupancy_per_block_size", "block size", |shape, x, _| Shape { threads_per_block: x, ..*shape }),
    ("launch__occupancy_per_barrier_count", "barriers", |shape, x, _| Shape { barriers: x, ..*shape }),
    // What the driver reserves is in the axis already.
    ("launch__occupancy_per_shared_mem_size", "shared memory", |shape, x, reserve| Shape {
        shared_static: x.saturating_sub(reserve),
        shared_dynamic: 0,
        ..*shape
    }),
];

#[derive(Default, Clone, Copy)]
struct Tally {
    points: usize,
    different: usize,
    /// Beyond what the kernel may ask for: the profiler prints 0 there.
    beyond: usize,
}

/// Compares every point and prints how many there were.
pub(super) fn compare(reports: &[PathBuf]) -> anyhow::Result<()> {
    let mut tallies = [Tally::default(); 4];
    let mut differences = Vec::new();
    let mut without = 0;
    for path in reports {
        let packed = fs::read(path)?;
        let bytes = unpack(&packed)?;
        let report = Report::read(&bytes).with_context(|| path.display().to_string())?;
        for (index, launch) in report.launches.iter().enumerate() {
            let measured = report.measurement(launch);
            let Some(shape) = shape(&measured) else {
                without += 1;
                continue;
            };
            for ((metric, axis, at), tally) in CURVES.iter().zip(&mut tallies) {
                let place = format!("{} launch {index} {axis}", path.file_name().unwrap_or_default().to_string_lossy());
                curve(&place, launch, metric, &shape, &measured, *at, tally, &mut differences)?;
            }
        }
    }
    for ((_, axis, _), tally) in CURVES.iter().zip(&tallies) {
        println!(
            "{axis}: {} points, {} differ, {} beyond the opt-in limit",
            tally.points, tally.different, tally.beyond
        );
    }
    println!("{without} launches without a shape");
    differences.iter().take(20).for_each(|line| println!("{line}"));
    if differences.is_empty() { Ok(()) } else { bail!("{} points differ", differences.len()) }
}

/// The launch's shape, with the carve-out that the profiler's version computes with.
fn shape(measured: &Measurement) -> Option<Shape> {
    let config = measured.get("launch__shared_mem_config_size").map(|bytes| bytes as u32).filter(|bytes| *bytes > 0);
    // Until 2021.2 the largest carve-out was taken, from 2022.4 on the one that the driver chose.
    let chosen = measured.profiler.as_deref().is_some_and(|version| version >= "2022.4");
    let carveout = config.filter(|_| chosen).map_or(Carveout::Default, Carveout::Bytes);
    Some(Shape { carveout, ..measured_shape(measured)? })
}

#[allow(clippy::too_many_arguments, reason = "one point needs all of them, and nothing else does")]
fn curve(
    place: &str,
    launch: &Launch<'_>,
    metric: &str,
    shape: &Shape,
    measured: &Measurement,
    at: fn(&Shape, u32, u32) -> Shape,
    tally: &mut Tally,
    differences: &mut Vec<String>,
) -> anyhow::Result<()> {
    let Some(limits) = measured.capability.and_then(|capability| limits(capability).ok()) else { return Ok(()) };
    let reserve = limits.shared_reserved_per_block;
    for instance in launch.metric(metric).map(|metric| metric.instances.as_slice()).unwrap_or_default() {
        let (Some(x), Some(warps)) = (instance.correlation.whole(), instance.value.whole()) else { continue };
        let x = u32::try_from(x)?;
        tally.points += 1;
        let found = occupancy(limits, &at(shape, x, reserve)).map_or(0, |found| found.warps_per_sm());
        if u64::from(found) == warps {
            continue;
        }
        // A kernel that does not opt in may ask for 48 KiB; the profiler counts the driver's reserve into it.
        let beyond = metric.ends_with("shared_mem_size") && warps == 0 && x > DEFAULT_SHARED;
        if beyond {
            tally.beyond += 1;
        } else {
            tally.different += 1;
            differences.push(format!("{place} at {x}: {warps} warps in the report, {found} here"));
        }
    }
    Ok(())
}

/// Shared memory of a block without opting in, bytes.
const DEFAULT_SHARED: u32 = 48 * 1024;
