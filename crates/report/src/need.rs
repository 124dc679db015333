//! `occupant need` for people: one kernel in full, several as a table.

use std::collections::BTreeSet;

use occupant_core::report::{BandRecord, CurvePoint, KernelRecord, NeedAnswer, NeedRecord, Validation};

use crate::names::{cut, distinct};
use crate::places::{Place, labels};
use crate::plot::{Curve, columns, plot};
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, on_gpu, printable, wrapped, wrapped_beside};

/// Kernels that are shown of many; JSON and CSV have all.
const SHOWN: usize = 40;

/// One kernel in full, several as a table.
#[must_use]
pub fn need_text(kernels: &[KernelRecord], width: usize) -> String {
    match kernels {
        [kernel] => one(kernel, width),
        several => table(several, width),
    }
}

fn one(kernel: &KernelRecord, width: usize) -> String {
    let gpu = kernel.gpu.as_ref().map_or_else(String::new, |gpu| format!(" {}", on_gpu(gpu)));
    let arch = kernel.arch.as_deref().unwrap_or("no image");
    let mut text = String::new();
    if kernel.member.is_some() {
        text += &format!("{}:\n", printable(&Place::of(kernel).to_string()));
    }
    text += &format!("{}\n{arch}{gpu}, {}\n", cut(&kernel.demangled, width), launch(kernel));
    let Some(need) = &kernel.need else {
        return text + &wrapped(kernel.reason.as_deref().unwrap_or("no image"), width, 2);
    };
    text += &wrapped(&need.says, width, 2);
    let facts = facts(need);
    if !facts.is_empty() {
        text.push('\n');
    }
    for (name, value) in facts {
        text += &wrapped_beside(&name, &value, 18, width);
    }
    if let Some(points) = &need.curve {
        text += &format!("\n{}", curve(need, points, width));
    }
    if !need.ways.is_empty() {
        text += &format!("\nways to {} %\n", need.target);
        for way in &need.ways {
            let name = if way.way == "more_warps" { "more warps" } else { "more in flight" };
            text += &wrapped(&format!("  {name}: {}", way.says), width, 4);
        }
    }
    if !need.assumptions.is_empty() {
        text.push('\n');
    }
    for assumption in &need.assumptions {
        text += &wrapped(&format!("assumed: {assumption}"), width, 2);
    }
    if let Some(settle) = &need.settle {
        text += &format!("\n{}", wrapped(&format!("to settle it: {settle}"), width, 2));
    }
    text
}

fn launch(kernel: &KernelRecord) -> String {
    let block =
        kernel.launch.block.map_or_else(|| "block unknown".to_owned(), |block| format!("blocks of {block} threads"));
    let registers = kernel.registers.map_or_else(String::new, |registers| format!(", {registers} registers"));
    let resident = kernel.occupancy.as_ref().map_or_else(String::new, |found| {
        let mark = crate::words::mark(found.basis);
        format!(", {mark}{} of {} warps resident", found.warps_per_sm, found.max_warps_per_sm)
    });
    format!("{block}{registers}{resident}")
}

/// The numbers behind the answer.
fn facts(need: &NeedRecord) -> Vec<(String, String)> {
    let mut facts = of_a_warp(need);
    facts.extend(of_littles_law(need));
    facts.extend(of_the_answer(need));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What one warp does in a pass.
fn of_a_warp(need: &NeedRecord) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let (Some(cycles), Some(_)) = (need.one_warp_cycles, need.scope) {
        let of = match &need.hot_loop {
            Some(hot) => format!("a pass of the loop at {:#06x}: {}", hot.header, hot.because),
            None => "its life, with the turnover to the next warp".to_owned(),
        };
        facts.push(("one warp alone", format!("{cycles:.0} cycles, {of}")));
    }
    let loads = need.loads_in_flight.filter(|loads| *loads > 0);
    if let (Some(bytes), Some(loads)) = (need.bytes_in_flight_per_warp, loads) {
        let text = format!("{} bytes at most, {}", grouped(bytes.into()), count(loads.into(), "load"));
        facts.push(("in flight a warp", text));
    }
    if let Some(early) = need.early_wait {
        let loads = count(early.loads.into(), "load");
        let text = format!("at {:#06x}, before {} of {loads} are issued", early.at, early.behind);
        facts.push(("it waits early", text));
    }
    if let Some(moved) = need.bytes.filter(|moved| moved.read + moved.written > 0.0) {
        let of = |bytes: f64| grouped(bytes.round() as u64);
        facts.push(("moved by a warp", format!("{} bytes read, {} written", of(moved.read), of(moved.written))));
    }
    facts
}

