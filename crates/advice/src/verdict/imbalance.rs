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
    // Blocks that take equally long fill all waves but the last.
    let tail = facts.waves.map(|waves| (waves.value, waves.value / waves.value.ceil().max(1.0)));
    let why = match tail {
        Some((waves, filled)) if achieved.value >= theoretical.value * filled - GAP / 2.0 => format!(
            "a last wave that fills {:.0} % of its places, of {:.1} waves",
            (waves - waves.floor()) * 100.0,
            waves
        ),
        Some((_, filled)) if filled < 0.95 => format!(
            "blocks or warps that take unequally long, or end early; the last wave alone would leave {:.0} %",
            theoretical.value * filled
        ),
        _ => "blocks or warps that take unequally long, or so little that the next ones can't be launched in time"
            .to_owned(),
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
