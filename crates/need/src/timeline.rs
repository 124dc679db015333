//! The timeline of one warp alone on an SM: when each instruction issues, by the compiler's own control codes.
//!
//! Stalls and scoreboards come from the code, latencies from the machine. An instruction issues when the stall before it
//! is over, the scoreboards that it waits for are released and its unit is free. Not for: what other warps do to it.

use occupant_hardware::Unit;
use occupant_sass::{Class, Detail, Instruction, SCOREBOARDS, Space, detail};

use crate::kernel::GlobalLoads;
use crate::machine::Machine;
use crate::path::{Path, Step};
use crate::reuse::Cluster;

/// When things happen to one warp.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Cycles of the path: of a flat kernel from its first instruction to its end, of a loop one pass among many.
    pub cycles: f64,
    /// Global loads and asynchronous copies of the path.
    pub loads: u32,
    /// Of those, the most under way at once.
    pub loads_in_flight: u32,
    /// Bytes that those bring, whole sectors, each once.
    pub bytes_in_flight: f64,
    /// The first wait for a load while others of the path have not been issued: its offset and how many wait behind it.
    pub early_wait: Option<(u32, u32)>,
}

impl Timeline {
    /// One way through a flat kernel.
    pub(crate) fn once(path: &Path, machine: &Machine, loads: GlobalLoads) -> Self {
        let mut warp = Warp::new(machine, loads);
        let mut weighted = 0.0;
        for step in &path.steps {
            let before = warp.now;
            warp.step(step);
            weighted += (warp.now - before) * step.issues();
        }
        warp.finish(path, weighted)
    }

    /// One pass of a loop, in the steady state.
    pub(crate) fn of_loop(path: &Path, machine: &Machine, loads: GlobalLoads) -> Self {
        let most = if path.steps.len() < LONG { PASSES } else { FEW_PASSES };
        let mut warp = Warp::new(machine, loads);
        let mut ends = vec![(0.0, 0)];
        for _ in 0..most {
            warp.most = warp.flying;
            path.steps.iter().for_each(|step| warp.step(step));
            ends.push((warp.now, warp.pending_count()));
            if is_steady(&ends) {
                break;
            }
        }
        // Of passes that take turns, the mean of the second half.
        let last = ends.len() - 1;
        let from = if is_steady(&ends) { last - 1 } else { last / 2 };
        let cycles = (ends[last].0 - ends[from].0) / (last - from) as f64;
        warp.finish(path, cycles)
    }
}

/// The last passes took the same time and left as much under way; each end is a time and how much that is. A pipeline of
/// some stages has one long pass among as many short ones, so that few of the same length tell nothing.
fn is_steady(ends: &[(f64, usize)]) -> bool {
    const SAME: usize = 12;
    let Some(last) = ends.len().checked_sub(SAME).and_then(|from| ends.get(from..)) else { return false };
    last.windows(3)
        .all(|ends| ((ends[1].0 - ends[0].0) - (ends[2].0 - ends[1].0)).abs() < 1e-6 && ends[1].1 == ends[2].1)
}

/// Passes of a loop that are walked, at most, until they take the same time: pipelines can be deep.
const PASSES: usize = 48;
/// Passes whose loads can be under way at once in a pipeline, at most.
const PILED_UP: u32 = 32;
/// The same for long loops.
const FEW_PASSES: usize = 6;
const LONG: usize = 2000;

/// A load under way.
#[derive(Debug, Clone, Copy)]
struct Pending {
    released: f64,
    /// What it loads from global memory; `None` for everything else and for groups of copies.
    cluster: Option<Cluster>,
    /// Loads and copies that it stands for.
    flight: InFlight,
}

#[derive(Debug, Clone, Copy, Default)]
struct InFlight {
    loads: u32,
    bytes: u32,
}

