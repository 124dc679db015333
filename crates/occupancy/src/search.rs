//! The block size that fills an SM best. For: upper bounds where only a maximum block size is known.

use occupant_hardware::SmLimits;

use crate::rules::{Occupancy, occupancy};
use crate::shape::{InvalidShape, Shape};

/// A block size and its occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BestBlock {
    /// Threads per block.
    pub threads_per_block: u32,
    /// Its occupancy.
    pub occupancy: Occupancy,
}

/// The block size up to `max_threads` with the most resident warps; among equals the largest.
///
/// Smaller blocks can fit better than the largest: at 56 registers on 9.0, 1024 threads leave 32 warps resident and
/// 128 threads leave 36. Sizes that are no multiple of a warp take as much as the next multiple, so besides
/// `max_threads` itself only multiples of 32 are tried.
///
/// # Errors
/// [`InvalidShape`] where `max_threads` is 0 or the carve-out means nothing.
pub fn best_block(limits: &SmLimits, shape: &Shape, max_threads: u32) -> Result<BestBlock, InvalidShape> {
    let at = |threads_per_block| {
        let occupancy = occupancy(limits, &Shape { threads_per_block, ..*shape })?;
        Ok(BestBlock { threads_per_block, occupancy })
    };
    let largest = max_threads.min(limits.max_threads_per_block);
    let mut best = at(largest)?;
    let full = limits.max_warps_per_sm();
    for warps in (1..largest.div_ceil(SmLimits::WARP_SIZE)).rev() {
        if best.occupancy.warps_per_sm() == full {
            break;
        }
        let candidate = at(warps * SmLimits::WARP_SIZE)?;
        if candidate.occupancy.warps_per_sm() > best.occupancy.warps_per_sm() {
            best = candidate;
        }
    }
    Ok(best)
}
