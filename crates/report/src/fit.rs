//! `occupant fit` for people: what to change, how far each step is, what a block may take.

use occupant_core::report::{
    Basis, BoundEffect, ChangeRecord, EdgeRecord, FitReport, FromTo, OccupancyRecord, RoomRecord, SolutionRecord,
    StepRecord,
};

use crate::names::cut;
use crate::places::Place;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, on_gpu, percent, printable, resource, wrapped};

/// Solutions that are shown; JSON has all.
const SHOWN: usize = 8;
/// Rows of the table of room that are shown.
const ROOM_SHOWN: usize = 10;
/// Best block sizes that are shown.
const SIZES_SHOWN: usize = 12;

/// One answer in full.
#[must_use]
pub fn fit_text(report: &FitReport, width: usize) -> String {
    let mut text = String::new();
    if let Some(kernel) = &report.kernel {
        if kernel.member.is_some() {
            text += &format!("{}:\n", printable(&Place::of_name(kernel).to_string()));
        }
        text += &format!("{}\n", cut(&kernel.demangled, width));
    }
    text += &wrapped(&sentence(report), width, 0);
    text += &wrapped(&next(report), width, 0);
    let parts = [solutions(report, width), steps(report, width), best(report, width), room(report, width)];
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        text.push('\n');
        text += &part;
    }
    let requires = report
        .requires
        .iter()
        .map(|needed| format!("the host must set {} = {}: {}", needed.attribute, needed.value, needed.reason));
    let notes = report.notes.iter().map(|note| format!("note: {note}"));
    for line in requires.chain(notes) {
        text.push('\n');
        text += &wrapped(&line, width, 2);
    }
    text
}

fn sentence(report: &FitReport) -> String {
    let on = on_gpu(&report.gpu);
    let (Some(found), None) = (&report.occupancy, &report.reason) else {
        return format!("can't launch {on}: {}", report.reason.as_deref().unwrap_or("no occupancy is known"));
    };
    let limiters: Vec<&str> = found.limiters.iter().map(|name| resource(name)).collect();
    format!(
        "{}{} per SM, {} of {} warps ({} %) {on}; limited by {}{}",
        if found.basis == Basis::UpperBound { "at most " } else { "" },
        count(found.blocks_per_sm.into(), "block"),
        found.warps_per_sm,
        found.max_warps_per_sm,
        percent(found.percent),
        limiters.join(" and "),
        if found.basis == Basis::Hypothetical { "; at an assumed block size (--block)" } else { "" },
    )
}

/// The sentence that says what to do.
fn next(report: &FitReport) -> String {
    let Some(wanted) = report.wanted else {
        return "nothing to gain: the SM is full".to_owned();
    };
    let goal = match wanted.blocks {
        1 => "to launch".to_owned(),
        blocks if wanted.given => format!("to reach {blocks} blocks"),
        _ => "one more block".to_owned(),
    };
    let bound = bound(report).filter(|_| wanted.given).map_or_else(String::new, |bound| format!("; {bound}"));
    match (report.solutions.first(), &report.no_solution) {
        (Some(first), _) if is_empty(&first.change) => {
            let verb = if wanted.blocks == 1 { "fits" } else { "fit" };
            format!("{} {verb} already{bound}", count(wanted.blocks.into(), "block"))
        }
        (Some(first), _) => format!("{goal}: {}{bound}", change_words(&first.change)),
        (None, Some(why)) => format!("{goal}: no way, {why}"),
        (None, None) => String::new(),
    }
}

/// The launch bounds for the blocks wanted, and what they leave.
fn bound(report: &FitReport) -> Option<String> {
    let (wanted, block) = (report.wanted?.blocks, report.input.as_ref()?.block);
    let row = report.room.iter().find(|row| row.blocks == wanted)?;
    let shared = row
        .shared_dynamic
        .map_or_else(String::new, |bytes| format!(" and leaves {} B of dynamic shared memory", grouped(bytes.into())));
    Some(format!("__launch_bounds__({block}, {wanted}) caps registers at {}{shared}", row.register_cap))
}

pub(crate) fn is_empty(change: &ChangeRecord) -> bool {
    *change == ChangeRecord::default()
}

fn step<T: std::fmt::Display>(change: Option<&FromTo<T>>, name: &str, unit: &str) -> Option<String> {
    change.map(|FromTo { from, to }| format!("{name} {from} -> {to}{unit}"))
}

fn bytes(change: Option<&FromTo<u32>>, name: &str) -> Option<String> {
    change.map(|change| format!("{name} {} -> {} B", grouped(change.from.into()), grouped(change.to.into())))
}

