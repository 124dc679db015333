//! NVIDIA's allocation rules: from a shape and an SM's limits to ceilings, blocks and allocated amounts.
//!
//! The rules follow the behaviour of `cuda_occupancy.h` (nvidia-cuda-runtime 13.5.37 and 12.9.79), point by point
//! compared by `cargo xtask oracle`. Not for: words about the answer ([`crate::refusals`], [`crate::by_hand`]).

use occupant_hardware::SmLimits;

use crate::ceilings::{Ceilings, Limiters};
use crate::shape::{Carveout, InvalidShape, PartitionedCaching, Shape};

/// What one block is given, after rounding up to allocation units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocated {
    /// Registers per thread: the warp's allocation divided by its 32 threads.
    pub registers_per_thread: u32,
    /// Registers per block, whole warps.
    pub registers_per_block: u32,
    /// Shared memory per block in bytes, with the system's reserve.
    pub shared_per_block: u32,
    /// Shared memory in bytes that the SM's blocks divide between them.
    pub shared_pool: u32,
}

/// The theoretical occupancy of a shape on one SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks; 0 where the shape cannot launch.
    pub blocks_per_sm: u32,
    /// Warps of a block.
    pub warps_per_block: u32,
    /// Warp slots of the SM.
    pub max_warps_per_sm: u32,
    /// What each resource allows.
    pub ceilings: Ceilings,
    /// What a block is given.
    pub allocated: Allocated,
    /// The caching mode that is in force: [`PartitionedCaching::On`] is given up where no block would fit.
    pub partitioned_caching: PartitionedCaching,
}

impl Occupancy {
    /// Resident warps.
    #[must_use]
    pub const fn warps_per_sm(&self) -> u32 {
        self.blocks_per_sm * self.warps_per_block
    }

    /// Resident warps as a share of the warp slots, 0 to 100.
    #[must_use]
    pub fn percent(&self) -> f64 {
        f64::from(self.warps_per_sm()) * 100.0 / f64::from(self.max_warps_per_sm)
    }

    /// The resources that bind.
    #[must_use]
    pub fn limiters(&self) -> Limiters {
        self.ceilings.limiters()
    }
}

/// The occupancy of `shape` on an SM with `limits`.
///
/// # Errors
/// [`InvalidShape`] for a shape that means nothing. A shape that does not fit is an answer of 0 blocks.
#[inline]
pub fn occupancy(limits: &SmLimits, shape: &Shape) -> Result<Occupancy, InvalidShape> {
    if shape.threads_per_block == 0 {
        return Err(InvalidShape::NoThreads);
    }
    let warps_per_block = shape.threads_per_block.div_ceil(SmLimits::WARP_SIZE);
    let per_warp = registers_per_warp(limits, shape.registers_per_thread);
    let (registers, caching) = registers_ceiling(limits, shape, per_warp, warps_per_block);
    let shared = shared_memory(limits, shape)?;
    let ceilings = Ceilings {
        warps: warps_ceiling(limits, shape.threads_per_block, warps_per_block, caching),
        blocks: limits.max_blocks_per_sm,
        registers,
        shared_memory: shared.ceiling,
        barriers: pool_ceiling(limits.barriers_per_sm, shape.barriers),
        virtual_resources: pool_ceiling(limits.virtual_resources_per_sm, shape.virtual_resources),
        tensor_memory: pool_ceiling(limits.tensor_memory_columns, shape.tensor_columns),
    };
    Ok(Occupancy {
        blocks_per_sm: ceilings.minimum(),
        warps_per_block,
        max_warps_per_sm: limits.max_warps_per_sm(),
        ceilings,
        allocated: Allocated {
            registers_per_thread: per_warp / SmLimits::WARP_SIZE,
            registers_per_block: per_warp.saturating_mul(warps_per_block),
            shared_per_block: shared.per_block,
            shared_pool: shared.pool,
        },
        partitioned_caching: caching,
    })
}

/// The most registers per thread that the rules take: 256 from 7.0 on (one more than the compiler can encode), else 255.
pub(crate) fn accepted_registers_per_thread(limits: &SmLimits) -> u32 {
    if limits.capability.major >= 7 { 256 } else { 255 }
}

/// Registers of a warp, rounded up to the allocation unit.
pub(crate) fn registers_per_warp(limits: &SmLimits, per_thread: u32) -> u32 {
    per_thread
        .saturating_mul(SmLimits::WARP_SIZE)
        .checked_next_multiple_of(limits.register_allocation_unit)
        .unwrap_or(u32::MAX)
}

