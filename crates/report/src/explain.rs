//! `occupant explain` for people: what failed, what to change, then the kernels that the text lists.

use occupant_core::report::{Basis, CompiledRecord, ExplainReport, Finding};

use crate::names::distinct;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, mark, percent, resource, wrapped};

/// The answer as text.
#[must_use]
pub fn explain_text(report: &ExplainReport, width: usize) -> String {
    let several = report.findings.len() > 1 || report.lines > 3;
    let mut parts: Vec<String> = report.findings.iter().map(|one| finding(one, several, width)).collect();
    if !report.kernels.is_empty() {
        parts.push(kernels(&report.kernels, width));
    }
    parts.join("\n")
}

fn finding(finding: &Finding, several: bool, width: usize) -> String {
    let times = if finding.times > 1 { format!(", {} times", finding.times) } else { String::new() };
    let place = if several { format!("line {}{times}: ", finding.line) } else { String::new() };
    let others = match finding.other_kernels {
        0 => String::new(),
        others => format!(" and {}", count(others.into(), "other kernel")),
    };
    let kernel = finding.kernel.as_ref().map_or_else(String::new, |kernel| format!("{kernel}{others}: "));
    let mut text = String::new();
    if let Some(inequality) = &finding.inequality {
        text += &wrapped(&format!("{place}{}", inequality.text), width, 2);
        text += &wrapped(&format!("{kernel}{}", finding.says), width, 2);
    } else {
        text += &wrapped(&format!("{place}{kernel}{}", finding.says), width, 2);
    }
    for (number, fix) in finding.fixes.iter().enumerate() {
        let then = if fix.then.is_empty() { String::new() } else { format!("; {}", fix.then) };
        text +=
            &format!("  {}", wrapped(&format!("fix {}: {}{then}", number + 1, fix.change), width.saturating_sub(2), 9));
    }
    for line in where_it_fits(&finding.fits_on, &finding.fails_on) {
        text += &format!("  {}", wrapped(&line, width.saturating_sub(2), 4));
    }
    for note in &finding.notes {
        text += &format!("  {}", wrapped(&format!("note: {note}"), width.saturating_sub(2), 4));
    }
    for missing in &finding.missing {
        text += &format!("  {}", wrapped(&format!("add {missing}"), width.saturating_sub(2), 4));
    }
    text
}

/// The GPUs on both sides; one line where all are on one.
fn where_it_fits(fits_on: &[String], fails_on: &[String]) -> Vec<String> {
    match (fits_on, fails_on) {
        ([], []) => Vec::new(),
        ([], all) => vec![format!("fits on none of {} present parts, {} to {}", all.len(), all[0], all[all.len() - 1])],
        (all, []) => vec![format!("fits on all of {} present parts, {} to {}", all.len(), all[0], all[all.len() - 1])],
        (yes, no) => vec![format!("fits on: {}", yes.join(", ")), format!("not on: {}", no.join(", "))],
    }
}

fn kernels(kernels: &[CompiledRecord], width: usize) -> String {
    let names: Vec<&str> = kernels.iter().map(name).collect();
    let mut table = table(kernels, &names);
    let room = table.first_width(width);
    let cut = distinct(&names, room);
    for (line, name) in table.lines.iter_mut().zip(cut) {
        if let Line::Cells(cells) = line {
            cells[0] = name;
        }
    }
    let mut text = table.render(width);
    text += &format!("\n{}", count(kernels.len() as u64, "kernel"));
    let spilling = kernels.iter().filter(|kernel| spills(kernel)).count();
    let told = |kernel: &&CompiledRecord| kernel.spill_store_bytes.is_some() && kernel.spill_load_bytes.is_some();
    text += &match (spilling, kernels.iter().filter(told).count()) {
        (0, told) if told == kernels.len() => ", none spills".to_owned(),
        (0, 0) => ", spills not told".to_owned(),
        (0, told) => format!(", none of the {told} whose spills are told has any"),
        (spilling, _) => format!(", {spilling} with spills (stored+loaded, bytes)"),
    };
    let assumed =
        kernels.iter().any(|kernel| kernel.occupancy.as_ref().is_some_and(|o| o.basis == Basis::Hypothetical));
    let bounded = kernels.iter().any(|kernel| kernel.occupancy.as_ref().is_some_and(|o| o.basis == Basis::UpperBound));
    if assumed {
        text += "; ~ at an assumed block of 256 threads, state it with --block";
    }
    if bounded {
        text += "; <= without dynamic shared memory, state it with --shared-dynamic";
    }
    text.push('\n');
    text + &notes(kernels, &names, width)
}

