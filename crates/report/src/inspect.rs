//! `occupant inspect` for people and for spreadsheets.

use occupant_core::report::{Basis, BlockFrom, InspectReport, KernelRecord, NameRecord, SharedFrom};
use occupant_core::shorten;
use serde::Serialize;

use crate::names::distinct;
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, mark, percent, printable, resource, wrapped};

/// The kernels as a table that fits `width`, then what its marks mean and a line of totals. Kernels of which only the name
/// is known are told together, with the reason.
#[must_use]
pub fn inspect_text(report: &InspectReport, names: bool, width: usize) -> String {
    let shown: Vec<&KernelRecord> = report.kernels.iter().filter(|kernel| kernel.entry.is_some()).collect();
    let mut text = String::new();
    if !shown.is_empty() {
        let mut table = table(&shown, names);
        let full: Vec<&str> = shown.iter().map(|kernel| &*kernel.demangled).collect();
        let mut cut = distinct(&full, table.first_width(width)).into_iter();
        for line in &mut table.lines {
            if let Line::Cells(row) = line {
                row[0] = cut.next().map_or_else(String::new, |name| printable(&name).into_owned());
            }
        }
        text += &table.render(width);
        text.push('\n');
        let dropped = table.dropped(width);
        if !dropped.is_empty() {
            text += &wrapped(&format!("no room for: {} (--width)", dropped.join(", ")), width, 2);
        }
    }
    for line in legend(&report.kernels).into_iter().chain(grouped_reasons(&report.kernels)) {
        text += &wrapped(&line, width, 2);
    }
    text + &wrapped(&totals(report), width, 2)
}

fn table(kernels: &[&KernelRecord], names: bool) -> Table {
    let several_files = kernels.iter().any(|kernel| kernel.file != kernels[0].file);
    let several_gpus = kernels.iter().any(|kernel| kernel.gpu != kernels[0].gpu);
    let any = |has: fn(&KernelRecord) -> bool| kernels.iter().any(|kernel| has(kernel));
    let columns = [
        (Column::left("kernel", u8::MAX), true),
        (Column::left("gpu", 100), several_gpus),
        (Column::left("arch", 60), true),
        (Column::left("tile", 110), names),
        (Column::right("stages", 105), names),
        (Column::left("cluster", 104), names),
        (Column::left("schedule", 90), names),
        (Column::right("regs", u8::MAX), true),
        (Column::right("shared", 80), any(|kernel| shared(kernel) != "0")),
        (Column::right("stack", 10), any(|kernel| kernel.stack != Some(0))),
        (Column::right("spills", 85), any(spills_anything)),
        (Column::right("bars", 20), any(|kernel| kernel.barriers.is_some_and(|count| count > 1))),
        (Column::right("block", 70), true),
        (Column::right("blocks", 30), true),
        (Column::right("occ", u8::MAX), true),
        (Column::left("limit", u8::MAX), true),
    ];
    // Columns that say nothing are left out.
    let shown: Vec<bool> = columns.iter().map(|(_, shown)| *shown).collect();
    let mut lines = Vec::new();
    let mut file = "";
    for kernel in kernels {
        if several_files && *kernel.file != *file {
            file = &kernel.file;
            lines.push(Line::Heading(format!("{}:", printable(file))));
        }
        let cells = cells(kernel).into_iter().zip(&shown).filter(|(_, shown)| **shown).map(|(cell, _)| cell);
        lines.push(Line::Cells(cells.collect()));
    }
    Table {
        columns: columns.into_iter().filter(|(_, shown)| *shown).map(|(column, _)| column).collect(),
        lines,
        first_least: 28,
    }
}

