//! Walks the warps of some blocks through the code, each branch as often as it was taken, and takes the mean time of each
//! instruction. The warps of a block wait for each other at barriers; else they don't disturb each other.

use occupant_hardware::Unit;
use occupant_sass::{Analysis, Class, Space};

use super::Guide;
use super::edges::Edge;
use crate::kernel::GlobalLoads;
use crate::machine::Machine;
use crate::path::Step;
use crate::timeline::Warp;

/// Instructions that are walked, of all warps.
const MOST_STEPS: usize = 200_000;
/// Blocks that are walked: shares of warps even out.
const MOST_BLOCKS: usize = 16;
/// Cycles that each further line of an access takes.
const EACH_LINE: f64 = 2.0;
/// Lines of one access whose hits are independent of each other.
const INDEPENDENT_LINES: f64 = 4.0;
/// How near to a whole number a count is one.
const WHOLE: f64 = 0.02;

/// What the walk found, by number of the instruction.
pub(super) struct Walked {
    /// Mean cycles from the issue before to this one.
    pub(super) cycles: Vec<f64>,
    /// How often the walk came by.
    pub(super) visits: Vec<u32>,
}

pub(super) fn walk(
    analysis: &Analysis,
    machine: &Machine,
    guide: &Guide,
    steps: &[Step],
    edges: &[Vec<Edge>],
) -> Walked {
    let mut walker = Walker {
        analysis,
        machine,
        guide,
        steps,
        branches: branches(analysis, edges),
        random: Random(0x9e37_79b9_7f4a_7c15),
        cycles: vec![0.0; steps.len()],
        visits: vec![0; steps.len()],
        left: MOST_STEPS,
    };
    for _ in 0..MOST_BLOCKS {
        if walker.left == 0 {
            break;
        }
        walker.block_of_warps();
    }
    let stall = |number: usize| {
        let before = number.checked_sub(1).and_then(|before| analysis.instructions.get(before));
        f64::from(before.map_or(1, |before| before.control().stall.max(1)))
    };
    let mean = |number: usize| match walker.visits.get(number) {
        Some(visits) if *visits > 0 => walker.cycles[number] / f64::from(*visits),
        // Not walked: code that few warps reach, called functions. What the code says of it is its stall.
        _ => stall(number),
    };
    let cycles = (0..steps.len()).map(mean).collect();
    Walked { cycles, visits: walker.visits }
}

/// How a branch is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decided {
    /// There is one way.
    Once,
    /// By each warp for itself: every warp takes it equally often.
    ByWarp,
    /// For all warps of a block alike: it decides about a barrier.
    ByBlock,
    /// Among the warps: some take it, some don't.
    AmongWarps,
}

struct Branch {
    edges: Vec<Edge>,
    decided: Decided,
    /// What each way is owed, among all warps.
    owed: Vec<f64>,
}

fn branches(analysis: &Analysis, edges: &[Vec<Edge>]) -> Vec<Branch> {
    let loops = &analysis.structure.loops;
    let has_barrier = |found: usize| analysis.contents.get(found).is_some_and(|content| content.barriers > 0);
    let in_barrier_loop = |block: usize| {
        let mut at = loops.of_block.get(block).copied().flatten();
        while let Some(found) = at {
            if has_barrier(found) {
                return true;
            }
            at = loops.all.get(found).and_then(|found| found.parent);
        }
        false
    };
    let branch = |(block, edges): (usize, &Vec<Edge>)| {
        let taken: Vec<Edge> = edges.iter().copied().filter(|edge| edge.times > 1e-9).collect();
        let whole =
            taken.iter().all(|edge| (edge.times - edge.times.round()).abs() < WHOLE && edge.times.round() >= 1.0);
        let decided = match taken.len() {
            0 | 1 => Decided::Once,
            _ if whole => Decided::ByWarp,
            _ if in_barrier_loop(block) => Decided::ByBlock,
            _ => Decided::AmongWarps,
        };
        Branch { owed: vec![0.0; taken.len()], edges: taken, decided }
    };
    edges.iter().enumerate().map(branch).collect()
}

/// The way that is due: of the rarer ones the one that is owed a whole turn, else the most frequent.
fn due(edges: &[Edge], owed: &mut [f64]) -> Option<usize> {
    let all: f64 = edges.iter().map(|edge| edge.times).sum();
    for (owed, edge) in owed.iter_mut().zip(edges) {
        *owed += edge.times / all.max(f64::MIN_POSITIVE);
    }
    let most = (0..edges.len()).max_by(|a, b| edges[*a].times.total_cmp(&edges[*b].times).then(b.cmp(a)))?;
    let rarer = (0..edges.len()).filter(|edge| *edge != most && owed[*edge] >= 1.0 - 1e-6);
    let chosen = rarer.min_by(|a, b| edges[*a].times.total_cmp(&edges[*b].times)).unwrap_or(most);
    owed[chosen] -= 1.0;
    Some(chosen)
}

