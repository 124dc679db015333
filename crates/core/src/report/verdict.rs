//! What `occupant verdict` answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::{BandRecord, Diagnostic, GpuName, NeedAnswer, NeededRecord, OccupancyRecord};

/// Every launch of the reports that were named.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictReport {
    /// `occupant.verdict.v1`.
    pub schema: &'static str,
    /// One record a launch, in the order of the reports.
    pub launches: Vec<VerdictRecord>,
    /// What could not be read, and what a reader should know.
    pub diagnostics: Vec<Diagnostic>,
}

/// One launch as a line of jsonl.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictLine<'a> {
    /// `occupant.verdict_launch.v1`.
    pub schema: &'static str,
    /// The launch.
    #[serde(flatten)]
    pub launch: &'a VerdictRecord,
}

/// The verdict on one launch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictRecord {
    /// The file as named.
    pub file: String,
    /// Number of the launch in the file, from 0.
    pub index: usize,
    /// Name for reading.
    pub kernel: String,
    /// Mangled name; `null` where the file has none.
    pub name: Option<String>,
    /// Kind of file: `ncu_report`, `csv_raw`, `csv_details`, `csv_summary`, `pytorch_trace`.
    pub flavour: &'static str,
    /// Version of the profiler.
    pub profiler: Option<String>,
    /// The GPU.
    pub gpu: Option<GpuName>,
    /// The launch's shape.
    pub launch: ProfiledLaunch,
    /// `throughput_bound`, `grid_too_small`, `imbalance`, `latency_bound_warps_help`, `latency_bound_other`, `enough_warps`,
    /// `cannot_tell`.
    pub verdict: &'static str,
    /// `yes`, `no`, `unknown`: whether a higher theoretical occupancy would make it faster.
    pub occupancy_would_help: &'static str,
    /// The sentence to read first.
    pub says: String,
    /// Everything else worth knowing, the most important first.
    pub findings: Vec<String>,
    /// The numbers that the verdict rests on.
    pub evidence: Vec<EvidenceRecord>,
    /// Flags of the profiler that would measure what is missing.
    pub missing: Vec<&'static str>,
    /// Theoretical occupancy by this project's engine; `null` where the shape is not known.
    pub have: Option<OccupancyRecord>,
    /// Needed warps by the model that the profile guides.
    pub need: Option<GuidedNeed>,
    /// Theoretical occupancy as the profiler has it.
    pub theoretical_percent: Option<f64>,
    /// Achieved occupancy.
    pub achieved_percent: Option<f64>,
    /// How busy units are, the busiest first.
    pub units: Vec<UnitRecord>,
    /// Why warps wait, the largest share first; empty where not measured.
    pub stalls: Vec<StallRecord>,
    /// Where it waits, by instruction; empty without samples and counts.
    pub waits: Vec<WaitRecord>,
    /// Position under the roofline.
    pub roofline: Option<RooflinePosition>,
    /// The step to the next block, where more warps help.
    pub step: Option<StepToNext>,
    /// The report's occupancy limits against this project's engine, where they differ.
    pub reconcile: Vec<ReconcileRecord>,
}

/// The shape of a profiled launch; `null` where not measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProfiledLaunch {
    /// Blocks along x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Threads of a block along x, y, z.
    pub block: Option<[u64; 3]>,
    /// Blocks.
    pub blocks: Option<u64>,
    /// Threads of a block.
    pub threads: Option<u64>,
    /// Registers of a thread.
    pub registers: Option<u64>,
    /// Static shared memory of a block, bytes.
    pub shared_static: Option<u64>,
    /// Dynamic shared memory of a block, bytes.
    pub shared_dynamic: Option<u64>,
    /// Blocks of a cluster; 0 without.
    pub cluster: Option<u64>,
    /// Waves of blocks.
    pub waves: Option<f64>,
    /// Time, nanoseconds.
    pub duration_ns: Option<f64>,
    /// Launches that this record stands for: more than 1 in summaries and traces.
    pub launches: u64,
}

/// A number with what it says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceRecord {
    /// The metric.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for plain numbers.
    pub unit: String,
    /// What it says here.
    pub says: String,
}

/// How busy a unit is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnitRecord {
    /// The unit, in words.
    pub unit: &'static str,
    /// Percent of its peak.
    pub percent: f64,
    /// Of the time in which the SM had warps; else of the whole launch.
    pub of_active: bool,
    /// Only a part of its work was measured.
    pub at_least: bool,
    /// The metric.
    pub metric: &'static str,
}

