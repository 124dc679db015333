//! A kernel's need on a GPU: the model under each scenario, put beside what its launch has. Not for: reading its code.

use occupant_hardware::GpuSelector;
use occupant_need::{
    Constants, Execution, Guarded, Machine, Memory, Model, NotModelled, Resource, Scenario, Scope, Sources, model,
};
use occupant_sass::Analysis;

use super::{NeedError, NeedOptions, assumptions, littles_law, machine, partial, sentence, ways};
use crate::report::{
    BandRecord, CurvePoint, DemandRecord, EarlyWait, KernelRecord, LittlesLaw, MovedRecord, NeedAnswer, NeedLoop,
    NeedRecord, NeedScope, NeededRecord, ScenarioRecord, Validation, two_decimals,
};

/// Machine code that was read for a need, or why it was not.
pub(crate) type Code = Result<Analysis, String>;

/// The kinds of kernels that a model gives a range for vary by this factor around it: of 36 profiled kernels the path and
/// memory level that fit better gave 31 within it.
pub(super) const MODEL_ONLY_BAND: f64 = 2.0;

/// NEED of a kernel whose other facts are in `record`.
pub(crate) fn of_kernel(record: &KernelRecord, code: &Code, gpu: &GpuSelector, options: &NeedOptions) -> NeedRecord {
    let machine = match machine(gpu) {
        Ok(machine) => machine,
        Err(error) => return without_machine(record, options, &error),
    };
    if record.launchable == Some(false) {
        let reason = record.reason.clone().unwrap_or_else(|| "no block fits".to_owned());
        return refused(record, options, &machine, format!("can't launch: {reason}"), "not_launchable");
    }
    let analysis = match code {
        Ok(analysis) => analysis,
        Err(reason) => return refused(record, options, &machine, reason.clone(), "machine_code"),
    };
    match modelled(analysis, &machine, options) {
        Ok(models) => answered(record, analysis, &machine, options, &models),
        Err(why) => refused(record, options, &machine, why.to_string(), why.code()),
    }
}

/// The model under the scenario that is reported, and under the others.
pub(super) struct Models {
    pub(super) main: Model,
    pub(super) others: Vec<Model>,
}

fn modelled(analysis: &Analysis, machine: &Machine, options: &NeedOptions) -> Result<Models, NotModelled> {
    let (constants, execution) = (Constants::fitted(), Execution::default());
    let sources = Sources { analysis, machine, constants: &constants, execution: &execution };
    let at = |memory, guarded| model(sources, Scenario { memory, guarded });
    let memory = options.memory.unwrap_or_else(|| likely_memory(analysis));
    let main = at(memory, Guarded::Executed)?;
    let other_memory = if memory == Memory::Dram { Memory::L2 } else { Memory::Dram };
    let mut others = Vec::new();
    // A flat stream reads each byte once; loops can find theirs in L2.
    let either = options.memory.is_none() && main.scope != Scope::Flat && main.demand.stream.bytes() > 0.0;
    if either {
        others.extend(at(other_memory, Guarded::Executed));
    }
    if main.guarded > 0 && main.scope != Scope::Flat {
        others.extend(at(memory, Guarded::Skipped));
    }
    Ok(Models { main, others })
}

/// Tensor-core loops work on tiles that several blocks read; their second reader finds them in L2.
fn likely_memory(analysis: &Analysis) -> Memory {
    let tensor =
        analysis.hot.and_then(|hot| analysis.contents.get(hot.number)).is_some_and(|content| content.tensor > 0);
    if tensor { Memory::L2 } else { Memory::Dram }
}

