//! NEED guided by a profile: the code's own timeline, walked as often as a profiler counted, and the measured demand on each
//! resource, give how long a warp lives among `n` others, how busy each resource is, and how many warps it takes.
//!
//! For: launches whose executions by instruction, hit rates and throughputs were measured. No measured duration or stall
//! enters, so that those remain to compare with. Not for: launches at other hit rates, which move with the warps.

mod assumed;
mod edges;
mod lifetime;
mod queues;
mod walk;

use occupant_sass::{AccessKind, Analysis, Class, Space};

use crate::demand::Resource;
use crate::machine::Machine;
use crate::path::Path;
use crate::refusal::NotModelled;

pub use assumed::assumed_counts;
pub use lifetime::{Formula, Lifetime};

/// What a profile measured of a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// Executions of a warp for each instruction of the code, in its order.
    pub counts: Vec<f64>,
    /// Sectors of a request, for the instructions that access global memory; `None` where the profile lists none.
    pub sectors: Option<Vec<Option<f64>>>,
    /// Share of the sectors of global loads that L1 serves, 0 to 1.
    pub l1_hits: f64,
    /// Share of what L1 misses that DRAM serves, 0 to 1.
    pub from_dram: f64,
    /// Warps of a block.
    pub warps_per_block: u32,
    /// Cycles of an SM that a warp takes of each resource, at the resource's peak.
    pub demand: Vec<(Resource, f64)>,
}

/// A launch as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Guided {
    /// Cycles of one warp alone.
    pub one_warp_cycles: f64,
    /// Mean cycles from the issue before to each instruction's own, one warp alone, by number; 0 of what is not executed.
    pub visit_cycles: Vec<f64>,
    /// Share of the executed instructions that the walk came by.
    pub walked: f64,
    /// How throughput grows with warps.
    pub lifetime: Lifetime,
}

/// The model of a profiled launch.
///
/// # Errors
/// [`NotModelled`] where one warp's timeline does not tell how fast it is.
pub fn guided(analysis: &Analysis, machine: &Machine, guide: &Guide) -> Result<Guided, NotModelled> {
    refuse(analysis, guide)?;
    let steps = Path::every(analysis, &guide.counts);
    let edges = edges::balance(analysis, &guide.counts);
    let walked = walk::walk(analysis, machine, guide, &steps, &edges);
    let one_warp_cycles: f64 = walked.cycles.iter().zip(&guide.counts).map(|(cycles, count)| cycles * count).sum();
    let executed: f64 = guide.counts.iter().sum();
    let seen: f64 =
        walked.visits.iter().zip(&guide.counts).filter(|(visits, _)| **visits > 0).map(|(_, count)| count).sum();
    if one_warp_cycles <= 0.0 || guide.demand.is_empty() {
        return Err(NotModelled::Nothing);
    }
    let lifetime = Lifetime::new(one_warp_cycles, &guide.demand, Formula::FITTED);
    Ok(Guided {
        one_warp_cycles,
        visit_cycles: walked.cycles,
        walked: if executed > 0.0 { seen / executed } else { 0.0 },
        lifetime,
    })
}

/// Mean cycles from the issue before to each instruction's own, one warp alone, by number: also for launches that have no
/// need.
#[must_use]
pub fn visit_cycles(analysis: &Analysis, machine: &Machine, guide: &Guide) -> Vec<f64> {
    let steps = Path::every(analysis, &guide.counts);
    let edges = edges::balance(analysis, &guide.counts);
    walk::walk(analysis, machine, guide, &steps, &edges).cycles
}

impl Guided {
    /// Cycles that a warp among `warps` spends at each instruction over its whole life, by number: its own, and its turns in
    /// the queues of what the instruction uses.
    #[must_use]
    pub fn waits(&self, analysis: &Analysis, guide: &Guide, machine: &Machine, warps: f64) -> Vec<f64> {
        let own = self.visit_cycles.iter().zip(&guide.counts).map(|(cycles, count)| cycles * count);
        let queued = queues::spread(analysis, guide, machine, &self.visit_cycles, &self.lifetime.queues(warps));
        own.zip(queued).map(|(own, queued)| own + queued).collect()
    }
}

/// What was executed that a timeline does not tell of.
fn refuse(analysis: &Analysis, guide: &Guide) -> Result<(), NotModelled> {
    for (instruction, count) in analysis.instructions.iter().zip(&guide.counts) {
        if *count <= 0.0 {
            continue;
        }
        let at = instruction.offset;
        match instruction.class() {
            None => return Err(NotModelled::UnknownOpcode(at)),
            Some(Class::Tma | Class::Tcgen05Mma | Class::Tcgen05 | Class::Wgmma) => {
                return Err(NotModelled::BulkCopies(at));
            }
            Some(Class::Texture | Class::Surface) => return Err(NotModelled::Textures(at)),
            _ if instruction.is_mbarrier_wait() => return Err(NotModelled::BulkCopies(at)),
            _ => {}
        }
        let atomic = matches!(instruction.access().map(|access| access.kind), Some(AccessKind::Atomic));
        if atomic && instruction.space() != Some(Space::Shared) {
            return Err(NotModelled::Atomics(at));
        }
    }
    Ok(())
}