/// One warp on its way.
struct Walking<'m> {
    warp: Warp<'m>,
    /// The instruction that it is at; `None` at its end.
    at: Option<usize>,
    /// When the last instruction issued.
    last: f64,
    /// What each way of each branch is owed by this warp.
    owed: Vec<Vec<f64>>,
    /// Visits of each branch.
    visited: Vec<usize>,
}

struct Walker<'a> {
    analysis: &'a Analysis,
    machine: &'a Machine,
    guide: &'a Guide,
    steps: &'a [Step],
    branches: Vec<Branch>,
    random: Random,
    cycles: Vec<f64>,
    visits: Vec<u32>,
    left: usize,
}

impl Walker<'_> {
    /// The warps of one block, from barrier to barrier.
    fn block_of_warps(&mut self) {
        let machine = self.machine;
        let unloaded = GlobalLoads { latency: machine.l2_latency, each_more: 0.0 };
        let mut warps: Vec<Walking<'_>> = (0..self.guide.warps_per_block.clamp(1, 32))
            .map(|_| Walking {
                warp: Warp::new(machine, unloaded),
                at: Some(0),
                last: 0.0,
                owed: self.branches.iter().map(|branch| vec![0.0; branch.edges.len()]).collect(),
                visited: vec![0; self.branches.len()],
            })
            .collect();
        // What was decided for the whole block, by branch and visit.
        let mut agreed: Vec<Vec<usize>> = vec![Vec::new(); self.branches.len()];
        while warps.iter().any(|walking| walking.at.is_some()) && self.left > 0 {
            for walking in &mut warps {
                self.up_to_barrier(walking, &mut agreed);
            }
            let waiting = warps.iter().filter(|walking| walking.at.is_some());
            let released = waiting.map(|walking| walking.warp.now).fold(0.0, f64::max);
            for walking in warps.iter_mut().filter(|walking| walking.at.is_some()) {
                walking.warp.now = released;
            }
        }
    }

    /// One warp up to the next barrier, or its end.
    fn up_to_barrier(&mut self, walking: &mut Walking<'_>, agreed: &mut [Vec<usize>]) {
        while let Some(number) = walking.at {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let Some(step) = self.steps.get(number) else {
                walking.at = None;
                return;
            };
            let mut step = *step;
            // A guard that fails for all lanes was counted as executed, too.
            step.times = 1.0;
            let next = self.next(number, walking, agreed);
            step.jumps = next.is_some_and(|next| next != number + 1);
            walking.warp.loads = self.loads(number, &step);
            walking.warp.step(&step);
            let at = walking.warp.issued_at;
            self.cycles[number] += at - walking.last;
            self.visits[number] += 1;
            walking.last = at;
            walking.at = next;
            if step.instruction.class() == Some(Class::Barrier) {
                return;
            }
        }
    }

    /// The instruction after one; decides the branch at the end of a block.
    fn next(&mut self, number: usize, walking: &mut Walking<'_>, agreed: &mut [Vec<usize>]) -> Option<usize> {
        let flow = &self.analysis.structure.flow;
        let block = flow.block_of(number);
        if flow.blocks.get(block)?.end > number + 1 {
            return Some(number + 1);
        }
        let branch = self.branches.get_mut(block)?;
        let chosen = match branch.decided {
            Decided::Once => 0,
            Decided::ByWarp => due(&branch.edges, walking.owed.get_mut(block)?)?,
            Decided::AmongWarps => due(&branch.edges, &mut branch.owed)?,
            Decided::ByBlock => {
                let visit = walking.visited.get_mut(block)?;
                let decisions = agreed.get_mut(block)?;
                if decisions.len() <= *visit {
                    decisions.push(due(&branch.edges, &mut branch.owed)?);
                }
                let chosen = *decisions.get(*visit)?;
                *visit += 1;
                chosen
            }
        };
        let to = branch.edges.get(chosen)?.to?;
        flow.blocks.get(to).map(|block| block.start)
    }

    /// How long the global load of a step takes, this time.
    fn loads(&mut self, number: usize, step: &Step) -> GlobalLoads {
        let machine = self.machine;
        let sectors = match &self.guide.sectors {
            None => Some(4.0),
            Some(listed) => listed.get(number).copied().flatten(),
        };
        let Some(sectors) = sectors else {
            // A generic access that moved no sector of global memory went to shared memory.
            let generic = step.instruction.space() == Some(Space::Generic);
            let latency = if generic { machine.unit_latency(Unit::Shared) } else { machine.l2_latency };
            return GlobalLoads { latency, each_more: 0.0 };
        };
        let lines = (sectors / 4.0).ceil().max(1.0);
        let in_l1 = self.guide.l1_hits.powf(lines.min(INDEPENDENT_LINES));
        let latency = if self.random.next() < in_l1 {
            machine.l1_latency
        } else if self.random.next() < self.guide.from_dram {
            machine.dram_latency
        } else {
            machine.l2_latency
        };
        GlobalLoads { latency: latency + EACH_LINE * (lines - 1.0), each_more: 0.0 }
    }
}

/// Numbers from 0 to 1, the same on every run (SplitMix64, Steele and others 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }
}
