//! How far each ceiling's next step is, in both directions. Not for: reaching a number of blocks; see [`crate::fit`].

use occupant_hardware::SmLimits;

use crate::axis::Axis;
use crate::rules::{Occupancy, occupancy};
use crate::shape::{InvalidShape, Shape};

/// A value of an axis and the answer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The value.
    pub value: u32,
    /// The answer with it.
    pub occupancy: Occupancy,
}

/// How far the steps of one axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slack {
    /// The axis.
    pub axis: Axis,
    /// The value now.
    pub value: u32,
    /// Blocks that its resource allows now; `None` where it bounds nothing.
    pub ceiling: Option<u32>,
    /// The nearest smaller value with a higher ceiling.
    pub ceiling_up: Option<Edge>,
    /// The nearest larger value with a lower ceiling.
    pub ceiling_down: Option<Edge>,
    /// The nearest smaller value with more blocks resident: of this axis alone. `None` where others bind as well.
    pub gain: Option<Edge>,
    /// The nearest larger value with fewer blocks resident; up to the one before, more costs nothing.
    pub loss: Option<Edge>,
    /// The largest value with no fewer blocks resident than now.
    pub free_to: u32,
}

/// The slack of every axis, in the order of [`Axis::ALL`].
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn slack(limits: &SmLimits, shape: &Shape) -> Result<Vec<Slack>, InvalidShape> {
    let now = occupancy(limits, shape)?;
    Axis::ALL.into_iter().map(|axis| axis_slack(limits, shape, axis, &now)).collect()
}

fn axis_slack(limits: &SmLimits, shape: &Shape, axis: Axis, now: &Occupancy) -> Result<Slack, InvalidShape> {
    let value = axis.value(shape);
    let ends = axis.unit_ends(limits);
    let edge = |value| Ok(Edge { value, occupancy: occupancy(limits, &axis.with(shape, value))? });
    let ceiling = axis.ceiling(&now.ceilings);

    let smaller = ends.iter().rev().filter(|end| **end < value);
    let (mut ceiling_up, mut gain) = (None, None);
    for end in smaller {
        let at = edge(*end)?;
        ceiling_up = ceiling_up.or_else(|| (axis.ceiling(&at.occupancy.ceilings) > ceiling).then_some(at));
        gain = gain.or_else(|| (at.occupancy.blocks_per_sm > now.blocks_per_sm).then_some(at));
        if ceiling_up.is_some() && gain.is_some() {
            break;
        }
    }

    // The first value of a unit stands for it: it is the nearest.
    let larger = ends.iter().map(|end| end + 1).filter(|first| *first > value && *first <= ends[ends.len() - 1]);
    let (mut ceiling_down, mut loss) = (None, None);
    for first in larger {
        let at = edge(first)?;
        ceiling_down = ceiling_down.or_else(|| (axis.ceiling(&at.occupancy.ceilings) < ceiling).then_some(at));
        loss = loss.or_else(|| (at.occupancy.blocks_per_sm < now.blocks_per_sm).then_some(at));
        if ceiling_down.is_some() && loss.is_some() {
            break;
        }
    }
    let free_to = loss.map_or_else(|| value.max(ends[ends.len() - 1]), |loss| loss.value - 1);
    let ceiling = now.ceilings.get(axis.resource());
    Ok(Slack { axis, value, ceiling, ceiling_up, ceiling_down, gain, loss, free_to })
}
