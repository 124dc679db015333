//! The engine against what NVIDIA's profiler printed on real GPUs (`tests/data/ncu_truth.csv`, a source a row).
#![allow(clippy::disallowed_methods, reason = "a test reads its data file")]

use occupant_hardware::{Architecture, limits};
use occupant_occupancy::{Carveout, Shape, occupancy};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Row {
    cc: String,
    block_size: u32,
    regs_per_thread: u32,
    smem_static: u32,
    smem_dynamic: u32,
    /// Carve-out that the driver chose, bytes.
    smem_config: u32,
    barrier_count: Option<u32>,
    limit_sm: u32,
    limit_regs: u32,
    /// `nan` in profilers of 2018 where no shared memory is used.
    limit_smem: String,
    limit_warps: u32,
    limit_barriers: Option<u32>,
    theo_warps: f64,
    theo_occ_pct: f64,
    /// What the profiler's version divides: the chosen carve-out (2022.4 and later) or the SM's maximum.
    smem_cap_mode: String,
}

#[test]
fn equals_what_the_profiler_printed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ncu_truth.csv");
    let (mut rows, mut shared_limits, mut barrier_limits) = (0, 0, 0);
    for row in csv::Reader::from_path(path).unwrap().deserialize() {
        let row: Row = row.unwrap();
        let limits = limits(row.cc.parse::<Architecture>().unwrap().capability).unwrap();
        let barriers = row.barrier_count.unwrap_or(0);
        let shape = Shape {
            registers_per_thread: row.regs_per_thread,
            threads_per_block: row.block_size,
            shared_static: row.smem_static,
            shared_dynamic: row.smem_dynamic,
            barriers,
            ..Shape::default()
        };
        let ours = occupancy(limits, &shape).unwrap();
        assert_eq!(f64::from(ours.warps_per_sm()), row.theo_warps, "{row:?}");
        assert!((ours.percent() - row.theo_occ_pct).abs() < 0.01, "{row:?}");
        assert_eq!(ours.ceilings.blocks, row.limit_sm, "{row:?}");
        assert_eq!(ours.ceilings.registers, Some(row.limit_regs), "{row:?}");
        assert_eq!(ours.ceilings.warps, row.limit_warps, "{row:?}");
        if let Some(printed) = row.limit_barriers {
            // The profiler never prints more than the block slots.
            let ceiling = ours.ceilings.barriers.unwrap_or(u32::MAX).min(limits.max_blocks_per_sm);
            assert_eq!(ceiling, printed, "{row:?}");
            barrier_limits += 1;
        }
        if let Ok(printed) = row.limit_smem.parse::<u32>() {
            let carveout = match row.smem_cap_mode.as_str() {
                "smem_config_size" => Carveout::Bytes(row.smem_config),
                "max_smem_per_sm" => Carveout::Default,
                other => panic!("mode {other}"),
            };
            let ceiling = occupancy(limits, &Shape { carveout, ..shape }).unwrap().ceilings.shared_memory;
            assert_eq!(ceiling.unwrap_or(limits.max_blocks_per_sm), printed, "{row:?}");
            shared_limits += 1;
        }
        rows += 1;
    }
    assert_eq!((rows, shared_limits, barrier_limits), (62, 61, 8));
}