fn cells(kernel: &KernelRecord) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or("-".to_owned(), |value| value.to_string());
    let found = kernel.occupancy.as_ref();
    let block_mark = if kernel.launch.block_from == Some(BlockFrom::Assumed) { "~" } else { "" };
    vec![
        shorten(&kernel.demangled, usize::MAX).into_owned(),
        kernel.gpu.as_ref().map_or(String::new(), |gpu| gpu.name.clone()),
        kernel.arch.clone().unwrap_or_else(|| "-".to_owned()),
        name_part(kernel, |named| sizes(&named.tile)),
        name_part(kernel, |named| named.stages.map_or_else(String::new, |stages| stages.to_string())),
        name_part(kernel, |named| sizes(&named.cluster)),
        name_part(kernel, |named| named.schedule.join("+")),
        number(kernel.registers),
        shared(kernel),
        kernel.stack.map_or(if kernel.entry.is_some() { "?" } else { "-" }.to_owned(), |stack| stack.to_string()),
        spills(kernel),
        number(kernel.barriers),
        kernel.launch.block.map_or("-".to_owned(), |block| format!("{block_mark}{block}")),
        found.map_or("-".to_owned(), |found| found.blocks_per_sm.to_string()),
        match found {
            Some(found) if kernel.launchable == Some(true) => {
                format!("{}{}%", mark(found.basis), percent(found.percent))
            }
            Some(_) => "0%".to_owned(),
            None => "-".to_owned(),
        },
        match (kernel.launchable, found) {
            (Some(false), _) => "can't launch".to_owned(),
            (_, Some(found)) => found.limiters.iter().map(|name| brief(name)).collect::<Vec<_>>().join("+"),
            (_, None) => "-".to_owned(),
        },
    ]
}

fn spills_anything(kernel: &KernelRecord) -> bool {
    let spills = &kernel.spills;
    [spills.instructions, spills.unlisted_bytes].iter().flatten().any(|number| *number > 0)
}

/// Bytes stored and loaded, `48+96`; `*` where some are in loops, `~` where from stack accesses.
fn spills(kernel: &KernelRecord) -> String {
    let spills = &kernel.spills;
    let (Some(store), Some(load)) = (spills.store_bytes, spills.load_bytes) else { return "?".to_owned() };
    let unlisted = spills.unlisted_bytes.unwrap_or(0);
    if store + load + unlisted == 0 {
        return "0".to_owned();
    }
    let guessed = if spills.source == Some("stack_accesses") { "~" } else { "" };
    let looped = match spills.in_loops_bytes {
        None => "?",
        Some(0) => "",
        Some(_) => "*",
    };
    let apart = if unlisted > 0 { format!("({unlisted})") } else { String::new() };
    let listed = if store + load > 0 { format!("{guessed}{store}+{load}{looped}") } else { String::new() };
    listed + &apart
}

/// What the name states, a dash where it does not.
fn name_part(kernel: &KernelRecord, part: fn(&NameRecord) -> String) -> String {
    kernel.from_name.as_ref().map(part).filter(|part| !part.is_empty()).unwrap_or_else(|| "-".to_owned())
}

fn sizes(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
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
    let launchable = || kernels.iter().filter(|kernel| kernel.launchable == Some(true));
    let basis = |wanted| launchable().any(|kernel| kernel.occupancy.as_ref().is_some_and(|f| f.basis == wanted));
    let unknown_shared = kernels.iter().any(|kernel| kernel.launch.shared_dynamic_from == Some(SharedFrom::Unknown));
    let assumed = kernels.iter().any(|kernel| kernel.launch.block_from == Some(BlockFrom::Assumed));
    let mut lines = Vec::new();
    if basis(Basis::UpperBound) {
        lines.push("<= the most that any launch which the binary allows can have, at the block size shown".to_owned());
    }
    if assumed {
        lines.push("~ at an assumed block of 256 threads: give --block or --launches".to_owned());
    }
    lines.extend(spill_legend(kernels));
    if unknown_shared {
        lines.push(
            "+? dynamic shared memory is not known and taken as 0: give --shared-dynamic or --launches".to_owned(),
        );
    }
    lines
}

