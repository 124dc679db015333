//! What one multiprocessor of a compute capability holds, and in which units it hands it out.
//!
//! Two fact sets, joined by capability: `compute_capabilities.csv` (published limits) and `allocation.csv`
//! (granularities, carve-outs and pools, observed through NVIDIA's occupancy header). Not for: GPU models.

use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use crate::provenance::{Basis, Provenance};
use crate::table::{rows as read_rows, words, yes_no};
use crate::{Architecture, ComputeCapability};

/// The limits of one multiprocessor (SM). Sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmLimits {
    /// The capability these limits belong to.
    pub capability: ComputeCapability,
    /// Threads in a block, at most.
    pub max_threads_per_block: u32,
    /// Resident threads, at most.
    pub max_threads_per_sm: u32,
    /// Resident blocks, at most.
    pub max_blocks_per_sm: u32,
    /// 32-bit registers one block may take.
    pub registers_per_block: u32,
    /// 32-bit registers of the SM.
    pub registers_per_sm: u32,
    /// Registers of a thread, at most, as the compiler can encode them.
    pub max_registers_per_thread: u32,
    /// Registers are handed to a warp in units of this many.
    pub register_allocation_unit: u32,
    /// Warp schedulers, each with its share of the register file.
    pub sub_partitions: u32,
    /// Shared memory of a block without opt-in.
    pub shared_per_block: u32,
    /// Shared memory of a block after the host opted in.
    pub shared_per_block_optin: u32,
    /// Shared memory of the SM at the largest carve-out.
    pub shared_per_sm: u32,
    /// Shared memory the system takes from each block.
    pub shared_reserved_per_block: u32,
    /// Shared memory is handed to a block in units of this many bytes.
    pub shared_allocation_unit: u32,
    /// Memory that L1 and shared memory divide between them; `None` where they are separate or it is not known.
    pub unified_l1: Option<u32>,
    /// Sizes the shared memory can be set to, ascending; empty where it is fixed (5.x, 6.x).
    pub carveouts: Vec<u32>,
    /// Global loads can be cached in a partitioned L1 (5.2, 5.3, 6.1, 6.2): a block then uses half an SM.
    pub partitioned_caching: bool,
    /// Named barriers of the SM; `None` where they bound nothing (before 9.0).
    pub barriers_per_sm: Option<u32>,
    /// Virtual resources of the SM; `None` before 10.0 and under the 12.9 rules.
    pub virtual_resources_per_sm: Option<u32>,
    /// Tensor-memory columns of the SM; `None` where there is no tensor memory.
    pub tensor_memory_columns: Option<u32>,
    /// Thread block clusters exist.
    pub clusters: bool,
    /// Only integrated GPUs (Jetson, Drive) have this capability; NVIDIA promises no binary compatibility with cards.
    pub integrated_only: bool,
    /// Origin of the published limits.
    pub limits_from: Provenance,
    /// Origin of granularities, carve-outs and pools.
    pub allocation_from: Provenance,
}

/// Threads of a warp, the same on every NVIDIA GPU.
pub(crate) const WARP_SIZE: u32 = 32;

impl SmLimits {
    /// Threads of a warp.
    pub const WARP_SIZE: u32 = WARP_SIZE;

    /// Resident warps, at most.
    #[must_use]
    pub fn max_warps_per_sm(&self) -> u32 {
        self.max_threads_per_sm / WARP_SIZE
    }
}

/// Which release of NVIDIA's occupancy rules to follow. They differ for 10.3 (barrier pool) and in virtual resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// CUDA 13.5.
    #[default]
    Cuda13_5,
    /// CUDA 12.9: knows no 10.7 and 11.0, and no virtual resources.
    Cuda12_9,
}

/// A compute capability without known limits.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no limits are known for compute capability {asked}{}: known are {known}", under(*.rules))]
pub struct UnknownCapability {
    /// The capability asked for.
    pub asked: ComputeCapability,
    /// The rules asked under.
    pub rules: Rules,
    /// The capabilities that would have worked, separated by commas.
    pub known: String,
}

