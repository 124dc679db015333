//! `occupant inspect --summary`: tables of counts, then the extremes.

use occupant_core::report::{Extreme, GroupRecord, OccupancyCensus, SummaryReport};

use crate::names::distinct;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, percent, printable, resource, wrapped};

/// The census as text that fits `width`.
#[must_use]
pub fn summary_text(report: &SummaryReport, width: usize) -> String {
    let mut text = String::new();
    for (title, sheet) in sheets(report) {
        text += &format!("{title}\n\n{}\n", table(&sheet).render(width));
    }
    for (title, extremes) in tops(report) {
        text += &format!("{title}\n\n{}\n", top(extremes, width));
    }
    let kernels: u64 = report.groups.iter().map(|group| group.kernels).sum();
    text + &wrapped(&format!("{} in {}", count(kernels, "kernel"), count(report.totals.files.into(), "file")), width, 2)
}

/// Names in Markdown are cut to this; JSON has them whole.
const MARKDOWN_NAME: usize = 110;

/// The census as Markdown.
#[must_use]
pub fn summary_markdown(report: &SummaryReport) -> String {
    let mut text = String::new();
    for (title, sheet) in sheets(report) {
        text += &format!("{}\n\n{}\n", title.replace('~', "\\~"), sheet.markdown());
    }
    for (title, extremes) in tops(report) {
        let names: Vec<&str> = extremes.iter().map(|extreme| &*extreme.demangled).collect();
        let rows = extremes.iter().zip(distinct(&names, MARKDOWN_NAME)).map(|(extreme, name)| {
            let name = printable(&name).replace('`', "'");
            vec![percent(extreme.value), extreme.arch.clone(), format!("`{name}`")]
        });
        let sheet = Sheet { columns: vec!["value", "arch", "kernel"], rows: rows.collect() };
        text += &format!("{title}\n\n{}\n", sheet.markdown());
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
    columns.extend(["cannot_launch", "unknown", "limiters"]);
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
        row
    };
    Sheet { columns, rows: report.groups.iter().map(row).collect() }
}

fn label(group: &GroupRecord) -> String {
    let parts = [group.gpu.as_deref(), Some(group.arch.as_str()), group.group.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

const TENTHS: [&str; 10] = ["-10", "-20", "-30", "-40", "-50", "-60", "-70", "-80", "-90", "-100"];

/// The tables: registers, one a basis that occurs, limiters.
fn sheets(report: &SummaryReport) -> Vec<(String, Sheet)> {
    let rows = |cells: &dyn Fn(&GroupRecord) -> Vec<String>| -> Vec<Vec<String>> {
        report.groups.iter().map(|group| std::iter::once(label(group)).chain(cells(group)).collect()).collect()
    };
    let registers = |group: &GroupRecord| {
        let median = group.registers.median.map_or("-".to_owned(), percent);
        let bins = group.registers.bins.iter().map(|bin| grouped(bin.kernels));
        [grouped(group.kernels), median].into_iter().chain(bins).collect()
    };
    let mut sheets = vec![(
        "kernels by registers per thread, up to and including".to_owned(),
        Sheet {
            columns: vec!["arch", "kernels", "median", "32", "40", "48", "64", "80", "128", "168", "255"],
            rows: rows(&registers),
        },
    )];
    type Pick = fn(&GroupRecord) -> &OccupancyCensus;
    let bases: [(&str, Pick); 3] = [
        ("exact: kernels by occupancy in percent, up to and including", |group| &group.exact),
        ("upper bound (<=): kernels by occupancy in percent, up to and including", |group| &group.upper_bound),
        ("hypothetical (~), at 256 threads: kernels by occupancy in percent", |group| &group.hypothetical),
    ];
    for (title, census) in bases {
        if report.groups.iter().all(|group| census(group).kernels == 0) {
            continue;
        }
        let cells = |group: &GroupRecord| {
            let census = census(group);
            let median = census.median.map_or("-".to_owned(), percent);
            let middle = census.from_30_to_60 as f64 * 100.0 / census.kernels.max(1) as f64;
            let middle = if census.kernels == 0 { "-".to_owned() } else { format!("{middle:.0}%") };
            let bins = census.bins.iter().map(|bin| grouped(bin.kernels));
            [grouped(census.kernels), median, middle].into_iter().chain(bins).collect()
        };
        let mut columns = vec!["arch", "kernels", "median", "30-60"];
        columns.extend(TENTHS);
        sheets.push((title.to_owned(), Sheet { columns, rows: rows(&cells) }));
    }
    let limits = |group: &GroupRecord| {
        let shares = group.limiters.iter().map(|share| format!("{} {:.0}%", resource(share.name), share.percent));
        vec![shares.collect::<Vec<_>>().join(", ")]
    };
    sheets.push((
        "what binds, in percent of the kernels that can launch (several can bind at once)".to_owned(),
        Sheet { columns: vec!["arch", "limits"], rows: rows(&limits) },
    ));
    sheets
}

/// A sheet as a table: the first column to the left, numbers to the right.
fn table(sheet: &Sheet) -> Table {
    let wide = sheet.columns.len() > 2;
    let column = |(index, title): (usize, &&'static str)| {
        // Bins that hold nothing go first, then median and share; a bin with kernels never.
        let empty = sheet.rows.iter().all(|row| row.get(index).is_none_or(|cell| cell == "0"));
        let is_bin = title.trim_start_matches('-').parse::<u32>().is_ok();
        let keep = match (index, is_bin, empty) {
            (0 | 1, _, _) | (_, true, false) => u8::MAX,
            (_, true, true) => u8::try_from(100 - index.min(99)).unwrap_or(1),
            _ => 200,
        };
        if index == 0 || !wide { Column::left(title, u8::MAX) } else { Column::right(title, keep) }
    };
    Table {
        columns: sheet.columns.iter().enumerate().map(column).collect(),
        lines: sheet.rows.iter().map(|row| Line::Cells(row.clone())).collect(),
        first_least: 8,
    }
}

fn tops(report: &SummaryReport) -> Vec<(&'static str, &[Extreme])> {
    let all: [(&'static str, &[Extreme]); 3] = [
        ("most registers", &report.most_registers),
        ("lowest occupancy that is exact or an upper bound, in percent", &report.lowest_occupancy),
        ("most spill bytes, stored and loaded", &report.most_spills),
    ];
    all.into_iter().filter(|(_, extremes)| !extremes.is_empty()).collect()
}

fn top(extremes: &[Extreme], width: usize) -> String {
    const BEFORE_NAME: usize = 20;
    let names: Vec<&str> = extremes.iter().map(|extreme| &*extreme.demangled).collect();
    let names = distinct(&names, width.saturating_sub(BEFORE_NAME).max(28));
    let line = |(extreme, name): (&Extreme, String)| {
        format!("  {:>6}  {:<8}  {}\n", percent(extreme.value), extreme.arch, printable(&name))
    };
    extremes.iter().zip(names).map(line).collect()
}
