//! Why a shape cannot launch: every check that fails, with both sides in numbers. Not for: what would fit instead.

use std::fmt;

use occupant_hardware::SmLimits;

use crate::axis::BARRIERS_OF_A_BLOCK;
use crate::rules::{accepted_registers_per_thread, registers_per_warp, shared_memory, warps_checked_at_launch};
use crate::shape::Shape;

/// One check that fails. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// More threads than a block may have.
    ThreadsPerBlock {
        /// Threads asked for.
        asked: u32,
        /// Threads allowed.
        allowed: u32,
    },
    /// More registers than a thread can have.
    RegistersPerThread {
        /// Registers asked for.
        asked: u32,
        /// Registers allowed.
        allowed: u32,
    },
    /// The block's registers exceed what a block may take.
    RegistersPerBlock {
        /// Registers per thread after rounding.
        per_thread: u32,
        /// Warps after rounding up to whole sub-partitions.
        warps: u32,
        /// Registers the launch check counts.
        needed: u64,
        /// Registers allowed.
        allowed: u32,
    },
    /// More shared memory than a block may take, even opted in.
    SharedPerBlock {
        /// Bytes needed with reserve and rounding.
        needed: u64,
        /// Bytes allowed with reserve.
        allowed: u32,
        /// The system's reserve in both numbers.
        reserved: u32,
    },
    /// The block would fit had the host opted in.
    SharedWithoutOptIn {
        /// Static and dynamic bytes.
        asked: u64,
        /// Bytes allowed without opt-in.
        allowed: u32,
    },
    /// More barriers than a block can name. NVIDIA's header has no such rule: instructions have four bits for the number.
    BarriersPerBlock {
        /// Barriers asked for.
        asked: u32,
    },
    /// More barriers than the SM has.
    Barriers {
        /// Barriers asked for.
        asked: u32,
        /// Barriers of the SM.
        allowed: u32,
    },
    /// More virtual resources than the SM has.
    VirtualResources {
        /// Resources asked for.
        asked: u32,
        /// Resources of the SM.
        allowed: u32,
    },
    /// More tensor-memory columns than the SM has, 0 where it has no tensor memory.
    TensorMemory {
        /// Columns asked for.
        asked: u32,
        /// Columns of the SM.
        allowed: u32,
    },
    /// Strict partitioned caching leaves half an SM, and the block needs more.
    PartitionedCaching,
}

impl Refusal {
    /// A stable identifier for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ThreadsPerBlock { .. } => "threads_per_block",
            Self::RegistersPerThread { .. } => "registers_per_thread",
            Self::RegistersPerBlock { .. } => "registers_per_block",
            Self::SharedPerBlock { .. } => "shared_per_block",
            Self::SharedWithoutOptIn { .. } => "shared_without_opt_in",
            Self::BarriersPerBlock { .. } => "barriers_per_block",
            Self::Barriers { .. } => "barriers",
            Self::VirtualResources { .. } => "virtual_resources",
            Self::TensorMemory { .. } => "tensor_memory",
            Self::PartitionedCaching => "partitioned_caching",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ThreadsPerBlock { asked, allowed } => {
                write!(f, "{asked} threads per block, {allowed} allowed")
            }
            Self::RegistersPerThread { asked, allowed } => {
                write!(f, "{asked} registers per thread, {allowed} allowed")
            }
            Self::RegistersPerBlock { per_thread, warps, needed, allowed } => write!(
                f,
                "a block needs {needed} registers ({per_thread} per thread x {warps} warps x 32, rounded as the launch \
                 check rounds them), {allowed} allowed"
            ),
            Self::SharedPerBlock { needed, allowed, reserved: 0 } => {
                write!(f, "a block needs {needed} B of shared memory, {allowed} B allowed")
            }
            Self::SharedPerBlock { needed, allowed, reserved } => write!(
                f,
                "a block needs {needed} B of shared memory, {allowed} B allowed (both with {reserved} B of system reserve)"
            ),
            Self::SharedWithoutOptIn { asked, allowed } => write!(
                f,
                "a block asks for {asked} B of shared memory, {allowed} B allowed unless the host opts in to more"
            ),
            Self::BarriersPerBlock { asked } => {
                write!(f, "a block needs {asked} named barriers, it can name {BARRIERS_OF_A_BLOCK}")
            }
            Self::Barriers { asked, allowed } => write!(f, "a block needs {asked} named barriers, an SM has {allowed}"),
            Self::VirtualResources { asked, allowed } => {
                write!(f, "a block needs {asked} virtual resources, an SM has {allowed}")
            }
            Self::TensorMemory { asked, allowed: 0 } => {
                write!(f, "a block needs {asked} tensor-memory columns, this architecture has no tensor memory")
            }
            Self::TensorMemory { asked, allowed } => {
                write!(f, "a block needs {asked} tensor-memory columns, an SM has {allowed}")
            }
            Self::PartitionedCaching => {
                f.write_str("strict partitioned caching leaves a block half of the SM, and it needs more")
            }
        }
    }
}

