//! `occupant inspect --summary`: tables of counts, what they are about, then the extremes.

mod bins;
mod notes;

use occupant_core::report::{Extreme, GroupRecord, OccupancyCensus, SummaryReport};

use crate::names::distinct;
use crate::places::{Place, labels};
use crate::sheet::Sheet;
use crate::words::{grouped, percent, printable, resource, wrapped, wrapped_beside};
use bins::{Bins, REGISTERS, Row, TENTHS, whole_percent};

/// The census as text that fits `width`. `directory`: what was named stands for files that were not, so that the extremes
/// say which they come from.
#[must_use]
pub fn summary_text(report: &SummaryReport, directory: bool, width: usize) -> String {
    let files = directory || report.totals.files > 1;
    let mut text = String::new();
    for bins in tables(report) {
        text += &format!("{}\n{}\n", wrapped(&bins.title, width, 2), bins.text(width));
    }
    let limits = limits(report);
    if !limits.is_empty() {
        let at = limits.iter().map(|(label, _)| label.len()).max().unwrap_or(0) + 2;
        text += &format!("{}\n", wrapped(LIMITS, width, 2));
        limits.iter().for_each(|(label, limits)| text += &wrapped_beside(label, limits, at, width));
        text.push('\n');
    }
    for (title, extremes) in tops(report) {
        text += &format!("{title}\n\n{}\n", top(extremes, report, files, width));
    }
    for line in notes::notes(report) {
        text += &wrapped(&line, width, 2);
    }
    text
}

/// Names in Markdown are cut to this; JSON has them whole.
const MARKDOWN_NAME: usize = 110;

/// The census as Markdown.
#[must_use]
pub fn summary_markdown(report: &SummaryReport) -> String {
    let mut text = String::new();
    for bins in tables(report) {
        text += &format!("{}\n\n{}\n", bins.title.replace('<', "\\<").replace('~', "\\~"), bins.sheet().markdown());
    }
    let limits = limits(report);
    if !limits.is_empty() {
        let rows = limits.into_iter().map(|(label, limits)| vec![label, limits.replace('<', "\\<")]).collect();
        text += &format!("{LIMITS}\n\n{}\n", Sheet { columns: vec!["arch", "limits"], rows }.markdown());
    }
    for (title, extremes) in tops(report) {
        let names: Vec<&str> = extremes.iter().map(|extreme| &*extreme.demangled).collect();
        let files = files(extremes, report, report.totals.files > 1);
        let with_files = files.iter().any(|file| !file.is_empty());
        let rows = extremes.iter().zip(distinct(&names, MARKDOWN_NAME)).zip(files).map(|((extreme, name), file)| {
            let name = printable(&name).replace('`', "'");
            let mut row = vec![value(extreme), extreme.arch.clone(), format!("`{name}`")];
            row.extend(with_files.then(|| printable(&file).into_owned()));
            row
        });
        let mut columns = vec!["value", "arch", "kernel"];
        columns.extend(with_files.then_some("file"));
        text += &format!("{title}\n\n{}\n", Sheet { columns, rows: rows.collect() }.markdown());
    }
    for line in notes::notes(report) {
        text += &format!("{}\n\n", line.replace('<', "\\<"));
    }
    text.trim_end().to_owned() + "\n"
}

/// One row a group with every count, for CSV.
#[must_use]
pub fn summary_sheet(report: &SummaryReport) -> Sheet {
    const BASES: [[&str; 3]; 3] = [
        ["exact", "exact_median", "exact_30_to_60"],
        ["upper_bound", "upper_bound_median", "upper_bound_30_to_60"],
        ["hypothetical", "hypothetical_median", "hypothetical_30_to_60"],
    ];
    let mut columns = vec!["gpu", "arch", "group", "kernels", "registers_median"];
    columns.extend(BASES.iter().flatten());
    columns.extend(["cannot_launch", "unknown", "limiters", "returns_at_once", "distinct", "only_reports"]);
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
    let row = |group: &GroupRecord| {
        let mut row = vec![
            group.gpu.clone().unwrap_or_default(),
            group.arch.clone(),
            group.group.clone().unwrap_or_default(),
            group.kernels.to_string(),
            number(group.registers.median),
        ];
        for census in [&group.exact, &group.upper_bound, &group.hypothetical] {
            row.extend([census.kernels.to_string(), number(census.median), census.from_30_to_60.to_string()]);
        }
        let limiters: Vec<String> =
            group.limiters.iter().map(|share| format!("{}={}", share.name, share.kernels)).collect();
        row.extend([group.cannot_launch.to_string(), group.unknown.to_string(), limiters.join(";")]);
        row.extend([group.returns_at_once, group.distinct, group.only_reports].map(|number| number.to_string()));
        row
    };
    Sheet { columns, rows: report.groups.iter().map(row).collect() }
}

