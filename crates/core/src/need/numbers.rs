//! The same questions without a binary: a stream of loads, a chain of operations, a position under the roofline.

use occupant_hardware::{Gpu, GpuSelector, StreamKind, Unit, pipe};
use occupant_need::{Constants, Machine, Memory, Operation, by_bytes, by_operation, roofline};

use super::{NeedError, littles_law, machine};
use crate::report::{
    GpuName, IlpRow, NeedNumbersReport, OperationNumbers, RoofRow, RooflineNumbers, StreamNumbers, two_decimals,
};

/// What is asked by numbers; at least one part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NumbersRequest {
    /// Bytes that one load of a thread brings.
    pub bytes_per_thread: Option<f64>,
    /// An operation.
    pub operation: Option<Operation>,
    /// Independent loads or operations of a thread; 1 where `None`.
    pub ilp: Option<f64>,
    /// Memory that loads are served from.
    pub memory: Option<Memory>,
    /// Share of the ceiling, percent.
    pub target: f64,
    /// Floating-point operations and bytes of a kernel.
    pub roofline: Option<(f64, f64)>,
}

/// Independent loads or operations that the small tables show.
const ILP: [u32; 5] = [1, 2, 4, 8, 16];

/// The answers for one GPU.
///
/// # Errors
/// [`NeedError`] where the name stands for no one model, or where a fact of it is not known.
pub fn need_by_numbers(gpu: &GpuSelector, request: &NumbersRequest) -> Result<NeedNumbersReport, NeedError> {
    let machine = machine(gpu)?;
    let model = occupant_hardware::gpus().iter().find(|model| model.id == machine.gpu);
    let stream = request.bytes_per_thread.map(|bytes| stream(&machine, request, bytes));
    let operation = match request.operation {
        Some(operation) => Some(
            self::operation(&machine, operation, request)
                .ok_or_else(|| NeedError::Operation { operation: operation.name(), gpu: machine.gpu.clone() })?,
        ),
        None => None,
    };
    let roofline = model.zip(request.roofline).map(|(gpu, (flops, bytes))| position(&machine, gpu, flops, bytes));
    let mut assumptions = Vec::new();
    if stream.is_some() {
        assumptions
            .push("lanes side by side, whole sectors, the loads of a thread independent of each other".to_owned());
        assumptions.extend(machine.doubts.iter().cloned());
    }
    if operation.is_some() {
        assumptions.push("nothing but these operations, their units to themselves".to_owned());
    }
    if roofline.is_some() {
        assumptions.push("peaks at the boost clock; bandwidth by specification".to_owned());
    }
    let parts = [
        stream.as_ref().map(say_stream),
        operation.as_ref().map(|found| say_operation(found, &machine)),
        roofline.as_ref().map(say_roofline),
    ];
    Ok(NeedNumbersReport {
        schema: "occupant.need_numbers.v1",
        gpu: GpuName { name: gpu.name(), compute_capability: gpu.capability().to_string() },
        says: parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
        stream,
        operation,
        roofline,
        assumptions,
    })
}

fn stream(machine: &Machine, request: &NumbersRequest, bytes: f64) -> StreamNumbers {
    let memory = request.memory.unwrap_or(Memory::Dram);
    let (ilp, share) = (request.ilp.unwrap_or(1.0), request.target / 100.0);
    let constants = Constants::fitted();
    let (_, knee) = by_bytes(machine, memory, bytes, ilp, &constants);
    let row = |ilp: &u32| IlpRow {
        ilp: *ilp,
        warps: two_decimals(by_bytes(machine, memory, bytes, f64::from(*ilp), &constants).1.needed(share)),
        registers: Some(ilp.saturating_mul((bytes / 4.0).ceil() as u32)),
    };
    StreamNumbers {
        bytes_per_thread: bytes,
        ilp,
        memory: memory.name(),
        littles_law: littles_law(machine, memory, StreamKind::Read, share, 1.0),
        bytes_in_flight_per_warp: bytes * 32.0 * ilp,
        littles_law_warps: two_decimals(knee.warps),
        target: request.target,
        needed_warps: two_decimals(knee.needed(share)),
        max_warps_per_sm: machine.warp_slots,
        by_ilp: ILP.iter().map(row).collect(),
    }
}

