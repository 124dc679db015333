//! `occupant budget` for people.

use occupant_core::report::{BudgetReport, SplitRecord};

use crate::names::cut;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{grouped, on_gpu, wrapped};

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
    if !report.legal_splits.is_empty() {
        text.push('\n');
        text += &splits(&report.legal_splits).render(width);
    }
    for note in &report.notes {
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
        line("registers asked for", grouped(requested));
    }
    if let Some(blocks) = report.blocks_per_sm {
        line("blocks per SM", blocks.to_string());
    }
    if let Some(accumulators) = &report.accumulators {
        let [m, n] = accumulators.tile;
        line(&format!("accumulators of {m}x{n}, {}", accumulators.schedule), accumulators.says.clone());
    }
    Table { columns: vec![Column::left("", u8::MAX), Column::left("", u8::MAX)], lines, first_least: 30 }
}

fn splits(splits: &[SplitRecord]) -> Table {
    let line = |split: &SplitRecord| {
        Line::Cells(vec![split.gives.to_string(), split.takes.to_string(), grouped(split.requested)])
    };
    Table {
        columns: vec![
            Column::right("legal: those that give", u8::MAX),
            Column::right("those that take, up to", u8::MAX),
            Column::right("registers of the block", 1),
        ],
        lines: splits.iter().map(line).collect(),
        first_least: 22,
    }
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
