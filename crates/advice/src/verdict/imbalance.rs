//! Imbalance: blocks end at different times, or are launched too slowly, so that the SMs hold fewer warps than they could.

use super::facts::Facts;
use super::thresholds::GAP;
use super::{Judged, Label, WouldHelp, mostly, shown};

pub(super) fn judge(facts: &Facts<'_>) -> Option<Judged> {
    let (theoretical, achieved) = (facts.theoretical?, facts.achieved?);
    let gap = theoretical.value - achieved.value;
    if gap <= GAP {
        return None;
    }
    let waves = facts.waves.map_or(f64::INFINITY, |waves| waves.value);
    let why = match waves {
        ..2.0 => "a last wave that fills few of its places",
        ..8.0 => "the last wave, or blocks that take unequally long",
        _ => "blocks or warps that take unequally long, or so little that the next ones can't be launched in time",
    };
    let mut says = format!(
        "on average {:.0} % of the warp slots are taken where {:.0} % could be: {why}",
        achieved.value, theoretical.value
    );
    if facts.mix.is_known() {
        says = format!("{says}; meanwhile {}", mostly(&facts.mix));
    }
    let evidence = vec![
        shown(achieved, "percent of the warp slots that are taken while the SM has warps"),
        shown(theoretical, "percent of the warp slots that could be taken"),
    ];
    // What is not reached now is not reached by allowing more.
    Some(Judged { label: Label::Imbalance, help: WouldHelp::No, says, evidence })
}
