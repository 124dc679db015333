//! `occupant budget` for people.

use occupant_core::report::{BudgetReport, BudgetVerdict, SplitRecord};

use crate::names::{cut, distinct};
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, on_gpu, wrapped};

/// The answer as text.
#[must_use]
pub fn budget_text(report: &BudgetReport, width: usize) -> String {
    let mut text = String::new();
    if let Some(kernel) = &report.kernel {
        text += &format!("{}\n", cut(&kernel.demangled, width));
    }
    text += &wrapped(&format!("{} {}: {}", report.verdict.name(), on_gpu(&report.gpu), report.reason), width, 0);
    text.push('\n');
    text += &facts(report).render(width);
    if let Some(roles) = report.split_roles.filter(|_| !report.legal_splits.is_empty()) {
        let warpgroups = |number: u32| count(number.into(), "warpgroup");
        let title =
            format!("splits that hold: {} giving, {} taking", warpgroups(roles.giving), warpgroups(roles.taking));
        text += &format!("\n{}", wrapped(&title, width, 2));
        text += &splits(&report.legal_splits).render(width);
    }
    for note in report.accumulators.iter().map(|accumulators| &accumulators.says).chain(&report.notes) {
        text.push('\n');
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    text
}

fn requests(report: &BudgetReport) -> String {
    let one = |request: &Option<u32>| request.map_or_else(|| "keep".to_owned(), |registers| registers.to_string());
    report.requests.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn facts(report: &BudgetReport) -> Table {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| lines.push(Line::Cells(vec![name.to_owned(), value]));
    line("threads per block", report.threads.to_string());
    if !report.requests.is_empty() {
        line(if report.kernel.is_some() { "requests in its code" } else { "requests by warpgroup" }, requests(report));
    }
    if let Some(registers) = report.launch_registers {
        line("registers per thread at launch", registers.to_string());
    }
    if let (Some(pool), Some(requested)) = (report.pool, report.requested) {
        line("registers of a block", grouped(pool));
        let least = report.requested_least.filter(|least| *least != requested);
        let least = least.map_or_else(String::new, |least| format!("{} to ", grouped(least)));
        line("registers asked for", format!("{least}{}", grouped(requested)));
    }
    if let Some(blocks) = report.blocks_per_sm {
        line("blocks per SM", blocks.to_string());
    }
    if let Some(accumulators) = &report.accumulators {
        let [m, n] = accumulators.tile;
        line(&format!("accumulators, {m}x{n} {}", accumulators.schedule), accumulators.registers.to_string());
    }
    Table { columns: vec![Column::left("", u8::MAX), Column::left("", u8::MAX)], lines, first_least: 30 }
}

fn splits(splits: &[SplitRecord]) -> Table {
    let line = |split: &SplitRecord| {
        Line::Cells(vec![split.gives.to_string(), split.takes.to_string(), grouped(split.requested)])
    };
    Table {
        columns: vec![
            Column::right("each that gives", u8::MAX),
            Column::right("each that takes, up to", u8::MAX),
            Column::right("registers of the block", 1),
        ],
        lines: splits.iter().map(line).collect(),
        first_least: 22,
    }
}

/// Kernels that are shown of many; JSON and CSV have all.
const SHOWN: usize = 40;

/// The order in which verdicts matter.
const VERDICTS: [BudgetVerdict; 4] =
    [BudgetVerdict::HangRisk, BudgetVerdict::Undecided, BudgetVerdict::Ignored, BudgetVerdict::Legal];

/// Several answers: a line each, what is not legal first, and how many there are of each verdict.
#[must_use]
pub fn budgets_text(results: &[BudgetReport], width: usize) -> String {
    let mut sorted: Vec<&BudgetReport> = results.iter().collect();
    sorted.sort_by_key(|report| VERDICTS.iter().position(|verdict| *verdict == report.verdict));
    let mut text = several(&sorted[..sorted.len().min(SHOWN)], width).render(width);
    let number = |verdict| results.iter().filter(|report| report.verdict == verdict).count();
    let counts = VERDICTS.map(|verdict| (verdict, number(verdict)));
    let told: Vec<String> = counts
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(verdict, number)| format!("{number} {}", verdict.name()))
        .collect();
    text +=
        &format!("\n{}", wrapped(&format!("{}: {}", count(results.len() as u64, "answer"), told.join(", ")), width, 2));
    if results.len() > SHOWN {
        let line =
            format!("{} more not shown: narrow with --kernel and --arch, or take --format csv", results.len() - SHOWN);
        text += &wrapped(&line, width, 2);
    }
    text + &wrapped("one kernel alone (--kernel, --arch) is answered in full", width, 2)
}

/// A line for each answer, under names that tell them apart.
fn several(shown: &[&BudgetReport], width: usize) -> Table {
    let of = |report: &&BudgetReport| report.kernel.as_ref().map(|kernel| kernel.demangled.to_string());
    let names: Vec<String> = shown.iter().map(|report| of(report).unwrap_or_default()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let names = distinct(&names, table_room(&names, width));
    Table {
        columns: vec![
            Column::left("kernel", u8::MAX),
            Column::left("gpu", 3),
            Column::left("verdict", u8::MAX),
            Column::right("threads", 2),
            Column::right("at launch", 4),
            Column::left("requests", u8::MAX),
            Column::right("pool", 1),
            Column::right("asked for", 1),
        ],
        lines: shown.iter().zip(names).map(|(report, name)| one_of_several(report, name)).collect(),
        first_least: 16,
    }
}

fn one_of_several(report: &BudgetReport, name: String) -> Line {
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), grouped);
    let least = report.requested_least.filter(|least| report.requested != Some(*least));
    let least = least.map_or_else(String::new, |least| format!("{}-", grouped(least)));
    Line::Cells(vec![
        name,
        report.gpu.name.clone(),
        report.verdict.name().to_owned(),
        report.threads.to_string(),
        report.launch_registers.map_or_else(|| "-".to_owned(), |registers| registers.to_string()),
        requests(report),
        number(report.pool),
        format!("{least}{}", number(report.requested)),
    ])
}

/// Room for names: what verdict and requests leave.
fn table_room(names: &[&str], width: usize) -> usize {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    width.saturating_sub(44).clamp(16, longest.max(16))
}

/// Answers as rows.
#[must_use]
pub fn budget_sheet(results: &[BudgetReport]) -> Sheet {
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let row = |report: &BudgetReport| {
        vec![
            report.gpu.name.clone(),
            report.kernel.as_ref().map_or_else(String::new, |kernel| kernel.name.to_string()),
            report.verdict.name().to_owned(),
            report.threads.to_string(),
            requests(report),
            number(report.launch_registers.map(u64::from)),
            number(report.pool),
            number(report.requested),
            number(report.blocks_per_sm.map(u64::from)),
            report.reason.clone(),
        ]
    };
    Sheet {
        columns: vec![
            "gpu",
            "kernel",
            "verdict",
            "threads",
            "requests",
            "launch_registers",
            "pool",
            "requested",
            "blocks_per_sm",
            "reason",
        ],
        rows: results.iter().map(row).collect(),
    }
}
