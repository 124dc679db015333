//! Lines of the error table. Not for: computing errors.

use occupant_need::Constants;

use super::evaluate::{Case, Errors, SHARES};
use super::summary::Summary;

/// One GPU and kernel.
pub(crate) struct Line<'a> {
    pub(crate) case: &'a Case,
    /// With the curve's own peak as ceiling.
    pub(crate) at_peak: Errors,
    /// With the ceiling that the product would use.
    pub(crate) at_own: Option<Errors>,
    /// Bandwidth error of "in proportion to occupancy".
    pub(crate) proportional: f64,
    /// Bandwidth error of "50 % is enough".
    pub(crate) half: f64,
}

pub(crate) fn constants(name: &str, found: &Constants) {
    println!(
        "{name:<14} turnover {:.0} ns, extra load {:.1} cycles, mixed {:.1} ns, sharpness {:.2}, of stores {:.2}",
        found.turnover, found.extra_load, found.mixed, found.sharpness, found.store_sharpness
    );
}

/// A line for each curve, then the mean of each GPU and of all.
pub(crate) fn print(lines: &[&Line<'_>]) {
    println!(
        "  {:<10} {:<9} {:>7} {:>7}  {:>14} {:>14}  {:>10} {:>8}",
        "GPU", "kernel", "MAPE", "own", "80 %: got/said", "90 %: got/said", "in prop.", "50 %"
    );
    for line in lines {
        let curve = &line.case.curve;
        let warps = [0, 1].map(|at| match (curve.needed(SHARES[at]), line.at_peak.needed[at]) {
            (Some(measured), Some(ratio)) => format!("{measured:.1}/{:.1}", measured * ratio),
            _ => "-".to_owned(),
        });
        println!(
            "  {:<10} {:<9} {:>7} {:>7}  {:>14} {:>14}  {:>10} {:>8}",
            curve.gpu_name,
            curve.kernel,
            percent(line.at_peak.bandwidth),
            line.at_own.map_or_else(|| "-".to_owned(), |errors| percent(errors.bandwidth)),
            warps[0],
            warps[1],
            percent(line.proportional),
            percent(line.half)
        );
    }
    let mut gpus: Vec<&str> = lines.iter().map(|line| line.case.curve.gpu_name.as_str()).collect();
    gpus.dedup();
    for gpu in gpus {
        mean(gpu, &lines.iter().copied().filter(|line| line.case.curve.gpu_name == gpu).collect::<Vec<_>>());
    }
    mean("all", lines);
}

fn mean(name: &str, lines: &[&Line<'_>]) {
    let summary = Summary::of(&lines.iter().map(|line| line.at_peak).collect::<Vec<_>>());
    let own: Vec<Errors> = lines.iter().filter_map(|line| line.at_own).collect();
    let own = if own.is_empty() { "-".to_owned() } else { percent(Summary::of(&own).bandwidth) };
    let average = |of: fn(&Line<'_>) -> f64| lines.iter().map(|line| of(line)).sum::<f64>() / lines.len() as f64;
    println!(
        "  {name:<10} {:<9} {:>7} {:>7}  {:>14} {:>14}  {:>10} {:>8}",
        "mean",
        percent(summary.bandwidth),
        own,
        format!("x {:.2}", summary.needed[0]),
        format!("x {:.2}", summary.needed[1]),
        percent(average(|line| line.proportional)),
        percent(average(|line| line.half))
    );
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
