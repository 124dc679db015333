//! Latency-bound where warps don't help: what they wait for is a barrier, a full queue, instructions; or the slots for
//! warps are full already, and each must do more.

use super::facts::Facts;
use super::stalls::Warps;
use super::thresholds::{GAP, MOST_OF_THE_WAITING};
use super::{Judged, Label, WouldHelp, mostly, shown, stalls_shown};

/// Before imbalance: warps that end late because they wait so are no imbalance.
pub(super) fn judge_dominant(facts: &Facts<'_>) -> Option<Judged> {
    let known = facts.has_throughput() && facts.mix.is_known();
    let dominant = facts.mix.of_waiting(Warps::DontHide) > MOST_OF_THE_WAITING;
    (known && dominant).then(|| other(facts))
}

pub(super) fn judge(facts: &Facts<'_>) -> Option<Judged> {
    let achieved = facts.achieved?;
    let full = facts.slots_can_be_full() && facts.theoretical.is_some_and(|most| most.value - achieved.value <= GAP);
    (facts.has_throughput() && full).then(|| slots_full(facts))
}

fn other(facts: &Facts<'_>) -> Judged {
    let changes = facts.mix.top().map_or("", |top| top.reason.changes);
    let says = format!("{}, which more warps don't hide: {changes}", mostly(&facts.mix));
    let mut evidence = stalls_shown(&facts.mix);
    evidence.extend(facts.issue.map(|issue| shown(issue, "share of cycles in which a scheduler issues")));
    Judged { label: Label::LatencyBoundOther, help: WouldHelp::No, says, evidence }
}

fn slots_full(facts: &Facts<'_>) -> Judged {
    let waiting = if facts.mix.is_known() { format!("; {}", mostly(&facts.mix)) } else { String::new() };
    let says = format!(
        "all warp slots are taken and no unit is at its ceiling{waiting}: no more warps are to be had, so each must have more \
         in flight (unroll, wider loads, independent work)"
    );
    let mut evidence = Vec::new();
    evidence.extend(facts.achieved.map(|achieved| shown(achieved, "percent of the warp slots that are taken")));
    evidence.extend(stalls_shown(&facts.mix));
    Judged { label: Label::LatencyBoundOther, help: WouldHelp::No, says, evidence }
}
