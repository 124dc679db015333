//! What `occupant need` answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Diagnostic, GpuName, KernelRecord, Totals};

/// Kernels with the warps they have and need. Each record is that of `inspect` with `need` filled in.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NeedReport {
    /// `occupant.need.v1`.
    pub schema: &'static str,
    /// One record a kernel, image and GPU.
    pub kernels: Vec<KernelRecord>,
    /// What could not be read, and what a reader should know.
    pub diagnostics: Vec<Diagnostic>,
    /// Counts over everything that was found, listed or not.
    pub totals: Totals,
}

/// Whether a kernel has the warps that saturate the hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedAnswer {
    /// It has as many as it needs.
    Enough,
    /// It has fewer.
    Short,
    /// It needs more than an SM holds.
    CannotSaturate,
    /// No number: `reason` says why.
    NotModelled,
}

/// How far a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// A kind of kernel whose error was measured (docs/accuracy.md).
    Measured,
    /// The model alone.
    ModelOnly,
}

/// What of the code the numbers are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedScope {
    /// The whole kernel, which has no loop that works on data.
    Flat,
    /// One pass of its hot loop.
    Loop,
}

/// NEED against HAVE. Numbers are `null` where the kernel is not modelled.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NeedRecord {
    /// The answer.
    pub answer: NeedAnswer,
    /// The answer as a sentence.
    pub says: String,
    /// The resource that is busiest: `issue`, `fma`, `alu`, `half`, `fp64`, `xu`, `tensor`, `l1`, `l2` or `dram`.
    pub binding: Option<&'static str>,
    /// Where global accesses are taken to be served from: `dram` or `l2`.
    pub memory: Option<&'static str>,
    /// Latency times throughput by the bytes a warp keeps in flight: warps at the straight corner.
    pub littles_law_warps: Option<f64>,
    /// Share of the ceiling that is asked for, percent.
    pub target: f64,
    /// The smallest whole number of blocks that reaches it.
    pub needed: Option<NeededRecord>,
    /// Warps between which the need lies.
    pub band: Option<BandRecord>,
    /// Resident warps of the launch; `null` where its occupancy is not known.
    pub have_warps: Option<u32>,
    /// Share of the ceiling that those reach, percent.
    pub throughput_percent: Option<f64>,
    /// Cycles of one warp alone: its life with turnover (flat), or one pass (loop).
    pub one_warp_cycles: Option<f64>,
    /// Bytes that a warp has under way from global memory at once, at most.
    pub bytes_in_flight_per_warp: Option<u32>,
    /// Loads and asynchronous copies of global memory that a warp has under way at once, at most.
    pub loads_in_flight: Option<u32>,
    /// What of the code this is about.
    pub scope: Option<NeedScope>,
    /// The hot loop.
    #[serde(rename = "loop")]
    pub hot_loop: Option<NeedLoop>,
    /// Bytes of a warp that one pass or life moves, each sector once.
    pub bytes: Option<MovedRecord>,
    /// Loads of the path, and where the compiler waits before all are issued.
    pub early_wait: Option<EarlyWait>,
    /// Cycles of each resource that one pass or life of a warp takes of an SM, busiest first.
    pub demand: Vec<DemandRecord>,
    /// Little's law for the memory that binds; `null` where none does.
    pub littles_law: Option<LittlesLaw>,
    /// The other assumptions under which it was computed, with what they change.
    pub scenarios: Vec<ScenarioRecord>,
    /// Ways to reach the target where it is not reached; empty where it is.
    pub ways: Vec<WayRecord>,
    /// Share of the ceiling by resident warps, where asked for (`--curve`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Vec<CurvePoint>>,
    /// How far to trust it.
    pub validation: Option<Validation>,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// What would settle what is assumed.
    pub settle: Option<String>,
    /// Why there is no number: one line.
    pub reason: Option<String>,
    /// A stable name for that reason, to count by.
    pub reason_code: Option<&'static str>,
    /// What can be said all the same.
    pub partial: Option<PartialRecord>,
}

