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

/// What was compared so far.
#[derive(Default)]
struct Comparison {
    /// By curve.
    tallies: [Tally; CURVES.len()],
    differences: Vec<String>,
    /// Launches whose shape or GPU is not known.
    without: usize,
}

/// Compares every point and prints how many there were.
pub(super) fn compare(reports: &[PathBuf]) -> anyhow::Result<()> {
    let mut comparison = Comparison::default();
    for path in reports {
        let packed = fs::read(path)?;
        let bytes = unpack(&packed)?;
        let report = Report::read(&bytes).with_context(|| path.display().to_string())?;
        for (index, launch) in report.launches.iter().enumerate() {
            let place = format!("{} launch {index}", path.file_name().unwrap_or_default().to_string_lossy());
            comparison.launch(&place, launch, &report.measurement(launch))?;
        }
    }
    comparison.print()
}

impl Comparison {
    fn launch(&mut self, place: &str, launch: &Launch<'_>, measured: &Measurement) -> anyhow::Result<()> {
        let limits = measured.capability.and_then(|capability| limits(capability).ok());
        let (Some(limits), Some(shape)) = (limits, shape(measured)) else {
            self.without += 1;
            return Ok(());
        };
        for ((metric, axis, at), tally) in CURVES.iter().zip(&mut self.tallies) {
            let instances = launch.metric(metric).map(|metric| metric.instances.as_slice()).unwrap_or_default();
            for instance in instances {
                let (Some(x), Some(warps)) = (instance.correlation.whole(), instance.value.whole()) else { continue };
                let x = u32::try_from(x)?;
                let at_point = at(&shape, x, limits.shared_reserved_per_block);
                let found = occupancy(limits, &at_point).map_or(0, |found| found.warps_per_sm());
                tally.points += 1;
                // A kernel that does not opt in may ask for 48 KiB; the profiler counts the driver's reserve into it.
                let beyond = metric.ends_with("shared_mem_size") && warps == 0 && x > DEFAULT_SHARED;
                match (u64::from(found) == warps, beyond) {
                    (true, _) => {}
                    (false, true) => tally.beyond += 1,
                    (false, false) => {
                        tally.different += 1;
                        let line = format!("{place} {axis} at {x}: {warps} warps in the report, {found} here");
                        self.differences.push(line);
                    }
                }
            }
        }
        Ok(())
    }

    fn print(&self) -> anyhow::Result<()> {
        for ((_, axis, _), Tally { points, different, beyond }) in CURVES.iter().zip(&self.tallies) {
            println!("{axis}: {points} points, {different} differ, {beyond} beyond the opt-in limit");
        }
        println!("{} launches without a shape", self.without);
        self.differences.iter().take(20).for_each(|line| println!("{line}"));
        if self.differences.is_empty() { Ok(()) } else { bail!("{} points differ", self.differences.len()) }
    }
}

/// The launch's shape, with the carve-out that the profiler's version computes with.
fn shape(measured: &Measurement) -> Option<Shape> {
    let config = measured.get("launch__shared_mem_config_size").map(|bytes| bytes as u32).filter(|bytes| *bytes > 0);
    // Until 2021.2 the largest carve-out was taken, from 2022.4 on the one that the driver chose.
    let chosen = measured.profiler.as_deref().is_some_and(|version| version >= "2022.4");
    let carveout = config.filter(|_| chosen).map_or(Carveout::Default, Carveout::Bytes);
    Some(Shape { carveout, ..measured_shape(measured)? })
}

/// Shared memory of a block without opting in, bytes.
const DEFAULT_SHARED: u32 = 48 * 1024;
