//! `occupant verdict` for people: one launch in full, several as a table.

use occupant_core::report::{GuidedNeed, UnitRecord, VerdictRecord, WaitRecord};

use crate::names::{cut, distinct};
use crate::need::answer_words;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, on_gpu, percent, printable, resource, wrapped, wrapped_beside};

/// Stall reasons that are shown: what is under this share is noise.
const SHOWN_PERCENT: f64 = 3.0;
/// Where the values of a launch start.
const VALUES: usize = 12;

/// One launch in full, several as a table; `full` shows several in full, too.
#[must_use]
pub fn verdict_text(launches: &[VerdictRecord], width: usize, full: bool) -> String {
    match launches {
        [launch] => one(launch, width),
        several if full => several.iter().map(|launch| one(launch, width)).collect::<Vec<_>>().join("\n"),
        several => table(several, width),
    }
}

fn one(launch: &VerdictRecord, width: usize) -> String {
    let mut text = format!("{}\n", cut(&printable(&launch.kernel), width));
    text += &wrapped(&shape(launch), width, 2);
    text.push('\n');
    text += &wrapped(&format!("{}: {}", label(launch.verdict), launch.says), width, 2);
    text += &wrapped(&format!("higher occupancy would help: {}", launch.occupancy_would_help), width, 2);
    text.push('\n');
    text += &wrapped_beside("have", &have(launch), VALUES, width);
    if let Some(need) = launch.need.as_ref() {
        text += &needed(need, width);
    }
    text += &busy(launch, width);
    text += &stalls(launch, width);
    text += &waits(launch, width);
    text += &findings(launch, width);
    text += &evidence(launch, width);
    text += &reconciled(launch, width);
    if launch.occupancy_would_help == "yes" {
        let next =
            "to see it before changing the kernel: `occupant probe` plans runs at lower occupancies of this launch";
        text += &format!("\n{}", wrapped(next, width, 2));
    }
    if !launch.missing.is_empty() && launch.verdict != "cannot_tell" {
        text += &format!("\n{}", wrapped(&format!("not measured: {}", launch.missing.join(" ")), width, 2));
    }
    text
}

/// The launch's shape, where it ran, who measured it.
fn shape(launch: &VerdictRecord) -> String {
    let shape = &launch.launch;
    let mut parts = Vec::new();
    if let Some(gpu) = &launch.gpu {
        parts.push(on_gpu(gpu));
    }
    if let (Some(blocks), Some(threads)) = (shape.blocks, shape.threads) {
        parts.push(format!("{} of {}", count(blocks, "block"), count(threads, "thread")));
    }
    if let Some(registers) = shape.registers {
        parts.push(format!("{registers} registers"));
    }
    let shared = shape.shared_static.unwrap_or(0) + shape.shared_dynamic.unwrap_or(0);
    if shared > 0 {
        parts.push(format!("{} bytes shared memory", grouped(shared)));
    }
    if let Some(ns) = shape.duration_ns {
        parts.push(time(ns));
    }
    if shape.launches > 1 {
        parts.push(format!("mean of {} launches", grouped(shape.launches)));
    }
    if let Some(profiler) = &launch.profiler {
        parts.push(format!("ncu {profiler}"));
    }
    parts.join(", ")
}

