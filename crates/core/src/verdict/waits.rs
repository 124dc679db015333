//! Where a launch waits: measured cycles of each visit of an instruction beside what it would take alone, and the likely
//! cause of the difference. Exact arithmetic on samples and counts; only the expected half is modelled.

use super::{Observed, Profiled};

/// Cycles of each visit of each instruction, by number: its share of the samples, times the cycles that all warps lived,
/// over how often it was executed. `None` without samples and counts.
pub(super) fn visit_cycles(profiled: &Profiled, observed: &Observed) -> Option<Vec<f64>> {
    let counts = profiled.by_number("inst_executed")?;
    let samples = samples(profiled)?;
    let all: f64 = samples.iter().sum();
    let lived = observed.lifetime * observed.launched;
    let visit = |(samples, count): (&f64, &f64)| if *count > 0.0 { samples / all * lived / count } else { 0.0 };
    (all > 0.0).then(|| samples.iter().zip(&counts).map(visit).collect())
}

/// Samples of each instruction.
pub(super) fn samples(profiled: &Profiled) -> Option<Vec<f64>> {
    if let Some(samples) = profiled.by_number("smsp__pcsamp_sample_count") {
        return Some(samples);
    }
    // Older reports list samples by reason only.
    let mut sum: Option<Vec<f64>> = None;
    for metric in profiled.measured.instructions.keys() {
        if metric.starts_with("smsp__pcsamp_warps_issue_stalled_") && !metric.ends_with("_not_issued") {
            let listed = profiled.by_number(metric)?;
            match &mut sum {
                None => sum = Some(listed),
                Some(sum) => sum.iter_mut().zip(listed).for_each(|(sum, listed)| *sum += listed),
            }
        }
    }
    sum
}

/// Samples of program counters by number of the instruction; `None` where none were taken.
#[must_use]
pub fn samples_by_instruction(profiled: &Profiled) -> Option<Vec<f64>> {
    samples(profiled)
}