/// What the hardware has to have in flight.
fn of_littles_law(need: &NeedRecord) -> Vec<(&'static str, String)> {
    let Some(law) = &need.littles_law else { return Vec::new() };
    let in_flight = format!(
        "{:.0} ns x {:.0} GB/s of reads: {} bytes in flight an SM, {} for {} %",
        law.latency_ns,
        law.gb_per_s,
        grouped(law.bytes_per_sm.into()),
        grouped(law.bytes_per_sm_for_target.into()),
        need.target
    );
    let of = match law.ceiling.basis.as_str() {
        "measured" => "measured on this model".to_owned(),
        _ => format!("inferred from {} parts", scope(&law.ceiling.scope)),
    };
    vec![("Little's law", in_flight), ("ceiling", format!("{} streams, {of}", law.ceiling.stream))]
}

/// What binds, how many warps that takes, and how far to trust it.
fn of_the_answer(need: &NeedRecord) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if need.demand.len() > 1 {
        let busiest = need.demand.iter().take(4).map(|part| format!("{} {:.0} %", part.resource, part.percent));
        facts.push(("busiest", busiest.collect::<Vec<_>>().join(", ")));
    }
    if let (Some(band), Some(needed), Some(law)) = (need.band, need.needed, need.littles_law_warps) {
        let trust = match need.validation {
            Some(Validation::Measured) => "9 of 10 measured kernels lay within",
            _ => "the model alone",
        };
        let warps = format!("{law:.1} by Little's law alone, {:.1} for {} %", needed.exact_warps, need.target);
        facts.push(("warps", warps));
        facts.push(("band", format!("{} warps, {trust}", range(band))));
    }
    for other in &need.scenarios {
        let guarded = if other.guarded_executed { "" } else { ", guarded accesses not executed" };
        let text = format!("from {}{guarded}: {:.1} warps, {} binds", other.memory, other.needed_warps, other.binding);
        facts.push(("otherwise", text));
    }
    facts
}

/// A band in whole warps.
fn range(band: BandRecord) -> String {
    format!("{:.0} to {:.0}", band.low.floor(), band.high.ceil())
}

/// A scope of ceilings as people call it.
fn scope(name: &str) -> &str {
    if name == "*" { "all measured" } else { name }
}

/// The plot of throughput against resident warps.
fn curve(need: &NeedRecord, points: &[CurvePoint], width: usize) -> String {
    let columns = columns(width);
    let last = points.last().map_or(1, |point| point.warps).max(1);
    let column = |warps: f64| (warps / f64::from(last) * (columns - 1) as f64).round() as usize;
    let at = |column: usize| {
        let warps = (column as f64 / (columns - 1) as f64 * f64::from(last)).round() as usize;
        points.get(warps)
    };
    let heights = (0..columns).map(|column| at(column).map_or(0.0, |point| point.percent / 100.0)).collect();
    let band =
        (0..columns).map(|column| at(column).map_or((0.0, 0.0), |point| (point.low / 100.0, point.high / 100.0)));
    let mut marks = Vec::new();
    if let Some(needed) = need.needed.filter(|needed| needed.exact_warps <= f64::from(last)) {
        marks.push((column(needed.exact_warps), 'N'));
    }
    if let Some(have) = need.have_warps.filter(|have| *have <= last) {
        marks.push((column(f64::from(have)), 'H'));
    }
    let step = if last > 32 { 8 } else { 4 };
    let labels: Vec<(usize, String)> =
        (0..=last).step_by(step).map(|warps| (column(f64::from(warps)), warps.to_string())).collect();
    let drawn = plot(&[Curve { heights, band: band.collect(), marks }], &labels, width);
    format!("share of the ceiling by resident warps: H has, N needs for {} %, dots the band\n{drawn}", need.target)
}

pub(crate) const fn answer_words(answer: NeedAnswer) -> &'static str {
    match answer {
        NeedAnswer::Enough => "enough",
        NeedAnswer::Short => "short",
        NeedAnswer::CannotSaturate => "cannot saturate",
        NeedAnswer::NotModelled => "not modelled",
    }
}