fn under(rules: Rules) -> &'static str {
    match rules {
        Rules::Cuda13_5 => "",
        Rules::Cuda12_9 => " under the 12.9 rules",
    }
}

/// The limits of a compute capability under the newest rules.
///
/// # Errors
/// [`UnknownCapability`] where no row exists.
pub fn limits(capability: ComputeCapability) -> Result<&'static SmLimits, UnknownCapability> {
    limits_under(capability, Rules::default())
}

/// The limits of a compute capability under the rules of a release.
///
/// # Errors
/// [`UnknownCapability`] where that release has no rules for it.
pub fn limits_under(capability: ComputeCapability, rules: Rules) -> Result<&'static SmLimits, UnknownCapability> {
    let table = rows(rules);
    table.iter().find(|row| row.capability == capability).ok_or_else(|| UnknownCapability {
        asked: capability,
        rules,
        known: table.iter().map(|row| row.capability.to_string()).collect::<Vec<_>>().join(", "),
    })
}

/// Every capability that the rules know, ascending.
#[must_use]
pub fn rows(rules: Rules) -> &'static [SmLimits] {
    static NEWEST: LazyLock<Vec<SmLimits>> = LazyLock::new(|| load(Rules::Cuda13_5));
    static CUDA_12_9: LazyLock<Vec<SmLimits>> = LazyLock::new(|| load(Rules::Cuda12_9));
    match rules {
        Rules::Cuda13_5 => &NEWEST,
        Rules::Cuda12_9 => &CUDA_12_9,
    }
}

#[derive(Deserialize)]
struct LimitRow {
    compute_capability: String,
    max_threads_per_block: u32,
    max_threads_per_sm: u32,
    max_blocks_per_sm: u32,
    registers_per_block: u32,
    registers_per_sm: u32,
    max_registers_per_thread: u32,
    shared_per_block: u32,
    shared_per_sm: u32,
    shared_per_block_optin: u32,
    shared_reserved_per_block: u32,
    unified_l1_kib: Option<u32>,
    #[serde(deserialize_with = "yes_no")]
    clusters: bool,
    #[serde(deserialize_with = "yes_no")]
    integrated_only: bool,
    basis: Basis,
    source: String,
    note: Option<String>,
}

#[derive(Deserialize)]
struct AllocationRow {
    compute_capability: String,
    sub_partitions: u32,
    register_allocation_unit: u32,
    shared_allocation_unit: u32,
    #[serde(deserialize_with = "words")]
    carveouts_kib: Vec<u32>,
    #[serde(deserialize_with = "yes_no")]
    partitioned_caching: bool,
    barriers_per_sm: Option<u32>,
    barriers_per_sm_12_9: Option<u32>,
    virtual_resources_per_sm: Option<u32>,
    tensor_memory_columns: Option<u32>,
    #[serde(deserialize_with = "yes_no")]
    in_rules_12_9: bool,
    basis: Basis,
    source: String,
    note: Option<String>,
}

fn load(rules: Rules) -> Vec<SmLimits> {
    let limit_rows: Vec<LimitRow> =
        read_rows("compute_capabilities.csv", include_str!("../data/compute_capabilities.csv"));
    let allocation_rows: Vec<AllocationRow> = read_rows("allocation.csv", include_str!("../data/allocation.csv"));
    assert_eq!(limit_rows.len(), allocation_rows.len(), "the two fact sets must cover the same capabilities");
    let mut table: Vec<SmLimits> = limit_rows
        .into_iter()
        .zip(allocation_rows)
        .filter(|(_, allocation)| rules == Rules::Cuda13_5 || allocation.in_rules_12_9)
        .map(|(limit, allocation)| join(limit, allocation, rules))
        .collect();
    table.sort_by_key(|row| row.capability);
    table
}

