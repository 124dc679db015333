//! What is said of a tuning space in numbers: rank correlation, medians, and how much a choice by occupancy loses.
//! Not for: reading a space ([`super::space`]), printing ([`super::table`]).

use super::space::Configuration;

/// The occupancy, in percent, that a common rule of thumb asks for.
pub(super) const RULE: f64 = 50.0;

/// The smallest, the middle and the largest of some values.
#[derive(Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
}

/// A part of a whole, as counts.
#[derive(Debug, PartialEq)]
pub(super) struct Share {
    pub(super) part: usize,
    pub(super) whole: usize,
}

/// One space in numbers. Occupancies are theoretical, 0 to 100. A loss is the speed given up against the fastest
/// configuration, 0 to 100 % of that.
pub(super) struct Summary {
    /// Spearman's rank correlation of occupancy and speed, -1 to 1.
    pub(super) correlation: f64,
    /// Median occupancy of all.
    pub(super) median: f64,
    /// Occupancy of the fastest hundredth.
    pub(super) fastest: Spread,
    /// The highest occupancy.
    pub(super) highest: f64,
    /// How many have it.
    pub(super) at_highest: Share,
    /// Loss of those.
    pub(super) loss_at_highest: Spread,
    /// Median loss of all: what a blind choice gives up.
    pub(super) loss_blind: f64,
    /// Loss of the fastest whose occupancy is at most [`RULE`], where there is one.
    pub(super) loss_low: Option<f64>,
    /// How many lie below [`RULE`].
    pub(super) dropped: Share,
    /// How many of the fastest hundredth lie below [`RULE`].
    pub(super) dropped_fastest: Share,
}

impl Summary {
    /// `configurations` must not be empty.
    pub(super) fn of(configurations: &[Configuration]) -> Self {
        let mut by_time: Vec<&Configuration> = configurations.iter().collect();
        by_time.sort_by(|a, b| a.time.total_cmp(&b.time));
        let best = by_time[0].time;
        let loss = |it: &Configuration| 100.0 * (1.0 - best / it.time);
        let fastest = &by_time[..(by_time.len() / 100).max(1)];
        let occupancies: Vec<f64> = by_time.iter().map(|it| it.occupancy).collect();
        let speeds: Vec<f64> = by_time.iter().map(|it| 1.0 / it.time).collect();
        let highest = occupancies.iter().copied().fold(0.0, f64::max);
        let highest_losses: Vec<f64> = by_time.iter().filter(|it| it.occupancy >= highest).map(|it| loss(it)).collect();
        let below = |some: &[&Configuration]| Share {
            part: some.iter().filter(|it| it.occupancy < RULE).count(),
            whole: some.len(),
        };
        Self {
            correlation: spearman(&occupancies, &speeds),
            median: median(&occupancies),
            fastest: spread(&occupancies[..fastest.len()]),
            highest,
            at_highest: Share { part: highest_losses.len(), whole: by_time.len() },
            loss_at_highest: spread(&highest_losses),
            loss_blind: median(&by_time.iter().map(|it| loss(it)).collect::<Vec<_>>()),
            loss_low: by_time.iter().find(|it| it.occupancy <= RULE).map(|it| loss(it)),
            dropped: below(&by_time),
            dropped_fastest: below(fastest),
        }
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle value, or halfway between the two middle ones. `values` must not be empty.
fn median(values: &[f64]) -> f64 {
    let values = sorted(values);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

fn spread(values: &[f64]) -> Spread {
    let values = sorted(values);
    Spread { least: values[0], median: median(&values), most: values[values.len() - 1] }
}

/// The place of each value in ascending order, from 0. Equal values share the average of their places: occupancy takes
/// few values, so most are tied, and any order among them would be made up.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let last = first + tied.len() - 1;
        for &index in tied {
            ranks[index] = (first + last) as f64 / 2.0;
        }
        first = last + 1;
    }
    ranks
}

/// Spearman's rank correlation: Pearson's of the [`ranks`], -1 to 1. 0 where one side does not vary.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    // Ranks from 0, average ties included, always have this mean.
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    if scale > 0.0 { product(&a, &b) / scale } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [3.0, 0.0, 3.0, 1.0, 3.0]);
        assert_eq!(ranks(&[5.0, 5.0]), [0.5, 0.5]);
    }

    #[test]
    fn spearman_with_and_without_ties() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 400.0]), 1.0);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        // Ranks 0.5 0.5 2 3 and 0 1.5 1.5 3: covariance 3.75 of 4.5 and 4.5; by hand.
        let tied = spearman(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 2.0, 3.0]);
        assert!((tied - 3.75 / 4.5).abs() < 1e-12, "{tied}");
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), 0.0);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[4.0, 1.0, 3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn a_space_in_numbers() {
        let made = [(25.0, 1.0), (50.0, 2.0), (100.0, 4.0), (100.0, 1.25)];
        let made = made.map(|(occupancy, time)| Configuration { occupancy, time });
        let summary = Summary::of(&made);
        assert_eq!(summary.fastest, Spread { least: 25.0, median: 25.0, most: 25.0 });
        assert_eq!((summary.median, summary.highest), (75.0, 100.0));
        assert_eq!(summary.at_highest, Share { part: 2, whole: 4 });
        assert_eq!((summary.loss_at_highest.least.round(), summary.loss_at_highest.most), (20.0, 75.0));
        assert_eq!((summary.loss_blind, summary.loss_low), (35.0, Some(0.0)));
        // Exactly 50 % is at least 50 %.
        assert_eq!(summary.dropped, Share { part: 1, whole: 4 });
        assert_eq!(summary.dropped_fastest, Share { part: 1, whole: 1 });
    }
}
