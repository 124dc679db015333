//! The occupancy engine against NVIDIA's header compiled with -O2: the same points, one core, one run.

use std::hint::black_box;

use anyhow::{Context, ensure};
use occupant_hardware::{ComputeCapability, Rules, limit_rows};
use occupant_occupancy::occupancy;

use super::{median, seconds};
use crate::oracle::header::Header;
use crate::oracle::points::{Point, Random, mixed as mixed_shape, points};

const POINTS: usize = 200_000;

pub(super) fn run(rounds: usize) -> anyhow::Result<()> {
    let header = Header::build(Rules::Cuda13_5)?;
    let rows = limit_rows(Rules::Cuda13_5);
    let mut random = Random::new(7);
    let mixed = (0..POINTS).map(|index| &rows[index % rows.len()]);
    let mixed: Vec<Point> = mixed.map(|limits| Point { limits, shape: mixed_shape(limits, &mut random) }).collect();
    let hopper = rows.iter().find(|row| row.capability == ComputeCapability::new(9, 0)).context("9.0 is listed")?;
    let sweep: Vec<Point> = points(hopper, 0, 1).into_iter().take(POINTS).collect();
    compare("random shapes on every architecture", &header, &mixed, 20, rounds)?;
    compare("a sweep of registers and blocks on 9.0", &header, &sweep, 100, rounds)
}

fn compare(what: &str, header: &Header, points: &[Point], passes: u32, rounds: usize) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (spent, blocks) = seconds(|| Ok(evaluate(points, passes)))?;
        ours.push(spent * 1e9 / (points.len() as f64 * f64::from(passes)));
        let (nanoseconds, sum) = header.bench(points, passes)?;
        theirs.push(nanoseconds);
        ensure!(blocks == sum, "the sides disagree: {blocks} blocks here, {sum} in the header");
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "engine, {what}: {ours:.2} ns a point, cuda_occupancy.h {theirs:.2} ns: {:.2} times its time",
        ours / theirs
    );
    Ok(())
}

fn evaluate(points: &[Point], passes: u32) -> i64 {
    let mut blocks = 0;
    for _ in 0..passes {
        for point in points {
            let answer = occupancy(point.limits, black_box(&point.shape));
            blocks += answer.map_or(0, |answer| i64::from(black_box(answer).blocks_per_sm));
        }
    }
    blocks
}
