//! `occupant inspect` for people and for spreadsheets.

use std::borrow::Cow;

use occupant_core::report::{Basis, BlockFrom, InspectReport, KernelRecord, SharedFrom};
use occupant_core::shorten;
use serde::Serialize;

use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, percent, resource, wrapped};

/// The kernels as a table that fits `width`, then what its marks mean and a line of totals.
#[must_use]
pub fn inspect_text(report: &InspectReport, width: usize) -> String {
    let mut text = String::new();
    if !report.kernels.is_empty() {
        text += &table(&report.kernels).render(width);
        text.push('\n');
    }
    for line in legend(&report.kernels).into_iter().chain(grouped_reasons(&report.kernels)) {
        text += &wrapped(&line, width, 2);
    }
    text + &wrapped(&totals(report), width, 2)
}

fn table(kernels: &[KernelRecord]) -> Table {
    let several_files = kernels.iter().any(|kernel| kernel.file != kernels[0].file);
    let any = |has: fn(&KernelRecord) -> bool| kernels.iter().any(has);
    // A column that says nothing is not shown: its importance is 0 and it is filtered out below.
    let columns = [
        (Column::left("kernel", u8::MAX), true),
        (Column::left("gpu", 100), kernels.iter().any(|kernel| kernel.gpu != kernels[0].gpu)),
        (Column::left("arch", 60), true),
        (Column::right("regs", u8::MAX), true),
        (Column::right("shared", 80), any(|kernel| kernel.shared_static != Some(0) || shared(kernel) != "0")),
        (Column::right("stack", 10), any(|kernel| kernel.stack != Some(0) && kernel.entry.is_some())),
        (Column::right("spills", 40), any(|kernel| kernel.spills.instructions.is_some_and(|count| count > 0))),
        (Column::right("bars", 20), any(|kernel| kernel.barriers.is_some_and(|count| count > 1))),
        (Column::right("block", 70), true),
        (Column::right("blocks", 30), true),
        (Column::right("occ", u8::MAX), true),
        (Column::left("limit", u8::MAX), true),
    ];
    let shown: Vec<bool> = columns.iter().map(|(_, shown)| *shown).collect();
    let mut lines = Vec::new();
    let mut file = "";
    for kernel in kernels {
        if several_files && kernel.file != file {
            file = &kernel.file;
            lines.push(Line::Heading(format!("{file}:")));
        }
        let cells = cells(kernel).into_iter().zip(&shown).filter(|(_, shown)| **shown).map(|(cell, _)| cell);
        lines.push(Line::Cells(cells.collect()));
    }
    Table {
        columns: columns.into_iter().filter(|(_, shown)| *shown).map(|(column, _)| column).collect(),
        lines,
        flexible_least: 28,
        shorten: name_for_table,
    }
}

fn name_for_table(demangled: &str, width: usize) -> Cow<'_, str> {
    shorten(demangled, width)
}

fn cells(kernel: &KernelRecord) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or("-".to_owned(), |value| value.to_string());
    let found = kernel.occupancy.as_ref();
    let block_mark = if kernel.launch.block_from == Some(BlockFrom::Assumed) { "~" } else { "" };
    vec![
        shorten(&kernel.demangled, usize::MAX).into_owned(),
        kernel.gpu.as_ref().map_or(String::new(), |gpu| gpu.name.clone()),
        kernel.arch.clone().unwrap_or_else(|| "-".to_owned()),
        number(kernel.registers),
        shared(kernel),
        kernel.stack.map_or(if kernel.entry.is_some() { "?" } else { "-" }.to_owned(), |stack| stack.to_string()),
        number(kernel.spills.instructions),
        number(kernel.barriers),
        kernel.launch.block.map_or("-".to_owned(), |block| format!("{block_mark}{block}")),
        found.map_or("-".to_owned(), |found| found.blocks_per_sm.to_string()),
        found.map_or("-".to_owned(), |found| format!("{}{}%", mark(found.basis), percent(found.percent))),
        match (kernel.launchable, found) {
            (Some(false), _) => "can't launch".to_owned(),
            (_, Some(found)) => found.limiters.iter().map(|name| brief(name)).collect::<Vec<_>>().join("+"),
            (_, None) => "-".to_owned(),
        },
    ]
}

