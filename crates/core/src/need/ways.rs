//! Ways to reach a target that is not reached: more warps, or more in flight per warp, each with what it costs in
//! registers. Not for: whether the compiler goes along; that a compile tells.

use occupant_hardware::{Architecture, SmLimits, limits};
use occupant_need::Model;
use occupant_occupancy::{Axis, Shape, largest};

use crate::report::{KernelRecord, NeedAnswer, NeedRecord, WayRecord, two_decimals};

pub(super) fn of(record: &KernelRecord, need: &NeedRecord, found: &Model) -> Vec<WayRecord> {
    let short = matches!(need.answer, NeedAnswer::Short | NeedAnswer::CannotSaturate);
    let (Some(needed), Some(have), Some(launch), true) = (need.needed, need.have_warps, shape(record), short) else {
        return Vec::new();
    };
    let mut ways = Vec::new();
    ways.extend(more_warps(record, needed.blocks, needed.warps, &launch));
    let by_memory = matches!(need.binding, Some("dram" | "l2"));
    if have > 0 && found.timeline.loads_in_flight > 0 && by_memory {
        ways.push(more_in_flight(record, needed.exact_warps / f64::from(have), have, found, &launch));
    }
    ways
}

/// The shape of the launch and the SM it is on.
struct Launch {
    shape: Shape,
    limits: &'static SmLimits,
}

fn shape(record: &KernelRecord) -> Option<Launch> {
    let capability = match &record.gpu {
        Some(gpu) => gpu.compute_capability.parse::<Architecture>().ok()?.capability,
        None => record.arch.as_deref()?.parse::<Architecture>().ok()?.capability,
    };
    let shape = crate::subject::shape(record, &Shape::default())?;
    Some(Launch { shape, limits: limits(capability).ok()? })
}

fn more_warps(record: &KernelRecord, blocks: u32, warps: u32, launch: &Launch) -> Option<WayRecord> {
    let ceilings = record.occupancy.as_ref()?.ceilings;
    let now = record.registers?;
    let most_registers = largest(launch.limits, &launch.shape, Axis::Registers, blocks).ok().flatten();
    let most_shared = largest(launch.limits, &launch.shape, Axis::Shared, blocks).ok().flatten();
    let by_hardware = ceilings.warps.min(ceilings.blocks);
    let mut steps = Vec::new();
    let mut possible = blocks <= by_hardware;
    if !possible {
        steps.push(format!("{by_hardware} blocks of this size are the most that an SM holds"));
    }
    if possible && ceilings.registers.is_some_and(|ceiling| ceiling < blocks) {
        match most_registers {
            Some(most) => steps.push(format!(
                "at most {most} registers a thread instead of {now} (`__launch_bounds__({}, {blocks})`): {} fewer, which may \
                 spill",
                launch.shape.threads_per_block,
                now - most
            )),
            None => possible = false,
        }
    }
    if possible && ceilings.shared_memory.is_some_and(|ceiling| ceiling < blocks) {
        let taken = launch.shape.shared_static + launch.shape.shared_dynamic;
        match most_shared {
            Some(most) => steps.push(format!("at most {most} bytes of shared memory a block instead of {taken}")),
            None => possible = false,
        }
    }
    let says = match (possible, steps.is_empty()) {
        (false, _) => format!("{warps} warps ({blocks} blocks) don't fit: {}", steps.join("; ")),
        (true, false) => format!("{warps} warps ({blocks} blocks): {}", steps.join("; ")),
        (true, true) => format!("{warps} warps ({blocks} blocks)"),
    };
    Some(WayRecord {
        way: "more_warps",
        possible,
        warps,
        times_in_flight: 1.0,
        registers: most_registers.filter(|most| possible && *most < now),
        says,
    })
}

/// With `times` as many bytes in flight each warp counts for as many.
fn more_in_flight(record: &KernelRecord, times: f64, have: u32, found: &Model, launch: &Launch) -> WayRecord {
    let timeline = &found.timeline;
    let loads = f64::from(timeline.loads_in_flight);
    let more = ((loads * times).ceil() - loads).max(1.0);
    let bytes_per_thread = timeline.bytes_in_flight / loads / 32.0;
    // What is loaded waits in registers, and so do its address and that of what is stored of it.
    let addresses = if found.demand.stream.written > 0.0 { 4.0 } else { 2.0 };
    let registers = (more * (bytes_per_thread / 4.0 + addresses)).ceil() as u32;
    let now = record.registers.unwrap_or(0);
    let blocks = record.occupancy.as_ref().map_or(1, |occupancy| occupancy.blocks_per_sm).max(1);
    let most = largest(launch.limits, &launch.shape, Axis::Registers, blocks).ok().flatten();
    let room = most.map_or(0, |most| most.saturating_sub(now));
    let wanted = now.saturating_add(registers);
    let possible = wanted <= launch.limits.max_registers_per_thread && registers <= room;
    let fits = match (possible, wanted <= launch.limits.max_registers_per_thread) {
        (true, _) => format!("{room} are free before a block is lost"),
        (false, true) => format!("only {room} are free before a block is lost, so tell the compiler or unroll less"),
        (false, false) => "more than a thread can have: wider or asynchronous copies hold them elsewhere".to_owned(),
    };
    WayRecord {
        way: "more_in_flight",
        possible,
        warps: have,
        times_in_flight: two_decimals(times),
        registers: Some(wanted),
        says: format!(
            "{:.0} independent loads in flight instead of {loads:.0} (unroll, wider loads): about {registers} {} more a \
             thread; {fits}",
            loads + more,
            if registers == 1 { "register" } else { "registers" }
        ),
    }
}