impl InFlight {
    fn add(&mut self, other: Self) {
        self.loads = self.loads.saturating_add(other.loads);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

pub(crate) struct Warp<'m> {
    machine: &'m Machine,
    /// How long global loads take from here on.
    pub(crate) loads: GlobalLoads,
    /// When the next instruction can issue at the earliest.
    pub(crate) now: f64,
    /// When the last one was ready to issue.
    pub(crate) issued_at: f64,
    scoreboards: [Vec<Pending>; SCOREBOARDS as usize],
    /// Asynchronous copies since the last group was closed.
    copies: Vec<Pending>,
    /// Groups of warp-group multiplies: when each is done.
    warpgroup: Vec<f64>,
    free: [f64; UNITS],
    flying: InFlight,
    most: InFlight,
    /// The first wait for a load of each pass.
    waited: Option<(u32, u32)>,
    issued: u32,
}

/// Units whose issue interval is kept.
const UNITS: usize = 6;

impl<'m> Warp<'m> {
    pub(crate) fn new(machine: &'m Machine, loads: GlobalLoads) -> Self {
        Self {
            machine,
            loads,
            now: 0.0,
            issued_at: 0.0,
            scoreboards: Default::default(),
            copies: Vec::new(),
            warpgroup: Vec::new(),
            free: [0.0; UNITS],
            flying: InFlight::default(),
            most: InFlight::default(),
            waited: None,
            issued: 0,
        }
    }

    /// What is under way.
    fn pending_count(&self) -> usize {
        self.scoreboards.iter().map(Vec::len).sum::<usize>() + self.copies.len() + self.warpgroup.len()
    }

    pub(crate) fn step(&mut self, step: &Step) {
        let instruction = &step.instruction;
        let control = instruction.control();
        let mut at = self.now;
        for scoreboard in control.waits() {
            at = at.max(self.wait(scoreboard, 0, instruction));
        }
        match detail(instruction) {
            Some(Detail::WaitScoreboard { scoreboard, pending }) => {
                at = at.max(self.wait(scoreboard, usize::from(pending), instruction));
            }
            Some(Detail::WaitWarpgroup { pending }) => {
                let done = self.warpgroup.len().saturating_sub(usize::from(pending));
                at = self.warpgroup.drain(..done).fold(at, f64::max);
            }
            _ => {}
        }
        if step.times > 0.0 {
            at = self.issue(step, at);
        }
        self.issued_at = at;
        let taken = if step.jumps { self.machine.unit_latency(Unit::Branch) } else { 0.0 };
        let barrier = if instruction.class() == Some(Class::Barrier) && step.times > 0.0 {
            self.machine.unit_latency(Unit::Barrier)
        } else {
            0.0
        };
        self.now = at + f64::from(control.stall.max(1)) + taken + barrier;
    }

    /// Issues an instruction at `at` or once its unit is free; the time it did.
    fn issue(&mut self, step: &Step, at: f64) -> f64 {
        let instruction = &step.instruction;
        let control = instruction.control();
        let mut at = at;
        if let Some((unit, interval)) = self.unit(instruction)
            && let Some(free) = self.free.get_mut(unit)
        {
            at = at.max(*free);
            *free = at + interval;
        }
        let pending = self.pending(step, at);
        self.issued += pending.flight.loads;
        self.flying.add(pending.flight);
        if self.flying.loads > self.most.loads {
            self.most = self.flying;
        }
        match instruction.class() {
            Some(Class::AsyncCopy) => self.copies.push(pending),
            Some(Class::Wgmma) => self.warpgroup.push(pending.released),
            _ => {}
        }
        let pending = if instruction.mnemonic() == "LDGDEPBAR" { self.close_group(at) } else { pending };
        if let Some(kept) = control.write.and_then(|write| self.scoreboards.get_mut(usize::from(write))) {
            kept.push(pending);
        }
        if let Some(kept) = control.read.and_then(|read| self.scoreboards.get_mut(usize::from(read))) {
            let released = at + self.machine.unit_latency(Unit::Special);
            kept.push(Pending { released, cluster: None, flight: InFlight::default() });
        }
        at
    }

    /// What an instruction leaves under way.
    fn pending(&self, step: &Step, at: f64) -> Pending {
        let released = at + self.latency(&step.instruction);
        let Some(cluster) = global(step) else {
            return Pending { released, cluster: None, flight: InFlight::default() };
        };
        Pending { released, cluster: Some(cluster), flight: InFlight { loads: 1, bytes: step.reads as u32 } }
    }

    /// The copies since the last group as one entry: waits count groups.
    fn close_group(&mut self, at: f64) -> Pending {
        let mut group = Pending { released: at, cluster: None, flight: InFlight::default() };
        for copy in self.copies.drain(..) {
            group.released = group.released.max(copy.released);
            group.flight.add(copy.flight);
        }
        group
    }