fn time(ns: f64) -> String {
    match ns {
        ..1e4 => format!("{ns:.0} ns"),
        ..1e7 => format!("{:.1} us", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}

/// A label as people say it.
fn label(verdict: &str) -> String {
    match verdict {
        "throughput_bound" => "throughput-bound",
        "grid_too_small" => "grid too small",
        "imbalance" => "imbalance",
        "latency_bound_warps_help" => "latency-bound, and warps help",
        "latency_bound_other" => "latency-bound, and warps don't help",
        "enough_warps" => "enough warps",
        _ => "cannot tell",
    }
    .to_owned()
}

fn have(launch: &VerdictRecord) -> String {
    let mut parts = Vec::new();
    match (&launch.have, launch.theoretical_percent) {
        (Some(have), _) => {
            let limiters: Vec<&str> = have.limiters.iter().map(|name| resource(name)).collect();
            let blocks = if have.blocks_per_sm == 1 { "block" } else { "blocks" };
            let one = matches!(limiters.as_slice(), ["shared memory"]);
            parts.push(format!(
                "{} {blocks}, {} of {} warps ({} %), {} {}",
                have.blocks_per_sm,
                have.warps_per_sm,
                have.max_warps_per_sm,
                percent(have.percent),
                limiters.join(" and "),
                if one { "limits" } else { "limit" }
            ));
        }
        (None, Some(theoretical)) => parts.push(format!("{} % of the warp slots", percent(theoretical))),
        (None, None) => parts.push("not known: the launch's shape was not measured".to_owned()),
    }
    if let Some(achieved) = launch.achieved_percent {
        parts.push(format!("{achieved:.1} % achieved"));
    }
    if let Some(waves) = launch.launch.waves {
        parts.push(format!("{waves} waves"));
    }
    parts.join("; ")
}

fn needed(need: &GuidedNeed, width: usize) -> String {
    let mut text = wrapped_beside("need", &need.says, VALUES, width);
    let (Some(band), Some(_)) = (need.band, need.needed) else { return text };
    let by = if need.guided_by == Some("counts") { "measured executions" } else { "the sum of executions" };
    let mut behind = format!("band {:.0} to {:.0} warps, by {by}", band.low.floor(), band.high.ceil());
    if let Some(lifetime) = need.lifetime {
        let off = (lifetime.predicted / lifetime.measured - 1.0) * 100.0;
        behind += &format!(
            "; a warp lived {} cycles, the model says {} ({off:+.0} %), {} alone",
            grouped(lifetime.measured.round() as u64),
            grouped(lifetime.predicted.round() as u64),
            grouped(need.one_warp_cycles.unwrap_or(0.0).round() as u64)
        );
    }
    text += &wrapped_beside("", &behind, VALUES, width);
    for assumption in need.assumptions.iter().skip(2) {
        text += &wrapped_beside("", assumption, VALUES, width);
    }
    text
}

/// The busiest units, as measured.
fn busy(launch: &VerdictRecord, width: usize) -> String {
    // Of a unit the share of the whole launch counts, once.
    let whole = |unit: &str| launch.units.iter().any(|used| used.unit == unit && !used.of_active);
    let mut shown: Vec<&UnitRecord> = Vec::new();
    for used in launch.units.iter().filter(|used| used.percent >= 10.0 && !is_part(used.unit)) {
        let told = shown.iter().any(|other| other.unit == used.unit) || (used.of_active && whole(used.unit));
        if !told {
            shown.push(used);
        }
    }
    let one = |used: &UnitRecord| {
        let (least, while_active) = (if used.at_least { ">=" } else { "" }, if used.of_active { "*" } else { "" });
        format!("{} {least}{:.0} %{while_active}", used.unit, used.percent)
    };
    let told: Vec<String> = shown.into_iter().take(5).map(one).collect();
    if told.is_empty() {
        return String::new();
    }
    let star = if told.iter().any(|unit| unit.ends_with('*')) { " (* while an SM has warps)" } else { "" };
    wrapped_beside("busy", &format!("{}{star}", told.join(", ")), VALUES, width)
}

/// A unit without a name of its own.
fn is_part(unit: &str) -> bool {
    unit.starts_with("the busiest") || unit == "memory requests"
}

fn stalls(launch: &VerdictRecord, width: usize) -> String {
    let shown: Vec<_> = launch.stalls.iter().filter(|stall| stall.percent >= SHOWN_PERCENT).take(6).collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut text = "\nwhat the resident warps do\n".to_owned();
    for stall in shown {
        // That warps hide a wait says nothing where they can't help the launch.
        let warps = match (stall.warps_hide, launch.occupancy_would_help) {
            (Some(true), "yes") => "; more warps hide it",
            (Some(false), "yes") => "; more warps don't",
            _ => "",
        };
        let what = match stall.reason {
            "selected" => "issue".to_owned(),
            "not_selected" => "are ready while another one issues".to_owned(),
            _ => format!("wait for {} ({}){warps}", stall.waits_for, stall.reason),
        };
        text += &wrapped_beside(&format!("  {:>5.1} %", stall.percent), &what, VALUES, width);
    }
    // What is full or too small is changed elsewhere.
    let waits_decide = launch.verdict.starts_with("latency") || launch.verdict == "imbalance";
    if let Some(top) = launch.stalls.iter().find(|stall| stall.warps_hide.is_some()).filter(|_| waits_decide) {
        text += &wrapped_beside("  change", top.changes, VALUES, width);
    }
    text
}

fn waits(launch: &VerdictRecord, width: usize) -> String {
    if launch.waits.is_empty() {
        return String::new();
    }
    let has_sources = launch.waits.iter().any(|wait| wait.source.is_some());
    let mut table = Table {
        columns: vec![
            Column::left("  where it waits", u8::MAX),
            Column::right("time", u8::MAX),
            Column::right("cycles a visit", u8::MAX),
            Column::right("alone", u8::MAX),
            Column::left("reason", 4),
            Column::left("waits for", 3),
            Column::right("visits a warp", 1),
            Column::left("source", 2),
        ],
        lines: launch.waits.iter().map(|wait| Line::Cells(wait_cells(wait))).collect(),
        first_least: 20,
    };
    if !has_sources {
        table.columns.pop();
        for line in &mut table.lines {
            if let Line::Cells(cells) = line {
                cells.pop();
            }
        }
    }
    let mut text = format!("\n{}", table.render(width));
    // One cause is told once, with the first instruction that has it.
    let mut told: Vec<&str> = Vec::new();
    for wait in &launch.waits {
        let Some(cause) = wait.cause.as_deref().filter(|cause| !told.contains(cause)) else { continue };
        told.push(cause);
        text += &item(&format!("{:#06x}: {cause}", wait.offset), width);
    }
    text
}

fn wait_cells(wait: &WaitRecord) -> Vec<String> {
    let producer = wait.waits_for.as_ref();
    let cycles = |cycles: Option<f64>| cycles.map_or_else(|| "-".to_owned(), |cycles| grouped(cycles.round() as u64));
    vec![
        format!("  {:#06x} {}", wait.offset, wait.instruction),
        format!("{:.1} %", wait.samples_percent),
        cycles(wait.cycles_per_visit),
        cycles(wait.expected_cycles),
        wait.reason.unwrap_or_default().to_owned(),
        producer.map_or_else(String::new, |producer| format!("{} at {:#06x}", producer.instruction, producer.offset)),
        percent(wait.executions_per_warp),
        wait.source.clone().unwrap_or_default(),
    ]
}

fn findings(launch: &VerdictRecord, width: usize) -> String {
    if launch.findings.is_empty() {
        return String::new();
    }
    let lines: String = launch.findings.iter().map(|finding| item(finding, width)).collect();
    format!("\nalso\n{lines}")
}

fn evidence(launch: &VerdictRecord, width: usize) -> String {
    if launch.evidence.is_empty() {
        return String::new();
    }
    let mut text = "\nevidence\n".to_owned();
    for evidence in &launch.evidence {
        let value = format!("  {}", significant(evidence.value));
        text += &wrapped_beside(&value, &format!("{} ({})", evidence.says, evidence.metric), VALUES, width);
    }
    text
}

/// A line of a list, indented.
fn item(text: &str, width: usize) -> String {
    wrapped_beside("", text, 2, width)
}

/// A value with enough digits that a small one is no zero.
fn significant(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 { format!("{value:.4}") } else { percent(value) }
}

/// Where the report's occupancy differs from this project's.
fn reconciled(launch: &VerdictRecord, width: usize) -> String {
    // What is explained and changes no occupancy is in the JSON.
    let changes = launch.reconcile.iter().any(|differs| differs.what == "theoretical_percent");
    let told: Vec<_> = launch.reconcile.iter().filter(|differs| changes || differs.explained.is_none()).collect();
    if told.is_empty() {
        return String::new();
    }
    let mut text = "\nwhere the report's limits differ\n".to_owned();
    for differs in told {
        let why = differs.explained.as_deref().unwrap_or("unexplained");
        let what = match differs.what {
            "binary_registers" => "registers in the binary".to_owned(),
            "binary_shared" => "shared memory in the binary".to_owned(),
            "theoretical_percent" => "theoretical occupancy, percent".to_owned(),
            limit => format!("blocks by {}", resource(limit)),
        };
        let line =
            format!("  {what}: {} in the report, {} here; {why}", percent(differs.report), percent(differs.ours));
        text += &item(&line, width);
    }
    text
}

fn table(launches: &[VerdictRecord], width: usize) -> String {
    let mut table = Table {
        columns: vec![
            Column::left("kernel", u8::MAX),
            Column::right("#", u8::MAX),
            Column::left("verdict", u8::MAX),
            Column::left("more warps", u8::MAX),
            Column::right("theory", 4),
            Column::right("achieved", 4),
            Column::right("time", 5),
            Column::left("top wait", 3),
            Column::left("busiest", 2),
            Column::right("grid", 1),
        ],
        lines: lines(launches),
        first_least: 20,
    };
    let names: Vec<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
    let room = table.first_width(width);
    let rows = table.lines.iter_mut().filter_map(|line| match line {
        Line::Cells(cells) => Some(cells),
        Line::Heading(_) => None,
    });
    for (cells, name) in rows.zip(distinct(&names, room)) {
        cells[0] = name;
    }
    let mut text = table.render(width);
    let dropped = table.dropped(width);
    text += &format!("\n{}", wrapped(&counts(launches), width, 2));
    if !dropped.is_empty() {
        text += &wrapped(&format!("no room for {}: a larger --width shows more", dropped.join(", ")), width, 2);
    }
    text + &wrapped("one launch in full: --launch N; all of them: --full", width, 2)
}

/// Launches, under the names of their files where there are several.
fn lines(launches: &[VerdictRecord]) -> Vec<Line> {
    let several = launches.windows(2).any(|pair| pair[0].file != pair[1].file);
    let mut lines = Vec::new();
    let mut file = None;
    for launch in launches {
        if several && file != Some(&launch.file) {
            lines.push(Line::Heading(printable(&launch.file).into_owned()));
            file = Some(&launch.file);
        }
        lines.push(Line::Cells(cells(launch)));
    }
    lines
}

fn cells(launch: &VerdictRecord) -> Vec<String> {
    let dash = || "-".to_owned();
    let share = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.0}%"));
    let top = launch.stalls.iter().find(|stall| stall.warps_hide.is_some());
    let busiest = launch.units.iter().find(|used| !is_part(used.unit)).or(launch.units.first());
    vec![
        launch.kernel.clone(),
        launch.index.to_string(),
        launch.verdict.replace('_', " "),
        launch.occupancy_would_help.to_owned(),
        share(launch.theoretical_percent.or_else(|| launch.have.as_ref().map(|have| have.percent))),
        share(launch.achieved_percent),
        launch.launch.duration_ns.map_or_else(dash, time),
        top.map_or_else(dash, |stall| format!("{} {:.0}%", stall.reason, stall.percent)),
        busiest.map_or_else(dash, |busy| format!("{} {:.0}%", short(busy.unit), busy.percent)),
        launch.launch.blocks.map_or_else(dash, grouped),
    ]
}

/// A unit's name without what explains it.
fn short(unit: &str) -> &str {
    unit.split(" (").next().unwrap_or(unit)
}

fn counts(launches: &[VerdictRecord]) -> String {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for launch in launches {
        match found.iter_mut().find(|(verdict, _)| *verdict == launch.verdict) {
            Some((_, number)) => *number += 1,
            None => found.push((launch.verdict, 1)),
        }
    }
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let of = |help: &str| launches.iter().filter(|launch| launch.occupancy_would_help == help).count();
    let unknown = match of("unknown") {
        0 => String::new(),
        number => format!(", unknown for {number}"),
    };
    let told: Vec<String> =
        found.iter().map(|(verdict, number)| format!("{number} {}", verdict.replace('_', " "))).collect();
    format!(
        "{} launches: {}; higher occupancy would help {} of them{unknown}",
        launches.len(),
        told.join(", "),
        of("yes")
    )
}

/// Launches for a pull request: what the table shows, and each launch's sentence.
#[must_use]
pub fn verdict_markdown(launches: &[VerdictRecord]) -> String {
    let columns =
        vec!["kernel", "#", "verdict", "more warps", "theory", "achieved", "time", "top wait", "busiest", "grid"];
    let rows = launches.iter().map(cells).collect();
    let mut text = Sheet { columns, rows }.markdown();
    text.push('\n');
    for launch in launches {
        let kernel = printable(&launch.kernel).replace('`', "'");
        text += &format!("- `{kernel}` ({}): {}: {}\n", launch.index, label(launch.verdict), launch.says);
        for finding in &launch.findings {
            text += &format!("  - {finding}\n");
        }
    }
    text
}

/// Launches as rows.
#[must_use]
pub fn verdict_sheet(launches: &[VerdictRecord]) -> Sheet {
    Sheet {
        columns: vec![
            "file",
            "launch",
            "kernel",
            "gpu",
            "verdict",
            "occupancy_would_help",
            "says",
            "theoretical_percent",
            "achieved_percent",
            "blocks_per_sm",
            "limiters",
            "waves",
            "duration_ns",
            "top_wait",
            "top_wait_percent",
            "need_answer",
            "needed_warps",
            "have_warps",
            "binding",
            "missing",
        ],
        rows: launches.iter().map(row).collect(),
    }
}

fn row(launch: &VerdictRecord) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
    let top = launch.stalls.iter().find(|stall| stall.warps_hide.is_some());
    let need = launch.need.as_ref();
    let answer = need.map(|need| answer_words(need.answer).replace(' ', "_"));
    vec![
        launch.file.clone(),
        launch.index.to_string(),
        launch.kernel.clone(),
        launch.gpu.as_ref().map_or_else(String::new, |gpu| gpu.name.clone()),
        launch.verdict.to_owned(),
        launch.occupancy_would_help.to_owned(),
        launch.says.clone(),
        number(launch.theoretical_percent),
        number(launch.achieved_percent),
        launch.have.as_ref().map_or_else(String::new, |have| have.blocks_per_sm.to_string()),
        launch.have.as_ref().map_or_else(String::new, |have| have.limiters.join("+")),
        number(launch.launch.waves),
        number(launch.launch.duration_ns),
        top.map_or("", |top| top.reason).to_owned(),
        number(top.map(|top| top.percent)),
        answer.unwrap_or_default(),
        number(need.and_then(|need| need.needed).map(|needed| needed.exact_warps)),
        number(need.and_then(|need| need.have_warps)),
        need.and_then(|need| need.binding).unwrap_or_default().to_owned(),
        launch.missing.join(" "),
    ]
}
