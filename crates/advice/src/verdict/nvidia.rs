//! Where NVIDIA's own rules print a speedup for occupancy and the evidence says otherwise.

use occupant_profile::ncu::SpeedupKind;

use super::facts::Facts;
use super::{Judged, Label, WouldHelp};

/// Rules that ask for occupancy, by their identifiers.
const FOR_OCCUPANCY: [&str; 3] = ["TheoreticalOccupancy", "AchievedOccupancy", "Occupancy"];

pub(super) fn contradictions(facts: &Facts<'_>, judged: &Judged) -> Vec<String> {
    if judged.help != WouldHelp::No || judged.label == Label::CannotTell {
        return Vec::new();
    }
    let asks = |rule: &str| FOR_OCCUPANCY.contains(&rule);
    let said = facts.measured.said.iter().filter(|said| asks(&said.rule) && said.speedup.is_some());
    let but = |said: &occupant_profile::Said| {
        let (kind, percent) = said.speedup?;
        // The rule on achieved occupancy is right where that is what was found.
        if said.rule == "AchievedOccupancy" && judged.label == Label::Imbalance {
            return None;
        }
        let of =
            if kind == SpeedupKind::Global { "of the kernel" } else { "of a part (\"local\"), not of the run time" };
        let why = match judged.label {
            Label::ThroughputBound => "a unit is at its ceiling",
            Label::GridTooSmall => "the grid can't fill the places there are",
            Label::Imbalance => "what is allowed now is not reached",
            Label::EnoughWarps => "the schedulers have warps to choose from",
            _ => "what the warps wait for is not hidden by more of them",
        };
        Some(format!(
            "NVIDIA's rule {} estimates a speedup of {percent:.0} % {of} from occupancy; the evidence says no: {why}",
            said.rule
        ))
    };
    said.filter_map(but).collect()
}
