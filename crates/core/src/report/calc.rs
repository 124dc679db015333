//! What `occupant calc` answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::{GpuName, OccupancyRecord, RequirementRecord};

/// One shape on one GPU.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalcReport {
    /// `occupant.calc.v1`.
    pub schema: &'static str,
    /// The GPU.
    pub gpu: GpuName,
    /// The shape as understood.
    pub input: CalcInput,
    /// The launch works: a block fits, and cluster and grid are allowed.
    pub launchable: bool,
    /// Why not, every failed check.
    pub reason: Option<String>,
    /// What the host must set.
    pub requires: Vec<RequirementRecord>,
    /// What the SM has, for each ceiling.
    pub sm: SmRecord,
    /// The answer.
    pub occupancy: OccupancyRecord,
    /// The textbook formula beside it, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<ByHandRecord>,
    /// What a reader should know about this answer.
    pub notes: Vec<String>,
}

/// What an SM has of each resource; `null` where the resource does not bound there. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SmRecord {
    /// Warp slots.
    pub warps: u32,
    /// Block slots.
    pub blocks: u32,
    /// Registers.
    pub registers: u32,
    /// Shared memory at the carve-out in force.
    pub shared_memory: u32,
    /// Named barriers.
    pub barriers: Option<u32>,
    /// Virtual resources.
    pub virtual_resources: Option<u32>,
    /// Tensor-memory columns.
    pub tensor_memory: Option<u32>,
}

/// One shape on several GPUs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatrixReport {
    /// `occupant.matrix.v1`.
    pub schema: &'static str,
    /// One answer a GPU, in the order given.
    pub results: Vec<CalcReport>,
}

/// A launch shape. Sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CalcInput {
    /// Registers per thread.
    pub registers: u32,
    /// Threads per block.
    pub block: u32,
    /// Static shared memory per block.
    pub shared_static: u32,
    /// Dynamic shared memory per block.
    pub shared_dynamic: u32,
    /// Named barriers per block.
    pub barriers: u32,
    /// Virtual resources per block.
    pub virtual_resources: u32,
    /// Tensor-memory columns per block; `null` where none were given.
    pub tensor_columns: Option<u32>,
    /// Blocks per cluster; `null` without clusters.
    pub cluster: Option<u32>,
    /// Blocks of the grid; `null` where not given.
    pub grid: Option<u64>,
    /// `default`, `max`, a percentage or bytes.
    pub carveout: String,
    /// `off`, `on` or `strict`.
    pub partitioned_caching: &'static str,
    /// Release of NVIDIA's rules.
    pub rules: &'static str,
}

/// The textbook formula, in warps per SM.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ByHandRecord {
    /// What it gives.
    pub warps_per_sm: f64,
    /// Its register term; `null` for 0 registers.
    pub registers: Option<f64>,
    /// Its shared-memory term; `null` where none is asked for.
    pub shared_memory: Option<f64>,
    /// Its warp-slot term.
    pub warps: f64,
    /// Its block-slot term.
    pub blocks: f64,
    /// The rules that it leaves out and that change the answer, in order.
    pub steps: Vec<ByHandStep>,
}

/// One rule that hand arithmetic leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ByHandStep {
    /// Its name.
    pub rounding: &'static str,
    /// Warps before it.
    pub from_warps: f64,
    /// Warps after it.
    pub to_warps: f64,
    /// It in this shape's numbers.
    pub says: String,
}
