//! What `occupant fit` answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CalcInput, GpuName, KernelRecord, OccupancyRecord, RequirementRecord};

/// What must change for one shape to reach a number of blocks, and how far each step is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FitReport {
    /// `occupant.fit.v1`.
    pub schema: &'static str,
    /// The GPU.
    pub gpu: GpuName,
    /// The kernel that the shape was read from; `null` for a shape given by numbers.
    pub kernel: Option<KernelName>,
    /// The shape as understood; `null` where a kernel has no image for the GPU.
    pub input: Option<CalcInput>,
    /// The launch works now; `null` where that can't be known.
    pub launchable: Option<bool>,
    /// Why not.
    pub reason: Option<String>,
    /// What the host must set.
    pub requires: Vec<RequirementRecord>,
    /// The occupancy now.
    pub occupancy: Option<OccupancyRecord>,
    /// The blocks to reach.
    pub wanted: Option<Wanted>,
    /// Changes that reach them: fewest amounts first, then the smallest share given up. One without changes where they
    /// are resident already.
    pub solutions: Vec<SolutionRecord>,
    /// Why nothing reaches them.
    pub no_solution: Option<String>,
    /// How far the next step of each amount is, in both directions.
    pub steps: Vec<StepRecord>,
    /// Every block size with the most resident warps, registers and shared memory of a block as they are.
    pub best_blocks: Option<BestBlocks>,
    /// What a block may take, by the number of blocks that shall be resident.
    pub room: Vec<RoomRecord>,
    /// What a reader should know about this answer.
    pub notes: Vec<String>,
}

/// Several answers: shapes on several GPUs, or several kernels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FitMatrix {
    /// `occupant.fit_matrix.v1`.
    pub schema: &'static str,
    /// One answer a kernel and GPU.
    pub results: Vec<FitReport>,
}

/// A kernel of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KernelName {
    /// The file as named.
    pub file: Arc<str>,
    /// Place in the file; `null` where no image runs on the GPU.
    pub entry: Option<Arc<str>>,
    /// Path of the binary in the archives that `file` is; `null` where `file` is the binary itself.
    pub member: Option<Arc<str>>,
    /// Target of the image.
    pub arch: Option<String>,
    /// Mangled name.
    pub name: Arc<str>,
    /// Name for reading.
    pub demangled: Arc<str>,
}

impl From<&KernelRecord> for KernelName {
    fn from(kernel: &KernelRecord) -> Self {
        Self {
            file: Arc::clone(&kernel.file),
            entry: kernel.entry.clone(),
            member: kernel.member.clone(),
            arch: kernel.arch.clone(),
            name: Arc::clone(&kernel.name),
            demangled: Arc::clone(&kernel.demangled),
        }
    }
}

/// A number of blocks to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Wanted {
    /// Blocks per SM.
    pub blocks: u32,
    /// It was asked for; else it is one more than now.
    pub given: bool,
}

/// A value before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FromTo<T> {
    /// Now.
    pub from: T,
    /// After the change.
    pub to: T,
}

/// Amounts that change; those that stay are absent. Sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeRecord {
    /// Registers per thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<FromTo<u32>>,
    /// Threads per block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<FromTo<u32>>,
    /// Static shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_static: Option<FromTo<u32>>,
    /// Dynamic shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_dynamic: Option<FromTo<u32>>,
    /// Named barriers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barriers: Option<FromTo<u32>>,
    /// The carve-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carveout: Option<FromTo<String>>,
    /// Partitioned caching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitioned_caching: Option<FromTo<&'static str>>,
}

/// One way to reach the blocks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SolutionRecord {
    /// What changes. Empty where nothing has to.
    pub change: ChangeRecord,
    /// Blocks per SM then.
    pub blocks_per_sm: u32,
    /// Warps per SM then.
    pub warps_per_sm: u32,
    /// Occupancy then, 0 to 100.
    pub percent: f64,
    /// Shares of the amounts given up, added, in percent: what solutions are ranked by.
    pub given_up_percent: f64,
}

/// The next steps of one amount.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepRecord {
    /// `registers`, `block`, `shared` (static and dynamic) or `barriers`.
    pub axis: &'static str,
    /// `registers per thread`, `threads`, `bytes` or `barriers`.
    pub unit: &'static str,
    /// The amount now.
    pub value: u32,
    /// Blocks that its resource allows; `null` where it bounds nothing.
    pub ceiling: Option<u32>,
    /// The nearest smaller amount with a higher ceiling.
    pub ceiling_up: Option<EdgeRecord>,
    /// The nearest larger amount with a lower ceiling.
    pub ceiling_down: Option<EdgeRecord>,
    /// The nearest smaller amount with more blocks resident; `null` where this amount alone gains none.
    pub gain: Option<EdgeRecord>,
    /// The nearest larger amount with fewer blocks resident.
    pub loss: Option<EdgeRecord>,
    /// The largest amount that costs no block.
    pub free_to: u32,
}

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EdgeRecord {
    /// The amount.
    pub value: u32,
    /// The difference to now.
    pub change: i64,
    /// Blocks that the amount's own resource allows then.
    pub ceiling: Option<u32>,
    /// Blocks resident then.
    pub blocks_per_sm: u32,
    /// Warps resident then.
    pub warps_per_sm: u32,
}

/// The block sizes that fill an SM best.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BestBlocks {
    /// Warps resident with any of them.
    pub warps_per_sm: u32,
    /// Occupancy, 0 to 100.
    pub percent: f64,
    /// The sizes, largest first.
    pub sizes: Vec<BlockSizeRecord>,
}

/// A block size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockSizeRecord {
    /// Threads per block.
    pub block: u32,
    /// Blocks per SM.
    pub blocks_per_sm: u32,
}

/// What a minimum of blocks does to a kernel's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundEffect {
    /// The registers are within the cap: the bound costs nothing.
    Free,
    /// The compiler has to use fewer registers, and spills where it can't.
    Lowers,
    /// Something else allows fewer blocks: registers would be given away for nothing.
    Unreachable,
}

/// What a block may take for a number of blocks to be resident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoomRecord {
    /// The number of blocks.
    pub blocks: u32,
    /// Warps of that many blocks.
    pub warps: u32,
    /// Registers per thread, at most: what the compiler uses for `__launch_bounds__(block, blocks)`.
    pub register_cap: u32,
    /// What that cap does to this shape.
    pub effect: BoundEffect,
    /// Blocks that everything but registers allows.
    pub others_allow: u32,
    /// Dynamic shared memory, at most, static as it is; `null` where static alone is too much.
    pub shared_dynamic: Option<u32>,
    /// Pipeline stages in it, beside other dynamic shared memory; `null` without a tile size.
    pub stages: Option<u32>,
}
