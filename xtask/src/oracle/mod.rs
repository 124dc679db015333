//! `cargo xtask oracle`: the engine against NVIDIA's own occupancy header, and the golden points made from it; register caps
//! and budgets against `ptxas`.

mod caps;
mod golden;
pub(crate) mod header;
pub(crate) mod points;

use anyhow::bail;
use clap::Args;
use occupant_hardware::{Rules, limit_rows};
use occupant_occupancy::{Occupancy, PartitionedCaching, Resource, occupancy};

use header::{Answer, Header};
use points::Point;

/// Options of `cargo xtask oracle`.
#[derive(Args)]
pub(crate) struct Options {
    /// Random points an architecture, beside the systematic ones
    #[arg(long, default_value_t = 60_000)]
    random: usize,
    /// Start of the random points
    #[arg(long, default_value_t = 20_260_101)]
    seed: u64,
    /// Only compare register caps and budgets with ptxas
    #[arg(long)]
    caps: bool,
    /// Write the golden points that the plain tests compare with
    #[arg(long)]
    write_golden: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    caps::caps()?;
    caps::requests()?;
    if options.caps {
        return Ok(());
    }
    let mut wrong = 0;
    for (rules, name) in [(Rules::Cuda13_5, "13.5.37"), (Rules::Cuda12_9, "12.9.79")] {
        let header = Header::build(rules)?;
        let (mut compared, mut differing) = (0, 0);
        for limits in limit_rows(rules) {
            let points = points::points(limits, options.random, options.seed ^ u64::from(limits.capability.major));
            let answers = header.ask(&points)?;
            let differences: Vec<String> =
                points.iter().zip(&answers).filter_map(|(point, answer)| difference(point, answer)).collect();
            differences.iter().take(5).for_each(|line| println!("  {line}"));
            compared += points.len();
            differing += differences.len();
        }
        println!(
            "header {name}: {compared} points over {} compute capabilities, {differing} mismatches",
            limit_rows(rules).len()
        );
        wrong += differing;
        if options.write_golden && rules == Rules::Cuda13_5 {
            golden::write(&header, options)?;
        }
    }
    if wrong > 0 {
        bail!("{wrong} points differ from NVIDIA's header");
    }
    Ok(())
}

/// Compares blocks, every ceiling, allocated amounts, caching mode and limiters; `None` where all are equal.
fn difference(point: &Point, theirs: &Answer) -> Option<String> {
    let said = |what: &str| format!("{} {:?}: {what}", point.limits.capability, point.shape);
    let ours = match occupancy(point.limits, &point.shape) {
        Ok(ours) if theirs.status == 0 => ours,
        Err(_) if theirs.status == 1 => return None,
        ours => return Some(said(&format!("status {} against {ours:?}", theirs.status))),
    };
    let signed = |value: Option<u32>| value.map_or(i32::MAX, |value| i32::try_from(value).unwrap_or(i32::MAX));
    let pairs = [
        ("blocks per SM", signed(Some(ours.blocks_per_sm)), theirs.blocks),
        ("warps", signed(Some(ours.ceilings.warps)), theirs.warps),
        ("blocks", signed(Some(ours.ceilings.blocks)), theirs.block_slots),
        ("registers", signed(ours.ceilings.registers), theirs.registers),
        ("shared memory", signed(ours.ceilings.shared_memory), theirs.shared),
        ("barriers", signed(ours.ceilings.barriers), theirs.barriers),
        ("virtual resources", signed(ours.ceilings.virtual_resources), theirs.virtuals),
        ("allocated registers", signed(Some(ours.allocated.registers_per_block)), theirs.allocated_registers),
        ("allocated shared memory", signed(Some(ours.allocated.shared_per_block)), theirs.allocated_shared),
        ("partitioned caching", mode(ours.partitioned_caching), theirs.partitioned),
    ];
    if let Some((what, ours, theirs)) = pairs.into_iter().find(|(_, ours, theirs)| ours != theirs) {
        return Some(said(&format!("{what}: {ours} here, {theirs} in the header")));
    }
    let factors = factors(&ours);
    (!stale_factors(&ours) && factors != theirs.factors)
        .then(|| said(&format!("limiters {factors:#x} here, {:#x} in the header", theirs.factors)))
}

fn mode(caching: PartitionedCaching) -> i32 {
    match caching {
        PartitionedCaching::Off => 0,
        PartitionedCaching::On => 1,
        PartitionedCaching::Strict => 2,
    }
}

/// Our limiters in the header's bits.
fn factors(ours: &Occupancy) -> i32 {
    let bit = |resource| match resource {
        Resource::Warps => 0x01,
        Resource::Registers => 0x02,
        Resource::SharedMemory => 0x04,
        Resource::Blocks => 0x08,
        Resource::Barriers => 0x10,
        Resource::VirtualResources => 0x20,
        Resource::TensorMemory => 0,
    };
    ours.limiters().iter().map(bit).sum()
}

/// The header sets its bits before it looks at barriers; where barriers lower the minimum, they are stale.
fn stale_factors(ours: &Occupancy) -> bool {
    let without_barriers = occupant_occupancy::Ceilings { barriers: None, ..ours.ceilings };
    without_barriers.minimum() > ours.blocks_per_sm
}
