//! A kernel's need: its path, timeline and demand under each scenario, or why it has none.

use occupant_hardware::StreamKind;
use occupant_sass::Analysis;

use crate::constants::Constants;
use crate::demand::Demand;
use crate::knee::Knee;
use crate::machine::{Machine, Memory};
use crate::path::{Guarded, Path};
use crate::refusal::{NotModelled, refuse, refuse_path};
use crate::timeline::Timeline;

/// What is known of an execution beside the code.
#[derive(Debug, Clone, Default)]
pub struct Execution<'a> {
    /// Executions of a warp for each instruction, where a profile has them.
    pub counts: Option<&'a [f64]>,
    /// Shares of sectors that L1 and L2 serve, 0 to 1, where a profile has them.
    pub hit_rates: Option<(f64, f64)>,
}

/// Shares of global sectors that caches serve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HitRates {
    pub(crate) l1: f64,
    pub(crate) l2: f64,
}

impl HitRates {
    fn all_from(memory: Memory) -> Self {
        Self { l1: 0.0, l2: if memory == Memory::L2 { 1.0 } else { 0.0 } }
    }

    /// Share that DRAM serves.
    fn dram_share(self) -> f64 {
        (1.0 - self.l1) * (1.0 - self.l2)
    }

    /// Global loads of a stream under these hit rates.
    fn loads(self, machine: &Machine, constants: &Constants, stream: StreamKind) -> GlobalLoads {
        let mixed = if stream == StreamKind::Mixed { constants.mixed * machine.clock_mhz / 1000.0 } else { 0.0 };
        let beyond = self.l2 * machine.l2_latency + (1.0 - self.l2) * (machine.dram_latency + mixed);
        let latency = self.l1 * machine.l1_latency + (1.0 - self.l1) * beyond;
        GlobalLoads { latency, each_more: constants.extra_load * self.dram_share() }
    }
}

/// How long global loads take, in cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GlobalLoads {
    /// Of one.
    pub(crate) latency: f64,
    /// That waiting for one of two independent ones takes longer; twice that for one of four.
    pub(crate) each_more: f64,
}

/// What has to be assumed about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scenario {
    /// Where global loads are served from.
    pub memory: Memory,
    /// Whether accesses under a guard are executed.
    pub guarded: Guarded,
}

/// What of the code the model looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole kernel: it has no loop that works on data.
    Flat,
    /// One pass of this loop, by its number.
    Loop(usize),
    /// Every instruction, with measured counts.
    Counted,
}

/// A kernel on a GPU in one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What of the code it is about.
    pub scope: Scope,
    /// What was assumed.
    pub scenario: Scenario,
    /// One warp alone; of a flat kernel with the turnover.
    pub timeline: Timeline,
    /// What it demands.
    pub demand: Demand,
    /// Throughput against warps.
    pub knee: Knee,
    /// Accesses to global memory under a guard that is not known.
    pub guarded: u32,
    /// Global accesses that touch far more sectors than their data fill.
    pub scattered: u32,
    /// Threads differ along y or z of the block, too.
    pub beyond_x: bool,
    /// Generic accesses that are taken to be global.
    pub generic: u32,
    /// Global accesses whose lanes are not known to be side by side and are taken to be.
    pub untraced: u32,
}

impl Model {
    /// Warps by Little's law alone: latency times throughput, without the soft knee.
    #[must_use]
    pub fn littles_law_warps(&self) -> f64 {
        self.demand.binding().map_or(0.0, |(_, demand)| self.timeline.cycles / demand)
    }
}

/// What the model is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The machine code, taken apart.
    pub analysis: &'a Analysis,
    /// The GPU.
    pub machine: &'a Machine,
    /// Fitted constants.
    pub constants: &'a Constants,
    /// What a profile adds.
    pub execution: &'a Execution<'a>,
}

/// The model of a kernel in one scenario.
///
/// # Errors
/// [`NotModelled`] where one warp's timeline does not tell how fast the kernel is.
pub fn model(sources: Sources<'_>, scenario: Scenario) -> Result<Model, NotModelled> {
    let Sources { analysis, machine, constants, execution } = sources;
    let scope = match (execution.counts, analysis.hot) {
        (Some(_), _) => Scope::Counted,
        (None, Some(hot)) => Scope::Loop(hot.number),
        (None, None) => Scope::Flat,
    };
    refuse(analysis, scope)?;
    let path = match (scope, execution.counts) {
        (Scope::Loop(number), _) => Path::of_loop(analysis, number, scenario.guarded),
        (Scope::Counted, Some(counts)) => Path::counted(analysis, counts),
        _ => Path::flat(analysis, scenario.guarded),
    };
    refuse_path(&path)?;
    let hits = match execution.hit_rates {
        Some((l1, l2)) => HitRates { l1, l2 },
        None => HitRates::all_from(scenario.memory),
    };
    let demand = Demand::of(&path, machine, hits);
    let loads = hits.loads(machine, constants, demand.stream.kind());
    let mut timeline = match scope {
        Scope::Loop(_) => Timeline::of_loop(&path, machine, loads),
        Scope::Flat | Scope::Counted => Timeline::once(&path, machine, loads),
    };
    if !matches!(scope, Scope::Loop(_)) {
        timeline.cycles += constants.turnover * machine.clock_mhz / 1000.0;
    }
    // What does not wait for memory meets its ceiling with a sharper corner: stores, arithmetic of fixed latency.
    let waits = !matches!(demand.stream.kind(), StreamKind::Write) && demand.stream.read > 0.0;
    let sharpness = if waits { constants.sharpness } else { constants.store_sharpness };
    let combined = demand.combined(sharpness);
    // A flat kernel without traffic is a stub or too short: its turnover is all there is.
    let idle = scope == Scope::Flat && demand.stream.bytes() <= 0.0;
    if idle || combined <= 0.0 || timeline.cycles <= 0.0 {
        return Err(NotModelled::Nothing);
    }
    let knee = Knee::new(timeline.cycles, combined, sharpness);
    Ok(Model {
        scope,
        scenario,
        knee,
        demand,
        guarded: path.guarded,
        scattered: path.scattered(),
        beyond_x: path.beyond_x,
        generic: path.generic(),
        untraced: path.untraced(),
        timeline,
    })
}
