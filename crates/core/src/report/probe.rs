//! What `occupant probe` answers: the plan of an occupancy experiment, or what its measurements say.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CalcInput, GpuName, OccupancyRecord};

/// A plan or a reading; the other one is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeReport {
    /// `occupant.probe.v1`.
    pub schema: &'static str,
    /// What to launch.
    pub plan: Option<ProbePlan>,
    /// What was measured, and what follows from it.
    pub reading: Option<ProbeReading>,
}

/// An experiment that lowers occupancy with dynamic shared memory that the kernel does not use.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbePlan {
    /// The GPU.
    pub gpu: GpuName,
    /// The kernel; `null` for a shape given by numbers.
    pub kernel: Option<ProbeKernel>,
    /// The shape as it is launched now.
    pub input: CalcInput,
    /// Its occupancy.
    pub occupancy: OccupancyRecord,
    /// One step a reachable occupancy, from now downwards.
    pub steps: Vec<ProbeStep>,
    /// Numbers of blocks between them that shared memory can't bring about.
    pub unreachable: Vec<ProbeGap>,
    /// Percent for `cudaFuncAttributePreferredSharedMemoryCarveout`, the same in every run; `null` where the split is fixed.
    pub carveout_percent: Option<u32>,
    /// Bytes of L1 that this leaves; `null` where that is not known.
    pub l1_bytes: Option<u32>,
    /// Lines of CUDA that launch a step; `bytes` stands for its `shared_dynamic`.
    pub code: Vec<String>,
    /// Commands that measure a step and read the results.
    pub commands: Vec<String>,
    /// What a reader should know about this plan.
    pub notes: Vec<String>,
}

/// The kernel of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbeKernel {
    /// The file as named.
    pub file: String,
    /// Mangled name; `null` where the file has none.
    pub name: Option<String>,
    /// Name for reading.
    pub demangled: String,
}

/// One occupancy of an experiment. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ProbeStep {
    /// Blocks per SM.
    pub blocks_per_sm: u32,
    /// Warps per SM.
    pub warps_per_sm: u32,
    /// Occupancy, 0 to 100.
    pub percent: f64,
    /// Dynamic shared memory to add to what is passed now: the least, in whole allocation units.
    pub shared_added: u32,
    /// Dynamic shared memory to pass.
    pub shared_dynamic: u32,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize` has to be set to it.
    pub opt_in: bool,
    /// The smallest carve-out that holds these blocks; `null` where shared memory is no part of L1.
    pub carveout: Option<u32>,
}

/// A number of blocks that shared memory can't bring about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbeGap {
    /// Blocks per SM.
    pub blocks_per_sm: u32,
    /// `above_limit`: a block would need more than it may take; `granularity`: no amount lies between.
    pub code: &'static str,
    /// Why.
    pub reason: String,
}

/// What the measurements of an experiment say.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeReading {
    /// The kernel, where the measurements name it.
    pub kernel: Option<String>,
    /// The GPU, where it is known.
    pub gpu: Option<GpuName>,
    /// What occupancy is told in: `warps`, `blocks` (per SM) or `percent`.
    pub axis: &'static str,
    /// The occupancies that were measured, the highest first.
    pub points: Vec<ProbePoint>,
    /// `flat`, `knee`, `rising` (the highest is fastest), `falling` (a lower one is faster); `null` where it can't be told.
    pub answer: Option<&'static str>,
    /// Whether raising occupancy can be expected to help: `not_expected`, `possible`, `full` (there is no more); `null`
    /// where it can't be told.
    pub raising_helps: Option<&'static str>,
    /// The sentence to read first.
    pub says: String,
    /// The least occupancy that is as fast as the best, on the axis.
    pub knee: Option<f64>,
    /// Percent that the lowest occupancy takes longer than the best.
    pub lowest_slower_percent: Option<f64>,
    /// Stable identifier of why it can't be told.
    pub reason_code: Option<&'static str>,
    /// What a reader should know about this answer.
    pub notes: Vec<String>,
}

/// One occupancy that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbePoint {
    /// Blocks per SM.
    pub blocks_per_sm: Option<u32>,
    /// Warps per SM.
    pub warps_per_sm: Option<u32>,
    /// Occupancy, 0 to 100.
    pub percent: Option<f64>,
    /// Dynamic shared memory of its launches, bytes, ascending.
    pub shared_dynamic: Vec<u32>,
    /// Measurements.
    pub runs: usize,
    /// Their median, nanoseconds.
    pub time_ns: f64,
    /// Where the spread of the repeats begins: the fastest, from 4 on their lower quartile.
    pub low_ns: f64,
    /// Where it ends: the slowest, from 4 on their upper quartile.
    pub high_ns: f64,
    /// Percent that it takes longer than the best.
    pub slower_percent: f64,
    /// No slower than the best: within 5 % of it, or within the repeats' spread.
    pub as_fast: bool,
}
