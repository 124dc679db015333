//! The step to more warps: what limits the blocks of an SM, and the smallest change that makes room for the next one.

use occupant_hardware::limits;
use occupant_occupancy::{Axis, Shape, slack};
use occupant_profile::{Flavour, Measurement};

use super::facts::Facts;

/// The next block, and what it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Resources that limit the blocks now.
    pub limiters: Vec<&'static str>,
    /// Blocks of an SM now.
    pub blocks: u32,
    /// Blocks after the step; `None` where no single change makes room for one.
    pub then: Option<u32>,
    /// All of it in words.
    pub says: String,
}

/// The shape that a launch was measured with; `None` where a part that bounds blocks was not measured.
#[must_use]
pub fn measured_shape(measured: &Measurement) -> Option<Shape> {
    let whole = |metric: &str| measured.get(metric).filter(|value| *value >= 0.0).map(|value| value as u32);
    // Traces tell static and dynamic shared memory together.
    let together = || whole("launch__shared_mem_per_block").filter(|_| measured.flavour == Flavour::Trace);
    Some(Shape {
        registers_per_thread: whole("launch__registers_per_thread")?,
        threads_per_block: u32::try_from(measured.threads()?).ok().filter(|threads| *threads > 0)?,
        shared_static: whole("launch__shared_mem_per_block_static").or_else(together).unwrap_or(0),
        shared_dynamic: whole("launch__shared_mem_per_block_dynamic").unwrap_or(0),
        barriers: whole("launch__barrier_count").unwrap_or(0),
        ..Shape::default()
    })
}

pub(super) fn of(facts: &Facts<'_>) -> Option<Step> {
    let limits = limits(facts.capability?).ok()?;
    let shape = measured_shape(facts.measured)?;
    let now = occupant_occupancy::occupancy(limits, &shape).ok()?;
    let limiters: Vec<&'static str> = now.limiters().iter().map(|resource| resource.name()).collect();
    let gains = slack(limits, &shape).ok()?;
    let gain = gains.iter().find_map(|slack| Some((slack, slack.gain?)));
    let blocks = now.blocks_per_sm;
    let by = limiters.iter().map(|name| name.replace('_', " ")).collect::<Vec<_>>().join(" and ");
    let limit = if limiters == ["shared_memory"] { "limits" } else { "limit" };
    let percent = now.percent();
    let (then, says) = match gain {
        Some((slack, edge)) => {
            let (from, to) = (slack.value, edge.value);
            let change = match slack.axis {
                Axis::Registers => format!("{} fewer registers a thread ({from} to {to})", from - to),
                Axis::Shared => format!("{} bytes less shared memory a block ({from} to {to})", from - to),
                Axis::Block => format!("a block of {to} threads instead of {from}"),
                Axis::Barriers => format!("{} fewer barriers ({from} to {to})", from - to),
            };
            let after = edge.occupancy;
            let more = after.percent();
            (
                Some(after.blocks_per_sm),
                format!(
                    "{by} {limit} an SM to {blocks} {} ({percent:.0} %): {change} makes it {} ({more:.0} %)",
                    if blocks == 1 { "block" } else { "blocks" },
                    after.blocks_per_sm
                ),
            )
        }
        None => (
            None,
            format!("{by} {limit} an SM to {blocks} blocks ({percent:.0} %); no single change makes room for one more"),
        ),
    };
    Some(Step { limiters, blocks, then, says })
}
