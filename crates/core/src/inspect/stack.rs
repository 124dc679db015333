//! Whether the stacks of all resident threads stay in the L1 cache beside shared memory: a proposal, with its assumption.

use occupant_binary::Function;
use occupant_hardware::SmLimits;

use crate::report::{OccupancyRecord, SpillRecord, StackRecord};

/// The stacks of a kernel that spills, beside the L1 that its blocks leave.
pub(super) fn in_l1(
    function: &Function,
    spills: &SpillRecord,
    limits: Option<&SmLimits>,
    occupancy: Option<&OccupancyRecord>,
) -> Option<StackRecord> {
    let (limits, occupancy) = (limits?, occupancy?);
    let spilled = spills.store_bytes.unwrap_or(0) > 0 || spills.load_bytes.unwrap_or(0) > 0;
    let stack = function.stack.filter(|stack| spilled && *stack > 0 && occupancy.blocks_per_sm > 0)?;
    let shared = occupancy.blocks_per_sm.checked_mul(occupancy.allocated.shared_per_block)?;
    let carveout = limits.carveouts.iter().find(|size| **size >= shared)?;
    let l1_bytes = limits.unified_l1?.checked_sub(*carveout)?;
    let bytes_per_sm = occupancy.warps_per_sm.checked_mul(SmLimits::WARP_SIZE)?.checked_mul(stack)?;
    Some(StackRecord { bytes_per_sm, l1_bytes, fits: bytes_per_sm <= l1_bytes })
}

/// The proposal as a sentence.
pub(super) fn sentence(stack: &StackRecord) -> String {
    let kib = |bytes: u32| f64::from(bytes) / 1024.0;
    let StackRecord { bytes_per_sm, l1_bytes, fits } = stack;
    let so = if *fits { "its spills can stay in L1" } else { "its spills overflow into L2" };
    format!(
        "stacks of all resident threads take {:.1} KiB of an SM, {:.0} KiB of L1 are left if shared memory gets no more \
         than the blocks need: {so}",
        kib(*bytes_per_sm),
        kib(*l1_bytes)
    )
}
