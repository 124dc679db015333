//! What `__launch_bounds__(threads, min blocks)` makes of the register cap, and whether the minimum can be met.
//!
//! The caps equal those of `ptxas` (`cargo xtask oracle`). Not for: what the compiler does under a cap: spill or not.

use occupant_hardware::SmLimits;

use crate::axis::Axis;
use crate::inverse::largest;
use crate::rules::occupancy;
use crate::shape::{InvalidShape, PartitionedCaching, Shape};

/// What a minimum number of blocks per SM means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The kernel's registers are within the cap already: the bound costs nothing.
    Free,
    /// The cap is under the kernel's registers: the compiler has to use fewer, and spills where it can't.
    Lowers,
    /// Something else allows fewer blocks: registers would be given away for nothing.
    Unreachable,
}

/// One minimum number of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinBlocks {
    /// The minimum, the second argument of the launch bounds.
    pub blocks: u32,
    /// Registers per thread that the compiler may then use.
    pub register_cap: u32,
    /// Warps of that many blocks.
    pub warps: u32,
    /// What it means for this shape.
    pub effect: Effect,
    /// Blocks that everything but registers allows.
    pub others_allow: u32,
}

/// The largest minimum that the compiler obeys for blocks of `threads` threads; larger ones it ignores with a warning. It
/// counts whole warps, as the SM does.
#[must_use]
pub fn most_min_blocks(limits: &SmLimits, threads: u32) -> u32 {
    let warps = threads.div_ceil(SmLimits::WARP_SIZE);
    limits.max_warps_per_sm().checked_div(warps).unwrap_or(0).min(limits.max_blocks_per_sm)
}

/// The registers per thread that the compiler may use for `__launch_bounds__(threads, min_blocks)`; `None` where it ignores
/// the minimum because the SM has not that many threads or block slots, and where it refuses the block.
#[must_use]
pub fn register_cap(limits: &SmLimits, threads: u32, min_blocks: u32) -> Option<u32> {
    if threads == 0 || threads > limits.max_threads_per_block || min_blocks > most_min_blocks(limits, threads) {
        return None;
    }
    let shape = Shape { threads_per_block: threads, registers_per_thread: 1, barriers: 0, ..Shape::default() };
    largest(limits, &shape, Axis::Registers, min_blocks.max(1)).ok().flatten()
}

/// Every minimum that the compiler obeys for blocks of the shape's threads, ascending.
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn launch_bounds(limits: &SmLimits, shape: &Shape) -> Result<Vec<MinBlocks>, InvalidShape> {
    let others = Shape { registers_per_thread: 0, partitioned_caching: PartitionedCaching::Off, ..*shape };
    let others = occupancy(limits, &others)?;
    let now = occupancy(limits, &Shape { partitioned_caching: PartitionedCaching::Off, ..*shape })?;
    let row = |blocks| {
        let register_cap = register_cap(limits, shape.threads_per_block, blocks)?;
        let effect = if others.blocks_per_sm < blocks {
            Effect::Unreachable
        } else if Axis::Registers.ceiling(&now.ceilings) < blocks {
            Effect::Lowers
        } else {
            Effect::Free
        };
        let (warps, others_allow) = (blocks * others.warps_per_block, others.blocks_per_sm);
        Some(MinBlocks { blocks, register_cap, warps, effect, others_allow })
    };
    Ok((1..=most_min_blocks(limits, shape.threads_per_block)).filter_map(row).collect())
}
