//! `cargo xtask validate`: the model of needed warps against published measurements of bandwidth by occupancy.
//!
//! The constants are fitted here and nowhere else; what is reported for a GPU comes from constants and ceilings that were
//! fitted without it and its twins. Not for: kernels that the measurements don't have; see `coverage`.

mod ceilings;
mod coverage;
mod curves;
mod evaluate;
mod fit;
mod kernels;
mod ladder;
mod reports;
mod summary;
mod table;
mod write;

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use occupant_need::{Constants, Memory};

use crate::paths;
use curves::Curve;
use evaluate::{Case, Errors};
use kernels::Kernels;
use summary::Summary;
use table::Line;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Write the fitted constants and ceilings into the crates' data files
    #[arg(long)]
    fit: bool,
    /// Further measured curves, in the columns of xtask/data/curves: compared, never fitted to
    #[arg(long, value_name = "FILE")]
    extra: Vec<PathBuf>,
    /// Count which kernels of real libraries get a number, a range or a refusal
    #[arg(long)]
    coverage: bool,
    /// Compare the model that a profile guides with the profiled launches of a folder of Nsight Compute reports
    #[arg(long, value_name = "FOLDER")]
    reports: Option<PathBuf>,
}

/// The most that errors may be: bandwidth, needed warps at 80 % and 90 %.
const LIMITS: (f64, [f64; 2]) = (0.08, [1.20, 1.25]);
/// Bandwidth under the ceiling that the product would use itself.
const OWN_CEILING: f64 = 0.15;
/// Bandwidth of L2 with the latency alone exchanged.
const L2: f64 = 0.09;

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.coverage {
        return coverage::run();
    }
    if let Some(folder) = &options.reports {
        return reports::run(folder);
    }
    let mut kernels = Kernels::default();
    let mut cases = Vec::new();
    for name in ["dram.csv", "l2.csv"] {
        for curve in curves::read(&paths::root().join("xtask/data/curves").join(name))? {
            cases.push(case(curve, &mut kernels)?);
        }
    }
    let all: Vec<&Case> = cases.iter().collect();
    let left_out = left_out(&all)?;
    println!("Constants and ceilings of each line are fitted without the GPU's family.\n");
    let passed = report(&left_out);
    let mut constants = fit::fit(&all)?;
    constants.band = band(&left_out);
    table::constants("all curves", &constants);
    println!();
    ladder::check(&mut kernels, &constants)?;
    if options.fit {
        write::write(&constants, &ceilings::rows(&all, &constants)?)?;
        let [dram, l2] = [Memory::Dram, Memory::L2].map(|memory| table::markdown(&of(&left_out, memory)));
        write::document(&dram, &l2)?;
    } else {
        let committed = Constants::fitted();
        ensure!(same(&constants, &committed), "crates/need/data differs from the fit: run with --fit\n{committed:?}");
        let rows = ceilings::rows(&all, &constants)?;
        ensure!(ceilings::same(&rows), "crates/hardware/data/ceilings.csv differs from the fit: run with --fit");
        println!("\ncrates/need/data/constants.csv and crates/hardware/data/ceilings.csv are this fit");
    }
    for path in &options.extra {
        extra(path, &all, &constants, &mut kernels)?;
    }
    ensure!(passed, "an error is over its limit");
    Ok(())
}

fn case(curve: Curve, kernels: &mut Kernels) -> Result<Case> {
    let analysis = kernels.get("streams", curve.gpu.capability, curve.stream())?;
    Case::new(curve, analysis)
}

/// Every curve with constants and ceilings from the other families.
fn left_out<'a>(all: &[&'a Case]) -> Result<Vec<Line<'a>>> {
    let families: BTreeSet<&str> = all.iter().map(|case| case.curve.family()).collect();
    let mut lines = Vec::new();
    for family in families {
        let (out, rest): (Vec<&Case>, Vec<&Case>) = all.iter().copied().partition(|case| case.curve.family() == family);
        let constants = fit::fit(&rest)?;
        table::constants(&format!("without {family}"), &constants);
        let rows = ceilings::rows(&rest, &constants)?;
        for case in out {
            lines.push(line(case, &constants, &rows)?);
        }
    }
    println!();
    Ok(lines)
}

