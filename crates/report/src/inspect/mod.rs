//! `occupant inspect` for people: the table. Not for: what stands below it ([`notes`]) or spreadsheets ([`sheet`]).

mod notes;
mod sheet;

use occupant_core::report::{BlockFrom, InspectReport, KernelRecord, NameRecord, SharedFrom};

use crate::names::{distinct, plain};
use crate::places::{Place, labels};
use crate::table::{Column, Line, Table};
use crate::words::{mark, percent, printable, wrapped};
use notes::{legend, reasons, totals};

pub use sheet::{inspect_markdown, inspect_sheet};

/// How the kernels are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Listing {
    /// Columns for what names tell.
    pub names: bool,
    /// Names whole, as the last column; lines are as long as they are.
    pub full_names: bool,
    /// Device functions that are no kernels are listed, too.
    pub functions: bool,
    /// Several files, or a directory, were named: rows say which file they come from.
    pub files: bool,
}

/// The kernels as a table that fits `width`, then what its marks mean and a line of totals. Kernels of which only the name
/// is known are told together, with the reason.
#[must_use]
pub fn inspect_text(report: &InspectReport, listing: Listing, width: usize) -> String {
    let shown: Vec<&KernelRecord> = report.kernels.iter().filter(|kernel| kernel.entry.is_some()).collect();
    let mut text = String::new();
    if !shown.is_empty() {
        text = if listing.full_names { with_full_names(&shown, listing) } else { fitting(&shown, listing, width) };
    }
    let lines = legend(&report.kernels).into_iter().chain(reasons(report)).chain([totals(report, listing.functions)]);
    lines.for_each(|line| text += &wrapped(&line, width, 2));
    text
}

/// The table within the width, and what of it has no room.
fn fitting(shown: &[&KernelRecord], listing: Listing, width: usize) -> String {
    let (mut table, empty) = table(shown, listing);
    let full: Vec<&str> = shown.iter().map(|kernel| &*kernel.demangled).collect();
    let cut = distinct(&full, table.first_width(width));
    let is_cut = cut.iter().zip(&full).any(|(cut, full)| *cut != plain(full));
    let mut cut = cut.into_iter();
    for line in &mut table.lines {
        if let Line::Cells(row) = line {
            row[0] = cut.next().map_or_else(String::new, |name| printable(&name).into_owned());
        }
    }
    let mut text = table.render(width) + "\n";
    let mut notes = Vec::new();
    let dropped = table.dropped(width);
    if !dropped.is_empty() {
        notes.push(format!("no room for: {} (--width)", dropped.join(", ")));
    }
    if is_cut {
        notes.push("names are cut: --full-names shows them whole".to_owned());
    }
    if !notes.is_empty() {
        text += &wrapped(&notes.join("; "), width, 2);
    }
    let needed = table.least_width();
    if needed > width {
        text += &wrapped(&format!("the table needs {needed} columns (--width)"), width, 2);
    }
    text + &empty.map_or_else(String::new, |note| wrapped(&note, width, 2))
}

/// Every column, and the names behind them.
fn with_full_names(shown: &[&KernelRecord], listing: Listing) -> String {
    let (mut table, empty) = table(shown, listing);
    let mut names = shown.iter().map(|kernel| printable(&kernel.demangled).into_owned());
    table.columns.remove(0);
    table.columns.push(Column::left("kernel", u8::MAX));
    for line in &mut table.lines {
        if let Line::Cells(row) = line {
            row.remove(0);
            row.push(names.next().unwrap_or_default());
        }
    }
    table.render(usize::MAX) + "\n" + &empty.map_or_else(String::new, |note| note + "\n")
}

/// The table with the columns that say something; of columns that were asked for, which say nothing.
fn table(kernels: &[&KernelRecord], listing: Listing) -> (Table, Option<String>) {
    let several_gpus = kernels.iter().any(|kernel| kernel.gpu != kernels[0].gpu);
    let any = |has: fn(&KernelRecord) -> bool| kernels.iter().any(|kernel| has(kernel));
    let named = |has: fn(&NameRecord) -> bool| {
        listing.names && kernels.iter().any(|kernel| kernel.from_name.as_ref().is_some_and(has))
    };
    let files = Files::of(kernels, listing);
    let columns = [
        (Column::left("kernel", u8::MAX), true),
        (Column::left("gpu", 100), several_gpus),
        (Column::left("file", 120), files == Files::Column),
        (Column::left("arch", 60), true),
        (Column::left("tile", 110), named(|named| !named.tile.is_empty())),
        (Column::right("stages", 105), named(|named| named.stages.is_some())),
        (Column::left("cluster", 104), named(|named| !named.cluster.is_empty())),
        (Column::left("schedule", 90), named(|named| !named.schedule.is_empty())),
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
    let shown: Vec<bool> = columns.iter().map(|(_, shown)| *shown).collect();
    let unsaid: Vec<&str> =
        columns[4..8].iter().filter(|(_, shown)| listing.names && !shown).map(|(column, _)| column.title).collect();
    let table = Table {
        lines: lines(kernels, &shown, files),
        columns: columns.into_iter().filter(|(_, shown)| *shown).map(|(column, _)| column).collect(),
        first_least: 28,
    };
    (table, (!unsaid.is_empty()).then(|| format!("told by no name here: {}", unsaid.join(", "))))
}

/// How it is told which file rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    /// There is one, and it was named.
    Untold,
    /// A heading over the rows of each.
    Headings,
    /// The rows are sorted across them.
    Column,
}

impl Files {
    fn of(kernels: &[&KernelRecord], listing: Listing) -> Self {
        let mut runs: Vec<Place<'_>> = kernels.iter().map(|kernel| Place::of(kernel)).collect();
        runs.dedup();
        let in_archive = runs.iter().any(|place| place.member.is_some());
        let number = runs.len();
        runs.sort_unstable();
        runs.dedup();
        match runs.len() {
            1 if !listing.files && !in_archive => Self::Untold,
            places if places == number => Self::Headings,
            _ => Self::Column,
        }
    }
}

fn lines(kernels: &[&KernelRecord], shown: &[bool], files: Files) -> Vec<Line> {
    let places: Vec<Place<'_>> = kernels.iter().map(|kernel| Place::of(kernel)).collect();
    let labels = if files == Files::Column { labels(&places, &[]) } else { vec![String::new(); places.len()] };
    let mut lines = Vec::new();
    let mut last = None;
    for ((kernel, place), label) in kernels.iter().zip(places).zip(labels) {
        if files == Files::Headings && last != Some(place) {
            last = Some(place);
            lines.push(Line::Heading(format!("{}:", printable(&place.to_string()))));
        }
        let mut cells = cells(kernel);
        cells.insert(2, printable(&label).into_owned());
        let cells = cells.into_iter().zip(shown).filter(|(_, shown)| **shown).map(|(cell, _)| cell);
        lines.push(Line::Cells(cells.collect()));
    }
    lines
}

fn cells(kernel: &KernelRecord) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or("-".to_owned(), |value| value.to_string());
    let found = kernel.occupancy.as_ref();
    let block_mark = if kernel.launch.block_from == Some(BlockFrom::Assumed) { "~" } else { "" };
    vec![
        plain(&kernel.demangled).into_owned(),
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
            // Its figures are those of code that does nothing of what the kernel is for.
            (_, Some(_)) if kernel.is_stub() => "stub".to_owned(),
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
