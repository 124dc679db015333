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
    let means = Means::of(lines);
    println!(
        "  {name:<10} {:<9} {:>7} {:>7}  {:>14} {:>14}  {:>10} {:>8}",
        "mean",
        percent(means.at_peak.bandwidth),
        means.own.map_or_else(|| "-".to_owned(), percent),
        format!("x {:.2}", means.at_peak.needed[0]),
        format!("x {:.2}", means.at_peak.needed[1]),
        percent(means.proportional),
        percent(means.half)
    );
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A Markdown table of means: one row a GPU, then all.
pub(crate) fn markdown(lines: &[&Line<'_>]) -> String {
    let mut text = "| GPU | curves | bandwidth error | own ceiling | warps for 80 % | warps for 90 % | \
                    \"in proportion to occupancy\" | \"50 % is enough\" |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut gpus: Vec<&str> = lines.iter().map(|line| line.case.curve.gpu_name.as_str()).collect();
    gpus.dedup();
    for gpu in gpus.into_iter().chain(["all"]) {
        let of: Vec<&Line<'_>> =
            lines.iter().copied().filter(|line| gpu == "all" || line.case.curve.gpu_name == gpu).collect();
        let means = Means::of(&of);
        text += &format!(
            "| {gpu} | {} | {} | {} | x {:.2} | x {:.2} | {} | {} |\n",
            of.len(),
            percent(means.at_peak.bandwidth),
            means.own.map_or_else(|| "-".to_owned(), percent),
            means.at_peak.needed[0],
            means.at_peak.needed[1],
            percent(means.proportional),
            percent(means.half)
        );
    }
    text
}

/// Means over some lines.
struct Means {
    at_peak: Summary,
    own: Option<f64>,
    proportional: f64,
    half: f64,
}

impl Means {
    fn of(lines: &[&Line<'_>]) -> Self {
        let own: Vec<Errors> = lines.iter().filter_map(|line| line.at_own).collect();
        let average = |of: fn(&Line<'_>) -> f64| lines.iter().map(|line| of(line)).sum::<f64>() / lines.len() as f64;
        Self {
            at_peak: Summary::of(&lines.iter().map(|line| line.at_peak).collect::<Vec<_>>()),
            own: (!own.is_empty()).then(|| Summary::of(&own).bandwidth),
            proportional: average(|line| line.proportional),
            half: average(|line| line.half),
        }
    }
}