fn line<'a>(case: &'a Case, constants: &Constants, rows: &[ceilings::Row]) -> Result<Line<'a>> {
    let peak = case.curve.peak();
    let ceiling = ceilings::gb_per_s(rows, case, case.stream(constants)?);
    Ok(Line {
        case,
        at_peak: case.errors(constants, peak)?,
        at_own: ceiling.map(|ceiling| case.errors(constants, ceiling)).transpose()?,
        // Bandwidth in proportion to occupancy, the peak at all warps.
        proportional: case.mape(|warps| peak * warps / f64::from(case.machine.warp_slots)),
        // The peak from half occupancy on, in proportion below.
        half: case.mape(|warps| peak * (2.0 * warps / f64::from(case.machine.warp_slots)).min(1.0)),
    })
}

/// The lines of one memory.
fn of<'l, 'c>(lines: &'l [Line<'c>], memory: Memory) -> Vec<&'l Line<'c>> {
    lines.iter().filter(|line| line.case.curve.memory == memory).collect()
}

/// Prints lines and means; whether all are within their limits.
fn report(lines: &[Line<'_>]) -> bool {
    let (dram, l2) = (of(lines, Memory::Dram), of(lines, Memory::L2));
    println!("DRAM streams");
    table::print(&dram);
    println!("\nL2 streams, the latency alone exchanged");
    table::print(&l2);
    let summary = |lines: &[&Line<'_>]| Summary::of(&lines.iter().map(|line| line.at_peak).collect::<Vec<_>>());
    let (found, in_l2) = (summary(&dram), summary(&l2));
    let own: Vec<Errors> = dram.iter().filter_map(|line| line.at_own).collect();
    let own = Summary::of(&own);
    let mut passed = true;
    let mut check = |what: &str, value: f64, limit: f64| {
        let verdict = if value <= limit { "ok" } else { "OVER" };
        println!("  {what:<62} {:>5.1} %  limit {:>4.0} %  {verdict}", value * 100.0, limit * 100.0);
        passed &= value <= limit;
    };
    println!();
    check("bandwidth of DRAM streams, measured peak as ceiling", found.bandwidth, LIMITS.0);
    check("warps for 80 % of the peak, geometric mean factor less 1", found.needed[0] - 1.0, LIMITS.1[0] - 1.0);
    check("warps for 90 % of the peak", found.needed[1] - 1.0, LIMITS.1[1] - 1.0);
    check("bandwidth of DRAM streams, the product's own ceiling", own.bandwidth, OWN_CEILING);
    check("bandwidth of L2 streams, measured peak as ceiling", in_l2.bandwidth, L2);
    println!();
    passed
}

/// The factor between predicted and measured needed warps that 9 of 10 curves stay within.
fn band(lines: &[Line<'_>]) -> f64 {
    let dram = lines.iter().filter(|line| line.case.curve.memory == Memory::Dram);
    let mut factors: Vec<f64> = dram.filter_map(|line| Some(line.at_peak.needed[1]?.ln().abs().exp())).collect();
    factors.sort_by(f64::total_cmp);
    let at = (factors.len() * 9).div_ceil(10).saturating_sub(1);
    factors.get(at).map_or(f64::NAN, |factor| (factor * 100.0).ceil() / 100.0)
}

fn same(a: &Constants, b: &Constants) -> bool {
    let values = |c: &Constants| [c.turnover, c.extra_load, c.mixed, c.sharpness, c.store_sharpness, c.band];
    // Other processors round sums differently, and the search then stops a little elsewhere.
    values(a).iter().zip(values(b)).all(|(a, b)| (a / b - 1.0).abs() < 0.02)
}

/// Curves that were never fitted to, with the constants and ceilings that the product has.
fn extra(path: &std::path::Path, all: &[&Case], constants: &Constants, kernels: &mut Kernels) -> Result<()> {
    let rows = ceilings::rows(all, constants)?;
    let mut cases = Vec::new();
    for curve in curves::read(path)? {
        cases.push(case(curve, kernels)?);
    }
    let lines = cases.iter().map(|case| line(case, constants, &rows)).collect::<Result<Vec<_>>>()?;
    println!("\n{}, not fitted to", path.display());
    table::print(&lines.iter().collect::<Vec<_>>());
    Ok(())
}