fn join(limit: LimitRow, allocation: AllocationRow, rules: Rules) -> SmLimits {
    assert_eq!(limit.compute_capability, allocation.compute_capability, "the two fact sets must list the same order");
    let architecture: Architecture = limit.compute_capability.parse().expect("a capability such as 9.0");
    let newest = rules == Rules::Cuda13_5;
    SmLimits {
        capability: architecture.capability,
        max_threads_per_block: limit.max_threads_per_block,
        max_threads_per_sm: limit.max_threads_per_sm,
        max_blocks_per_sm: limit.max_blocks_per_sm,
        registers_per_block: limit.registers_per_block,
        registers_per_sm: limit.registers_per_sm,
        max_registers_per_thread: limit.max_registers_per_thread,
        register_allocation_unit: allocation.register_allocation_unit,
        sub_partitions: allocation.sub_partitions,
        shared_per_block: limit.shared_per_block,
        shared_per_block_optin: limit.shared_per_block_optin,
        shared_per_sm: limit.shared_per_sm,
        shared_reserved_per_block: limit.shared_reserved_per_block,
        shared_allocation_unit: allocation.shared_allocation_unit,
        unified_l1: limit.unified_l1_kib.map(|kib| kib * 1024),
        carveouts: allocation.carveouts_kib.iter().map(|kib| kib * 1024).collect(),
        partitioned_caching: allocation.partitioned_caching,
        barriers_per_sm: if newest { allocation.barriers_per_sm } else { allocation.barriers_per_sm_12_9 },
        virtual_resources_per_sm: allocation.virtual_resources_per_sm.filter(|_| newest),
        tensor_memory_columns: allocation.tensor_memory_columns,
        clusters: limit.clusters,
        integrated_only: limit.integrated_only,
        limits_from: Provenance { basis: limit.basis, source: limit.source, note: limit.note },
        allocation_from: Provenance { basis: allocation.basis, source: allocation.source, note: allocation.note },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_from_maxwell_to_blackwell_is_there() {
        let known: Vec<String> = rows(Rules::Cuda13_5).iter().map(|row| row.capability.to_string()).collect();
        assert_eq!(
            known.join(" "),
            "5.0 5.2 5.3 6.0 6.1 6.2 7.0 7.2 7.5 8.0 8.6 8.7 8.8 8.9 9.0 10.0 10.1 10.3 10.7 11.0 12.0 12.1"
        );
        assert_eq!(rows(Rules::Cuda12_9).len(), known.len() - 2);
    }

    #[test]
    fn rules_differ_where_the_headers_do() {
        let b300 = ComputeCapability::new(10, 3);
        assert_eq!(limits_under(b300, Rules::Cuda13_5).unwrap().barriers_per_sm, Some(32));
        assert_eq!(limits_under(b300, Rules::Cuda12_9).unwrap().barriers_per_sm, Some(64));
        assert!(limits_under(ComputeCapability::new(11, 0), Rules::Cuda12_9).is_err());
    }

    #[test]
    fn rows_are_consistent() {
        for row in rows(Rules::Cuda13_5) {
            assert!(row.shared_per_block <= row.shared_per_block_optin, "{}", row.capability);
            assert!(row.shared_per_block_optin + row.shared_reserved_per_block <= row.shared_per_sm);
            assert!(row.carveouts.is_sorted());
            assert!(row.unified_l1.is_none_or(|all| all > row.shared_per_sm), "{}", row.capability);
            assert!(row.carveouts.is_empty() || row.carveouts.contains(&row.shared_per_sm), "{}", row.capability);
            assert_eq!(row.barriers_per_sm.is_some(), row.capability.major >= 9);
            assert!(!row.limits_from.source.is_empty() && !row.allocation_from.source.is_empty());
        }
    }

    #[test]
    fn an_unknown_capability_is_refused_by_name() {
        let error = limits(ComputeCapability::new(9, 9)).unwrap_err();
        assert!(error.to_string().starts_with("no limits are known for compute capability 9.9: known are 5.0, 5.2"));
    }
}
