//! What `occupant gpus` answers: the fact tables with their sources.

use schemars::JsonSchema;
use serde::Serialize;

/// GPU models and the limits of their SMs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GpusReport {
    /// `occupant.gpus.v1`.
    pub schema: &'static str,
    /// Models.
    pub gpus: Vec<GpuRow>,
    /// SM limits of every compute capability among them.
    pub compute_capabilities: Vec<LimitsRow>,
}

/// One model as a line of jsonl.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GpuLine<'a> {
    /// `occupant.gpu.v1`.
    pub schema: &'static str,
    /// The model.
    #[serde(flatten)]
    pub gpu: &'a GpuRow,
}

/// One model. `null` means not known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GpuRow {
    /// Canonical name.
    pub id: String,
    /// Marketing name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Family names shared with other models.
    pub variant_of: Vec<String>,
    /// Architecture generation.
    pub generation: String,
    /// Die.
    pub die: String,
    /// Compute capability.
    pub compute_capability: String,
    /// Multiprocessors.
    pub sm_count: Option<u32>,
    /// MHz.
    pub boost_mhz: Option<u32>,
    /// MHz.
    pub base_mhz: Option<u32>,
    /// e.g. `HBM3`.
    pub memory_type: String,
    /// GB.
    pub memory_gb: Option<f64>,
    /// GB/s.
    pub memory_gb_per_s: Option<f64>,
    /// MB.
    pub l2_mb: Option<f64>,
    /// FP32 lanes.
    pub fp32_lanes_per_sm: Option<u32>,
    /// FP64 lanes.
    pub fp64_lanes_per_sm: Option<u32>,
    /// Dense FP16 tensor TFLOP/s.
    pub tensor_fp16_dense_tflops: Option<f64>,
    /// Form factor or bus.
    pub form_factor: String,
    /// Memory latencies, where known.
    pub latency: Option<LatencyRow>,
    /// `documented`, `secondary` or `uncertain`.
    pub confidence: String,
    /// Where the row comes from.
    pub source: String,
    /// Doubts and conflicts.
    pub note: Option<String>,
}

/// Unloaded memory latencies of a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencyRow {
    /// SM clock of the measurement, MHz.
    pub clock_mhz: Option<f64>,
    /// Cycles.
    pub l1_cycles: Option<f64>,
    /// Cycles.
    pub l2_near_cycles: Option<f64>,
    /// Cycles.
    pub l2_far_cycles: Option<f64>,
    /// Cycles.
    pub dram_cycles: Option<f64>,
    /// Nanoseconds.
    pub dram_ns: Option<f64>,
    /// Where they come from.
    pub origin: Origin,
}

/// Limits of one SM. Sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LimitsRow {
    /// e.g. `9.0`.
    pub compute_capability: String,
    /// Threads per block.
    pub max_threads_per_block: u32,
    /// Resident threads.
    pub max_threads_per_sm: u32,
    /// Resident warps.
    pub max_warps_per_sm: u32,
    /// Resident blocks.
    pub max_blocks_per_sm: u32,
    /// Registers a block may take.
    pub registers_per_block: u32,
    /// Registers of the SM.
    pub registers_per_sm: u32,
    /// Registers of a thread.
    pub max_registers_per_thread: u32,
    /// Registers handed to a warp at a time.
    pub register_allocation_unit: u32,
    /// Warp schedulers.
    pub sub_partitions: u32,
    /// Shared memory of a block without opt-in.
    pub shared_per_block: u32,
    /// Shared memory of a block with opt-in.
    pub shared_per_block_optin: u32,
    /// Shared memory of the SM.
    pub shared_per_sm: u32,
    /// Shared memory the system takes from each block.
    pub shared_reserved_per_block: u32,
    /// Shared memory handed out at a time.
    pub shared_allocation_unit: u32,
    /// Sizes the shared memory can be set to; empty where fixed.
    pub carveouts: Vec<u32>,
    /// Named barriers; `null` where they bound nothing.
    pub barriers_per_sm: Option<u32>,
    /// Virtual resources; `null` where there are none.
    pub virtual_resources_per_sm: Option<u32>,
    /// Tensor-memory columns; `null` where there are none.
    pub tensor_memory_columns: Option<u32>,
    /// Thread block clusters exist.
    pub clusters: bool,
    /// Origin of the published limits.
    pub limits_from: Origin,
    /// Origin of units and pools.
    pub allocation_from: Origin,
}

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    /// `measured`, `documented` or `inferred`.
    pub basis: String,
    /// Document, project or command.
    pub source: String,
    /// Doubts and conflicts.
    pub note: Option<String>,
}