/// A reason that warps wait for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StallRecord {
    /// Its name in the profiler's metrics.
    pub reason: &'static str,
    /// Percent of the resident warps' time.
    pub percent: f64,
    /// What is waited for.
    pub waits_for: &'static str,
    /// What changes it.
    pub changes: &'static str,
    /// Whether more warps hide it; `null` for `selected` and `not_selected`, which are no waiting.
    pub warps_hide: Option<bool>,
}

/// An instruction that warps wait at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WaitRecord {
    /// Its offset in the kernel.
    pub offset: u32,
    /// Its mnemonic; empty where it is not known.
    pub instruction: String,
    /// The instruction whose result it waits for: offset and mnemonic.
    pub waits_for: Option<Producer>,
    /// `file:line` of the source, where the machine code was compiled with `-lineinfo` or `-G`.
    pub source: Option<String>,
    /// Percent of all samples.
    pub samples_percent: f64,
    /// The stall reason of most of them.
    pub reason: Option<&'static str>,
    /// Executions of a warp, on average.
    pub executions_per_warp: f64,
    /// Measured cycles of a visit; `null` where the instruction was not executed, as after the end of a warp.
    pub cycles_per_visit: Option<f64>,
    /// Cycles of a visit of one warp alone, unloaded, by the code's own timeline; `null` where that is not known.
    pub expected_cycles: Option<f64>,
    /// The likely cause of the difference.
    pub cause: Option<String>,
}

/// An instruction that another waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Producer {
    /// Its offset.
    pub offset: u32,
    /// Its mnemonic.
    pub instruction: String,
}

/// Needed warps of a profiled launch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GuidedNeed {
    /// As in `need`.
    pub answer: NeedAnswer,
    /// The sentence.
    pub says: String,
    /// The resource that is closest to its ceiling.
    pub binding: Option<&'static str>,
    /// Percent of the throughput that any number of warps would reach.
    pub target: f64,
    /// Warps for it, in whole blocks; extrapolated at unchanged hit rates.
    pub needed: Option<NeededRecord>,
    /// Warps between which the need lies.
    pub band: Option<BandRecord>,
    /// Warps that were resident, on average.
    pub have_warps: Option<f64>,
    /// Percent of that throughput at these warps, by the model.
    pub throughput_percent: Option<f64>,
    /// Cycles of one warp alone.
    pub one_warp_cycles: Option<f64>,
    /// How long a warp lived.
    pub lifetime: Option<LifetimeRecord>,
    /// How busy each resource is, the busiest first.
    pub resources: Vec<ResourceRecord>,
    /// `counts`: executions by instruction were measured; `sum`: only their sum.
    pub guided_by: Option<&'static str>,
    /// What the numbers rest on.
    pub assumptions: Vec<String>,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Its stable identifier.
    pub reason_code: Option<&'static str>,
}

/// A warp's lifetime, cycles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LifetimeRecord {
    /// As measured.
    pub measured: f64,
    /// By the model, at the measured warps.
    pub predicted: f64,
}

/// How busy a resource is, percent of its peak over the whole launch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ResourceRecord {
    /// The resource.
    pub resource: &'static str,
    /// As measured.
    pub measured_percent: f64,
    /// By the model, at the measured warps.
    pub predicted_percent: f64,
}

/// Position under the roofline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RooflinePosition {
    /// `fp32` or `fp64`.
    pub precision: &'static str,
    /// `memory` or `compute`: the roof above it.
    pub bound: &'static str,
    /// Operations per second, in units of 1e9.
    pub gflop_per_s: f64,
    /// The most at the measured clock.
    pub peak_gflop_per_s: f64,
    /// Bytes of DRAM per second, in units of 1e9.
    pub gb_per_s: f64,
    /// The most at the measured clock.
    pub peak_gb_per_s: f64,
    /// Operations for each byte.
    pub flop_per_byte: f64,
    /// Operations for each byte at which both roofs are equally low.
    pub ridge_flop_per_byte: f64,
    /// Percent of the roof above it.
    pub percent: f64,
}

/// The step to the next block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepToNext {
    /// Resources that limit the blocks now.
    pub limiters: Vec<&'static str>,
    /// Blocks of an SM now.
    pub blocks_per_sm: u32,
    /// Blocks after it; `null` where no single change makes room for one.
    pub then_blocks_per_sm: Option<u32>,
    /// In words.
    pub says: String,
}

/// A limit of the report that differs from this project's engine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReconcileRecord {
    /// What: `warps`, `blocks`, `registers`, `shared_memory`, `barriers`, `theoretical_percent`, `binary_registers`,
    /// `binary_shared`.
    pub what: &'static str,
    /// The report's value.
    pub report: f64,
    /// This project's.
    pub ours: f64,
    /// Why they differ; `null` where that is not known.
    pub explained: Option<String>,
}
