//! A sample of the header's answers, committed so that the plain tests need no network and no compiler.

use occupant_hardware::{Rules, SmLimits, limit_rows};
use occupant_occupancy::{Carveout, Shape};

use super::Options;
use super::header::{Answer, Header};
use super::points::{Point, points};
use crate::paths;

/// Points an architecture in the golden file.
const POINTS: usize = 300;

const COLUMNS: [&str; 21] = [
    "compute_capability",
    "registers",
    "block",
    "shared_static",
    "shared_dynamic",
    "barriers",
    "virtual_resources",
    "carveout_percent",
    "partitioned_caching",
    "opt_in",
    "status",
    "blocks_per_sm",
    "ceiling_warps",
    "ceiling_blocks",
    "ceiling_registers",
    "ceiling_shared",
    "ceiling_barriers",
    "ceiling_virtual",
    "allocated_registers",
    "allocated_shared",
    "partitioned_caching_used",
];

/// Writes `crates/occupancy/tests/data/golden.csv`.
pub(super) fn write(header: &Header, options: &Options) -> anyhow::Result<()> {
    let path = paths::root().join("crates/occupancy/tests/data/golden.csv");
    let mut out = csv::Writer::from_path(&path)?;
    out.write_record(COLUMNS)?;
    let mut rows = 0;
    for limits in limit_rows(Rules::Cuda13_5) {
        let sample = sample(limits, options.seed);
        for (point, answer) in sample.iter().zip(header.ask(&sample)?) {
            out.write_record(row(limits, &point.shape, &answer))?;
            rows += 1;
        }
    }
    out.flush()?;
    println!("wrote {rows} golden points to {}", path.display());
    Ok(())
}

/// A prime stride walks all systematic kinds of points; the random ones follow whole.
fn sample(limits: &'static SmLimits, seed: u64) -> Vec<Point> {
    let all = points(limits, POINTS, seed);
    let (systematic, random) = all.split_at(all.len() - POINTS);
    systematic.iter().step_by(997).chain(random).copied().collect()
}

/// What was asked and what the header said, as [`COLUMNS`].
fn row(limits: &SmLimits, shape: &Shape, answer: &Answer) -> [String; COLUMNS.len()] {
    let blank = |value: i32| if value == i32::MAX { String::new() } else { value.to_string() };
    [
        limits.capability.to_string(),
        shape.registers_per_thread.to_string(),
        shape.threads_per_block.to_string(),
        shape.shared_static.to_string(),
        shape.shared_dynamic.to_string(),
        shape.barriers.to_string(),
        shape.virtual_resources.to_string(),
        match shape.carveout {
            Carveout::Percent(percent) => percent.to_string(),
            Carveout::Default | Carveout::Bytes(_) => String::new(),
        },
        shape.partitioned_caching.name().to_owned(),
        shape.shared_opt_in.to_string(),
        answer.status.to_string(),
        answer.blocks.to_string(),
        answer.warps.to_string(),
        answer.block_slots.to_string(),
        blank(answer.registers),
        blank(answer.shared),
        blank(answer.barriers),
        blank(answer.virtuals),
        answer.allocated_registers.to_string(),
        answer.allocated_shared.to_string(),
        ["off", "on", "strict"][answer.partitioned.clamp(0, 2) as usize].to_owned(),
    ]
}
