//! Occupancy as reported: shared by every command that answers HAVE.

use occupant_occupancy::{Ceilings, Occupancy, Requirement};
use schemars::JsonSchema;
use serde::Serialize;

/// The GPU that an answer is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GpuName {
    /// Model, family, or an architecture such as `sm_90`.
    pub name: String,
    /// e.g. `9.0`.
    pub compute_capability: String,
}

/// What an occupancy rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The launch is known.
    Exact,
    /// The largest that any launch which the binary allows can have.
    UpperBound,
    /// At an assumed block size.
    Hypothetical,
}

/// Theoretical occupancy of one SM.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OccupancyRecord {
    /// What it rests on.
    pub basis: Basis,
    /// Resident blocks.
    pub blocks_per_sm: u32,
    /// Resident warps.
    pub warps_per_sm: u32,
    /// Warp slots of the SM.
    pub max_warps_per_sm: u32,
    /// Resident warps of the slots, 0 to 100, two decimals.
    pub percent: f64,
    /// Names of the ceilings that are equal to the minimum.
    pub limiters: Vec<&'static str>,
    /// What each resource allows, in blocks.
    pub ceilings: CeilingsRecord,
    /// What a block is given after rounding.
    pub allocated: AllocatedRecord,
}

/// Blocks per SM that each resource allows; `null` where it does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CeilingsRecord {
    /// Warp slots.
    pub warps: u32,
    /// Block slots.
    pub blocks: u32,
    /// Register file.
    pub registers: Option<u32>,
    /// Shared memory.
    pub shared_memory: Option<u32>,
    /// Named barriers (9.0 and later).
    pub barriers: Option<u32>,
    /// Virtual resources (10.0 and later), a launch-time limit.
    pub virtual_resources: Option<u32>,
    /// Tensor-memory columns; shown, does not lower the blocks per SM.
    pub tensor_memory: Option<u32>,
}

/// What one block is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AllocatedRecord {
    /// Registers of a thread after rounding.
    pub registers_per_thread: u32,
    /// Registers of a block.
    pub registers_per_block: u32,
    /// Shared memory of a block in bytes, with the system's reserve.
    pub shared_per_block: u32,
    /// Shared memory in bytes that the SM's blocks divide between them.
    pub shared_pool: u32,
}

/// What the host must set for the launch to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequirementRecord {
    /// Name in the runtime API.
    pub attribute: &'static str,
    /// Value to set.
    pub value: u32,
    /// Why.
    pub reason: String,
}

impl OccupancyRecord {
    /// The record of an answer of the engine.
    #[must_use]
    pub fn new(basis: Basis, occupancy: &Occupancy) -> Self {
        Self {
            basis,
            blocks_per_sm: occupancy.blocks_per_sm,
            warps_per_sm: occupancy.warps_per_sm(),
            max_warps_per_sm: occupancy.max_warps_per_sm,
            percent: two_decimals(occupancy.percent()),
            limiters: occupancy.limiters().iter().map(|resource| resource.name()).collect(),
            ceilings: CeilingsRecord::from(occupancy.ceilings),
            allocated: AllocatedRecord {
                registers_per_thread: occupancy.allocated.registers_per_thread,
                registers_per_block: occupancy.allocated.registers_per_block,
                shared_per_block: occupancy.allocated.shared_per_block,
                shared_pool: occupancy.allocated.shared_pool,
            },
        }
    }
}

impl OccupancyRecord {
    /// The same for a launch that is refused by a check outside the ceilings: no block becomes resident.
    #[must_use]
    pub fn refused(self) -> Self {
        let limiters = if self.blocks_per_sm == 0 { self.limiters } else { Vec::new() };
        Self { blocks_per_sm: 0, warps_per_sm: 0, percent: 0.0, limiters, ..self }
    }
}

impl CeilingsRecord {
    /// The smallest that bounds residency: all but tensor memory.
    #[must_use]
    pub fn smallest(&self) -> u32 {
        let others = [self.registers, self.shared_memory, self.barriers, self.virtual_resources];
        others.into_iter().flatten().fold(self.warps.min(self.blocks), u32::min)
    }
}

impl From<Ceilings> for CeilingsRecord {
    fn from(ceilings: Ceilings) -> Self {
        Self {
            warps: ceilings.warps,
            blocks: ceilings.blocks,
            registers: ceilings.registers,
            shared_memory: ceilings.shared_memory,
            barriers: ceilings.barriers,
            virtual_resources: ceilings.virtual_resources,
            tensor_memory: ceilings.tensor_memory,
        }
    }
}

impl From<&Requirement> for RequirementRecord {
    fn from(requirement: &Requirement) -> Self {
        Self { attribute: requirement.attribute(), value: requirement.value(), reason: requirement.reason() }
    }
}

/// Floats in reports have two decimals, so that output is the same everywhere.
pub(crate) fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
