//! From a profiled launch to what the model of needed warps takes: executions, hit rates, demand on each resource; and
//! what it is compared with: how long a warp lived.

use occupant_need::{Guide, Guided, Machine, NotModelled, Resource, assumed_counts, guided};
use occupant_profile::Measurement;
use occupant_sass::{AccessKind, Analysis, Class, LoopKind, Space};

use super::Profiled;

/// What was measured of the warps of a launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Warps of the launch.
    pub launched: f64,
    /// Warps of an SM, on average while it has some.
    pub resident: f64,
    /// Cycles that a warp lived.
    pub lifetime: f64,
    /// Cycles in which an SM had warps.
    pub active_cycles: f64,
    /// Cycles of the launch.
    pub elapsed_cycles: f64,
    /// Multiprocessors.
    pub sms: f64,
}

impl Observed {
    /// Reads it; `None` where a part was not measured.
    #[must_use]
    pub fn of(measured: &Measurement) -> Option<Self> {
        let entry = || measured.by_instruction("inst_executed").first().filter(|(offset, _)| *offset == 0);
        let counted = measured.first(&["smsp__warps_launched.sum", "sm__warps_launched.sum"]);
        let launched = entry().map(|(_, warps)| *warps).or_else(|| counted.map(|(_, warps)| warps));
        let by_shape = || Some((measured.blocks()? * measured.threads()?.div_ceil(32)) as f64);
        let launched = launched.filter(|warps| *warps > 0.0).or_else(by_shape)?;
        let resident = measured.get("sm__warps_active.avg.per_cycle_active")?;
        let active_cycles = measured.get("sm__cycles_active.avg")?;
        let elapsed_cycles = measured.first(&ELAPSED).map_or(active_cycles, |(_, cycles)| cycles).max(active_cycles);
        let sms = measured.first(&["launch__sm_count", "device__attribute_multiprocessor_count"])?.1;
        let lifetime = resident * active_cycles * sms / launched;
        (lifetime > 0.0 && lifetime.is_finite()).then_some(Self {
            launched,
            resident,
            lifetime,
            active_cycles,
            elapsed_cycles,
            sms,
        })
    }

    /// Percent of its peak that a resource of this demand is busy.
    #[must_use]
    pub fn busy_percent(&self, demand: f64) -> f64 {
        self.resident * demand / self.lifetime * 100.0
    }
}

/// Why a launch has no guided need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unguided {
    /// Stable identifier.
    pub code: &'static str,
    /// In words.
    pub says: String,
}

impl Unguided {
    fn new(code: &'static str, says: impl Into<String>) -> Self {
        Self { code, says: says.into() }
    }
}

impl From<NotModelled> for Unguided {
    fn from(why: NotModelled) -> Self {
        Self::new(why.code(), why.to_string())
    }
}

/// A launch under the guided model.
#[derive(Debug, Clone, PartialEq)]
pub struct GuidedLaunch {
    /// What was measured of its warps.
    pub observed: Observed,
    /// What the model was told.
    pub guide: Guide,
    /// The GPU at the measured clock.
    pub machine: Machine,
    /// The model.
    pub model: Guided,
    /// Executions were counted by instruction; else only their sum was, and the likely way through the code is taken.
    pub counted: bool,
}

/// The guided model of a launch.
///
/// # Errors
/// [`Unguided`] where something that it needs was not measured, or where the launch is of a kind that it is wrong about.
pub fn guide(profiled: &Profiled) -> Result<GuidedLaunch, Unguided> {
    let Prepared { observed, guide, machine, counted } = prepare(profiled)?;
    refuse(profiled, &guide.counts, &observed)?;
    scattered(guide.sectors.as_deref(), &guide.counts)?;
    if guide.demand.is_empty() {
        let says = "the units' throughput was not measured (`ncu --set full` has it)";
        return Err(Unguided::new("no_throughput", says));
    }
    let analysis = profiled.code.as_ref().map_err(|reason| Unguided::new("machine_code", reason.clone()))?;
    let model = guided(analysis, &machine, &guide)?;
    Ok(GuidedLaunch { observed, guide, machine, model, counted })
}

