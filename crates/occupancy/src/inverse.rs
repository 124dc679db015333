//! The rules turned round: the most that a block may take for N blocks to become resident.
//!
//! Each answer is found by asking the engine, so it can't disagree with it. Not for: choosing among several amounts; see
//! [`crate::fit`].

use occupant_hardware::SmLimits;

use crate::axis::Axis;
use crate::rules::{Occupancy, occupancy};
use crate::shape::{InvalidShape, Shape};

/// The largest value of `axis` at which its own resource allows `blocks` blocks, whatever the other ceilings allow.
/// `None` where no value does.
///
/// For registers this is the cap that the compiler uses for `__launch_bounds__(threads, blocks)`.
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn largest(limits: &SmLimits, shape: &Shape, axis: Axis, blocks: u32) -> Result<Option<u32>, InvalidShape> {
    // What is wrong with a shape is wrong at every value.
    occupancy(limits, &axis.with(shape, axis.least()))?;
    let ends = axis.unit_ends(limits);
    let suffices = |end: &u32| {
        occupancy(limits, &axis.with(shape, *end)).is_ok_and(|answer| axis.ceiling(&answer.ceilings) >= blocks)
    };
    // A ceiling never rises with its own amount (crates/occupancy/tests/steps.rs).
    let sufficing = ends.partition_point(suffices);
    Ok(sufficing.checked_sub(1).and_then(|last| ends.get(last)).copied())
}

/// A block size and its occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSize {
    /// Threads per block, a multiple of a warp.
    pub threads: u32,
    /// Its occupancy.
    pub occupancy: Occupancy,
}

/// All block sizes up to `most` threads that keep the most warps resident, largest first; empty where none can launch.
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn best_blocks(limits: &SmLimits, shape: &Shape, most: u32) -> Result<Vec<BlockSize>, InvalidShape> {
    let mut best: Vec<BlockSize> = Vec::new();
    for threads in Axis::Block.unit_ends(limits).into_iter().rev().filter(|threads| *threads <= most) {
        let occupancy = occupancy(limits, &Axis::Block.with(shape, threads))?;
        let warps = best.first().map_or(1, |best| best.occupancy.warps_per_sm());
        if occupancy.warps_per_sm() > warps {
            best.clear();
        }
        if occupancy.warps_per_sm() >= warps {
            best.push(BlockSize { threads, occupancy });
        }
    }
    Ok(best)
}
