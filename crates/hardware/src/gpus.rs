//! GPU models: which capability, how many SMs, clocks, memory. One row a model in `data/gpus.csv`.
//!
//! Not for: finding a model by what a person typed; that is [`crate::GpuSelector`].

use std::sync::LazyLock;

use serde::Deserialize;

use crate::provenance::Confidence;
use crate::table::{rows, words};
use crate::{Architecture, ComputeCapability};

/// One GPU model. `None` means not known.
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    /// Canonical name, lower case, e.g. `h100-sxm`.
    pub id: String,
    /// Marketing name.
    pub name: String,
    /// Family names that several models share, e.g. `h100`.
    pub variant_of: Vec<String>,
    /// Other names of exactly this model.
    pub aliases: Vec<String>,
    /// Architecture generation, e.g. `Hopper`.
    pub generation: String,
    /// Die, e.g. `GH100`.
    pub die: String,
    /// Compute capability.
    pub capability: ComputeCapability,
    /// Enabled multiprocessors, where known.
    pub sm_count: Option<u32>,
    /// Boost clock in MHz.
    pub boost_mhz: Option<u32>,
    /// Base clock in MHz.
    pub base_mhz: Option<u32>,
    /// Memory kind, e.g. `HBM3`.
    pub memory_type: String,
    /// Memory size in GB.
    pub memory_gb: Option<f64>,
    /// Memory bandwidth in GB/s (10^9 bytes), by specification.
    pub memory_gb_per_s: Option<f64>,
    /// L2 cache in MB.
    pub l2_mb: Option<f64>,
    /// FP32 lanes of an SM.
    pub fp32_lanes_per_sm: Option<u32>,
    /// FP64 lanes of an SM.
    pub fp64_lanes_per_sm: Option<u32>,
    /// Dense FP16 tensor throughput in TFLOP/s; 0 on parts without tensor cores.
    pub tensor_fp16_dense_tflops: Option<f64>,
    /// Form factor or bus.
    pub form_factor: String,
    /// Where the row comes from.
    pub source: String,
    /// How far to trust it.
    pub confidence: Confidence,
    /// Doubts and conflicts.
    pub note: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    name: String,
    #[serde(deserialize_with = "words")]
    variant_of: Vec<String>,
    #[serde(deserialize_with = "words")]
    aliases: Vec<String>,
    generation: String,
    die: String,
    compute_capability: String,
    sm_count: Option<u32>,
    boost_mhz: Option<u32>,
    base_mhz: Option<u32>,
    memory_type: String,
    memory_gb: Option<f64>,
    memory_gb_per_s: Option<f64>,
    l2_mb: Option<f64>,
    fp32_lanes_per_sm: Option<u32>,
    fp64_lanes_per_sm: Option<u32>,
    tensor_fp16_dense_tflops: Option<f64>,
    form_factor: String,
    source: String,
    confidence: Confidence,
    note: Option<String>,
}

impl From<Row> for Gpu {
    fn from(row: Row) -> Self {
        let architecture: Architecture = row.compute_capability.parse().expect("a capability such as 9.0");
        Self {
            id: row.id,
            name: row.name,
            variant_of: row.variant_of,
            aliases: row.aliases,
            generation: row.generation,
            die: row.die,
            capability: architecture.capability,
            sm_count: row.sm_count,
            boost_mhz: row.boost_mhz,
            base_mhz: row.base_mhz,
            memory_type: row.memory_type,
            memory_gb: row.memory_gb,
            memory_gb_per_s: row.memory_gb_per_s,
            l2_mb: row.l2_mb,
            fp32_lanes_per_sm: row.fp32_lanes_per_sm,
            fp64_lanes_per_sm: row.fp64_lanes_per_sm,
            tensor_fp16_dense_tflops: row.tensor_fp16_dense_tflops,
            form_factor: row.form_factor,
            source: row.source,
            confidence: row.confidence,
            note: row.note,
        }
    }
}

/// Every model, by compute capability and in file order within one.
#[must_use]
pub fn gpus() -> &'static [Gpu] {
    static GPUS: LazyLock<Vec<Gpu>> = LazyLock::new(|| {
        let rows = rows::<Row>("gpus.csv", include_str!("../data/gpus.csv"));
        let mut gpus: Vec<Gpu> = rows.into_iter().map(Gpu::from).collect();
        gpus.sort_by_key(|gpu| gpu.capability);
        gpus
    });
    &GPUS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rules, limit_rows};

    #[test]
    fn every_model_has_limits_and_plausible_numbers() {
        let known: Vec<_> = limit_rows(Rules::default()).iter().map(|row| row.capability).collect();
        assert!(gpus().len() >= 140, "{}", gpus().len());
        for gpu in gpus() {
            assert!(known.contains(&gpu.capability), "{} has capability {}", gpu.id, gpu.capability);
            assert!(gpu.sm_count.is_none_or(|sms| (1..=192).contains(&sms)), "{}: {:?} SMs", gpu.id, gpu.sm_count);
            assert!(gpu.boost_mhz.is_none_or(|mhz| (500..=3500).contains(&mhz)), "{}", gpu.id);
            assert!(gpu.boost_mhz >= gpu.base_mhz, "{}", gpu.id);
            assert!(gpu.memory_gb_per_s.is_none_or(|rate| (20.0..=9000.0).contains(&rate)), "{}", gpu.id);
            assert!(gpu.l2_mb.is_none_or(|mb| (0.25..=130.0).contains(&mb)), "{}", gpu.id);
            assert!(!gpu.source.is_empty(), "{}", gpu.id);
        }
    }

    #[test]
    fn a_row_reads_as_printed_by_the_vendor() {
        let h100 = gpus().iter().find(|gpu| gpu.id == "h100-sxm").expect("h100-sxm is listed");
        assert_eq!((h100.sm_count, h100.capability), (Some(132), ComputeCapability::new(9, 0)));
        assert_eq!(h100.memory_type, "HBM3");
    }
}