fn say_stream(found: &StreamNumbers) -> String {
    let most = found.max_warps_per_sm;
    let needs = format!("{:.1} warps for {} % of {} bandwidth", found.needed_warps, found.target, found.memory);
    if found.needed_warps > f64::from(most) {
        return format!("cannot saturate: it takes {needs}, an SM holds {most}");
    }
    let percent = found.needed_warps / f64::from(most) * 100.0;
    format!("needs {needs}: {percent:.0} % occupancy")
}

fn operation(machine: &Machine, operation: Operation, request: &NumbersRequest) -> Option<OperationNumbers> {
    let ilp = request.ilp.unwrap_or(1.0);
    let (latency, demand, warps) = by_operation(machine, operation, ilp)?;
    let row = |ilp: &u32| {
        let (_, _, warps) = by_operation(machine, operation, f64::from(*ilp))?;
        Some(IlpRow { ilp: *ilp, warps: two_decimals(warps), registers: None })
    };
    let unit = match operation {
        Operation::Ffma => Unit::Fma,
        Operation::Dfma => Unit::Fp64,
        Operation::Mufu => Unit::Xu,
        Operation::Hmma => Unit::Tensor,
        Operation::Lds => Unit::Shared,
    };
    Some(OperationNumbers {
        operation: operation.name(),
        ilp,
        latency_cycles: latency,
        per_cycle: (10_000.0 / demand).round() / 10_000.0,
        needed_warps: two_decimals(warps),
        by_ilp: ILP.iter().filter_map(row).collect(),
        source: pipe(unit, machine.capability).map_or_else(String::new, |pipe| pipe.provenance.source.clone()),
    })
}

fn say_operation(found: &OperationNumbers, machine: &Machine) -> String {
    format!(
        "{:.0} warps keep the unit of {} busy with {} independent: {:.0} % occupancy",
        found.needed_warps.ceil(),
        found.operation,
        found.ilp,
        found.needed_warps.ceil() / f64::from(machine.warp_slots) * 100.0
    )
}

fn position(machine: &Machine, gpu: &Gpu, flops: f64, bytes: f64) -> RooflineNumbers {
    let boost = gpu.boost_mhz.map_or(machine.clock_mhz, f64::from);
    let lanes = |lanes: Option<u32>| lanes.map(|lanes| f64::from(lanes) * 2.0 * machine.sms * boost / 1000.0);
    let peaks = [
        ("fp32", lanes(gpu.fp32_lanes_per_sm)),
        ("fp64", lanes(gpu.fp64_lanes_per_sm)),
        ("fp16_tensor", gpu.tensor_fp16_dense_tflops.filter(|rate| *rate > 0.0).map(|tflops| tflops * 1000.0)),
    ];
    let roof = |(arithmetic, peak): (&'static str, Option<f64>)| {
        let found = roofline(flops, bytes, peak?, machine.dram_gb_per_s);
        Some(RoofRow {
            arithmetic,
            peak_gflops: two_decimals(found.peak_gflops),
            ridge: two_decimals(found.ridge),
            bound: if found.intensity < found.ridge { "memory" } else { "compute" },
            attainable_gflops: two_decimals(found.attainable_gflops),
        })
    };
    RooflineNumbers {
        flops,
        bytes,
        intensity: two_decimals(flops / bytes),
        gb_per_s: machine.dram_gb_per_s,
        reached_gb_per_s: two_decimals(machine.gb_per_s(Memory::Dram, StreamKind::Mixed)),
        roofs: peaks.into_iter().filter_map(roof).collect(),
    }
}

fn say_roofline(found: &RooflineNumbers) -> String {
    let side = |roof: &RoofRow| {
        format!("{} bound in {} (ridge {})", roof.bound, roof.arithmetic.replace('_', " "), roof.ridge)
    };
    let sides: Vec<String> = found.roofs.iter().map(side).collect();
    format!("{} operations per byte: {}", found.intensity, sides.join(", "))
}