/// `registers 90 -> 80, block 256 -> 192`.
pub(crate) fn change_words(change: &ChangeRecord) -> String {
    let parts = [
        step(change.carveout.as_ref(), "carve-out", ""),
        step(change.partitioned_caching.as_ref(), "partitioned caching", ""),
        step(change.registers.as_ref(), "registers", ""),
        step(change.block.as_ref(), "block", ""),
        bytes(change.shared_dynamic.as_ref(), "dynamic shared"),
        bytes(change.shared_static.as_ref(), "static shared"),
        step(change.barriers.as_ref(), "barriers", ""),
    ];
    let words: Vec<String> = parts.into_iter().flatten().collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn solutions(report: &FitReport, width: usize) -> String {
    let shown: Vec<&SolutionRecord> =
        report.solutions.iter().filter(|one| !is_empty(&one.change)).take(SHOWN).collect();
    let (Some(_), Some(now)) = (shown.first(), &report.occupancy) else { return String::new() };
    let row = |solution: &&SolutionRecord| {
        let mark = match solution.warps_per_sm.cmp(&now.warps_per_sm) {
            std::cmp::Ordering::Less => "fewer warps than now",
            std::cmp::Ordering::Equal => "as many warps as now",
            std::cmp::Ordering::Greater => "",
        };
        Line::Cells(vec![
            change_words(&solution.change),
            percent(solution.given_up_percent) + "%",
            solution.blocks_per_sm.to_string(),
            solution.warps_per_sm.to_string(),
            percent(solution.percent) + "%",
            mark.to_owned(),
        ])
    };
    let table = Table {
        columns: vec![
            Column::left("change", u8::MAX),
            Column::right("given up", 2),
            Column::right("blocks", u8::MAX),
            Column::right("warps", u8::MAX),
            Column::right("occupancy", 3),
            Column::left("", 1),
        ],
        lines: shown.iter().map(row).collect(),
        // What to change is the answer: it is never cut.
        first_least: width,
    };
    table.render(width)
}

fn amount(step: &StepRecord, value: u32) -> String {
    if step.axis == "shared" { format!("{} B", grouped(value.into())) } else { value.to_string() }
}

/// `80 (-10)`.
fn at(step: &StepRecord, edge: Option<EdgeRecord>) -> Option<String> {
    let edge = edge?;
    let by = grouped(edge.change.unsigned_abs());
    Some(format!("{} ({}{by})", amount(step, edge.value), if edge.change < 0 { '-' } else { '+' }))
}

fn steps(report: &FitReport, width: usize) -> String {
    let Some(now) = report.occupancy.as_ref().filter(|_| !report.steps.is_empty()) else { return String::new() };
    let blocks = i64::from(now.blocks_per_sm);
    let gained = |step: &StepRecord, edge: Option<EdgeRecord>| {
        let to = edge.map_or(0, |edge| i64::from(edge.blocks_per_sm) - blocks);
        at(step, edge).map_or_else(|| "-".to_owned(), |at| format!("{at}: {to:+}"))
    };
    let of_ceiling = |step: &StepRecord, edge: Option<EdgeRecord>| match (at(step, edge), edge) {
        (Some(at), Some(EdgeRecord { ceiling: Some(ceiling), .. })) => format!("{at}: {ceiling}"),
        (Some(at), _) => format!("{at}: no limit"),
        _ => "-".to_owned(),
    };
    let row = |step: &StepRecord| {
        let name = match step.axis {
            "shared" => "shared memory",
            "block" => "threads",
            other => other,
        };
        Line::Cells(vec![
            name.to_owned(),
            amount(step, step.value),
            step.ceiling.map_or_else(|| "-".to_owned(), |ceiling| ceiling.to_string()),
            gained(step, step.gain),
            gained(step, step.loss),
            amount(step, step.free_to),
            of_ceiling(step, step.ceiling_up),
            of_ceiling(step, step.ceiling_down),
        ])
    };
    let table = Table {
        columns: vec![
            Column::left("amount", u8::MAX),
            Column::right("now", u8::MAX),
            Column::right("ceiling", 4),
            Column::right("blocks gained at", u8::MAX),
            Column::right("lost from", u8::MAX),
            Column::right("free up to", 3),
            Column::right("ceiling rises at", 1),
            Column::right("falls from", 1),
        ],
        lines: report.steps.iter().map(row).collect(),
        first_least: 13,
    };
    table.render(width)
}

fn best(report: &FitReport, width: usize) -> String {
    let Some(best) = &report.best_blocks else { return String::new() };
    let mut sizes: Vec<String> = best.sizes.iter().take(SIZES_SHOWN).map(|size| size.block.to_string()).collect();
    if best.sizes.len() > SIZES_SHOWN {
        sizes.push(format!("and {} more", best.sizes.len() - SIZES_SHOWN));
    }
    let line = format!(
        "best block {}: {} ({} warps, {} %)",
        if best.sizes.len() == 1 { "size" } else { "sizes" },
        sizes.join(", "),
        best.warps_per_sm,
        percent(best.percent)
    );
    wrapped(&line, width, 2)
}

/// The rows that people look for: few blocks, powers of two, those around now and the goal, the last.
fn interesting<'a>(report: &'a FitReport, now: &OccupancyRecord) -> Vec<&'a RoomRecord> {
    let last = report.room.last().map_or(0, |row| row.blocks);
    let near = |blocks: u32| blocks.abs_diff(now.blocks_per_sm) <= 1;
    let wanted = report.wanted.map_or(0, |wanted| wanted.blocks);
    let all = report.room.len() <= ROOM_SHOWN;
    let keep = |row: &&RoomRecord| {
        let blocks = row.blocks;
        all || blocks <= 2 || blocks.is_power_of_two() || near(blocks) || blocks == wanted || blocks == last
    };
    report.room.iter().filter(keep).collect()
}