/// Every reason why `shape` cannot launch; empty where it can.
#[must_use]
pub fn refusals(limits: &SmLimits, shape: &Shape) -> Vec<Refusal> {
    let mut found = Vec::new();
    if shape.threads_per_block > limits.max_threads_per_block {
        found.push(Refusal::ThreadsPerBlock { asked: shape.threads_per_block, allowed: limits.max_threads_per_block });
    }
    if shape.barriers > BARRIERS_OF_A_BLOCK {
        found.push(Refusal::BarriersPerBlock { asked: shape.barriers });
    }
    found.extend(registers(limits, shape));
    found.extend(shared(limits, shape));
    let pools = [
        (shape.barriers, limits.barriers_per_sm),
        (shape.virtual_resources, limits.virtual_resources_per_sm),
        (shape.tensor_columns, Some(limits.tensor_memory_columns.unwrap_or(0))),
    ];
    for (index, (asked, pool)) in pools.into_iter().enumerate() {
        match pool {
            Some(allowed) if asked > allowed => found.push(match index {
                0 => Refusal::Barriers { asked, allowed },
                1 => Refusal::VirtualResources { asked, allowed },
                _ => Refusal::TensorMemory { asked, allowed },
            }),
            _ => {}
        }
    }
    let fits = crate::occupancy(limits, shape).is_ok_and(|answer| answer.blocks_per_sm > 0);
    if found.is_empty() && !fits {
        found.push(Refusal::PartitionedCaching);
    }
    found
}

fn registers(limits: &SmLimits, shape: &Shape) -> Option<Refusal> {
    let allowed = accepted_registers_per_thread(limits);
    if shape.registers_per_thread > allowed {
        return Some(Refusal::RegistersPerThread { asked: shape.registers_per_thread, allowed });
    }
    let per_warp = registers_per_warp(limits, shape.registers_per_thread);
    let warps = warps_checked_at_launch(shape.threads_per_block.div_ceil(SmLimits::WARP_SIZE));
    let needed = u64::from(per_warp) * u64::from(warps);
    (needed > u64::from(limits.registers_per_block)).then_some(Refusal::RegistersPerBlock {
        per_thread: per_warp / SmLimits::WARP_SIZE,
        warps,
        needed,
        allowed: limits.registers_per_block,
    })
}

fn shared(limits: &SmLimits, shape: &Shape) -> Option<Refusal> {
    let shared = shared_memory(limits, shape).ok()?;
    if shared.per_block <= shared.cap {
        return None;
    }
    let reserved = limits.shared_reserved_per_block;
    let asked = u64::from(shape.shared_static) + u64::from(shape.shared_dynamic);
    let needed = (asked + u64::from(reserved)).next_multiple_of(u64::from(limits.shared_allocation_unit));
    let allowed = limits.shared_per_block_optin + reserved;
    if needed <= u64::from(allowed) {
        return Some(Refusal::SharedWithoutOptIn { asked, allowed: limits.shared_per_block });
    }
    Some(Refusal::SharedPerBlock { needed, allowed, reserved })
}