fn table(kernels: &[KernelRecord], width: usize) -> String {
    // A library without an image for the GPU is told, not listed, where anything else is there.
    let answered = kernels.iter().any(|kernel| kernel.need.is_some());
    let mut sorted: Vec<&KernelRecord> = kernels.iter().filter(|kernel| kernel.need.is_some() || !answered).collect();
    // What is short comes first, what has no number last; within an answer those that reach least.
    let reaches = |kernel: &KernelRecord| kernel.need.as_ref().and_then(|need| need.throughput_percent).unwrap_or(0.0);
    sorted.sort_by(|a, b| reaches(a).total_cmp(&reaches(b)));
    sorted.sort_by_key(|kernel| match kernel.need.as_ref().map(|need| need.answer) {
        Some(NeedAnswer::Short) => 0,
        Some(NeedAnswer::CannotSaturate) => 1,
        Some(NeedAnswer::Enough) => 2,
        Some(NeedAnswer::NotModelled) => 3,
        None => 4,
    });
    let shown = &sorted[..sorted.len().min(SHOWN)];
    let mut table = listed(shown);
    let names: Vec<&str> = shown.iter().map(|kernel| &*kernel.demangled).collect();
    let room = table.first_width(width);
    for (line, name) in table.lines.iter_mut().zip(distinct(&names, room)) {
        if let Line::Cells(cells) = line {
            cells[0] = name;
        }
    }
    let mut text = table.render(width);
    text += &format!("\n{}", wrapped(&counts(kernels), width, 2));
    if sorted.len() > SHOWN {
        text += &wrapped(
            &format!("{} more not shown: narrow with --kernel, or take --format csv", sorted.len() - SHOWN),
            width,
            2,
        );
    }
    text + &wrapped(
        "need and band are warps; ? what it has lies within the band; one kernel alone (--kernel) is answered in full",
        width,
        2,
    )
}

