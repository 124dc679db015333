//! What `occupant sweep` answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CalcInput, GpuName, KernelName};

/// The occupancy of a shape along one axis.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepReport {
    /// `occupant.sweep.v1`.
    pub schema: &'static str,
    /// `registers`, `block`, `shared` (static and dynamic) or `barriers`.
    pub axis: &'static str,
    /// `registers per thread`, `threads`, `bytes` or `barriers`.
    pub unit: &'static str,
    /// One staircase a shape and GPU.
    pub sweeps: Vec<SweepRecord>,
    /// What a reader should know about this answer.
    pub notes: Vec<String>,
}

/// One staircase.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SweepRecord {
    /// The GPU.
    pub gpu: GpuName,
    /// The kernel that the shape was read from; `null` for a shape given by numbers.
    pub kernel: Option<KernelName>,
    /// The shape; its amount on the axis is the current one.
    pub input: CalcInput,
    /// Warp slots of the SM.
    pub max_warps_per_sm: u32,
    /// The point where the shape is now; `null` where its amount was not given.
    pub current: Option<PointRecord>,
    /// The steps, ascending. Together they cover the axis.
    pub steps: Vec<StairRecord>,
}

/// A point of a staircase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PointRecord {
    /// The amount.
    pub value: u32,
    /// Blocks per SM.
    pub blocks_per_sm: u32,
    /// Warps per SM.
    pub warps_per_sm: u32,
    /// Occupancy, 0 to 100.
    pub percent: f64,
}

/// One step: neighbouring amounts with the same answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StairRecord {
    /// Smallest amount.
    pub from: u32,
    /// Largest amount.
    pub to: u32,
    /// Blocks per SM; 0 where the shape can't launch.
    pub blocks_per_sm: u32,
    /// Warps per SM.
    pub warps_per_sm: u32,
    /// Occupancy, 0 to 100.
    pub percent: f64,
    /// Ceilings equal to the minimum.
    pub limiters: Vec<&'static str>,
}