/// Static shared memory, and dynamic after a plus sign: `1024`, `1024+48000`, `1024+?`.
fn shared(kernel: &KernelRecord) -> String {
    let Some(fixed) = kernel.shared_static else { return "-".to_owned() };
    match (kernel.launch.shared_dynamic, kernel.launch.shared_dynamic_from) {
        (None, Some(SharedFrom::Unknown)) => format!("{fixed}+?"),
        (Some(dynamic), _) if dynamic > 0 => format!("{fixed}+{dynamic}"),
        _ => fixed.to_string(),
    }
}

const fn mark(basis: Basis) -> &'static str {
    match basis {
        Basis::Exact => "",
        Basis::UpperBound => "<=",
        Basis::Hypothetical => "~",
    }
}

fn brief(limiter: &str) -> &str {
    match limiter {
        "registers" => "regs",
        "shared_memory" => "shared",
        "virtual_resources" => "virtual",
        other => other,
    }
}

/// What the marks in the table mean, and which flag settles them.
fn legend(kernels: &[KernelRecord]) -> Vec<String> {
    let basis = |wanted| kernels.iter().any(|kernel| kernel.occupancy.as_ref().is_some_and(|f| f.basis == wanted));
    let unknown_shared = kernels.iter().any(|kernel| kernel.launch.shared_dynamic_from == Some(SharedFrom::Unknown));
    let assumed = kernels.iter().any(|kernel| kernel.launch.block_from == Some(BlockFrom::Assumed));
    let mut lines = Vec::new();
    if basis(Basis::UpperBound) {
        lines.push("<= the most that any launch which the binary allows can have, at the block size shown".to_owned());
    }
    if assumed {
        lines.push("~ at an assumed block of 256 threads: give --block or --launches".to_owned());
    }
    if unknown_shared {
        lines.push(
            "+? dynamic shared memory is not known and taken as 0: give --shared-dynamic or --launches".to_owned(),
        );
    }
    lines
}

/// Why kernels can't launch or have no occupancy, each reason once.
fn grouped_reasons(kernels: &[KernelRecord]) -> Vec<String> {
    const SHOWN: usize = 6;
    let mut reasons: Vec<(&str, bool, u64, &str)> = Vec::new();
    for kernel in kernels {
        let Some(reason) = kernel.reason.as_deref().filter(|_| kernel.is_kernel) else { continue };
        let refused = kernel.launchable == Some(false);
        match reasons.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, _, number, _)) => *number += 1,
            None => reasons.push((reason, refused, 1, &kernel.demangled)),
        }
    }
    let hidden = reasons.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> = reasons
        .into_iter()
        .take(SHOWN)
        .map(|(reason, refused, number, first)| {
            let who = if number == 1 { shorten(first, 60).into_owned() } else { count(number, "kernel") };
            format!("{who}{}: {reason}", if refused { " can't launch" } else { "" })
        })
        .collect();
    if hidden > 0 {
        lines.push(format!("{hidden} more reasons: see --format json"));
    }
    lines
}

