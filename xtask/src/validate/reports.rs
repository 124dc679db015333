//! The guided model against profiled launches: how long a warp lived, how busy the binding resource was, where it waited.
//!
//! Each repository's launches are predicted with constants fitted to the others'. Beside the model stand a soft roofline
//! without a timeline and NVIDIA's own rules. Reports are brought by whoever runs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use occupant_core::verdict::{GuidedLaunch, Profiled, Unguided, guide, samples_by_instruction};
use occupant_need::{Formula, Lifetime, Resource};
use occupant_profile::ncu::{Report, unpack};

/// Percent of its ceiling from which the binding resource counts as saturated.
const SATURATED: f64 = 80.0;
/// Samples below which the place of the waiting is left to chance.
const FEW_SAMPLES: f64 = 200.0;

/// Share of the samples below which no instruction is where a launch waits.
const FLAT: f64 = 0.1;

struct Case {
    repository: String,
    name: String,
    launch: GuidedLaunch,
    profiled: Profiled,
    /// NVIDIA's rule on theoretical occupancy fires.
    occupancy_rule: bool,
    /// The same launch with the sum of its executions alone.
    aggregate: Option<GuidedLaunch>,
    /// Its rule on stalls fires for memory.
    stall_rule: bool,
}

/// Compares and prints; fails where a promise is broken.
pub(super) fn run(folder: &PathBuf) -> anyhow::Result<()> {
    let (cases, refused) = load(folder)?;
    ensure!(!cases.is_empty(), "no launch of the reports in {} can be modelled", folder.display());
    let repositories: Vec<String> = {
        let mut names: Vec<String> = cases.iter().map(|case| case.repository.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    let fitted: BTreeMap<&String, Formula> = repositories
        .iter()
        .map(|left_out| (left_out, fit(cases.iter().filter(|case| case.repository != *left_out))))
        .collect();
    println!(
        "each repository is predicted with constants fitted to the others; fitted to all: {:?}",
        fit(cases.iter())
    );
    println!();
    println!(
        "| launch | warps | lifetime measured | predicted | IPC measured | predicted | binding, busy measured | predicted | top wait |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut score = Score::default();
    for case in &cases {
        let formula = fitted.get(&case.repository).copied().unwrap_or(Formula::FITTED);
        score.add(case, formula);
    }
    println!();
    score.print();
    println!();
    println!("refused: {} launches", refused.len());
    let mut reasons: BTreeMap<&str, BTreeMap<&String, (usize, &str)>> = BTreeMap::new();
    for (name, why) in &refused {
        reasons.entry(why.code).or_default().entry(name).or_insert((0, &why.says)).0 += 1;
    }
    for (code, names) in reasons {
        println!("  {code}: {}", names.values().map(|(times, _)| times).sum::<usize>());
        for (name, (times, says)) in names {
            println!("    {name}{}: {says}", if times > 1 { format!(" ({times} launches)") } else { String::new() });
        }
    }
    score.check()
}

/// Launches that are not modelled, each with why.
type Refused = Vec<(String, Unguided)>;

fn load(folder: &PathBuf) -> anyhow::Result<(Vec<Case>, Refused)> {
    let (mut cases, mut refused) = (Vec::new(), Vec::new());
    let mut seen = std::collections::BTreeSet::new();
    for path in crate::reports::reports(std::slice::from_ref(folder))? {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let packed = fs::read(&path)?;
        let bytes = unpack(&packed).with_context(|| file.clone())?;
        let report = Report::read(&bytes).with_context(|| file.clone())?;
        let repository = file.split("__").next().unwrap_or_default().to_owned();
        for launch in &report.launches {
            let profiled = Profiled::of(&report, launch);
            let name = format!("{} {}", file.split("__").nth(1).unwrap_or(&file), launch.function);
            let fires =
                |rule: &str| profiled.measured.said.iter().any(|said| said.rule == rule && said.speedup.is_some());
            let (occupancy_rule, stall_rule) = (fires("TheoreticalOccupancy"), fires("CPIStall"));
            let code = report.module(launch).and_then(|module| module.cubin).map_or(0, <[u8]>::len);
            let mut without = profiled.clone();
            without.measured.instructions.clear();
            let aggregate = guide(&without).ok();
            match guide(&profiled) {
                // A launch without counts is no case for the model with counts.
                Ok(launch) if !launch.counted => {}
                // Repeats of one launch count once.
                Ok(_)
                    if !seen.insert((
                        repository.clone(),
                        launch.mangled.to_owned(),
                        launch.grid,
                        launch.block,
                        code,
                    )) => {}
                Ok(launch) => cases.push(Case {
                    repository: repository.clone(),
                    name,
                    launch,
                    profiled,
                    occupancy_rule,
                    aggregate,
                    stall_rule,
                }),
                Err(why) => refused.push((name, why)),
            }
        }
    }
    Ok((cases, refused))
}

/// The kind of a kernel, by its code.
fn class(case: &Case) -> &'static str {
    let Ok(analysis) = &case.profiled.code else { return "unknown" };
    let content = analysis.content();
    let repeats = |count: &f64| *count > 1.5;
    match (content.barriers > 0, case.launch.guide.counts.iter().any(repeats)) {
        (true, true) => "loops with barriers",
        (true, false) => "barriers, no loop",
        (false, true) => "loops",
        (false, false) => "streaming",
    }
}

fn lifetime(case: &Case, formula: Formula) -> Lifetime {
    Lifetime::new(case.launch.model.one_warp_cycles, &case.launch.guide.demand, formula)
}

fn error(case: &Case, formula: Formula) -> f64 {
    let predicted = lifetime(case, formula).cycles(case.launch.observed.resident);
    predicted / case.launch.observed.lifetime - 1.0
}

/// The constants with the least mean error.
fn fit<'c>(cases: impl Iterator<Item = &'c Case>) -> Formula {
    let cases: Vec<&Case> = cases.collect();
    let mut best = (f64::INFINITY, Formula::FITTED);
    for on_sm in [2.0, 2.5, 3.0, 4.0] {
        for beyond in [2.0, 2.5, 3.0, 4.0, 6.0] {
            for l1 in [0.8, 0.9, 1.0] {
                for dram in [0.88, 0.92, 0.96] {
                    let formula = Formula { on_sm, beyond, l1, dram };
                    let mean = cases.iter().map(|case| error(case, formula).abs()).sum::<f64>() / cases.len() as f64;
                    if mean < best.0 {
                        best = (mean, formula);
                    }
                }
            }
        }
    }
    best.1
}

#[derive(Default)]
struct Score {
    errors: Vec<f64>,
    by_class: BTreeMap<&'static str, Vec<f64>>,
    roofline_errors: Vec<f64>,
    aggregate_errors: Vec<f64>,
    busy_errors: Vec<f64>,
    saturated: [usize; 4],
    waits: usize,
    flat: usize,
    first: usize,
    among_three: usize,
}

impl Score {
    fn add(&mut self, case: &Case, formula: Formula) {
        let observed = &case.launch.observed;
        let model = lifetime(case, formula);
        let predicted = model.cycles(observed.resident);
        self.errors.push(predicted / observed.lifetime - 1.0);
        self.by_class.entry(class(case)).or_default().push(predicted / observed.lifetime - 1.0);
        // Without a timeline: what the resources alone would take, and as much again that a soft knee adds to a warp alone.
        let soft = Lifetime::new(1.0, &case.launch.guide.demand, formula).cycles(observed.resident);
        self.roofline_errors.push(soft / observed.lifetime - 1.0);
        if let Some(aggregate) = &case.aggregate {
            let model = Lifetime::new(aggregate.model.one_warp_cycles, &aggregate.guide.demand, formula);
            self.aggregate_errors.push(model.cycles(observed.resident) / observed.lifetime - 1.0);
        }
        let busy = model.busy(observed.resident);
        let Some((resource, share)) = busy.first().copied() else { return };
        let demand = model.demand.iter().find(|(of, _)| *of == resource).map_or(0.0, |(_, demand)| *demand);
        let measured = observed.busy_percent(demand);
        self.busy_errors.push(share * 100.0 - measured);
        let truth = measured >= SATURATED;
        let soft_busy = Lifetime::new(1.0, &case.launch.guide.demand, formula).busy(observed.resident);
        let guesses = [
            share * 100.0 >= SATURATED,
            soft_busy.first().is_some_and(|(_, share)| share * 100.0 >= SATURATED),
            !case.occupancy_rule,
            !case.stall_rule,
        ];
        for (right, guess) in self.saturated.iter_mut().zip(guesses) {
            *right += usize::from(guess == truth);
        }
        let place = self.place(case);
        let instructions: f64 = case.launch.guide.counts.iter().sum();
        println!(
            "| {} | {} | {:.1} | {:.0} | {:.0} ({:+.0} %) | {:.2} | {:.2} | {} {measured:.0} % | {:.0} % | {place} |",
            case.name,
            class(case),
            observed.resident,
            observed.lifetime,
            predicted,
            (predicted / observed.lifetime - 1.0) * 100.0,
            instructions * observed.resident / observed.lifetime,
            instructions * observed.resident / predicted,
            resource_name(resource),
            share * 100.0,
        );
    }

    /// Whether the instruction with the most samples is where the model waits.
    fn place(&mut self, case: &Case) -> &'static str {
        let Some(samples) = samples_by_instruction(&case.profiled) else { return "no samples" };
        if samples.iter().sum::<f64>() < FEW_SAMPLES {
            return "few samples";
        }
        let Ok(analysis) = &case.profiled.code else { return "no code" };
        let GuidedLaunch { observed, guide, machine, model, .. } = &case.launch;
        let predicted = model.waits(analysis, guide, machine, observed.resident);
        let mut order: Vec<usize> = (0..predicted.len()).collect();
        order.sort_by(|a, b| predicted[*b].total_cmp(&predicted[*a]));
        let Some(top) = (0..samples.len()).max_by(|a, b| samples[*a].total_cmp(&samples[*b])) else { return "none" };
        let share = samples[top] / samples.iter().sum::<f64>();
        if share < FLAT {
            self.flat += 1;
            return "flat";
        }
        self.waits += 1;
        match order.iter().position(|number| *number == top) {
            Some(0) => {
                self.first += 1;
                self.among_three += 1;
                "first"
            }
            Some(1 | 2) => {
                self.among_three += 1;
                "among three"
            }
            _ => "missed",
        }
    }

    fn print(&self) {
        let count = self.errors.len();
        let mean = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>() / values.len().max(1) as f64;
        let mut sizes: Vec<f64> = self.errors.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |share: f64| sizes.get(((count as f64 - 1.0) * share) as usize).copied().unwrap_or(0.0) * 100.0;
        println!(
            "lifetime: {:.1} % mean error of {count} launches, median {:.0} %, 9 of 10 within {:.0} %, worst {:.0} %",
            mean(&self.errors) * 100.0,
            at(0.5),
            at(0.9),
            at(1.0)
        );
        for (class, errors) in &self.by_class {
            println!("  {class}: {:.1} % of {}", mean(errors) * 100.0, errors.len());
        }
        println!(
            "with the sum of executions alone: {:.1} % mean error of {} launches, {} within a factor of 1.5",
            mean(&self.aggregate_errors) * 100.0,
            self.aggregate_errors.len(),
            self.aggregate_errors.iter().filter(|error| **error < 0.5 && **error > -1.0 / 3.0).count()
        );
        println!("without a timeline (soft roofline): {:.1} %", mean(&self.roofline_errors) * 100.0);
        println!("how busy the binding resource is: {:.1} points mean error", mean(&self.busy_errors));
        let [model, soft, occupancy, stalls] = self.saturated;
        println!(
            "\"is it at 80 % or more\": the model is right on {model} of {count}, the soft roofline on {soft}, NVIDIA's TheoreticalOccupancy rule on {occupancy}, its CPIStall rule on {stalls}"
        );
        println!(
            "the instruction with the most samples: first predicted {} of {}, among the first three {}; {} launches wait at no one instruction",
            self.first, self.waits, self.among_three, self.flat
        );
    }

    fn check(&self) -> anyhow::Result<()> {
        let count = self.errors.len();
        let mean = self.errors.iter().map(|error| error.abs()).sum::<f64>() / count as f64;
        ensure!(mean <= 0.15, "mean error of lifetimes is {:.1} %, 15 allowed", mean * 100.0);
        ensure!(
            self.saturated[0] * 10 >= count * 9,
            "saturation is right on {} of {count}, 9 of 10 wanted",
            self.saturated[0]
        );
        ensure!(
            self.among_three * 4 >= self.waits * 3,
            "the top wait is among three on {} of {}",
            self.among_three,
            self.waits
        );
        Ok(())
    }
}

fn resource_name(resource: Resource) -> &'static str {
    resource.name()
}
