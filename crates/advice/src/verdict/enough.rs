//! Enough warps: the schedulers issue in most cycles, or have more than one warp to choose from when they do.

use super::facts::Facts;
use super::thresholds::{BUSY_ISSUE, ENOUGH_ELIGIBLE};
use super::{Judged, Label, WouldHelp, shown};

pub(super) fn judge(facts: &Facts<'_>) -> Option<Judged> {
    let issue = facts.issue.filter(|issue| issue.value >= BUSY_ISSUE)?;
    let eligible = facts.eligible.filter(|eligible| eligible.value >= ENOUGH_ELIGIBLE)?;
    let says = format!(
        "{:.1} warps are ready in each cycle of a scheduler that issues one of them, in {:.0} % of all cycles: another warp \
         would wait beside them; do less work, or more in each instruction",
        eligible.value,
        issue.value * 100.0
    );
    let mut evidence = vec![
        shown(eligible, "warps of a scheduler that are ready in a cycle"),
        shown(issue, "share of cycles in which a scheduler issues"),
    ];
    evidence.extend(super::stalls_shown(&facts.mix));
    Some(Judged { label: Label::EnoughWarps, help: WouldHelp::No, says, evidence })
}