fn totals(report: &InspectReport) -> String {
    let totals = &report.totals;
    let basis = |wanted| {
        let has = |kernel: &&KernelRecord| kernel.occupancy.as_ref().is_some_and(|found| found.basis == wanted);
        report.kernels.iter().filter(has).count()
    };
    let mut images = vec![format!("{} read", count(totals.read.into(), "cubin"))];
    let also = [
        (totals.not_selected, "not selected"),
        (totals.relocatable, "relocatable"),
        (totals.ptx, "PTX"),
        (totals.lto_ir, "LTO-IR"),
        (totals.unknown, "of unknown kind"),
        (totals.failed, "failed"),
    ];
    images.extend(also.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")));
    let listed = report.kernels.iter().filter(|kernel| kernel.is_kernel).count();
    format!(
        "{}{} in {} ({}); occupancy: {} exact, {} upper bound, {} hypothetical",
        count(listed as u64, "kernel"),
        for_gpu(&report.kernels),
        count(totals.files.into(), "file"),
        images.join(", "),
        basis(Basis::Exact),
        basis(Basis::UpperBound),
        basis(Basis::Hypothetical)
    )
}

/// The one GPU that the table is for; several have a column.
fn for_gpu(kernels: &[KernelRecord]) -> String {
    match kernels.first().and_then(|first| first.gpu.as_ref()) {
        Some(gpu) if kernels.iter().all(|kernel| kernel.gpu.as_ref() == Some(gpu)) => {
            format!(" for {} ({})", gpu.name, gpu.compute_capability)
        }
        _ => String::new(),
    }
}

/// Every kernel as a row, for CSV. Unknown is empty.
#[must_use]
pub fn inspect_sheet(kernels: &[KernelRecord]) -> Sheet {
    Sheet {
        columns: vec![
            "file",
            "entry",
            "arch",
            "gpu",
            "name",
            "demangled",
            "registers",
            "shared_static",
            "shared_dynamic",
            "shared_dynamic_from",
            "stack",
            "local",
            "barriers",
            "spill_instructions",
            "max_threads",
            "required_block",
            "max_registers",
            "cluster_blocks",
            "setmaxnreg",
            "tensor_memory",
            "virtual_resources",
            "toolkit",
            "block",
            "block_from",
            "launchable",
            "reason",
            "basis",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "limiters",
        ],
        rows: kernels.iter().map(row).collect(),
    }
}

fn row(kernel: &KernelRecord) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let found = kernel.occupancy.as_ref();
    vec![
        kernel.file.clone(),
        text(&kernel.entry),
        text(&kernel.arch),
        kernel.gpu.as_ref().map_or_else(String::new, |gpu| gpu.name.clone()),
        kernel.name.clone(),
        kernel.demangled.clone(),
        number(kernel.registers),
        number(kernel.shared_static),
        number(kernel.launch.shared_dynamic),
        kernel.launch.shared_dynamic_from.map_or_else(String::new, name),
        number(kernel.stack),
        number(kernel.local),
        number(kernel.barriers),
        number(kernel.spills.instructions),
        number(kernel.max_threads),
        number(kernel.required_block),
        number(kernel.max_registers),
        number(kernel.cluster.as_ref().and_then(|cluster| cluster.blocks)),
        kernel.setmaxnreg.to_string(),
        kernel.tensor_memory.to_string(),
        number(kernel.virtual_resources),
        text(&kernel.toolkit),
        number(kernel.launch.block),
        kernel.launch.block_from.map_or_else(String::new, name),
        kernel.launchable.map_or_else(String::new, |launchable| launchable.to_string()),
        text(&kernel.reason),
        found.map_or_else(String::new, |found| name(found.basis)),
        number(found.map(|found| found.blocks_per_sm)),
        number(found.map(|found| found.warps_per_sm)),
        found.map_or_else(String::new, |found| format!("{:?}", found.percent)),
        found.map_or_else(String::new, |found| found.limiters.join("+")),
    ]
}

/// The name that a value without data has in JSON.
fn name(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

/// The kernels as a Markdown table and a line of totals, for a pull request or a report.
#[must_use]
pub fn inspect_markdown(report: &InspectReport) -> String {
    let with_gpu = report.kernels.iter().any(|kernel| kernel.gpu.is_some());
    let mut columns =
        vec!["kernel", "arch", "registers", "shared memory", "block", "blocks per SM", "occupancy", "limited by"];
    if with_gpu {
        columns.insert(1, "gpu");
    }
    let row = |kernel: &KernelRecord| {
        let found = kernel.occupancy.as_ref();
        let limit = match (kernel.launchable, found) {
            (Some(false), _) | (None, _) => kernel.reason.clone().unwrap_or_default(),
            (_, Some(found)) => found.limiters.iter().map(|name| resource(name)).collect::<Vec<_>>().join(", "),
            (_, None) => String::new(),
        };
        let all = cells(kernel);
        let mut row = vec![
            format!("`{}`", all[0]),
            all[2].clone(),
            all[3].clone(),
            all[4].clone(),
            all[8].clone(),
            all[9].clone(),
            all[10].clone(),
            limit,
        ];
        if with_gpu {
            row.insert(1, all[1].clone());
        }
        row
    };
    let sheet = Sheet { columns, rows: report.kernels.iter().map(row).collect() };
    let mut text = sheet.markdown();
    for line in legend(&report.kernels) {
        text += &format!("\n{}\n", line.replace('<', "\\<").replace('~', "\\~"));
    }
    text + &format!("\n{}\n", totals(report))
}
