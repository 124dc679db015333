//! What stands below a census: what its counts are about.

use occupant_core::report::{GroupRecord, SummaryReport};

use super::bins::MIDDLE;
use super::{WITHOUT_IMAGE, counted, label};
use crate::names::distinct;
use crate::with_image::{none_runs, noun, whose};
use crate::words::{count, for_gpu, grouped, printable};

/// Lines about copies that are shown.
const COPIES: usize = 4;
/// A kernel's name in such a line.
const NAME: usize = 60;

pub(super) fn notes(report: &SummaryReport) -> Vec<String> {
    let mut notes = Vec::new();
    if counted(report).any(|group| group.exact.kernels + group.upper_bound.kernels + group.hypothetical.kernels > 0) {
        notes.push(format!("{MIDDLE}: share of kernels with an occupancy of 30 to 60 %"));
    }
    let sum = |of: fn(&GroupRecord) -> u64| counted(report).map(of).sum::<u64>();
    let unplaced = [
        (sum(|group| group.cannot_launch), "can't launch", "can't launch"),
        (sum(|group| group.unknown), "has no occupancy", "have no occupancy"),
    ];
    for (number, one, several) in unplaced.into_iter().filter(|(number, ..)| *number > 0) {
        let what = if number == 1 { one } else { several };
        notes.push(format!(
            "{} {what} and {} in no table of occupancies",
            count(number, "kernel"),
            if number == 1 { "is" } else { "are" }
        ));
    }
    notes.extend(stubs(report));
    notes.extend(copies(report));
    if counted(report).flat_map(|group| &group.limiters).any(|limiter| limiter.name == "virtual_resources") {
        let what = "virtual resources: an SM from 10.0 on has 128; a kernel takes its share at launch and can give it back \
                    while it runs";
        notes.push(what.to_owned());
    }
    notes.extend(missing(report));
    notes.push(totals(report));
    notes
}

/// Kernels that do nothing of what they were written for would bend every median.
fn stubs(report: &SummaryReport) -> Vec<String> {
    let sum = |of: fn(&GroupRecord) -> u64| -> u64 {
        report.groups.iter().filter(|group| group.arch != WITHOUT_IMAGE).map(of).sum()
    };
    let all = count(sum(|group| group.kernels), "kernel");
    let kinds = [
        (sum(|group| group.returns_at_once), "returns at once", "return at once"),
        (sum(|group| group.only_reports), "only prints or traps", "only print or trap"),
    ];
    let line = |(number, one, several): (u64, &str, &str)| {
        let what = if number == 1 { one } else { several };
        format!("{} of {all} {what}, made so or made for other architectures: not counted above", grouped(number))
    };
    kinds.into_iter().filter(|(number, ..)| *number > 0).map(line).collect()
}

/// Groups of which a quarter or more are copies: their medians are those of a few kernels.
fn copies(report: &SummaryReport) -> Vec<String> {
    let many = |group: &&GroupRecord| {
        let kernels = group.counted();
        kernels >= 10 && group.distinct * 4 <= kernels * 3
    };
    let groups: Vec<&GroupRecord> = counted(report).filter(many).collect();
    let line = |group: &&GroupRecord| {
        let kernels = group.counted();
        let most = group.most_copied.as_ref().filter(|most| most.kernels * 10 >= kernels);
        let copied = most.map_or_else(String::new, |most| {
            let name = distinct(&[&most.demangled], NAME).concat();
            format!("; {} are copies of {}", grouped(most.kernels), printable(&name))
        });
        format!(
            "{}: {} kernels are {} by name, resources and size{copied}",
            label(group),
            grouped(kernels),
            if group.distinct == 1 { "one".to_owned() } else { format!("{} different ones", grouped(group.distinct)) },
        )
    };
    let mut lines: Vec<String> = groups.iter().take(COPIES).map(line).collect();
    if groups.len() > COPIES {
        lines.push(format!("{} more groups with copies: see --format json", groups.len() - COPIES));
    }
    lines
}

fn missing(report: &SummaryReport) -> impl Iterator<Item = String> + '_ {
    let some = report.gpus.iter().filter(|gpu| gpu.kernels > 0 && gpu.missing() > 0);
    some.map(|gpu| {
        let missing = gpu.missing();
        format!(
            "{} {} no image{}",
            count(missing, noun(&report.gpus)),
            if missing == 1 { "has" } else { "have" },
            for_gpu(&gpu.gpu)
        )
    })
}

fn totals(report: &SummaryReport) -> String {
    let files = count(report.totals.files.into(), "file");
    if report.gpus.is_empty() {
        let kernels: u64 = report.groups.iter().map(|group| group.kernels).sum();
        let functions = u64::from(report.totals.device_functions);
        let untold = if kernels == 0 && functions > 0 {
            format!("; {}, which a census does not count", count(functions, "device function"))
        } else {
            String::new()
        };
        return format!("{} in {files}{untold}", count(kernels, "kernel"));
    }
    let part = |gpu: &occupant_core::report::GpuKernels| match gpu.kernels {
        0 => none_runs(gpu, &report.gpus),
        kernels => count(kernels, "kernel") + &whose(gpu, &report.gpus),
    };
    let parts: Vec<String> = report.gpus.iter().map(part).collect();
    format!("{} in {files}", parts.join(", "))
}