fn answered(
    record: &KernelRecord,
    analysis: &Analysis,
    machine: &Machine,
    options: &NeedOptions,
    models: &Models,
) -> NeedRecord {
    let Models { main, others } = models;
    let share = options.target / 100.0;
    // As it is told: 8.001 warps are 8.
    let exact = two_decimals(main.knee.needed(share));
    let warps_per_block = record.launch.block.map_or(1, |block| block.div_ceil(32)).max(1);
    let blocks = (exact / f64::from(warps_per_block)).ceil().max(1.0) as u32;
    let needed = NeededRecord { warps: blocks.saturating_mul(warps_per_block), blocks, exact_warps: exact };
    let have = record.occupancy.as_ref().map(|occupancy| occupancy.warps_per_sm);
    let answer = match have {
        _ if exact > f64::from(machine.warp_slots) => NeedAnswer::CannotSaturate,
        Some(have) if f64::from(have) >= exact => NeedAnswer::Enough,
        _ => NeedAnswer::Short,
    };
    let whole_warps = record.launch.block.is_some_and(|block| block.is_multiple_of(32));
    let validation = if whole_warps { validation(main, analysis, machine) } else { Validation::ModelOnly };
    let band = band(models, share, validation);
    let mut need = NeedRecord {
        answer,
        binding: main.demand.binding().map(|(resource, _)| resource.name()),
        memory: Some(main.scenario.memory.name()),
        littles_law_warps: Some(two_decimals(main.littles_law_warps())),
        needed: Some(needed),
        band: Some(BandRecord { low: two_decimals(band.0), high: two_decimals(band.1) }),
        have_warps: have,
        throughput_percent: have.map(|have| two_decimals(main.knee.share(f64::from(have)) * 100.0)),
        one_warp_cycles: Some(two_decimals(main.timeline.cycles)),
        bytes_in_flight_per_warp: Some(main.timeline.bytes_in_flight as u32),
        loads_in_flight: Some(main.timeline.loads_in_flight),
        scope: Some(if main.scope == Scope::Flat { NeedScope::Flat } else { NeedScope::Loop }),
        hot_loop: hot_loop(analysis, main),
        bytes: Some(MovedRecord { read: main.demand.stream.read, written: main.demand.stream.written }),
        early_wait: main.timeline.early_wait.map(|(at, behind)| EarlyWait { loads: main.timeline.loads, behind, at }),
        demand: demand(main),
        littles_law: law(main, machine, share),
        scenarios: others.iter().map(|other| scenario(other, share)).collect(),
        curve: options.curve.then(|| curve(main, machine, band.1 / exact, exact / band.0)),
        validation: Some(validation),
        assumptions: assumptions::of(models, analysis, machine, record, options),
        settle: (validation == Validation::ModelOnly).then(|| assumptions::SETTLE.to_owned()),
        ..empty(options)
    };
    need.ways = ways::of(record, &need, main);
    need.says = sentence::of(&need, machine);
    need
}

/// Little's law for what a kernel reads: warps don't hold on to what they write.
fn law(found: &Model, machine: &Machine, share: f64) -> Option<LittlesLaw> {
    let stream = found.demand.stream;
    let reads = bound_by_memory(found) && stream.read > 0.0;
    let of_reads = stream.read / stream.bytes().max(1.0);
    reads.then(|| littles_law(machine, found.scenario.memory, stream.kind(), share, of_reads))
}

fn bound_by_memory(found: &Model) -> bool {
    found.demand.binding().is_some_and(|(resource, _)| matches!(resource, Resource::Dram | Resource::L2))
}

/// Measured is the error of flat streams of whole sectors alone.
fn validation(found: &Model, analysis: &Analysis, machine: &Machine) -> Validation {
    let barriers = analysis.content().barriers > 0;
    let stream = found.demand.stream.kind();
    let like_the_measured = found.scope == Scope::Flat
        && found.demand.binding().is_some_and(|(resource, _)| resource == Resource::Dram)
        && machine.ceiling(Memory::Dram, stream).scope == machine.gpu
        && found.untraced == 0
        && found.scattered == 0
        && found.guarded == 0
        && !barriers
        && machine.doubts.is_empty();
    if like_the_measured { Validation::Measured } else { Validation::ModelOnly }
}

