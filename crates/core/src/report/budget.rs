//! What `occupant budget` answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::{GpuName, KernelName};

/// What becomes of `setmaxnreg` requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum BudgetVerdict {
    /// All can be met.
    #[serde(rename = "LEGAL")]
    Legal,
    /// A raise waits for registers that nobody gives back.
    #[serde(rename = "HANG RISK")]
    HangRisk,
    /// It depends on which warpgroups make which request, which the machine code does not say.
    #[serde(rename = "UNDECIDED")]
    Undecided,
    /// The compiler drops them, or the code has none.
    #[serde(rename = "IGNORED")]
    Ignored,
}

impl BudgetVerdict {
    /// The word in JSON and text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legal => "LEGAL",
            Self::HangRisk => "HANG RISK",
            Self::Undecided => "UNDECIDED",
            Self::Ignored => "IGNORED",
        }
    }
}

/// The register budget of a warp-specialised kernel.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BudgetReport {
    /// `occupant.budget.v1`.
    pub schema: &'static str,
    /// The GPU.
    pub gpu: GpuName,
    /// The kernel that the requests were read from; `null` for numbers.
    pub kernel: Option<KernelName>,
    /// The answer.
    pub verdict: BudgetVerdict,
    /// Registers per thread at launch; `null` where the compiler does not fix them.
    pub launch_registers: Option<u32>,
    /// Threads per block.
    pub threads: u32,
    /// Requests by warpgroup, registers per thread; `null` for one that makes none. Of a kernel: its distinct requests.
    pub requests: Vec<Option<u32>>,
    /// Registers of a block at launch.
    pub pool: Option<u64>,
    /// Registers of a block once all requests are met; of a kernel, in the costliest assignment to its warpgroups.
    pub requested: Option<u64>,
    /// The same in the cheapest assignment; `null` for numbers, which say who asks for what.
    pub requested_least: Option<u64>,
    /// Blocks per SM at the launch-time count, by registers, warps and block slots.
    pub blocks_per_sm: Option<u32>,
    /// Warpgroups that give and that take in the splits below.
    pub split_roles: Option<SplitRoles>,
    /// Splits that hold, registers per thread.
    pub legal_splits: Vec<SplitRecord>,
    /// Accumulators of the tile; `null` without one.
    pub accumulators: Option<AccumulatorRecord>,
    /// Why this verdict.
    pub reason: String,
    /// What a reader should know about this answer.
    pub notes: Vec<String>,
}

/// Several kernels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BudgetMatrix {
    /// `occupant.budget_matrix.v1`.
    pub schema: &'static str,
    /// One answer a kernel.
    pub results: Vec<BudgetReport>,
}

/// How many warpgroups give registers and how many take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SplitRoles {
    /// Those that give.
    pub giving: u32,
    /// Those that take.
    pub taking: u32,
}

/// A split of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SplitRecord {
    /// Registers per thread of each warpgroup that gives some back.
    pub gives: u32,
    /// Registers per thread of each warpgroup that takes more.
    pub takes: u32,
    /// Registers of the block then.
    pub requested: u64,
}

/// Registers that a tile's accumulators take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AccumulatorRecord {
    /// Rows and columns.
    pub tile: [u32; 2],
    /// `pingpong` or `cooperative`.
    pub schedule: &'static str,
    /// Registers per thread of a consumer warpgroup.
    pub registers: u64,
    /// What that means.
    pub says: String,
}
