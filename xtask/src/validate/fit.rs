//! Fits the model's constants to measured curves, by a simplex search without randomness. Not for: ceilings.

use occupant_need::{Constants, Memory};

use super::evaluate::Case;
use super::summary::Summary;

/// Constants that describe some curves best; only those of DRAM are looked at.
pub(crate) fn fit(cases: &[&Case]) -> anyhow::Result<Constants> {
    let dram: Vec<&Case> = cases.iter().copied().filter(|case| case.curve.memory == Memory::Dram).collect();
    let cost = |point: &[f64; 5]| cost(&dram, &constants(point)).unwrap_or(f64::INFINITY);
    let best = minimum(START, cost);
    // From where it stopped once more, with a new simplex: the first one can have collapsed too early.
    Ok(rounded(constants(&minimum(best, cost))))
}

/// Turnover, extra load, mixed, sharpness, sharpness of stores; in their order of magnitude.
const START: [f64; 5] = [200.0, 80.0, 60.0, 3.0, 8.0];

fn constants(point: &[f64; 5]) -> Constants {
    let [turnover, extra_load, mixed, sharpness, store_sharpness] = *point;
    // A corner sharper than this can't be told from a sharper one.
    Constants { turnover, extra_load, mixed, sharpness, store_sharpness: store_sharpness.min(12.0), band: f64::NAN }
}

fn rounded(constants: Constants) -> Constants {
    let three = |value: f64| format!("{value:.2e}").parse().unwrap_or(value);
    Constants {
        turnover: three(constants.turnover),
        extra_load: three(constants.extra_load),
        mixed: three(constants.mixed),
        sharpness: three(constants.sharpness),
        store_sharpness: three(constants.store_sharpness),
        ..constants
    }
}

/// Mean error of bandwidth, and with less weight those of needed warps, which rest on one point of each curve.
fn cost(cases: &[&Case], constants: &Constants) -> anyhow::Result<f64> {
    if constants.sharpness < 1.0 || constants.store_sharpness < 1.0 || constants.turnover < 0.0 {
        return Ok(f64::INFINITY);
    }
    let errors = cases.iter().map(|case| case.errors(constants, case.curve.peak()));
    let summary = Summary::of(&errors.collect::<anyhow::Result<Vec<_>>>()?);
    let needed = summary.needed[0] + summary.needed[1];
    Ok(summary.bandwidth
        + 0.2 * (needed - 2.0)
        + if constants.mixed < 0.0 || constants.extra_load < 0.0 { 1.0 } else { 0.0 })
}

/// The simplex search of Nelder and Mead.
fn minimum<const N: usize>(start: [f64; N], cost: impl Fn(&[f64; N]) -> f64) -> [f64; N] {
    const STEPS: usize = 400;
    let mut simplex: Vec<([f64; N], f64)> = vec![(start, cost(&start))];
    for at in 0..N {
        let mut corner = start;
        corner[at] *= 1.25;
        simplex.push((corner, cost(&corner)));
    }
    for _ in 0..STEPS {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (worst, best) = (simplex[N], simplex[0]);
        if worst.1 - best.1 < 1e-7 {
            break;
        }
        let centre: [f64; N] =
            std::array::from_fn(|at| simplex[..N].iter().map(|corner| corner.0[at]).sum::<f64>() / N as f64);
        let along = |by: f64| {
            let point = std::array::from_fn(|at| centre[at] + by * (worst.0[at] - centre[at]));
            (point, cost(&point))
        };
        let reflected = along(-1.0);
        let next = if reflected.1 < best.1 {
            let further = along(-2.0);
            if further.1 < reflected.1 { further } else { reflected }
        } else if reflected.1 < simplex[N - 1].1 {
            reflected
        } else {
            along(if reflected.1 < worst.1 { -0.5 } else { 0.5 })
        };
        if next.1 < worst.1 {
            simplex[N] = next;
        } else {
            for corner in simplex.iter_mut().skip(1) {
                corner.0 = std::array::from_fn(|at| f64::midpoint(corner.0[at], best.0[at]));
                corner.1 = cost(&corner.0);
            }
        }
    }
    simplex.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(start, |corner| corner.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_bottom_of_a_valley() {
        let valley = |p: &[f64; 2]| (1.0 - p[0]).powi(2) + 10.0 * (p[1] - p[0] * p[0]).powi(2);
        let [x, y] = minimum([3.0, 4.0], valley);
        assert!((x - 1.0).abs() < 0.01 && (y - 1.0).abs() < 0.02, "{x} {y}");
    }
}