/// The table, with the file of each kernel where it is inside an archive or has the name of one in another file.
fn listed(shown: &[&KernelRecord]) -> Table {
    let several_gpus = shown.iter().any(|kernel| kernel.gpu != shown[0].gpu);
    let mut columns = vec![
        Column::left("kernel", u8::MAX),
        Column::left("arch", 1),
        Column::left("gpu", if several_gpus { 8 } else { 3 }),
        Column::left("answer", u8::MAX),
        Column::right("have", 6),
        Column::right("need", 6),
        Column::right("band", 5),
        Column::right("reaches", 4),
        Column::left("binds", 4),
        Column::left("how far known", 2),
    ];
    let mut rows: Vec<Vec<String>> = shown.iter().map(|kernel| cells(kernel)).collect();
    let places: Vec<Place<'_>> = shown.iter().map(|kernel| Place::of(kernel)).collect();
    let different: BTreeSet<(&str, Place<'_>)> =
        shown.iter().zip(&places).map(|(kernel, place)| (&*kernel.name, *place)).collect();
    let names: BTreeSet<&str> = different.iter().map(|(name, _)| *name).collect();
    if names.len() < different.len() || places.iter().any(|place| place.member.is_some()) {
        const AT: usize = 3;
        columns.insert(AT, Column::left("file", 7));
        for (row, label) in rows.iter_mut().zip(labels(&places, &[])) {
            row.insert(AT, printable(&label).into_owned());
        }
    }
    Table { columns, lines: rows.into_iter().map(Line::Cells).collect(), first_least: 20 }
}

/// How many answers there are of each kind, and why some have no number.
fn counts(kernels: &[KernelRecord]) -> String {
    let of = |wanted: NeedAnswer| {
        let is = |kernel: &&KernelRecord| kernel.need.as_ref().is_some_and(|need| need.answer == wanted);
        kernels.iter().filter(is).count()
    };
    let mut reasons: Vec<(usize, &str)> = Vec::new();
    for reason in kernels.iter().filter_map(|kernel| kernel.need.as_ref()?.reason_code) {
        match reasons.iter_mut().find(|(_, known)| *known == reason) {
            Some((number, _)) => *number += 1,
            None => reasons.push((1, reason)),
        }
    }
    reasons.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let reasons: Vec<String> =
        reasons.iter().map(|(number, reason)| format!("{} {number}", reason.replace('_', " "))).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let told = [
        (of(NeedAnswer::Short), "short".to_owned()),
        (of(NeedAnswer::CannotSaturate), "cannot saturate".to_owned()),
        (of(NeedAnswer::Enough), "enough".to_owned()),
        (of(NeedAnswer::NotModelled), format!("not modelled{reasons}")),
        (kernels.iter().filter(|kernel| kernel.need.is_none()).count(), "without an image".to_owned()),
    ];
    let told: Vec<String> = told
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", grouped(number as u64)))
        .collect();
    format!("{}: {}", count(kernels.len() as u64, "answer"), told.join(", "))
}

fn cells(kernel: &KernelRecord) -> Vec<String> {
    let dash = || "-".to_owned();
    let arch = kernel.arch.clone().unwrap_or_else(dash);
    let gpu = kernel.gpu.as_ref().map_or_else(dash, |gpu| gpu.name.clone());
    let name = kernel.demangled.to_string();
    let Some(need) = &kernel.need else {
        return vec![name, arch, gpu, "no image".to_owned(), dash(), dash(), dash(), dash(), dash(), String::new()];
    };
    let mark = kernel.occupancy.as_ref().map_or("", |found| crate::words::mark(found.basis));
    let known = match (need.reason_code, need.validation) {
        (Some(code), _) => code.replace('_', " "),
        (None, Some(Validation::Measured)) => "measured".to_owned(),
        _ => "model only".to_owned(),
    };
    vec![
        name,
        arch,
        gpu,
        format!("{}{}", answer_words(need.answer), if need.is_open() { "?" } else { "" }),
        need.have_warps.map_or_else(dash, |have| format!("{mark}{have}")),
        need.needed.map_or_else(dash, |needed| format!("{:.1}", needed.exact_warps)),
        need.band.map_or_else(dash, |band| format!("{:.0}-{:.0}", band.low.floor(), band.high.ceil())),
        need.throughput_percent.map_or_else(dash, |percent| format!("{percent:.0}%")),
        need.binding.map_or_else(dash, str::to_owned),
        known,
    ]
}

/// Answers as rows.
#[must_use]
pub fn need_sheet(kernels: &[KernelRecord]) -> Sheet {
    Sheet {
        columns: vec![
            "kernel",
            "arch",
            "gpu",
            "answer",
            "have_warps",
            "needed_warps",
            "needed_warps_in_blocks",
            "needed_blocks",
            "band_low",
            "band_high",
            "throughput_percent",
            "binding",
            "memory",
            "one_warp_cycles",
            "bytes_in_flight_per_warp",
            "loads_in_flight",
            "validation",
            "reason",
            "reason_code",
            "bytes_read_per_warp",
            "bytes_written_per_warp",
            "block",
            "registers",
            "file",
            "member",
        ],
        rows: kernels.iter().map(row).collect(),
    }
}

fn row(kernel: &KernelRecord) -> Vec<String> {
    let need = kernel.need.as_deref();
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
    let whole = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let needed = need.and_then(|need| need.needed);
    let band = need.and_then(|need| need.band);
    let validation = need.and_then(|need| need.validation).map_or("", |validation| match validation {
        Validation::Measured => "measured",
        Validation::ModelOnly => "model_only",
    });
    vec![
        kernel.name.to_string(),
        kernel.arch.clone().unwrap_or_default(),
        kernel.gpu.as_ref().map_or_else(String::new, |gpu| gpu.name.clone()),
        need.map_or_else(String::new, |need| answer_words(need.answer).replace(' ', "_")),
        whole(need.and_then(|need| need.have_warps)),
        number(needed.map(|needed| needed.exact_warps)),
        whole(needed.map(|needed| needed.warps)),
        whole(needed.map(|needed| needed.blocks)),
        number(band.map(|band| band.low)),
        number(band.map(|band| band.high)),
        number(need.and_then(|need| need.throughput_percent)),
        need.and_then(|need| need.binding).unwrap_or_default().to_owned(),
        need.and_then(|need| need.memory).unwrap_or_default().to_owned(),
        number(need.and_then(|need| need.one_warp_cycles)),
        whole(need.and_then(|need| need.bytes_in_flight_per_warp)),
        whole(need.and_then(|need| need.loads_in_flight)),
        validation.to_owned(),
        need.and_then(|need| need.reason.clone()).or_else(|| kernel.reason.clone()).unwrap_or_default(),
        need.and_then(|need| need.reason_code).unwrap_or_default().to_owned(),
        number(need.and_then(|need| need.bytes).map(|moved| moved.read)),
        number(need.and_then(|need| need.bytes).map(|moved| moved.written)),
        whole(kernel.launch.block),
        whole(kernel.registers),
        kernel.file.to_string(),
        kernel.member.as_deref().unwrap_or_default().to_owned(),
    ]
}