/// What the model is told, before it is asked whether it can answer.
pub(super) struct Prepared {
    pub(super) observed: Observed,
    pub(super) guide: Guide,
    pub(super) machine: Machine,
    /// Executions were counted by instruction.
    pub(super) counted: bool,
}

pub(super) fn prepare(profiled: &Profiled) -> Result<Prepared, Unguided> {
    let Profiled { measured, gpu, code, .. } = profiled;
    let analysis = code.as_ref().map_err(|reason| Unguided::new("machine_code", reason.clone()))?;
    let gpu = gpu.ok_or_else(|| Unguided::new("gpu_unknown", "the GPU's model is not known"))?;
    let machine = Machine::of_kin(gpu).map_err(|missing| Unguided::new(missing.code(), missing.to_string()))?;
    let observed = Observed::of(measured).ok_or_else(|| {
        Unguided::new("no_occupancy", "warps and cycles of an SM were not measured (`ncu --set full` has them)")
    })?;
    let machine = match measured.first(&SM_CLOCK) {
        Some((_, hertz)) if hertz > 0.0 => machine.at_clock(hertz / 1e6),
        _ => machine,
    };
    let (counts, counted) = match profiled.by_number("inst_executed") {
        Some(counts) => (counts.iter().map(|count| count / observed.launched).collect(), true),
        None => (assumed(analysis, measured, &observed)?, false),
    };
    let guide = Guide {
        sectors: sectors(profiled, &counts, observed.launched),
        counts,
        l1_hits: l1_hits(measured),
        from_dram: from_dram(measured),
        warps_per_block: measured.threads().map_or(1, |threads| threads.div_ceil(32) as u32),
        demand: demand(measured, &observed).unwrap_or_default(),
    };
    Ok(Prepared { observed, guide, machine, counted })
}

/// The SM clock, in hertz.
const SM_CLOCK: [&str; 3] =
    ["sm__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second", "gpc__cycles_elapsed.max.per_second"];

/// Executions where only their sum was measured.
fn assumed(analysis: &Analysis, measured: &Measurement, observed: &Observed) -> Result<Vec<f64>, Unguided> {
    let sum = measured.first(&["smsp__inst_executed.sum", "sm__inst_executed.sum"]).map(|(_, sum)| sum);
    let counts = sum.and_then(|sum| assumed_counts(analysis, sum / observed.launched));
    counts.ok_or_else(|| {
        let says = "executions by instruction were not measured (`ncu --set full` has them)";
        Unguided::new("no_counts", says)
    })
}

/// Kinds of launches that the model was found wrong about.
fn refuse(profiled: &Profiled, counts: &[f64], observed: &Observed) -> Result<(), Unguided> {
    let measured = &profiled.measured;
    let blocks = measured.blocks().unwrap_or(0);
    if blocks == 1 {
        return Err(Unguided::new(
            "one_block",
            "one block: cold caches and its start and end decide, which are not modelled",
        ));
    }
    if let Some(waves) = measured.get("launch__waves_per_multiprocessor").filter(|waves| *waves < 1.0) {
        let says = format!("{waves:.2} waves: the SMs are not filled once, and how they are decides");
        return Err(Unguided::new("under_a_wave", says));
    }
    let Ok(analysis) = &profiled.code else { return Ok(()) };
    let seen: f64 = counts.iter().sum();
    let all = measured.get("smsp__inst_executed.sum").or_else(|| measured.get("inst_executed"));
    if let Some(all) = all.map(|all| all / observed.launched).filter(|all| seen < 0.95 * all) {
        let says = format!("{:.0} % of its instructions are in code elsewhere", (1.0 - seen / all) * 100.0);
        return Err(Unguided::new("code_elsewhere", says));
    }
    let polls =
        analysis.kinds.iter().enumerate().filter(|(_, kind)| **kind == LoopKind::Wait).find_map(|(number, _)| {
            let found = analysis.structure.loops.all.get(number).filter(|found| found.innermost)?;
            let start = analysis.structure.flow.blocks.get(found.header)?.start;
            let reads = analysis.of_loop(number).any(|instruction| instruction.space() == Some(Space::Global));
            counts.get(start).filter(|count| reads && **count > 2.0).map(|count| (start, *count))
        });
    if let Some((number, times)) = polls {
        let at = analysis.instructions.get(number).map_or(0, |instruction| instruction.offset);
        let says = format!("it polls memory at {at:#06x}, {times:.0} times a warp: it waits for other blocks");
        return Err(Unguided::new("spin", says));
    }
    contended(profiled, counts, observed)
}

