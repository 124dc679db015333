//! Which instructions wait in the queue of a resource. Not for: how long the queue is.

use occupant_sass::{Analysis, Class, Instruction, Space};

use super::Guide;
use crate::demand::Resource;
use crate::machine::Machine;

/// The cycles of each queue spread over the instructions that stand in it, by number.
pub(super) fn spread(
    analysis: &Analysis,
    guide: &Guide,
    machine: &Machine,
    visit_cycles: &[f64],
    queues: &[(Resource, f64)],
) -> Vec<f64> {
    let mut spent = vec![0.0; guide.counts.len()];
    for (resource, cycles) in queues {
        let weights: Vec<f64> = analysis
            .instructions
            .iter()
            .enumerate()
            .map(|(number, instruction)| {
                let count = guide.counts.get(number).copied().unwrap_or(0.0);
                let visit = visit_cycles.get(number).copied().unwrap_or(0.0);
                count * weight(*resource, number, instruction, guide, machine, visit)
            })
            .collect();
        let all: f64 = weights.iter().sum();
        if all > 0.0 {
            spent.iter_mut().zip(&weights).for_each(|(spent, weight)| *spent += cycles * weight / all);
        }
    }
    spent
}

/// How much of a resource's queue one visit of an instruction stands in.
fn weight(
    resource: Resource,
    number: usize,
    instruction: &Instruction,
    guide: &Guide,
    machine: &Machine,
    visit: f64,
) -> f64 {
    let class = instruction.class();
    let is = |wanted: &[Class]| class.is_some_and(|class| wanted.contains(&class));
    let one_if = |holds: bool| if holds { 1.0 } else { 0.0 };
    match resource {
        Resource::Issue => 1.0,
        Resource::Fma => one_if(is(&[Class::Fma])),
        Resource::Alu => one_if(is(&[Class::Alu])),
        Resource::Half => one_if(is(&[Class::Half])),
        Resource::Fp64 => one_if(is(&[Class::Fp64])),
        Resource::Xu => one_if(is(&[Class::Xu])),
        Resource::Tensor => one_if(is(&[Class::Tensor, Class::Wgmma])),
        // The queue of the load-store unit is full: the access itself waits.
        Resource::L1 => {
            let memory = matches!(
                instruction.space(),
                Some(Space::Global | Space::Generic | Space::Shared | Space::Local | Space::Cluster)
            );
            let sectors = guide.sectors.as_ref().and_then(|listed| listed.get(number).copied().flatten());
            one_if(memory || is(&[Class::Shuffle])) * sectors.map_or(1.0, |sectors| (sectors / 4.0).max(1.0))
        }
        // What was asked for comes later: who waits for it waits longer.
        Resource::L2 | Resource::Dram => (visit - machine.l1_latency).max(0.0),
    }
}
