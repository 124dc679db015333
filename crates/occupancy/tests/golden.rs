//! The engine against answers of NVIDIA's header, sampled by `cargo xtask oracle --write-golden`.
#![allow(clippy::disallowed_methods, reason = "a test reads its data file")]

use occupant_hardware::{Architecture, limits};
use occupant_occupancy::{Carveout, PartitionedCaching, Shape, occupancy};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Row {
    compute_capability: String,
    registers: u32,
    block: u32,
    shared_static: u32,
    shared_dynamic: u32,
    barriers: u32,
    virtual_resources: u32,
    carveout_percent: Option<u32>,
    partitioned_caching: String,
    opt_in: bool,
    status: u32,
    blocks_per_sm: u32,
    ceiling_warps: u32,
    ceiling_blocks: u32,
    ceiling_registers: Option<u32>,
    ceiling_shared: Option<u32>,
    ceiling_barriers: Option<u32>,
    ceiling_virtual: Option<u32>,
    allocated_registers: u32,
    allocated_shared: u32,
    partitioned_caching_used: String,
}

fn caching(name: &str) -> PartitionedCaching {
    match name {
        "off" => PartitionedCaching::Off,
        "on" => PartitionedCaching::On,
        "strict" => PartitionedCaching::Strict,
        other => panic!("caching mode {other}"),
    }
}

#[test]
fn equals_the_header_on_every_golden_point() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden.csv");
    let mut compared = 0;
    for row in csv::Reader::from_path(path).unwrap().deserialize() {
        let row: Row = row.unwrap();
        let capability = row.compute_capability.parse::<Architecture>().unwrap().capability;
        let shape = Shape {
            registers_per_thread: row.registers,
            threads_per_block: row.block,
            shared_static: row.shared_static,
            shared_dynamic: row.shared_dynamic,
            barriers: row.barriers,
            virtual_resources: row.virtual_resources,
            tensor_columns: 0,
            carveout: row.carveout_percent.map_or(Carveout::Default, Carveout::Percent),
            partitioned_caching: caching(&row.partitioned_caching),
            shared_opt_in: row.opt_in,
        };
        assert_eq!(row.status, 0, "{row:?}");
        let ours = occupancy(limits(capability).unwrap(), &shape).unwrap();
        assert_eq!(ours.blocks_per_sm, row.blocks_per_sm, "{row:?}");
        assert_eq!(ours.ceilings.warps, row.ceiling_warps, "{row:?}");
        assert_eq!(ours.ceilings.blocks, row.ceiling_blocks, "{row:?}");
        assert_eq!(ours.ceilings.registers, row.ceiling_registers, "{row:?}");
        assert_eq!(ours.ceilings.shared_memory, row.ceiling_shared, "{row:?}");
        assert_eq!(ours.ceilings.barriers, row.ceiling_barriers, "{row:?}");
        assert_eq!(ours.ceilings.virtual_resources, row.ceiling_virtual, "{row:?}");
        assert_eq!(ours.allocated.registers_per_block, row.allocated_registers, "{row:?}");
        assert_eq!(ours.allocated.shared_per_block, row.allocated_shared, "{row:?}");
        assert_eq!(ours.partitioned_caching, caching(&row.partitioned_caching_used), "{row:?}");
        compared += 1;
    }
    assert!(compared >= 5000, "only {compared} golden points");
}