/// Groups that have kernels to count.
fn counted(report: &SummaryReport) -> impl Iterator<Item = &GroupRecord> {
    report.groups.iter().filter(|group| group.arch != WITHOUT_IMAGE && group.counted() > 0)
}

/// What stands for the architecture of kernels that a GPU has no image of.
const WITHOUT_IMAGE: &str = "none";

fn label(group: &GroupRecord) -> String {
    let parts = [group.gpu.as_deref(), Some(group.arch.as_str()), group.group.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The tables: registers, one a basis that occurs.
fn tables(report: &SummaryReport) -> Vec<Bins> {
    let registers = |group: &GroupRecord| Row {
        label: label(group),
        kernels: group.counted(),
        median: group.registers.median,
        middle: 0,
        bins: group.registers.bins.iter().map(|bin| bin.kernels).collect(),
    };
    let mut tables = vec![Bins {
        title: "kernels by registers per thread, up to and including".to_owned(),
        ends: REGISTERS.to_vec(),
        rows: counted(report).map(registers).collect(),
        with_middle: false,
    }];
    type Pick = fn(&GroupRecord) -> &OccupancyCensus;
    let bases: [(&str, Pick); 3] = [
        ("exact", |group| &group.exact),
        ("upper bound (<=)", |group| &group.upper_bound),
        ("hypothetical (~), at 256 threads", |group| &group.hypothetical),
    ];
    for (basis, census) in bases {
        let row = |group: &GroupRecord| {
            let census = census(group);
            let bins = census.bins.iter().map(|bin| bin.kernels).collect();
            Row {
                label: label(group),
                kernels: census.kernels,
                median: census.median,
                middle: census.from_30_to_60,
                bins,
            }
        };
        tables.push(Bins {
            title: format!("{basis}: kernels by occupancy in percent, up to and including"),
            ends: TENTHS.to_vec(),
            rows: counted(report).map(row).filter(|row| row.kernels > 0).collect(),
            with_middle: true,
        });
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

const LIMITS: &str = "what binds, in percent of the kernels that can launch (several can bind at once)";

/// For each group what binds.
fn limits(report: &SummaryReport) -> Vec<(String, String)> {
    let limits = |group: &GroupRecord| {
        let share = |name: &str, percent| format!("{} {}", resource(name), whole_percent(percent));
        let shares: Vec<String> = group.limiters.iter().map(|limiter| share(limiter.name, limiter.percent)).collect();
        (label(group), shares.join(", "))
    };
    counted(report).map(limits).filter(|(_, limits)| !limits.is_empty()).collect()
}

fn tops(report: &SummaryReport) -> Vec<(&'static str, &[Extreme])> {
    let all: [(&'static str, &[Extreme]); 3] = [
        ("most registers", &report.most_registers),
        ("lowest occupancy that is exact or an upper bound, in percent", &report.lowest_occupancy),
        ("most spill bytes, stored and loaded", &report.most_spills),
    ];
    all.into_iter().filter(|(_, extremes)| !extremes.is_empty()).collect()
}

/// Whole numbers with separators, percentages as elsewhere.
fn value(extreme: &Extreme) -> String {
    if extreme.value.fract() == 0.0 { grouped(extreme.value as u64) } else { percent(extreme.value) }
}

/// The file of each, where there are several or one inside an archive; else empty texts.
fn files(extremes: &[Extreme], report: &SummaryReport, several: bool) -> Vec<String> {
    let places: Vec<Place<'_>> = extremes.iter().map(Place::of_extreme).collect();
    let all: Vec<Place<'_>> =
        report.places.iter().map(|(file, member)| Place { file, member: member.as_deref() }).collect();
    let told = several || places.iter().any(|place| place.member.is_some() || *place != places[0]);
    if told { labels(&places, &all) } else { vec![String::new(); places.len()] }
}

fn top(extremes: &[Extreme], report: &SummaryReport, several: bool, width: usize) -> String {
    const BEFORE: usize = 20;
    let files = files(extremes, report, several);
    let widest = files.iter().map(|file| file.chars().count()).max().unwrap_or(0);
    let before = BEFORE + if widest > 0 { widest + 2 } else { 0 };
    let names: Vec<&str> = extremes.iter().map(|extreme| &*extreme.demangled).collect();
    let names = distinct(&names, width.saturating_sub(before).max(28));
    let line = |((extreme, name), file): ((&Extreme, String), String)| {
        let file = if widest > 0 { format!("{:<widest$}  ", printable(&file)) } else { String::new() };
        format!("  {:>6}  {:<8}  {file}{}\n", value(extreme), extreme.arch, printable(&name))
    };
    extremes.iter().zip(names).zip(files).map(line).collect()
}
