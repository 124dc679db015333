//! The whole staircase: occupancy along one axis, as steps with their edges. Not for: drawing it.

use occupant_hardware::SmLimits;

use crate::axis::Axis;
use crate::rules::{Occupancy, occupancy};
use crate::shape::{InvalidShape, Shape};

/// Neighbouring values that give the same blocks, warps and limiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stair {
    /// Smallest value.
    pub from: u32,
    /// Largest value.
    pub to: u32,
    /// The answer at the largest value; allocated amounts are smaller at smaller values.
    pub occupancy: Occupancy,
}

/// Every step of `axis`, from its smallest value to the largest that hardware and compilers take. Steps with 0 blocks
/// are values that can't launch.
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn sweep(limits: &SmLimits, shape: &Shape, axis: Axis) -> Result<Vec<Stair>, InvalidShape> {
    let mut stairs: Vec<Stair> = Vec::new();
    let mut from = axis.least();
    for to in axis.unit_ends(limits) {
        let occupancy = occupancy(limits, &axis.with(shape, to))?;
        match stairs.last_mut() {
            Some(last) if same(&last.occupancy, &occupancy) => *last = Stair { to, occupancy, ..*last },
            _ => stairs.push(Stair { from, to, occupancy }),
        }
        from = to + 1;
    }
    Ok(stairs)
}

fn same(a: &Occupancy, b: &Occupancy) -> bool {
    a.blocks_per_sm == b.blocks_per_sm && a.warps_per_sm() == b.warps_per_sm() && a.limiters() == b.limiters()
}
