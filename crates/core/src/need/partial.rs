//! What can be said of a kernel that is not modelled: the bytes that its pipeline can have in flight, against what an SM
//! must hold by Little's law. Not for: whether it keeps them in flight.

use occupant_hardware::StreamKind;
use occupant_need::{Machine, Memory};

use super::{NeedOptions, littles_law};
use crate::report::{KernelRecord, PartialRecord};

pub(super) fn of(record: &KernelRecord, options: &NeedOptions, machine: &Machine) -> Option<PartialRecord> {
    let (per_block, from, what) = in_flight(record, options)?;
    let law = littles_law(machine, Memory::Dram, StreamKind::Read, options.target / 100.0, 1.0);
    let needed = u64::from(law.bytes_per_sm_for_target);
    let blocks = record.occupancy.as_ref().map(|occupancy| u64::from(occupancy.blocks_per_sm));
    let per_sm = blocks.map(|blocks| blocks.saturating_mul(per_block));
    let needed_blocks = needed.div_ceil(per_block.max(1)).max(1);
    let have = match (blocks, per_sm) {
        (Some(blocks), Some(per_sm)) => {
            format!("; {blocks} resident {} {per_sm}", if blocks == 1 { "block holds" } else { "blocks hold" })
        }
        _ => String::new(),
    };
    let says = format!(
        "{what}{have}; {} % of DRAM bandwidth needs {needed} bytes in flight an SM: {needed_blocks} {}",
        options.target,
        if needed_blocks == 1 { "block" } else { "blocks" }
    );
    Some(PartialRecord {
        says,
        bytes_in_flight_per_block: per_block,
        from,
        bytes_in_flight_per_sm: per_sm,
        bytes_needed_per_sm: needed,
        needed_blocks,
    })
}

/// Bytes that a block can have in flight, where that comes from, and in words.
fn in_flight(record: &KernelRecord, options: &NeedOptions) -> Option<(u64, &'static str, String)> {
    if let Some((stages, tile)) = options.pipeline {
        let bytes = u64::from(stages) * u64::from(tile);
        return Some((bytes, "given", format!("{stages} stages of {tile} bytes are {bytes} bytes in flight a block")));
    }
    let shared = u64::from(record.shared_static?) + u64::from(record.launch.shared_dynamic?);
    if shared == 0 {
        return None;
    }
    let stages = record.from_name.as_ref().and_then(|name| name.stages).filter(|stages| *stages > 1);
    let (from, of) = match stages {
        Some(stages) => ("metadata", format!("{stages} stages share")),
        None => ("shared_memory", "in flight a block has no more than".to_owned()),
    };
    Some((shared, from, format!("{of} {shared} bytes of shared memory")))
}
