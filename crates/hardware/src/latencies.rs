//! How long a load takes from each level of memory, by GPU model. One row a model in `data/latencies.csv`.
//!
//! For: `gpus` today and the model of needed warps later. Not for: throughput; bandwidths stand with the models.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::provenance::{Basis, Provenance};
use crate::table::rows;

/// Unloaded load-to-use latencies of a GPU. Cycles are SM cycles at `clock_mhz`.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryLatency {
    /// Model, as in [`crate::Gpu::id`].
    pub gpu: String,
    /// SM clock of the measurement, MHz.
    pub clock_mhz: Option<f64>,
    /// L1 hit, cycles.
    pub l1_cycles: Option<f64>,
    /// L2 hit in the near partition, cycles.
    pub l2_near_cycles: Option<f64>,
    /// L2 hit in the far partition, cycles.
    pub l2_far_cycles: Option<f64>,
    /// DRAM, cycles.
    pub dram_cycles: Option<f64>,
    /// DRAM, nanoseconds.
    pub dram_ns: Option<f64>,
    /// Where the row comes from.
    pub provenance: Provenance,
}

#[derive(Deserialize)]
struct Row {
    gpu: String,
    clock_mhz: Option<f64>,
    l1_cycles: Option<f64>,
    l2_near_cycles: Option<f64>,
    l2_far_cycles: Option<f64>,
    dram_cycles: Option<f64>,
    dram_ns: Option<f64>,
    basis: Basis,
    source: String,
    note: Option<String>,
}

impl From<Row> for MemoryLatency {
    fn from(row: Row) -> Self {
        Self {
            gpu: row.gpu,
            clock_mhz: row.clock_mhz,
            l1_cycles: row.l1_cycles,
            l2_near_cycles: row.l2_near_cycles,
            l2_far_cycles: row.l2_far_cycles,
            dram_cycles: row.dram_cycles,
            dram_ns: row.dram_ns,
            provenance: Provenance { basis: row.basis, source: row.source, note: row.note },
        }
    }
}

/// The latencies of a model, by its canonical name; `None` where none are known.
#[must_use]
pub fn latency(gpu: &str) -> Option<&'static MemoryLatency> {
    table().iter().find(|row| row.gpu == gpu)
}

fn table() -> &'static [MemoryLatency] {
    static TABLE: LazyLock<Vec<MemoryLatency>> = LazyLock::new(|| {
        rows::<Row>("latencies.csv", include_str!("../data/latencies.csv"))
            .into_iter()
            .map(MemoryLatency::from)
            .collect()
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;

    #[test]
    fn rows_name_models_and_levels_get_slower() {
        assert!(!table().is_empty());
        for row in table() {
            assert!(gpus().iter().any(|gpu| gpu.id == row.gpu), "no model {}", row.gpu);
            let levels: Vec<f64> =
                [row.l1_cycles, row.l2_near_cycles, row.l2_far_cycles, row.dram_cycles].into_iter().flatten().collect();
            assert!(levels.is_sorted(), "{}: {levels:?}", row.gpu);
            if let (Some(clock), Some(cycles), Some(ns)) = (row.clock_mhz, row.dram_cycles, row.dram_ns) {
                let implied = cycles * 1000.0 / clock;
                assert!((implied / ns - 1.0).abs() < 0.06, "{}: {implied} ns against {ns} ns", row.gpu);
            }
        }
    }
}