/// Atomics that many warps meet at: each takes far longer than one alone.
fn contended(profiled: &Profiled, counts: &[f64], observed: &Observed) -> Result<(), Unguided> {
    let Ok(analysis) = &profiled.code else { return Ok(()) };
    let is_atomic = |number: usize| {
        let instruction = analysis.instructions.get(number);
        let atomic = instruction.is_some_and(|instruction| {
            matches!(instruction.access().map(|access| access.kind), Some(AccessKind::Atomic))
                || matches!(instruction.class(), Some(Class::Atomic | Class::Reduction))
        });
        atomic && counts.get(number).is_some_and(|count| *count > 0.0)
    };
    let Some(first) = (0..analysis.instructions.len()).find(|number| is_atomic(*number)) else { return Ok(()) };
    let at = analysis.instructions.get(first).map_or(0, |instruction| instruction.offset);
    let visits = super::waits::visit_cycles(profiled, observed);
    let slow = visits.as_ref().is_none_or(|visits| visits.iter().any(|cycles| *cycles > CONTENDED));
    if !slow {
        return Ok(());
    }
    Err(Unguided::new(
        "contended_atomics",
        format!("atomics at {at:#06x}: how long they take depends on how many meet at an address"),
    ))
}

/// Cycles of a visit beyond which an atomic is contended: several times what any cache or memory takes.
const CONTENDED: f64 = 2500.0;

/// Accesses whose lanes touch a sector each: L1 and L2 then take longer than their peaks say.
fn scattered(sectors: Option<&[Option<f64>]>, counts: &[f64]) -> Result<(), Unguided> {
    let moved = |least: f64| -> f64 {
        let listed = sectors.unwrap_or_default().iter().zip(counts);
        listed.filter_map(|(sectors, count)| Some(sectors.filter(|sectors| *sectors >= least)? * count)).sum()
    };
    let (all, far) = (moved(0.0), moved(SCATTERED));
    if far <= all / 2.0 {
        return Ok(());
    }
    let says = format!("{:.0} % of its sectors are of accesses with a sector for nearly every lane", far / all * 100.0);
    Err(Unguided::new("scattered", says))
}

/// Sectors of a request from which its lanes are taken to be far apart; 4 bytes a lane side by side fill 4, 16 bytes 16.
const SCATTERED: f64 = 20.0;

/// Sectors of a request by instruction.
fn sectors(profiled: &Profiled, counts: &[f64], launched: f64) -> Option<Vec<Option<f64>>> {
    let metric = ["memory_l2_theoretical_sectors_global", "memory_l2_sectors_global", "memory_l2_transactions_global"];
    let listed = metric.iter().find_map(|metric| profiled.by_number(metric))?;
    let of = |(sectors, count): (&f64, &f64)| (*sectors > 0.0 && *count > 0.0).then(|| sectors / (count * launched));
    Some(listed.iter().zip(counts).map(of).collect())
}

