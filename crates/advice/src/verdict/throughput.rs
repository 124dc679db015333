//! Throughput-bound: a unit is so close to its ceiling that nothing but less work for it makes the launch faster.

use super::facts::{Facts, Use};
use super::thresholds::{FILLS_THE_GPU, SATURATED, SATURATED_OF_CEILING};
use super::{Judged, Label, WouldHelp, unit_shown};

pub(super) fn judge(facts: &Facts<'_>) -> Option<Judged> {
    let full = facts.units.iter().filter(|used| is_full(used, facts)).collect::<Vec<_>>();
    // Named units tell more than "the busiest part".
    let named = full.iter().find(|used| !used.unit.starts_with("the busiest") && used.unit != "memory requests");
    let top = named.or_else(|| full.first())?;
    // A ceiling that is exceeded was inferred too low: it tells nothing.
    let close = match top.of_ceiling.filter(|percent| *percent <= 100.0) {
        Some(of_ceiling) => {
            let reads = if top.at_least { " with what was measured of it alone" } else { "" };
            format!("{:.0} % of its peak{reads}, {of_ceiling:.0} % of what streams reach on this GPU", top.percent)
        }
        None if top.of_active => format!("{:.0} % of its peak while the SMs have warps", top.percent),
        None => format!("{:.0} % of its peak", top.percent),
    };
    let says = format!("{} at {close}: more warps would only queue for it; give it less work", top.unit);
    Some(Judged {
        label: Label::ThroughputBound,
        help: WouldHelp::No,
        says,
        evidence: full.iter().map(|used| unit_shown(used)).collect(),
    })
}

/// Whether a unit is at its ceiling. What is known of the time with warps alone counts where nearly all SMs had some.
fn is_full(used: &Use, facts: &Facts<'_>) -> bool {
    let of_ceiling = used.of_ceiling.is_some_and(|percent| percent >= SATURATED_OF_CEILING);
    let counts = !used.of_active || facts.waves.is_none_or(|waves| waves.value >= FILLS_THE_GPU);
    counts && (used.percent >= SATURATED || of_ceiling)
}