fn name(kernel: &CompiledRecord) -> &str {
    if kernel.demangled.is_empty() { "(name not printed)" } else { &kernel.demangled }
}

fn spills(kernel: &CompiledRecord) -> bool {
    kernel.spill_store_bytes.unwrap_or(0) > 0 || kernel.spill_load_bytes.unwrap_or(0) > 0
}

fn table(kernels: &[CompiledRecord], names: &[&str]) -> Table {
    let number = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let row = |(kernel, name): (&CompiledRecord, &&str)| {
        let spills = match (kernel.spill_store_bytes, kernel.spill_load_bytes) {
            (Some(0), Some(0)) => "0".to_owned(),
            (Some(stores), Some(loads)) => format!("{stores}+{loads}"),
            _ => "-".to_owned(),
        };
        let (blocks, share, limit) = match &kernel.occupancy {
            Some(found) => {
                let limits: Vec<&str> = found.limiters.iter().map(|name| resource(name)).collect();
                let limit = if kernel.launchable == Some(true) { limits.join(", ") } else { "can't launch".to_owned() };
                (found.blocks_per_sm.to_string(), format!("{}{}%", mark(found.basis), percent(found.percent)), limit)
            }
            None => ("-".to_owned(), "-".to_owned(), String::new()),
        };
        Line::Cells(vec![
            (*name).to_owned(),
            kernel.arch.clone().unwrap_or_else(|| "-".to_owned()),
            kernel.registers.to_string(),
            spills,
            number(kernel.stack),
            kernel.shared_static.to_string(),
            number(kernel.barriers),
            kernel.constant.to_string(),
            kernel.block.to_string(),
            blocks,
            share,
            limit,
        ])
    };
    Table {
        columns: vec![
            Column::left("kernel", u8::MAX),
            Column::left("arch", 7),
            Column::right("regs", u8::MAX),
            Column::right("spills", 9),
            Column::right("stack", 6),
            Column::right("smem", 5),
            Column::right("barriers", 3),
            Column::right("const", 1),
            Column::right("block", 4),
            Column::right("blocks", 8),
            Column::right("occupancy", 8),
            Column::left("limited by", 2),
        ],
        lines: kernels.iter().zip(names).map(row).collect(),
        first_least: 16,
    }
}

/// Each note once, with the kernels it is about.
fn notes(kernels: &[CompiledRecord], names: &[&str], width: usize) -> String {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for (kernel, name) in kernels.iter().zip(names) {
        for note in kernel.notes.iter().map(String::as_str).chain(kernel.reason.as_deref()) {
            match told.iter_mut().find(|(known, _)| *known == note) {
                Some((_, about)) => about.push(name),
                None => told.push((note, vec![name])),
            }
        }
    }
    let line = |(note, about): &(&str, Vec<&str>)| {
        let about = match about.as_slice() {
            _ if kernels.len() == 1 => String::new(),
            [one] => format!("{}: ", distinct(&[one], 40).concat()),
            several => format!("{} kernels: ", several.len()),
        };
        wrapped(&format!("note: {about}{note}"), width, 2)
    };
    told.iter().map(line).collect()
}

/// Findings and kernels as rows.
#[must_use]
pub fn explain_sheet(report: &ExplainReport) -> Sheet {
    let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let findings = report.findings.iter().map(|one| {
        let sides = one.inequality.as_ref();
        let side = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let mut row = vec![
            one.line.to_string(),
            one.code.to_owned(),
            one.kernel.clone().unwrap_or_default(),
            one.says.clone(),
            side(sides.map(|sides| sides.needed)),
            side(sides.map(|sides| sides.allowed)),
            one.fixes.iter().map(|fix| fix.change.as_str()).collect::<Vec<_>>().join("; "),
        ];
        row.resize(14, String::new());
        row
    });
    let kernels = report.kernels.iter().map(|kernel| {
        vec![
            kernel.line.to_string(),
            "kernel".to_owned(),
            kernel.name.clone(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            kernel.arch.clone().unwrap_or_default(),
            kernel.registers.to_string(),
            number(kernel.spill_store_bytes),
            number(kernel.spill_load_bytes),
            number(kernel.stack),
            kernel.shared_static.to_string(),
            number(kernel.occupancy.as_ref().map(|found| found.blocks_per_sm)),
        ]
    });
    Sheet {
        columns: vec![
            "line",
            "code",
            "kernel",
            "says",
            "needed",
            "allowed",
            "fixes",
            "arch",
            "registers",
            "spill_store_bytes",
            "spill_load_bytes",
            "stack",
            "shared_static",
            "blocks_per_sm",
        ],
        rows: findings.chain(kernels).collect(),
    }
}
