//! Latency-bound where warps help: no unit is full, schedulers have nothing to issue, the waiting is of the kind that other
//! warps hide, and the SM has room for more.

use super::facts::Facts;
use super::stalls::Warps;
use super::thresholds::MOST_OF_THE_WAITING;
use super::{Judged, Label, WouldHelp, mostly, shown, stalls_shown};

pub(super) fn judge(facts: &Facts<'_>) -> Option<Judged> {
    // Without the units' throughput, a full one may be what the warps wait for.
    let bandwidth_is_free = facts.has_throughput();
    let hidden = facts.mix.of_waiting(Warps::Hide);
    let room = facts.theoretical.filter(|_| !facts.slots_can_be_full())?;
    if !bandwidth_is_free || !facts.mix.is_known() || hidden < MOST_OF_THE_WAITING {
        return None;
    }
    let busiest = facts.busiest_named().map_or_else(String::new, |used| {
        format!(" while the busiest unit, {}, is at {:.0} %", used.unit, used.percent)
    });
    let says = format!(
        "{}{busiest}, and {:.0} % of the warp slots are all that this launch can take: more warps, or more independent work \
         in each, would hide it",
        mostly(&facts.mix),
        room.value
    );
    let mut evidence = vec![shown(room, "percent of the warp slots that could be taken")];
    evidence
        .extend(facts.achieved.map(|achieved| shown(achieved, "percent of the warp slots that are taken, on average")));
    evidence.extend(facts.eligible.map(|eligible| shown(eligible, "warps of a scheduler that are ready in a cycle")));
    evidence.extend(facts.issue.map(|issue| shown(issue, "share of cycles in which a scheduler issues")));
    evidence.extend(stalls_shown(&facts.mix));
    Some(Judged { label: Label::LatencyBoundWarpsHelp, help: WouldHelp::Yes, says, evidence })
}

/// How much more the busiest unit allows: no number of warps gives more.
pub(super) fn room(facts: &Facts<'_>) -> Option<String> {
    let busiest = facts.busiest_named().filter(|used| used.percent > 0.0)?;
    let most = 100.0 / busiest.of_ceiling.unwrap_or(busiest.percent);
    Some(format!(
        "hiding all of it could make the launch at most {most:.1} times as fast: then {} is full",
        busiest.unit
    ))
}