fn room(report: &FitReport, width: usize) -> String {
    let Some(now) = &report.occupancy else { return String::new() };
    let with_registers = report.input.as_ref().is_some_and(|input| input.registers > 0);
    let with_stages = report.room.iter().any(|row| row.stages.is_some());
    let row = |row: &&RoomRecord| {
        let effect = match row.effect {
            BoundEffect::Unreachable => format!("out of reach: the rest allows {}", row.others_allow),
            BoundEffect::Free if with_registers => "costs no register".to_owned(),
            BoundEffect::Lowers => "fewer registers".to_owned(),
            BoundEffect::Free => String::new(),
        };
        let mut cells = vec![
            row.blocks.to_string(),
            row.warps.to_string(),
            row.register_cap.to_string(),
            row.shared_dynamic.map_or_else(|| "-".to_owned(), |bytes| format!("{} B", grouped(bytes.into()))),
        ];
        if with_stages {
            cells.push(row.stages.map_or_else(|| "-".to_owned(), |stages| stages.to_string()));
        }
        cells.push(effect);
        Line::Cells(cells)
    };
    let mut columns = vec![
        Column::left("for blocks", u8::MAX),
        Column::right("warps", 2),
        Column::right("registers up to", u8::MAX),
        Column::right("dynamic shared up to", 3),
    ];
    if with_stages {
        columns.push(Column::right("stages", u8::MAX));
    }
    columns.push(Column::left("as __launch_bounds__ minimum", 5));
    let rows = interesting(report, now);
    if rows.is_empty() {
        return String::new();
    }
    Table { columns, lines: rows.iter().map(row).collect(), first_least: 10 }.render(width)
}

/// Answers as rows: one a solution, or one without where there is none.
#[must_use]
pub fn fit_sheet(results: &[FitReport]) -> Sheet {
    let mut rows = Vec::new();
    for report in results {
        let base = asked_and_now(report);
        let member = report.kernel.as_ref().and_then(|kernel| kernel.member.as_deref()).unwrap_or_default();
        let member = vec![member.to_owned()];
        if report.solutions.is_empty() {
            rows.push([base.clone(), vec![String::new(); 5], member.clone()].concat());
        }
        for solution in &report.solutions {
            let after = vec![
                change_words(&solution.change),
                format!("{:?}", solution.given_up_percent),
                solution.blocks_per_sm.to_string(),
                solution.warps_per_sm.to_string(),
                format!("{:?}", solution.percent),
            ];
            rows.push([base.clone(), after, member.clone()].concat());
        }
    }
    Sheet {
        columns: vec![
            "gpu",
            "compute_capability",
            "file",
            "kernel",
            "demangled",
            "image",
            "registers",
            "block",
            "basis",
            "launchable",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "limiters",
            "reason",
            "wanted_blocks",
            "change",
            "given_up_percent",
            "blocks_per_sm_then",
            "warps_per_sm_then",
            "percent_then",
            "member",
        ],
        rows,
    }
}

/// The columns that are the same for all solutions: what was asked, and what holds now.
fn asked_and_now(report: &FitReport) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let found = report.occupancy.as_ref();
    let kernel = report.kernel.as_ref();
    vec![
        report.gpu.name.clone(),
        report.gpu.compute_capability.clone(),
        kernel.map_or_else(String::new, |kernel| kernel.file.to_string()),
        kernel.map_or_else(String::new, |kernel| kernel.name.to_string()),
        kernel.map_or_else(String::new, |kernel| kernel.demangled.to_string()),
        kernel.and_then(|kernel| kernel.arch.clone()).unwrap_or_default(),
        number(report.input.as_ref().map(|input| input.registers)),
        number(report.input.as_ref().map(|input| input.block)),
        found.map_or_else(String::new, |found| basis(found.basis).to_owned()),
        report.launchable.map_or_else(String::new, |yes| yes.to_string()),
        number(found.map(|found| found.blocks_per_sm)),
        number(found.map(|found| found.warps_per_sm)),
        found.map_or_else(String::new, |found| format!("{:?}", found.percent)),
        found.map_or_else(String::new, |found| found.limiters.join("+")),
        report.reason.clone().unwrap_or_default(),
        number(report.wanted.map(|wanted| wanted.blocks)),
    ]
}

/// As in JSON.
const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Exact => "exact",
        Basis::UpperBound => "upper_bound",
        Basis::Hypothetical => "hypothetical",
    }
}
