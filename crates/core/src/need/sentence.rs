//! The answer as one sentence. Not for: numbers that the record does not have.

use occupant_need::Machine;

use crate::report::{NeedAnswer, NeedRecord, PartialRecord, Validation, resource_words};

/// HAVE against NEED.
pub(super) fn of(need: &NeedRecord, machine: &Machine) -> String {
    let (Some(needed), Some(band)) = (need.needed, need.band) else { return String::new() };
    let ceiling = resource_words(need.binding.unwrap_or("issue"));
    let target = need.target;
    let range = match need.validation {
        Some(Validation::Measured) => String::new(),
        _ => format!(" ({:.0} to {:.0}, the model alone)", band.low.floor(), band.high.ceil()),
    };
    let wants = format!("needs {:.0}{range} for {target} % of {ceiling}", needed.exact_warps.ceil());
    let reaches = need.throughput_percent.map_or_else(String::new, |percent| format!(": it reaches {percent:.0} %"));
    let have = need.have_warps.map_or_else(
        || "how many warps it has is not known;".to_owned(),
        |have| format!("has {have} {},", if have == 1 { "warp" } else { "warps" }),
    );
    let probably = if need.is_open() { "probably " } else { "" };
    match need.answer {
        NeedAnswer::Enough if need.have_warps == Some(machine.warp_slots) => {
            format!("{probably}enough: {have} {wants}{reaches}, with every slot of the SM filled")
        }
        NeedAnswer::Enough => {
            format!("{probably}enough: {have} {wants}; more occupancy gains at most {:.0} %", gain(need))
        }
        NeedAnswer::Short => format!("{probably}short: {have} {wants}{reaches}"),
        NeedAnswer::CannotSaturate => format!(
            "{probably}cannot saturate: {have} {wants}, more than the {} that an SM holds{reaches}; only more in flight per \
             warp helps",
            machine.warp_slots
        ),
        NeedAnswer::NotModelled => String::new(),
    }
}

/// What is left to gain by more warps, percent.
fn gain(need: &NeedRecord) -> f64 {
    need.throughput_percent.map_or(0.0, |percent| (10_000.0 / percent - 100.0).max(0.0).ceil())
}

/// Why there is no number, and what there is.
pub(super) fn refused(reason: &str, partial: Option<&PartialRecord>) -> String {
    let partial = partial.map_or_else(String::new, |partial| format!("; {}", partial.says));
    format!("not modelled: {reason}{partial}")
}