fn l1_hits(measured: &Measurement) -> f64 {
    let names = ["l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "l1tex__t_sector_hit_rate.pct"];
    measured.first(&names).map_or(0.0, |(_, percent)| (percent / 100.0).clamp(0.0, 1.0))
}

/// Share of what L1 misses that DRAM serves: the larger of what L2 misses and of DRAM's bytes among those that L1 asks for.
fn from_dram(measured: &Measurement) -> f64 {
    let missed = measured.first(&["lts__t_sector_op_read_hit_rate.pct", "lts__t_sector_hit_rate.pct"]);
    let missed = missed.map_or(0.0, |(_, percent)| 1.0 - percent / 100.0);
    let read = measured.first(&["dram__bytes_read.sum", "fbpa__dram_read_bytes.sum"]);
    let asked = measured.get("l1tex__m_xbar2l1tex_read_bytes.sum").filter(|bytes| *bytes > 0.0);
    let by_bytes = read.zip(asked).map_or(0.0, |((_, read), asked)| read / asked);
    missed.max(by_bytes).clamp(0.0, 1.0)
}

/// Cycles of the whole launch.
const ELAPSED: [&str; 4] =
    ["sm__cycles_elapsed.avg", "smsp__cycles_elapsed.avg", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max"];

/// Metrics of each resource's use; the largest counts. Cycles in which a unit was not idle say little, those of the
/// arithmetic pipes excepted.
const USES: [(Resource, &[&str]); 9] = [
    (Resource::Issue, &["sm__inst_executed", "sm__issue_active", "sm__inst_issued", "smsp__issue_active"]),
    (Resource::Fma, &["sm__pipe_fma_cycles_active", "sm__inst_executed_pipe_fma", "sm__pipe_fmaheavy_cycles_active"]),
    (Resource::Alu, &["sm__pipe_alu_cycles_active", "sm__inst_executed_pipe_alu"]),
    (Resource::Xu, &["sm__inst_executed_pipe_xu"]),
    (Resource::Fp64, &["sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_fp64"]),
    (Resource::Tensor, &["sm__pipe_tensor_cycles_active"]),
    (
        Resource::L1,
        &[
            "l1tex__data_pipe_lsu_wavefronts",
            "l1tex__lsuin_requests",
            "l1tex__data_bank_reads",
            "l1tex__data_bank_writes",
            "l1tex__f_wavefronts",
            "sm__inst_executed_pipe_lsu",
        ],
    ),
    (Resource::L2, &["lts__t_sectors", "lts__t_tag_requests", "lts__d_sectors", "l1tex__m_xbar2l1tex_read_sectors"]),
    (Resource::Dram, &["dram__throughput", "gpu__dram_throughput"]),
];

/// Cycles of an SM that a warp takes of each resource: its share of the peak, times the time, over the warps.
fn demand(measured: &Measurement, observed: &Observed) -> Option<Vec<(Resource, f64)>> {
    let elapsed = measured.first(&ELAPSED)?.1;
    let share = |name: &str| {
        let of_elapsed =
            measured.get(&format!("{name}.avg.pct_of_peak_sustained_elapsed")).map(|percent| percent * elapsed);
        let of_active = || {
            measured
                .get(&format!("{name}.avg.pct_of_peak_sustained_active"))
                .map(|percent| percent * observed.active_cycles)
        };
        of_elapsed.or_else(of_active)
    };
    let of = |(resource, names): &(Resource, &[&str])| {
        let most = names.iter().filter_map(|name| share(name)).fold(0.0, f64::max);
        let dram =
            (*resource == Resource::Dram).then(|| dram_percent(measured)).flatten().map(|percent| percent * elapsed);
        let busy = dram.unwrap_or(most) / 100.0;
        (busy > 0.0).then(|| (*resource, busy * observed.sms / observed.launched))
    };
    let found: Vec<(Resource, f64)> = USES.iter().filter_map(of).collect();
    let has = |wanted: Resource| found.iter().any(|(resource, _)| *resource == wanted);
    (has(Resource::Issue) && has(Resource::L1) && has(Resource::L2)).then_some(found)
}

/// Bytes over the peak, where both were measured: DRAM's own share counts cycles in which it was not idle.
fn dram_percent(measured: &Measurement) -> Option<f64> {
    let rate = measured.get("dram__bytes.sum.per_second")?;
    let peak = measured.get("dram__bytes.sum.peak_sustained")?;
    let clock = measured.get("dram__cycles_elapsed.avg.per_second")?;
    Some(rate / (peak * clock) * 100.0).filter(|percent| percent.is_finite())
}