fn spill_legend(kernels: &[KernelRecord]) -> Option<String> {
    let cells: Vec<String> = kernels.iter().filter(|kernel| spills_anything(kernel)).map(spills).collect();
    let any = |mark: char| cells.iter().any(|cell| cell.contains(mark));
    let mut parts = vec!["spills: bytes stored+loaded by a thread".to_owned()];
    let marks = [
        ('*', "* some in loops"),
        ('~', "~ from stack accesses, where small local arrays can be among them"),
        ('(', "(n) saved by called functions, not listed by the compiler"),
        ('?', "? not known, or not whether in loops"),
    ];
    parts.extend(marks.iter().filter(|(mark, _)| any(*mark)).map(|(_, text)| (*text).to_owned()));
    (!cells.is_empty()).then(|| parts.join(", "))
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
            let who = if number == 1 { printable(&shorten(first, 60)).into_owned() } else { count(number, "kernel") };
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
    let launchable = |wanted| report.kernels.iter().filter(move |kernel| kernel.launchable == Some(wanted));
    let basis = |wanted| {
        launchable(true).filter(|kernel| kernel.occupancy.as_ref().is_some_and(|found| found.basis == wanted)).count()
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
    let listed = report.kernels.iter().filter(|kernel| kernel.is_kernel).count() as u64;
    let mut occupancies = vec![
        (basis(Basis::Exact), "exact"),
        (basis(Basis::UpperBound), "upper bound"),
        (basis(Basis::Hypothetical), "hypothetical"),
        (launchable(false).count(), "can't launch"),
    ];
    occupancies.retain(|(number, _)| *number > 0);
    let occupancies: Vec<String> = occupancies.iter().map(|(number, what)| format!("{number} {what}")).collect();
    let of = match totals.not_shown {
        0 => String::new(),
        hidden => format!(" of {}", grouped(listed + u64::from(hidden))),
    };
    let kernels = if of.is_empty() { count(listed, "kernel") } else { format!("{}{of} kernels", grouped(listed)) };
    let occupancy =
        if occupancies.is_empty() { String::new() } else { format!("; occupancy: {}", occupancies.join(", ")) };
    // The column is left out where it would be empty: that is told, where it is known of all.
    let known_none = |kernel: &KernelRecord| {
        let spills = &kernel.spills;
        spills.store_bytes == Some(0) && spills.load_bytes == Some(0) && spills.unlisted_bytes == Some(0)
    };
    let spills = if !report.kernels.is_empty() && report.kernels.iter().all(known_none) { "; no spills" } else { "" };
    format!(
        "{kernels}{} in {} ({}){occupancy}{spills}",
        for_gpu(&report.kernels),
        count(totals.files.into(), "file"),
        images.join(", ")
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
            "spill_store_bytes",
            "spill_load_bytes",
            "spill_in_loops_bytes",
            "spill_unlisted_bytes",
            "spill_source",
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
            "tile",
            "stages",
            "cluster",
            "schedule",
        ],
        rows: kernels.iter().map(row).collect(),
    }
}

fn row(kernel: &KernelRecord) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let named = kernel.from_name.as_ref();
    let found = kernel.occupancy.as_ref();
    vec![
        kernel.file.to_string(),
        kernel.entry.as_deref().unwrap_or_default().to_owned(),
        text(&kernel.arch),
        kernel.gpu.as_ref().map_or_else(String::new, |gpu| gpu.name.clone()),
        kernel.name.to_string(),
        kernel.demangled.to_string(),
        number(kernel.registers),
        number(kernel.shared_static),
        number(kernel.launch.shared_dynamic),
        kernel.launch.shared_dynamic_from.map_or_else(String::new, name),
        number(kernel.stack),
        number(kernel.local),
        number(kernel.barriers),
        number(kernel.spills.instructions),
        number(kernel.spills.store_bytes),
        number(kernel.spills.load_bytes),
        number(kernel.spills.in_loops_bytes),
        number(kernel.spills.unlisted_bytes),
        kernel.spills.source.unwrap_or_default().to_owned(),
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
        named.map_or_else(String::new, |named| sizes(&named.tile)),
        number(named.and_then(|named| named.stages)),
        named.map_or_else(String::new, |named| sizes(&named.cluster)),
        named.map_or_else(String::new, |named| named.schedule.join("+")),
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
    let with_spills = report.kernels.iter().any(spills_anything);
    if with_spills {
        columns.insert(4, "spills");
    }
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
            format!("`{}`", printable(&all[0]).replace('`', "'")),
            all[2].clone(),
            all[7].clone(),
            all[8].clone(),
            all[12].clone(),
            all[13].clone(),
            all[14].clone(),
            limit,
        ];
        if with_spills {
            row.insert(4, all[10].replace('*', "\\*"));
        }
        if with_gpu {
            row.insert(1, all[1].clone());
        }
        row
    };
    let sheet = Sheet { columns, rows: report.kernels.iter().map(row).collect() };
    let mut text = sheet.markdown();
    for line in legend(&report.kernels) {
        text += &format!("\n{}\n", line.replace('<', "\\<").replace('~', "\\~").replace('*', "\\*"));
    }
    text + &format!("\n{}\n", totals(report))
}
