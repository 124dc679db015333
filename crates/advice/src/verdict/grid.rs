//! Grid too small: the launch has fewer blocks than the GPU has places for.

use super::facts::Facts;
use super::thresholds::FILLS_THE_GPU;
use super::{Judged, Label, WouldHelp, shown};

pub(super) fn judge(facts: &Facts<'_>) -> Option<Judged> {
    let blocks = facts.measured.blocks().filter(|blocks| *blocks > 0)? as f64;
    let idle = facts.sms.map(|sms| (sms - blocks).max(0.0)).filter(|idle| *idle > 0.0);
    let part = facts.waves.filter(|waves| waves.value < FILLS_THE_GPU);
    let says = match (idle, part, facts.sms) {
        (Some(idle), _, Some(sms)) => format!(
            "the grid has {blocks:.0} {} for {sms:.0} SMs, {idle:.0} of them have nothing to do: more blocks, or smaller ones",
            if blocks == 1.0 { "block" } else { "blocks" }
        ),
        (_, Some(waves), _) => format!(
            "the grid of {blocks:.0} blocks fills {:.0} % of the GPU once: the SMs could hold more blocks than there are",
            waves.value * 100.0
        ),
        _ => return None,
    };
    let evidence = facts.waves.map(|waves| shown(waves, "waves: blocks over the blocks that the GPU holds at once"));
    Some(Judged { label: Label::GridTooSmall, help: WouldHelp::No, says, evidence: evidence.into_iter().collect() })
}