impl NeedRecord {
    /// What the launch has lies within what the kernel may need, so that the answer can be the other one.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let have = self.have_warps.map(f64::from);
        self.band.zip(have).is_some_and(|(band, have)| (band.low..=band.high).contains(&have))
    }
}

/// What a kernel keeps busy, by its name in JSON, as people call it.
#[must_use]
pub fn resource_words(name: &str) -> &str {
    match name {
        "issue" => "the issue slots",
        "fma" => "the FMA units",
        "alu" => "the integer units",
        "half" => "the FP16 units",
        "fp64" => "the FP64 units",
        "xu" => "the special-function units",
        "tensor" => "the tensor cores",
        "l1" => "L1 and shared memory bandwidth",
        "l2" => "L2 bandwidth",
        _ => "DRAM bandwidth",
    }
}

/// Needed warps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct NeededRecord {
    /// In whole blocks.
    pub warps: u32,
    /// Blocks of an SM.
    pub blocks: u32,
    /// Before rounding to whole blocks.
    pub exact_warps: f64,
}

/// A range of warps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BandRecord {
    /// Fewest.
    pub low: f64,
    /// Most; can be more than an SM holds.
    pub high: f64,
}

/// The loop that the numbers are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NeedLoop {
    /// Its place among the loops of the code, from 0.
    pub number: u32,
    /// Offset of its header.
    pub header: u32,
    /// Why it was chosen.
    pub because: &'static str,
    /// Instructions of one pass.
    pub instructions: u32,
}

/// Bytes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MovedRecord {
    /// Read.
    pub read: f64,
    /// Written.
    pub written: f64,
}

/// The compiler waits for a load before it has issued all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EarlyWait {
    /// Loads of the path.
    pub loads: u32,
    /// Of those, issued only after the wait.
    pub behind: u32,
    /// Offset of the instruction that waits.
    pub at: u32,
}

/// Cycles of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DemandRecord {
    /// Name of the resource.
    pub resource: &'static str,
    /// Cycles of an SM for one warp.
    pub cycles: f64,
    /// Share of the busiest, percent.
    pub percent: f64,
}

/// Latency times bandwidth, against what a warp keeps in flight.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LittlesLaw {
    /// Unloaded latency in nanoseconds.
    pub latency_ns: f64,
    /// What the reads of this stream can have of the memory, GB/s over all SMs.
    pub gb_per_s: f64,
    /// Where that ceiling comes from.
    pub ceiling: CeilingOrigin,
    /// Bytes in flight that an SM must hold for all of it by Little's law alone.
    pub bytes_per_sm: u32,
    /// For the target share, since memory systems saturate softly.
    pub bytes_per_sm_for_target: u32,
}

/// Where a bandwidth ceiling comes from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CeilingOrigin {
    /// `read`, `mixed` or `write`.
    pub stream: &'static str,
    /// A GPU model, a memory kind, or `*` for all others.
    pub scope: String,
    /// `measured` or `inferred`.
    pub basis: String,
    /// Citable source.
    pub source: String,
}

/// The need under another assumption.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioRecord {
    /// `dram` or `l2`.
    pub memory: &'static str,
    /// Accesses under a guard are executed.
    pub guarded_executed: bool,
    /// The busiest resource.
    pub binding: &'static str,
    /// Warps for the target, before rounding.
    pub needed_warps: f64,
}

/// One way to reach the target, with what it costs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WayRecord {
    /// `more_warps` or `more_in_flight`.
    pub way: &'static str,
    /// It can be done without giving up a block or more than the hardware has.
    pub possible: bool,
    /// Resident warps with it.
    pub warps: u32,
    /// Independent loads of a warp in flight with it, as a multiple of now.
    pub times_in_flight: f64,
    /// Registers per thread with it, at most (more warps) or about (more in flight); `null` where they don't matter.
    pub registers: Option<u32>,
    /// In words.
    pub says: String,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// Resident warps.
    pub warps: u32,
    /// Share of the ceiling, percent.
    pub percent: f64,
    /// At the upper end of the band of needed warps.
    pub low: f64,
    /// At its lower end.
    pub high: f64,
}

