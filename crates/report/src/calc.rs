//! `occupant calc` for people: one sentence, then the table behind it.

use occupant_core::report::{CalcReport, MatrixReport};

use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, on_gpu, percent, resource, wrapped};

/// The answer as text.
#[must_use]
pub fn calc_text(report: &CalcReport, width: usize) -> String {
    let mut text = wrapped(&sentence(report), width, 0);
    text.push('\n');
    text += &ceilings(report, width);
    for requirement in &report.requires {
        let line =
            format!("the host must set {} = {}: {}", requirement.attribute, requirement.value, requirement.reason);
        text.push('\n');
        text += &wrapped(&line, width, 2);
    }
    for note in &report.notes {
        text.push('\n');
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    if report.by_hand.is_some() {
        text.push('\n');
        text += &by_hand(report, width);
    }
    text
}

fn sentence(report: &CalcReport) -> String {
    let found = &report.occupancy;
    let on = on_gpu(&report.gpu);
    if let Some(reason) = &report.reason {
        return format!("can't launch {on}: {reason}");
    }
    let limiters: Vec<&str> = found.limiters.iter().map(|name| resource(name)).collect();
    let tensor = found.ceilings.tensor_memory.filter(|blocks| *blocks < found.blocks_per_sm);
    let waits = tensor.map_or_else(String::new, |blocks| format!("; tensor memory serves {blocks} of them at a time"));
    let unknown = if report.input.registers == 0 { "; without --registers" } else { "" };
    format!(
        "{} per SM, {} of {} warps ({} %) {on}; limited by {}{waits}{unknown}",
        count(found.blocks_per_sm.into(), "block"),
        found.warps_per_sm,
        found.max_warps_per_sm,
        percent(found.percent),
        limiters.join(" and ")
    )
}

fn ceilings(report: &CalcReport, width: usize) -> String {
    let (input, found) = (&report.input, &report.occupancy);
    let ceilings = &found.ceilings;
    let warps = input.block.div_ceil(32);
    let sm = &report.sm;
    let plain = |pool: Option<u32>| pool.map_or_else(String::new, |pool| grouped(pool.into()));
    let rows = [
        ("warps", warps.to_string(), plain(Some(sm.warps)), Some(ceilings.warps)),
        ("blocks", "1".to_owned(), plain(Some(sm.blocks)), Some(ceilings.blocks)),
        ("registers", registers_taken(report), plain(Some(sm.registers)), ceilings.registers),
        (
            "shared_memory",
            shared_taken(report),
            format!("{} B", grouped(sm.shared_memory.into())),
            ceilings.shared_memory,
        ),
        ("barriers", input.barriers.to_string(), plain(sm.barriers), ceilings.barriers),
        (
            "virtual_resources",
            input.virtual_resources.to_string(),
            plain(sm.virtual_resources),
            ceilings.virtual_resources,
        ),
        (
            "tensor_memory",
            format!("{} columns", input.tensor_columns.unwrap_or(0)),
            plain(sm.tensor_memory),
            ceilings.tensor_memory,
        ),
    ];
    let lines = rows.into_iter().filter_map(|(name, takes, holds, ceiling)| {
        let ceiling = ceiling?;
        let refused = !report.launchable && ceiling == 0;
        let mark = if found.limiters.contains(&name) || refused { "<- limit" } else { "" };
        Some(Line::Cells(vec![resource(name).to_owned(), takes, holds, ceiling.to_string(), mark.to_owned()]))
    });
    let table = Table {
        columns: vec![
            Column::left("resource", u8::MAX),
            Column::right("a block takes", 3),
            Column::right("an SM has", 2),
            Column::right("blocks", u8::MAX),
            Column::left("", u8::MAX),
        ],
        lines: lines.collect(),
        first_least: 17,
    };
    table.render(width)
}

/// Registers of a block, and of a thread as asked for and as given.
fn registers_taken(report: &CalcReport) -> String {
    let (asked, allocated) = (report.input.registers, &report.occupancy.allocated);
    let given = match allocated.registers_per_thread {
        same if same == asked => String::new(),
        given => format!(", given {given}"),
    };
    format!("{} ({asked} per thread{given})", grouped(allocated.registers_per_block.into()))
}

/// Shared memory of a block in bytes, and what was asked for where that is another number.
fn shared_taken(report: &CalcReport) -> String {
    let asked = u64::from(report.input.shared_static) + u64::from(report.input.shared_dynamic);
    match u64::from(report.occupancy.allocated.shared_per_block) {
        same if same == asked => format!("{} B", grouped(asked)),
        taken => format!("{} B ({} asked for)", grouped(taken), grouped(asked)),
    }
}

fn by_hand(report: &CalcReport, width: usize) -> String {
    let Some(hand) = &report.by_hand else { return String::new() };
    let term = |name: &str, warps: Option<f64>| warps.map(|warps| format!("{name} {}", percent(warps)));
    let terms: Vec<String> = [
        term("registers", hand.registers),
        term("shared memory", hand.shared_memory),
        term("warp slots", Some(hand.warps)),
        term("block slots", Some(hand.blocks)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut text =
        wrapped(&format!("by hand: {} warps, the least of {}", percent(hand.warps_per_sm), terms.join(", ")), width, 2);
    if hand.steps.is_empty() {
        text += "  the exact rules give the same\n";
    }
    for step in &hand.steps {
        let line = format!("  {} -> {} warps: {}", percent(step.from_warps), percent(step.to_warps), step.says);
        text += &format!("  {}", wrapped(&line, width.saturating_sub(2), 4));
    }
    text
}

/// Several GPUs as text: one line each.
#[must_use]
pub fn matrix_text(matrix: &MatrixReport, width: usize) -> String {
    let line = |report: &CalcReport| {
        let found = &report.occupancy;
        let limit = if report.launchable {
            found.limiters.iter().map(|name| resource(name)).collect::<Vec<_>>().join(", ")
        } else {
            "can't launch".to_owned()
        };
        Line::Cells(vec![
            report.gpu.name.clone(),
            report.gpu.compute_capability.clone(),
            found.blocks_per_sm.to_string(),
            format!("{}/{}", found.warps_per_sm, found.max_warps_per_sm),
            percent(found.percent) + "%",
            limit,
        ])
    };
    let table = Table {
        columns: vec![
            Column::left("gpu", u8::MAX),
            Column::right("cc", 2),
            Column::right("blocks", u8::MAX),
            Column::right("warps", 1),
            Column::right("occupancy", u8::MAX),
            Column::left("limited by", u8::MAX),
        ],
        lines: matrix.results.iter().map(line).collect(),
        first_least: 12,
    };
    let mut text = table.render(width);
    text.push('\n');
    for report in &matrix.results {
        let name = &report.gpu.name;
        let reason = report.reason.iter().map(|reason| format!("{name} can't launch it: {reason}"));
        let requires =
            report.requires.iter().map(|needed| format!("{name}: set {} = {}", needed.attribute, needed.value));
        let notes = report.notes.iter().map(|note| format!("{name}: {note}"));
        for line in reason.chain(requires).chain(notes) {
            text += &wrapped(&line, width, 2);
        }
    }
    for report in matrix.results.iter().filter(|report| report.by_hand.is_some()) {
        text += &format!("\n{}: {}", report.gpu.name, by_hand(report, width));
    }
    text.trim_end().to_owned() + "\n"
}

/// Answers as rows, for CSV and Markdown.
#[must_use]
pub fn calc_sheet(results: &[CalcReport]) -> Sheet {
    let row = |report: &CalcReport| {
        let (input, found) = (&report.input, &report.occupancy);
        vec![
            report.gpu.name.clone(),
            report.gpu.compute_capability.clone(),
            input.registers.to_string(),
            input.block.to_string(),
            input.shared_static.to_string(),
            input.shared_dynamic.to_string(),
            input.barriers.to_string(),
            input.virtual_resources.to_string(),
            input.carveout.clone(),
            report.launchable.to_string(),
            found.blocks_per_sm.to_string(),
            found.warps_per_sm.to_string(),
            format!("{:?}", found.percent),
            found.limiters.join("+"),
            report.reason.clone().unwrap_or_default(),
        ]
    };
    Sheet {
        columns: vec![
            "gpu",
            "compute_capability",
            "registers",
            "block",
            "shared_static",
            "shared_dynamic",
            "barriers",
            "virtual_resources",
            "carveout",
            "launchable",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "limiters",
            "reason",
        ],
        rows: results.iter().map(row).collect(),
    }
}