/// Warps between which the need lies: over all scenarios, widened by what the model missed where it was measured.
fn band(models: &Models, share: f64, validation: Validation) -> (f64, f64) {
    let all = std::iter::once(&models.main).chain(&models.others).map(|found| found.knee.needed(share));
    let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), warps| (low.min(warps), high.max(warps)));
    let factor = if validation == Validation::Measured { Constants::fitted().band } else { MODEL_ONLY_BAND };
    (low / factor, high * factor)
}

fn demand(found: &Model) -> Vec<DemandRecord> {
    let most = found.demand.binding().map_or(1.0, |(_, cycles)| cycles);
    let record = |(resource, cycles): &(Resource, f64)| DemandRecord {
        resource: resource.name(),
        cycles: two_decimals(*cycles),
        percent: two_decimals(cycles / most * 100.0),
    };
    let mut demand: Vec<DemandRecord> = found.demand.cycles.iter().map(record).collect();
    demand.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
    demand
}

fn scenario(found: &Model, share: f64) -> ScenarioRecord {
    ScenarioRecord {
        memory: found.scenario.memory.name(),
        guarded_executed: found.scenario.guarded == Guarded::Executed,
        binding: found.demand.binding().map_or("issue", |(resource, _)| resource.name()),
        needed_warps: two_decimals(found.knee.needed(share)),
    }
}

fn hot_loop(analysis: &Analysis, found: &Model) -> Option<NeedLoop> {
    let Scope::Loop(number) = found.scope else { return None };
    let header = analysis.structure.loops.all.get(number)?.header;
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Some(NeedLoop {
        number: small(number),
        header: analysis.block(header).first().map_or(0, |first| first.offset),
        because: analysis.hot?.because.words(),
        instructions: analysis.contents.get(number).map_or(0, |content| content.instructions),
    })
}

/// One point for each number of warps; the band's ends move the knee.
fn curve(found: &Model, machine: &Machine, later: f64, earlier: f64) -> Vec<CurvePoint> {
    let percent = |warps: f64| two_decimals(found.knee.share(warps) * 100.0);
    let point = |warps: u32| {
        let at = f64::from(warps);
        CurvePoint { warps, percent: percent(at), low: percent(at / later), high: percent(at * earlier) }
    };
    (0..=machine.warp_slots).map(point).collect()
}

/// A record without any number.
fn empty(options: &NeedOptions) -> NeedRecord {
    NeedRecord {
        answer: NeedAnswer::NotModelled,
        says: String::new(),
        binding: None,
        memory: None,
        littles_law_warps: None,
        target: options.target,
        needed: None,
        band: None,
        have_warps: None,
        throughput_percent: None,
        one_warp_cycles: None,
        bytes_in_flight_per_warp: None,
        loads_in_flight: None,
        scope: None,
        hot_loop: None,
        bytes: None,
        early_wait: None,
        demand: Vec::new(),
        littles_law: None,
        scenarios: Vec::new(),
        ways: Vec::new(),
        curve: None,
        validation: None,
        assumptions: Vec::new(),
        settle: None,
        reason: None,
        reason_code: None,
        partial: None,
    }
}

fn refused(
    record: &KernelRecord,
    options: &NeedOptions,
    machine: &Machine,
    reason: String,
    reason_code: &'static str,
) -> NeedRecord {
    let partial = partial::of(record, options, machine);
    let says = sentence::refused(&reason, partial.as_ref());
    NeedRecord {
        says,
        have_warps: record.occupancy.as_ref().map(|occupancy| occupancy.warps_per_sm),
        settle: Some(assumptions::SETTLE.to_owned()),
        reason: Some(reason),
        reason_code: Some(reason_code),
        partial,
        ..empty(options)
    }
}

fn without_machine(record: &KernelRecord, options: &NeedOptions, error: &NeedError) -> NeedRecord {
    NeedRecord {
        says: format!("not modelled: {error}"),
        have_warps: record.occupancy.as_ref().map(|occupancy| occupancy.warps_per_sm),
        reason: Some(error.to_string()),
        reason_code: Some(error.code()),
        ..empty(options)
    }
}
