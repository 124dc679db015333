//! `occupant probe` for people: the steps of an experiment and how to launch them, or what its times say.

use occupant_core::report::{ProbePlan, ProbePoint, ProbeReading, ProbeStep};

use crate::names::cut;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, mark, on_gpu, percent, printable, resource, wrapped};

/// The plan as text.
#[must_use]
pub fn probe_plan_text(plan: &ProbePlan, width: usize) -> String {
    let mut text = wrapped(&headline(plan, width), width, 2);
    text.push('\n');
    text += &steps(plan).render(width);
    text += &gaps(plan, width);
    if plan.steps.len() > 1 {
        text += &how(plan, width);
    }
    for note in &plan.notes {
        text.push('\n');
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    text
}

/// How the steps are launched and measured.
fn how(plan: &ProbePlan, width: usize) -> String {
    let mut text = "\nlaunch each row, with its bytes to pass\n".to_owned();
    for line in &plan.code {
        text += &code(line, width);
    }
    text.push('\n');
    text += &wrapped(
        "measure each and read the results; or time them yourself, as rows of blocks_per_sm,time in a file for `occupant \
         probe --timings FILE`",
        width,
        2,
    );
    for line in &plan.commands {
        text += &format!("  {line}\n");
    }
    if let Some(carveout) = carveout_words(plan) {
        text.push('\n');
        text += &wrapped(&carveout, width, 2);
    }
    text
}

fn headline(plan: &ProbePlan, width: usize) -> String {
    let (input, now) = (&plan.input, &plan.occupancy);
    let of = match &plan.kernel {
        Some(kernel) => format!("{} {}", cut(&printable(&kernel.demangled), width * 2 / 3), on_gpu(&plan.gpu)),
        None => format!("a shape {}", on_gpu(&plan.gpu)),
    };
    let limiters: Vec<&str> = now.limiters.iter().map(|name| resource(name)).collect();
    format!(
        "{of}: {}, {} registers, {} bytes static and {} dynamic shared memory; now {}{}, {} of {} warps ({} %), limited by {}",
        count(input.block.into(), "thread"),
        input.registers,
        grouped(input.shared_static.into()),
        grouped(input.shared_dynamic.into()),
        mark(now.basis),
        count(now.blocks_per_sm.into(), "block"),
        now.warps_per_sm,
        now.max_warps_per_sm,
        percent(now.percent),
        limiters.join(" and ")
    )
}

fn steps(plan: &ProbePlan) -> Table {
    let cells = |step: &ProbeStep| {
        vec![
            step.blocks_per_sm.to_string(),
            step.warps_per_sm.to_string(),
            format!("{}%", percent(step.percent)),
            grouped(step.shared_added.into()),
            grouped(step.shared_dynamic.into()),
            step.carveout.map_or_else(|| "-".to_owned(), |bytes| format!("{} KiB", bytes / 1024)),
            if step.opt_in { "to set" } else { "-" }.to_owned(),
            if step.shared_added == 0 { "<- now" } else { "" }.to_owned(),
        ]
    };
    Table {
        columns: vec![
            Column::right("blocks", u8::MAX),
            Column::right("warps", u8::MAX),
            Column::right("occupancy", 3),
            Column::right("add, bytes", 4),
            Column::right("pass, bytes", u8::MAX),
            Column::right("carve-out", 2),
            Column::left("attribute", 5),
            Column::left("", 1),
        ],
        lines: plan.steps.iter().map(|step| Line::Cells(cells(step))).collect(),
        first_least: 6,
    }
}

/// A line of code, broken after its first argument where it is too long.
fn code(line: &str, width: usize) -> String {
    match line.split_once(", ") {
        Some((first, rest)) if line.len() + 2 > width => format!("  {first},\n      {rest}\n"),
        _ => format!("  {line}\n"),
    }
}

/// Numbers of blocks that can't be reached, one line a reason.
fn gaps(plan: &ProbePlan, width: usize) -> String {
    let mut text = String::new();
    for code in ["above_limit", "granularity"] {
        let of_code: Vec<_> = plan.unreachable.iter().filter(|gap| gap.code == code).collect();
        let (Some(first), Some(last)) = (of_code.first(), of_code.last()) else { continue };
        let blocks = match of_code.as_slice() {
            [one] => count(one.blocks_per_sm.into(), "block"),
            // In a row.
            all if (first.blocks_per_sm - last.blocks_per_sm) as usize + 1 == all.len() => {
                format!("{} to {} blocks", last.blocks_per_sm, first.blocks_per_sm)
            }
            all => {
                let numbers: Vec<String> = all.iter().map(|gap| gap.blocks_per_sm.to_string()).collect();
                format!("{} blocks", numbers.join(", "))
            }
        };
        let reason = match code {
            "granularity" if of_code.len() > 1 => {
                first.reason.split(", and none").next().unwrap_or_default().to_owned() + ", and no number of them fits"
            }
            _ => first.reason.clone(),
        };
        text.push('\n');
        text += &wrapped(&format!("not reachable: {blocks}: {reason}"), width, 2);
    }
    text
}

fn carveout_words(plan: &ProbePlan) -> Option<String> {
    let percent = plan.carveout_percent?;
    let l1 = plan.l1_bytes.map_or_else(String::new, |bytes| format!(" ({} KiB)", bytes / 1024));
    Some(format!(
        "a carve-out of {percent} % in every run, the first too, keeps L1 the same{l1}: left alone, the driver takes from L1 \
         as shared memory grows, and the times differ for that"
    ))
}

/// The reading as text.
#[must_use]
pub fn probe_reading_text(reading: &ProbeReading, width: usize) -> String {
    let kernel = reading.kernel.as_deref().map(|kernel| cut(&printable(kernel), width * 2 / 3));
    let gpu = reading.gpu.as_ref().map(on_gpu);
    let of: Vec<String> = [kernel, gpu].into_iter().flatten().collect();
    let start = if reading.answer.is_some() { "" } else { "can't tell: " };
    let of = if of.is_empty() { String::new() } else { of.join(" ") + ": " };
    let mut text = wrapped(&format!("{of}{start}{}", reading.says), width, 2);
    if !reading.points.is_empty() {
        text.push('\n');
        text += &points(reading).render(width);
    }
    for note in &reading.notes {
        text.push('\n');
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    text
}

fn points(reading: &ProbeReading) -> Table {
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let amounts = |point: &ProbePoint| match point.shared_dynamic.as_slice() {
        [] => None,
        [one] => Some(grouped((*one).into())),
        [first, .., last] => Some(format!("{}..{}", grouped((*first).into()), grouped((*last).into()))),
    };
    let spread =
        |point: &ProbePoint| (point.runs > 1).then(|| format!("{} to {}", time(point.low_ns), time(point.high_ns)));
    let cells = |point: &ProbePoint| {
        let slower =
            if point.slower_percent == 0.0 { "best".to_owned() } else { format!("+{:.1}%", point.slower_percent) };
        [
            number(point.warps_per_sm),
            number(point.blocks_per_sm),
            point.percent.map(|share| format!("{}%", percent(share))),
            amounts(point),
            Some(point.runs.to_string()),
            Some(time(point.time_ns)),
            spread(point),
            Some(slower),
            Some(mark_of(reading, point).to_owned()),
        ]
    };
    let columns = [
        Column::right("warps", u8::MAX),
        Column::right("blocks", u8::MAX),
        Column::right("occupancy", 5),
        Column::right("dynamic, bytes", 3),
        Column::right("runs", 2),
        Column::right("time", u8::MAX),
        Column::left("spread", 1),
        Column::right("slower", u8::MAX),
        Column::left("", 4),
    ];
    let all: Vec<_> = reading.points.iter().map(cells).collect();
    // Columns of which nothing is known are left out.
    let known: Vec<bool> = (0..columns.len()).map(|column| all.iter().any(|row| row[column].is_some())).collect();
    let shown = |row: [Option<String>; 9]| {
        let cells = row.into_iter().zip(&known).filter(|(_, known)| **known);
        Line::Cells(cells.map(|(cell, _)| cell.unwrap_or_else(|| "-".to_owned())).collect())
    };
    Table {
        columns: columns.into_iter().zip(&known).filter(|(_, known)| **known).map(|(column, _)| column).collect(),
        lines: all.into_iter().map(shown).collect(),
        first_least: 5,
    }
}

/// Where the knee is, and what is no slower.
fn mark_of(reading: &ProbeReading, point: &ProbePoint) -> &'static str {
    let place = match reading.axis {
        "warps" => point.warps_per_sm.map(f64::from),
        "blocks" => point.blocks_per_sm.map(f64::from),
        _ => point.percent,
    };
    match (reading.answer, place == reading.knee, point.as_fast) {
        (None, ..) => "",
        (Some("rising" | "falling"), true, _) => "<- fastest",
        (_, true, _) => "<- enough",
        (_, _, true) => "as fast",
        _ => "",
    }
}

fn time(ns: f64) -> String {
    match ns {
        ..1e4 => format!("{ns:.0} ns"),
        ..1e7 => format!("{:.1} us", ns / 1e3),
        ..1e10 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

/// The steps as rows.
#[must_use]
pub fn probe_plan_sheet(plan: &ProbePlan) -> Sheet {
    let row = |step: &ProbeStep| {
        vec![
            plan.gpu.name.clone(),
            plan.kernel.as_ref().and_then(|kernel| kernel.name.clone()).unwrap_or_default(),
            step.blocks_per_sm.to_string(),
            step.warps_per_sm.to_string(),
            format!("{:?}", step.percent),
            step.shared_added.to_string(),
            step.shared_dynamic.to_string(),
            step.opt_in.to_string(),
            step.carveout.map_or_else(String::new, |bytes| bytes.to_string()),
        ]
    };
    Sheet {
        columns: vec![
            "gpu",
            "kernel",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "shared_added",
            "shared_dynamic",
            "opt_in",
            "carveout",
        ],
        rows: plan.steps.iter().map(row).collect(),
    }
}

/// The measured occupancies as rows.
#[must_use]
pub fn probe_reading_sheet(reading: &ProbeReading) -> Sheet {
    let number = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    let row = |point: &ProbePoint| {
        vec![
            reading.answer.unwrap_or_default().to_owned(),
            number(point.blocks_per_sm),
            number(point.warps_per_sm),
            point.percent.map_or_else(String::new, |percent| format!("{percent:?}")),
            point.shared_dynamic.iter().map(u32::to_string).collect::<Vec<_>>().join("+"),
            point.runs.to_string(),
            format!("{:?}", point.time_ns),
            format!("{:?}", point.low_ns),
            format!("{:?}", point.high_ns),
            format!("{:?}", point.slower_percent),
            point.as_fast.to_string(),
        ]
    };
    Sheet {
        columns: vec![
            "answer",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "shared_dynamic",
            "runs",
            "time_ns",
            "low_ns",
            "high_ns",
            "slower_percent",
            "as_fast",
        ],
        rows: reading.points.iter().map(row).collect(),
    }
}
