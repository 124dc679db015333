//! What a need assumes, in words, each only where it matters.

use occupant_need::{Guarded, Machine, Memory, Scope};

use super::NeedOptions;
use super::kernel::{MODEL_ONLY_BAND, Models};
use super::sentence::resource as resource_words;
use crate::report::{Basis, KernelRecord, two_decimals};

/// Several resources count as one where they take less than this from it.
const CLOSE: f64 = 0.97;

/// What would settle a range.
pub(super) const SETTLE: &str =
    "profile it: `ncu --set full` measures execution counts, hit rates and stall reasons of every instruction";

/// The assumptions of a modelled kernel, the weightiest first.
pub(super) fn of(models: &Models, machine: &Machine, record: &KernelRecord, options: &NeedOptions) -> Vec<String> {
    let main = &models.main;
    let mut told = Vec::new();
    if matches!(main.scope, Scope::Loop(_)) {
        told.push(
            "the hot loop stands for the kernel, in its steady state: what runs before and after it is left out"
                .to_owned(),
        );
        told.push(format!(
            "trip counts, hit rates and waiting at barriers for other warps are not in the code: the band is the range of the \
             scenarios widened by {MODEL_ONLY_BAND} (docs/need.md says why)"
        ));
    }
    if options.memory.is_none() && main.demand.stream.bytes() > 0.0 {
        told.push(match main.scenario.memory {
            Memory::Dram => "global accesses are served from DRAM, none from a cache (--memory l2 for the other end)".to_owned(),
            Memory::L2 => {
                "tiles of tensor-core loops are served from L2, as other blocks read them too (--memory dram for the other end)"
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
    let generic = main.generic;
    if generic > 0 {
        told.push(format!("{generic} generic accesses are taken to be global: they can be shared or local"));
    }
    if main.guarded > 0 {
        let doubt = if models.others.iter().any(|other| other.scenario.guarded == Guarded::Skipped) {
            " (the band has both)"
        } else {
            ""
        };
        told.push(format!("{} global accesses stand under a guard and are taken to be executed{doubt}", main.guarded));
    }
    if main.untraced > 0 {
        told.push(format!(
            "the lanes of {} global accesses are taken to lie side by side: how their addresses differ was not traced",
            main.untraced
        ));
    }
    if main.demand.unknown_tensor > 0 {
        told.push(format!(
            "{} tensor-core operations have a shape that is not decoded: the demand on the tensor cores is left out",
            main.demand.unknown_tensor
        ));
    }
    if let Some(occupancy) = record.occupancy.as_ref().filter(|occupancy| occupancy.basis != Basis::Exact) {
        told.push(match occupancy.basis {
            Basis::UpperBound => "what it has is an upper bound: the launch is not fully known".to_owned(),
            _ => "what it has is for an assumed block of 256 threads (--block)".to_owned(),
        });
    }
    told.push(format!("cycles are those of an SM clock of {} MHz", two_decimals(machine.clock_mhz)));
    told.extend(machine.doubts.iter().cloned());
    told
}