/// Warps of a block as the launch check counts them: rounded up so that each sub-partition takes the same share.
///
/// Four sub-partitions everywhere, 6.0 with its two included: a kernel for 6.0 must run on every Pascal.
pub(crate) fn warps_checked_at_launch(warps_per_block: u32) -> u32 {
    warps_per_block.next_multiple_of(4)
}

/// The register ceiling and the caching mode that is left.
fn registers_ceiling(
    limits: &SmLimits,
    shape: &Shape,
    per_warp: u32,
    warps_per_block: u32,
) -> (Option<u32>, PartitionedCaching) {
    let asked = if limits.partitioned_caching { shape.partitioned_caching } else { PartitionedCaching::Off };
    if per_warp == 0 {
        return (None, asked);
    }
    let at_launch = per_warp.saturating_mul(warps_checked_at_launch(warps_per_block));
    if at_launch > limits.registers_per_block || shape.registers_per_thread > accepted_registers_per_thread(limits) {
        return (Some(0), asked);
    }
    let warps_per_sub_partition = limits.registers_per_sm / limits.sub_partitions / per_warp;
    if asked != PartitionedCaching::Off {
        // Half of the sub-partitions serve a block, and a block stays in its half.
        let fit = 2 * (warps_per_sub_partition * (limits.sub_partitions / 2) / warps_per_block);
        if fit > 0 || asked == PartitionedCaching::Strict {
            return (Some(fit), asked);
        }
    }
    (Some(warps_per_sub_partition * limits.sub_partitions / warps_per_block), PartitionedCaching::Off)
}

fn warps_ceiling(limits: &SmLimits, threads: u32, warps_per_block: u32, caching: PartitionedCaching) -> u32 {
    if threads > limits.max_threads_per_block {
        0
    } else if caching == PartitionedCaching::Off {
        limits.max_warps_per_sm() / warps_per_block
    } else {
        2 * (limits.max_warps_per_sm() / 2 / warps_per_block)
    }
}

fn pool_ceiling(pool: Option<u32>, asked: u32) -> Option<u32> {
    pool?.checked_div(asked)
}

/// What shared memory allows.
pub(crate) struct SharedMemory {
    pub(crate) per_block: u32,
    pub(crate) pool: u32,
    pub(crate) cap: u32,
    pub(crate) ceiling: Option<u32>,
}

/// Shared memory of a block, the pool it comes from, and how many blocks that makes.
pub(crate) fn shared_memory(limits: &SmLimits, shape: &Shape) -> Result<SharedMemory, InvalidShape> {
    let reserved = u64::from(limits.shared_reserved_per_block);
    let total = u64::from(shape.shared_static) + u64::from(shape.shared_dynamic) + reserved;
    let per_block = u32::try_from(total.next_multiple_of(u64::from(limits.shared_allocation_unit))).unwrap_or(u32::MAX);
    let without_reserve = if shape.shared_opt_in { limits.shared_per_block_optin } else { limits.shared_per_block };
    let cap = without_reserve + limits.shared_reserved_per_block;
    let pool = shared_pool(limits, shape.carveout, per_block)?;
    let ceiling = match per_block {
        0 => None,
        over if over > cap => Some(0),
        size => Some(pool / size),
    };
    Ok(SharedMemory { per_block, pool, cap, ceiling })
}

/// The shared memory the SM is set to: the preferred carve-out, or the smallest that takes one block.
fn shared_pool(limits: &SmLimits, carveout: Carveout, per_block: u32) -> Result<u32, InvalidShape> {
    let Some(largest) = limits.carveouts.last().copied() else {
        return Ok(limits.shared_per_sm);
    };
    let preferred = match carveout {
        Carveout::Default => limits.shared_per_sm,
        Carveout::Percent(found) if found > 100 => return Err(InvalidShape::CarveoutPercent { found }),
        // 100 * 328 KiB stays below 2^32.
        Carveout::Percent(percent) => limits.shared_per_sm * percent / 100,
        Carveout::Bytes(found) if found > largest => return Err(InvalidShape::CarveoutSize { found, largest }),
        Carveout::Bytes(bytes) => bytes,
    };
    let snapped = snap_up(&limits.carveouts, preferred).unwrap_or(largest);
    if snapped >= per_block { Ok(snapped) } else { Ok(snap_up(&limits.carveouts, per_block).unwrap_or(largest)) }
}

fn snap_up(sizes: &[u32], wanted: u32) -> Option<u32> {
    sizes.iter().copied().find(|size| *size >= wanted)
}