    /// When at most `left` entries of a scoreboard are not released. Of several independent loads the last takes longer
    /// than each alone.
    fn wait(&mut self, scoreboard: u8, left: usize, instruction: &Instruction) -> f64 {
        let Some(kept) = self.scoreboards.get_mut(usize::from(scoreboard)) else { return 0.0 };
        kept.sort_by(|a, b| a.released.total_cmp(&b.released));
        let done: Vec<Pending> = kept.drain(..kept.len().saturating_sub(left)).collect();
        let mut clusters: Vec<Cluster> = done.iter().filter_map(|pending| pending.cluster).collect();
        clusters.sort_unstable();
        clusters.dedup();
        let mut came = InFlight::default();
        done.iter().for_each(|pending| came.add(pending.flight));
        if came.loads > 0 {
            self.flying.loads = self.flying.loads.saturating_sub(came.loads);
            self.flying.bytes = self.flying.bytes.saturating_sub(came.bytes);
            self.waited.get_or_insert((instruction.offset, self.issued));
        }
        let last = done.iter().map(|pending| pending.released).fold(0.0, f64::max);
        last + self.loads.each_more * (clusters.len().max(1) as f64).log2()
    }

    /// The unit that an instruction occupies, and for how long, within one sub-partition.
    fn unit(&self, instruction: &Instruction) -> Option<(usize, f64)> {
        let unit = |number: usize, unit: Unit| Some((number, self.machine.interval(unit)));
        match instruction.class()? {
            Class::Fma if instruction.mnemonic() == "IMAD" => unit(0, Unit::Imad),
            Class::Fma => unit(0, Unit::Fma),
            Class::Alu => unit(1, Unit::Alu),
            Class::Half => unit(2, Unit::Half),
            Class::Fp64 => unit(3, Unit::Fp64),
            Class::Xu => unit(4, Unit::Xu),
            Class::Tensor | Class::Wgmma => Some((5, self.tensor_cycles(instruction)?)),
            _ => None,
        }
    }

    /// Cycles that the tensor core of the warp's sub-partition is busy.
    fn tensor_cycles(&self, instruction: &Instruction) -> Option<f64> {
        Some(crate::demand::tensor_fma(instruction)? / (self.machine.tensor_fma? / 4.0))
    }

    /// Cycles from issue to the release of the scoreboard that the result is waited for with.
    fn latency(&self, instruction: &Instruction) -> f64 {
        let unit = |unit: Unit| self.machine.unit_latency(unit);
        match (instruction.class(), instruction.space()) {
            (Some(Class::Load | Class::AsyncCopy | Class::Texture), Some(Space::Global | Space::Generic) | None) => {
                self.loads.latency
            }
            (Some(Class::Load), Some(Space::Local)) => self.machine.l1_latency,
            (Some(Class::Load), Some(Space::Constant)) => unit(Unit::Constant),
            (Some(Class::Load), _) | (Some(Class::Atomic), Some(Space::Shared)) => unit(Unit::Shared),
            (Some(Class::Atomic | Class::Surface), _) => self.machine.l2_latency,
            (Some(Class::Xu), _) => unit(Unit::Xu),
            (Some(Class::Fp64), _) => unit(Unit::Fp64),
            (Some(Class::Shuffle), _) => unit(Unit::Shuffle),
            (Some(Class::Special), _) => unit(Unit::Special),
            (Some(Class::Tensor), _) => unit(Unit::Tensor),
            (Some(Class::Wgmma), _) => unit(Unit::Tensor) + self.tensor_cycles(instruction).unwrap_or(0.0),
            _ => 0.0,
        }
    }

    fn finish(self, path: &Path, cycles: f64) -> Timeline {
        let loads = path.steps.iter().filter(|step| step.times > 0.0 && global(step).is_some()).count() as u32;
        // Copies that nothing in the loop waits for pile up: what is known of them is one pass.
        let piled_up = loads > 0 && self.most.loads >= loads.saturating_mul(PILED_UP);
        let reads = path.steps.iter().fold(0.0, |bytes, step| bytes + step.reads);
        let most = if piled_up { InFlight { loads, bytes: reads as u32 } } else { self.most };
        let early = self.waited.filter(|(_, issued)| *issued < loads);
        Timeline {
            cycles,
            loads,
            loads_in_flight: most.loads,
            bytes_in_flight: f64::from(most.bytes),
            early_wait: early.map(|(at, issued)| (at, loads - issued)),
        }
    }
}

/// What an instruction loads from global memory.
fn global(step: &Step) -> Option<Cluster> {
    step.cluster.filter(|_| matches!(step.instruction.class(), Some(Class::Load | Class::AsyncCopy)))
}