/// What can be said of a kernel that is not modelled: bytes in flight by its pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartialRecord {
    /// In words.
    pub says: String,
    /// Bytes that a block can have in flight.
    pub bytes_in_flight_per_block: u64,
    /// Where that comes from: `given`, `metadata` or `shared_memory` (no more than fits there).
    pub from: &'static str,
    /// Bytes that all resident blocks can have in flight; `null` without an occupancy.
    pub bytes_in_flight_per_sm: Option<u64>,
    /// Bytes in flight that an SM must hold for the target share of DRAM bandwidth.
    pub bytes_needed_per_sm: u64,
    /// Blocks that hold as many.
    pub needed_blocks: u64,
}

/// The same questions by numbers, for several GPUs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NeedNumbersMatrix {
    /// `occupant.need_numbers_matrix.v1`.
    pub schema: &'static str,
    /// One answer a GPU, in the order given.
    pub results: Vec<NeedNumbersReport>,
}

/// The same questions by numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NeedNumbersReport {
    /// `occupant.need_numbers.v1`.
    pub schema: &'static str,
    /// The GPU.
    pub gpu: GpuName,
    /// The answer as a sentence.
    pub says: String,
    /// Loads of some bytes.
    pub stream: Option<StreamNumbers>,
    /// Chains of operations.
    pub operation: Option<OperationNumbers>,
    /// The position under each roof.
    pub roofline: Option<RooflineNumbers>,
    /// What was assumed.
    pub assumptions: Vec<String>,
}

/// Warps that a stream of loads needs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamNumbers {
    /// Bytes that one load of a thread brings.
    pub bytes_per_thread: f64,
    /// Independent loads of a thread in flight.
    pub ilp: f64,
    /// `dram` or `l2`.
    pub memory: &'static str,
    /// Little's law.
    pub littles_law: LittlesLaw,
    /// Bytes that a warp keeps in flight.
    pub bytes_in_flight_per_warp: f64,
    /// Warps by Little's law alone.
    pub littles_law_warps: f64,
    /// Share of the ceiling that is asked for, percent.
    pub target: f64,
    /// Warps for it.
    pub needed_warps: f64,
    /// Warp slots of an SM.
    pub max_warps_per_sm: u32,
    /// For 1, 2, 4, … independent loads, the warps for the target.
    pub by_ilp: Vec<IlpRow>,
}

/// One number of independent operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct IlpRow {
    /// Independent loads or operations of a thread.
    pub ilp: u32,
    /// Warps that are needed.
    pub warps: f64,
    /// Registers per thread that hold what is loaded; `null` for operations.
    pub registers: Option<u32>,
}

/// Warps that hide the latency of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OperationNumbers {
    /// `ffma`, `dfma`, `mufu`, `hmma` or `lds`.
    pub operation: &'static str,
    /// Independent operations of a thread.
    pub ilp: f64,
    /// Cycles to a result.
    pub latency_cycles: f64,
    /// Operations of a warp that an SM takes per cycle.
    pub per_cycle: f64,
    /// Warps that keep the unit busy.
    pub needed_warps: f64,
    /// For 1, 2, 4, … independent operations.
    pub by_ilp: Vec<IlpRow>,
    /// Source of latency and rate.
    pub source: String,
}

/// A position under the roofline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RooflineNumbers {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes of DRAM.
    pub bytes: f64,
    /// Operations per byte.
    pub intensity: f64,
    /// DRAM bandwidth, GB/s: by specification.
    pub gb_per_s: f64,
    /// What streams reach of it, GB/s.
    pub reached_gb_per_s: f64,
    /// One roof for each kind of arithmetic.
    pub roofs: Vec<RoofRow>,
}

/// A roof.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct RoofRow {
    /// `fp32`, `fp64` or `fp16_tensor`.
    pub arithmetic: &'static str,
    /// Peak in GFLOP/s.
    pub peak_gflops: f64,
    /// Operations per byte at which memory and arithmetic take as long.
    pub ridge: f64,
    /// `memory` or `compute`.
    pub bound: &'static str,
    /// The most that it can reach, GFLOP/s.
    pub attainable_gflops: f64,
}
