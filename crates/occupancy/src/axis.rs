//! The amounts of a shape that people change: their values, and the shape with another value.
//!
//! For: everything that asks "what if": sweeps, steps, inverse queries. Not for: the answers; those are the engine's.

use occupant_hardware::SmLimits;

use crate::ceilings::{Ceilings, Resource};
use crate::shape::Shape;

/// Named barriers that a block can address. Source: PTX ISA, "Parallel Synchronization and Communication: barrier".
pub const BARRIERS_OF_A_BLOCK: u32 = 16;

/// An amount of a shape that can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// Registers per thread.
    Registers,
    /// Threads per block.
    Block,
    /// Static and dynamic shared memory together, bytes. Dynamic is changed first: it is the launch's to choose.
    Shared,
    /// Named barriers per block.
    Barriers,
}

impl Axis {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Registers, Self::Block, Self::Shared, Self::Barriers];

    /// The name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Block => "block",
            Self::Shared => "shared",
            Self::Barriers => "barriers",
        }
    }

    /// The resource whose ceiling follows this amount before all others.
    #[must_use]
    pub const fn resource(self) -> Resource {
        match self {
            Self::Registers => Resource::Registers,
            Self::Block => Resource::Warps,
            Self::Shared => Resource::SharedMemory,
            Self::Barriers => Resource::Barriers,
        }
    }

    /// The amount in `shape`.
    #[must_use]
    pub const fn value(self, shape: &Shape) -> u32 {
        match self {
            Self::Registers => shape.registers_per_thread,
            Self::Block => shape.threads_per_block,
            Self::Shared => shape.shared_static.saturating_add(shape.shared_dynamic),
            Self::Barriers => shape.barriers,
        }
    }

    /// `shape` with another amount. Shared memory under the static amount leaves no dynamic one.
    #[must_use]
    pub fn with(self, shape: &Shape, value: u32) -> Shape {
        match self {
            Self::Registers => Shape { registers_per_thread: value, ..*shape },
            Self::Block => Shape { threads_per_block: value, ..*shape },
            Self::Shared => {
                let shared_static = shape.shared_static.min(value);
                Shape { shared_static, shared_dynamic: value - shared_static, ..*shape }
            }
            Self::Barriers => Shape { barriers: value, ..*shape },
        }
    }

    /// What the axis' own resource allows, in blocks; the largest number where it bounds nothing.
    pub(crate) fn ceiling(self, ceilings: &Ceilings) -> u32 {
        ceilings.get(self.resource()).unwrap_or(u32::MAX)
    }

    /// The largest value of each allocation unit, ascending, up to what hardware and compilers take.
    ///
    /// All values after one of them and up to the next are given the same by the engine.
    #[must_use]
    pub fn unit_ends(self, limits: &SmLimits) -> Vec<u32> {
        let (first, unit, most) = match self {
            Self::Registers => {
                let unit = limits.register_allocation_unit / SmLimits::WARP_SIZE;
                (unit, unit, limits.max_registers_per_thread)
            }
            Self::Block => (SmLimits::WARP_SIZE, SmLimits::WARP_SIZE, limits.max_threads_per_block),
            Self::Shared => (0, limits.shared_allocation_unit, limits.shared_per_block_optin),
            Self::Barriers => (0, 1, BARRIERS_OF_A_BLOCK),
        };
        let whole = (first..=most).step_by(unit as usize);
        let last = (!(most - first).is_multiple_of(unit)).then_some(most);
        whole.chain(last).collect()
    }

    /// The smallest value of the axis.
    #[must_use]
    pub const fn least(self) -> u32 {
        match self {
            Self::Registers | Self::Block => 1,
            Self::Shared | Self::Barriers => 0,
        }
    }
}
