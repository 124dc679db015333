//! The guided model's answer as a record: needed warps, band, how busy what is, or why there is no number.

use occupant_need::Resource;

use super::{GuidedLaunch, Profiled, Unguided, guide};
use crate::report::{
    BandRecord, GuidedNeed, LifetimeRecord, NeedAnswer, NeededRecord, ResourceRecord, resource_words, two_decimals,
};

/// Factor around the needed warps where executions were counted, and where only their sum was: of 36 profiled launches
/// the inverted model gave 19 of 22 within 2 and 14 within 1.5 of what their own utilisation implies.
const BAND: [f64; 2] = [1.5, 2.0];

/// Needed warps of a launch for `target` percent.
pub(super) fn need(profiled: &Profiled, target: f64) -> GuidedNeed {
    match guide(profiled) {
        Ok(launch) => answered(profiled, &launch, target),
        Err(why) => refused(&why, target),
    }
}

fn answered(profiled: &Profiled, launch: &GuidedLaunch, target: f64) -> GuidedNeed {
    let GuidedLaunch { observed, guide, machine, model, counted } = launch;
    let lifetime = &model.lifetime;
    let exact = lifetime.needed(target / 100.0);
    let warps_per_block = guide.warps_per_block.max(1);
    let blocks = (exact / f64::from(warps_per_block)).ceil().max(1.0) as u32;
    let factor = BAND[usize::from(!counted)];
    let busy = lifetime.busy(observed.resident);
    let binding = busy.first().map(|(resource, _)| resource.name());
    let have = observed.resident;
    let answer = match () {
        () if exact > f64::from(machine.warp_slots) => NeedAnswer::CannotSaturate,
        () if have >= exact => NeedAnswer::Enough,
        () => NeedAnswer::Short,
    };
    let needed =
        NeededRecord { warps: blocks.saturating_mul(warps_per_block), blocks, exact_warps: two_decimals(exact) };
    let share = lifetime.share(have) * 100.0;
    let words = binding.map_or("its resources", |binding| resource_words(binding));
    let now = format!("by the model {have:.1} warps get {share:.0} % of what any number would");
    let says = match answer {
        NeedAnswer::CannotSaturate => {
            format!("{now}; {exact:.0} for {target} % are more than an SM holds; first to be full: {words}")
        }
        NeedAnswer::Enough => format!("{now}; {exact:.0} are enough for {target} %; first to be full: {words}"),
        _ => format!("{now}, {exact:.0} would get {target} %; first to be full: {words}"),
    };
    GuidedNeed {
        answer,
        says,
        binding,
        target,
        needed: Some(needed),
        band: Some(BandRecord { low: two_decimals(exact / factor), high: two_decimals(exact * factor) }),
        have_warps: Some(two_decimals(have)),
        throughput_percent: Some(two_decimals(share)),
        one_warp_cycles: Some(two_decimals(model.one_warp_cycles)),
        lifetime: Some(LifetimeRecord {
            measured: two_decimals(observed.lifetime),
            predicted: two_decimals(lifetime.cycles(have)),
        }),
        resources: busy.iter().map(|(of, share)| resource(launch, *of, *share)).collect(),
        guided_by: Some(if *counted { "counts" } else { "sum" }),
        assumptions: assumptions(profiled, launch),
        reason: None,
        reason_code: None,
    }
}

/// How busy a resource was, measured and by the model, in which the warps there are get `share` of what it can do. Both of
/// its peak over the whole launch, as the profiler has it.
fn resource(launch: &GuidedLaunch, resource: Resource, share: f64) -> ResourceRecord {
    let GuidedLaunch { observed, guide, model, .. } = launch;
    let of =
        |demands: &[(Resource, f64)]| demands.iter().find(|(of, _)| *of == resource).map_or(0.0, |(_, demand)| *demand);
    let (at_peak, reached) = (of(&guide.demand), of(&model.lifetime.demand));
    let whole = observed.active_cycles / observed.elapsed_cycles;
    ResourceRecord {
        resource: resource.name(),
        measured_percent: two_decimals(observed.busy_percent(at_peak) * whole),
        predicted_percent: two_decimals(share * 100.0 * at_peak / reached * whole),
    }
}

fn assumptions(profiled: &Profiled, launch: &GuidedLaunch) -> Vec<String> {
    let mut assumed = vec![
        "extrapolated to other numbers of warps at the measured hit rates, which move with them".to_owned(),
        format!("at the profiled SM clock of {:.0} MHz", launch.machine.clock_mhz),
    ];
    if !launch.counted {
        assumed.push(
            "the likely way through the code, its hot loop as often as the sum of instructions asks for".to_owned(),
        );
    }
    assumed.extend(launch.machine.doubts.iter().cloned());
    let off = (launch.model.lifetime.cycles(launch.observed.resident) / launch.observed.lifetime - 1.0) * 100.0;
    if off.abs() > MISSED {
        assumed.push(format!("the model misses this launch: it predicts a lifetime {off:+.0} % off the measured one"));
    }
    let walked = launch.model.walked * 100.0;
    if walked < WALKED {
        assumed.push(format!("{walked:.0} % of the executed instructions were walked, the rest taken at their stalls"));
    }
    if profiled.measured.launches > 1 {
        assumed.push("of a mean over several launches".to_owned());
    }
    assumed
}

/// Percent that the predicted lifetime may be off before it is told: 9 of 10 public launches are within 17.
const MISSED: f64 = 25.0;
/// Percent of the executed instructions that are walked as a rule.
const WALKED: f64 = 95.0;

fn refused(why: &Unguided, target: f64) -> GuidedNeed {
    GuidedNeed {
        answer: NeedAnswer::NotModelled,
        says: format!("not modelled: {}", why.says),
        binding: None,
        target,
        needed: None,
        band: None,
        have_warps: None,
        throughput_percent: None,
        one_warp_cycles: None,
        lifetime: None,
        resources: Vec::new(),
        guided_by: None,
        assumptions: Vec::new(),
        reason: Some(why.says.clone()),
        reason_code: Some(why.code),
    }
}
