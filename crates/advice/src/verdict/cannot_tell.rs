//! Cannot tell: what would decide was not measured, and which flags of the profiler measure it.

use super::facts::Facts;
use super::{Evidence, Judged, Label, WouldHelp, shown};

pub(super) fn judge(facts: &Facts<'_>) -> Judged {
    let lacking = missing(facts);
    let what = match lacking.is_empty() {
        true => "the numbers that are there point to no one limit".to_owned(),
        false => format!("what would decide was not measured: profile it again with `ncu {}`", lacking.join(" ")),
    };
    let evidence: Vec<Evidence> = facts
        .theoretical
        .map(|theoretical| shown(theoretical, "percent of the warp slots that could be taken"))
        .into_iter()
        .collect();
    let full = facts.slots_can_be_full();
    let (help, says) = match full {
        true => (WouldHelp::No, format!("theoretical occupancy can't be raised; beyond that, {what}")),
        false => (WouldHelp::Unknown, what),
    };
    Judged { label: Label::CannotTell, help, says, evidence }
}

/// The sections that were not collected.
pub(super) fn missing(facts: &Facts<'_>) -> Vec<&'static str> {
    let mut sections = Vec::new();
    if !facts.has_throughput() {
        sections.push("--section SpeedOfLight");
    }
    if facts.eligible.is_none() {
        sections.push("--section SchedulerStats");
    }
    if !facts.mix.is_known() {
        sections.push("--section WarpStateStats");
    }
    if facts.achieved.is_none() || facts.theoretical.is_none() {
        sections.push("--section Occupancy");
    }
    if facts.waves.is_none() {
        sections.push("--section LaunchStats");
    }
    sections
}
