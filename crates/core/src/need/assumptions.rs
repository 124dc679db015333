//! What a need assumes, in words, each only where it matters.

use occupant_need::{Guarded, Machine, Memory, Model, Scope};
use occupant_sass::Analysis;

use super::NeedOptions;
use super::kernel::{MODEL_ONLY_BAND, Models};
use crate::report::{Basis, KernelRecord, resource_words, two_decimals};

/// Global loads of the kernel that a hot loop without any leaves outside.
fn beside(analysis: &Analysis, found: &Model) -> u32 {
    if found.demand.stream.bytes() > 0.0 { 0 } else { analysis.content().global_loads }
}

fn accesses(number: u32) -> String {
    if number == 1 { "1 global access".to_owned() } else { format!("{number} global accesses") }
}

/// Several resources count as one where they take less than this from it.
const CLOSE: f64 = 0.97;

/// What would settle a range.
pub(super) const SETTLE: &str =
    "profile it: `ncu --set full` measures execution counts, hit rates and stall reasons of every instruction";

/// The assumptions of a modelled kernel, the weightiest first.
pub(super) fn of(
    models: &Models,
    analysis: &Analysis,
    machine: &Machine,
    record: &KernelRecord,
    options: &NeedOptions,
) -> Vec<String> {
    let main = &models.main;
    let told = [scope(main, analysis), resources(main, options), of_accesses(models), of_launch(record)];
    let mut told = told.concat();
    told.push(format!("cycles are those of an SM clock of {} MHz", two_decimals(machine.clock_mhz)));
    told.extend(machine.doubts.iter().cloned());
    told
}

/// What stands for the kernel where that is its hot loop.
fn scope(main: &Model, analysis: &Analysis) -> Vec<String> {
    if !matches!(main.scope, Scope::Loop(_)) {
        return Vec::new();
    }
    let mut told = vec![
        "the hot loop stands for the kernel, in its steady state: what runs before and after it is left out".to_owned(),
    ];
    let beside = beside(analysis, main);
    if beside > 0 {
        told.push(format!("{} outside it: where it makes few passes, they decide and not the loop", accesses(beside)));
    }
    told.push(format!(
        "trip counts, hit rates and waiting at barriers for other warps are not in the code: the band is the range of the \
         scenarios widened by {MODEL_ONLY_BAND} (docs/need.md says why)"
    ));
    told
}

/// Which memory serves it, and what the target is a percentage of.
fn resources(main: &Model, options: &NeedOptions) -> Vec<String> {
    let mut told = Vec::new();
    if options.memory.is_none() && main.demand.stream.bytes() > 0.0 {
        told.push(match main.scenario.memory {
            Memory::Dram => {
                "global accesses are served from DRAM, none from a cache (--memory l2 for the other end)".to_owned()
            }
            Memory::L2 => {
                "tiles of tensor-core loops are served from L2, as other blocks read them too (--memory dram \
                           for the other end)"
                    .to_owned()
            }
        });
    }
    if let (Some((resource, most)), combined) = (main.demand.binding(), main.demand.combined(main.knee.sharpness)) {
        let alone = most / combined * options.target;
        if alone < options.target * CLOSE {
            told.push(format!(
                "{} % is of what its resources allow together, several being busy: {alone:.0} % of {} alone",
                options.target,
                resource_words(resource.name())
            ));
        }
    }
    told
}

/// How accesses and operations are counted that the code says too little about.
fn of_accesses(models: &Models) -> Vec<String> {
    let main = &models.main;
    let mut told = Vec::new();
    if main.generic > 0 {
        told.push(format!("{} generic accesses are taken to be global: they can be shared or local", main.generic));
    }
    if main.guarded > 0 {
        let in_band = models.others.iter().any(|other| other.scenario.guarded == Guarded::Skipped);
        let doubt = if in_band { " (the band has both)" } else { "" };
        told.push(format!("{} under a guard, taken to be executed by all lanes{doubt}", accesses(main.guarded)));
    }
    if main.untraced > 0 {
        told.push(format!(
            "how the addresses of {} differ between lanes was not traced: they are taken to lie side by side, which is too \
             few bytes where they are further apart, and too many where they share",
            accesses(main.untraced)
        ));
    }
    if main.scattered > 0 {
        told.push(format!(
            "{} with wide strides: whole sectors are counted, also what neighbours use of them",
            accesses(main.scattered)
        ));
    }
    if main.beyond_x {
        told.push("lanes run along x: a block that is less than 32 wide mixes rows, and moves more sectors".to_owned());
    }
    if main.demand.unknown_tensor > 0 {
        told.push(format!(
            "{} tensor-core operations have a shape that is not decoded: the demand on the tensor cores is left out",
            main.demand.unknown_tensor
        ));
    }
    told
}

/// How far what it has is known.
fn of_launch(record: &KernelRecord) -> Vec<String> {
    let basis = record.occupancy.as_ref().map(|occupancy| occupancy.basis);
    let told = match basis {
        None | Some(Basis::Exact) => return Vec::new(),
        Some(Basis::UpperBound) => "what it has is an upper bound: the launch is not fully known",
        Some(_) => "what it has is for an assumed block of 256 threads (--block)",
    };
    vec![told.to_owned()]
}
