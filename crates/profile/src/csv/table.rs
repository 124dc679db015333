//! Finds the tables of a text and their rows. For: headers wherever they stand, and what to skip between rows. Not for:
//! what the rows say.

use std::borrow::Cow;

use super::launch::is_launch_column;
use super::record::Record;
use crate::error::ProfileError;
use crate::measurement::Flavour;

/// Lines that a quoted cell may go on for: rules write a few paragraphs at most.
const CONTINUED: usize = 32;
/// Lines that are joined for nothing before no more is tried: quotes that nothing closes are damage.
const WASTED: usize = 4096;
/// Separators: NVIDIA's own, and those that spreadsheets save with.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// The names of a table's columns.
pub(super) struct Header<'a> {
    pub(super) names: Vec<Cow<'a, str>>,
    pub(super) separator: char,
    pub(super) quoted: bool,
}

impl Header<'_> {
    /// The position of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.trim().eq_ignore_ascii_case(name))
    }
}

/// A row and where it stands.
pub(super) struct Row<'a> {
    pub(super) line: u64,
    pub(super) record: Record<'a>,
}

/// A header and the rows that belong to it.
pub(super) struct Table<'a> {
    pub(super) flavour: Flavour,
    pub(super) header: Header<'a>,
    pub(super) line: u64,
    pub(super) rows: Vec<Row<'a>>,
}

/// Everything found in a text.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) tables: Vec<Table<'a>>,
    /// Names of GPUs on session pages.
    pub(super) gpus: Vec<String>,
    pub(super) faults: Vec<ProfileError>,
    /// Rows belong to the last table.
    inside: bool,
    /// The line before was empty.
    after_gap: bool,
    /// Lines that were joined to a row for nothing.
    wasted: usize,
}

impl<'a> Found<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let mut found = Self::default();
        let lines: Vec<(usize, &str)> = with_offsets(text);
        let mut at = 0_usize;
        while let Some((start, line)) = lines.get(at) {
            let number = (at as u64).saturating_add(1);
            let more = found.line(text, *start, line, lines.get(at..).unwrap_or_default(), number);
            at = at.saturating_add(1).saturating_add(more);
        }
        found
    }

    /// Reads a line; gives how many further ones its record took.
    fn line(&mut self, text: &'a str, start: usize, line: &'a str, lines: &[(usize, &'a str)], number: u64) -> usize {
        if line.trim().is_empty() {
            self.after_gap = true;
            return 0;
        }
        if line.trim_start().starts_with("==") {
            return 0;
        }
        if let Some((flavour, header)) = header(line) {
            self.tables.push(Table { flavour, header, line: number, rows: Vec::new() });
            self.inside = true;
            self.after_gap = false;
            return 0;
        }
        let Some(table) = self.tables.last_mut().filter(|_| self.inside) else {
            self.session(line);
            return 0;
        };
        // Of a quoted table every row begins with a quote; anything else is output of the program.
        if table.header.quoted && !line.trim_start().starts_with('"') {
            return 0;
        }
        let mut record = Record::split(line, table.header.separator);
        let mut more = 0_usize;
        while record.open && more < CONTINUED && self.wasted < WASTED {
            let next = more.saturating_add(1);
            let Some((offset, last)) = lines.get(next).filter(|(_, last)| !last.starts_with("==")) else { break };
            let end = offset.saturating_add(last.len());
            record = Record::split(text.get(start..end).unwrap_or_default(), table.header.separator);
            more = next;
        }
        match table.misfit(&record) {
            None => {
                table.rows.push(Row { line: number, record });
                self.after_gap = false;
                more
            }
            Some(misfit) => {
                self.wasted = self.wasted.saturating_add(more);
                self.misfit(misfit, line, number);
                0
            }
        }
    }

    fn misfit(&mut self, misfit: Misfit, line: &str, number: u64) {
        match misfit {
            Misfit::Output => {}
            // Pages of a session follow after an empty line.
            Misfit::Row(_) if self.after_gap => {
                self.inside = false;
                self.session(line);
            }
            Misfit::Row(found) => self.faults.push(ProfileError::Text { line: number, found }),
        }
    }

    /// Session pages name the GPUs: `"Display Name","NVIDIA A100"`.
    fn session(&mut self, line: &str) {
        if !(line.contains("Display Name") || line.contains("display_name") || line.contains("Device Name")) {
            return;
        }
        let record = Record::split(line, ',');
        let [first, names @ ..] = record.cells.as_slice() else { return };
        if ["Display Name", "display_name", "device__attribute_display_name", "Device Name"].contains(&first.trim()) {
            let names = names.iter().map(|name| name.trim()).filter(|name| name.contains(|c: char| c.is_alphabetic()));
            self.gpus.extend(names.map(str::to_owned));
        }
    }
}

/// Why a line is no row.
enum Misfit {
    /// It is output of the program.
    Output,
    /// It is a damaged row.
    Row(String),
}

impl Table<'_> {
    fn misfit(&self, record: &Record<'_>) -> Option<Misfit> {
        let (found, columns) = (record.cells.len(), self.header.names.len());
        let last = match self.flavour {
            Flavour::CsvSummary => self.header.column("Average"),
            Flavour::CsvDetails => self.header.column("Metric Value"),
            _ => None,
        };
        let needed = last.map_or(columns, |last| last.saturating_add(1));
        // Prose has a comma or two.
        if !self.header.quoted && found.saturating_mul(2) < needed {
            return Some(Misfit::Output);
        }
        if record.open {
            return Some(Misfit::Row("a quote without its end".to_owned()));
        }
        if found < needed {
            return Some(Misfit::Row(format!("{found} columns, {needed} are needed")));
        }
        // A comma at the end is usual.
        if found > columns.saturating_add(1) {
            return Some(Misfit::Row(format!(
                "{found} columns, the header has {columns}: quotes that are not doubled?"
            )));
        }
        let number = |name: &str| {
            let cell = record.cell(self.header.column(name));
            cell.is_empty() || cell.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.'))
        };
        let wrong = ["ID", "Process ID", "Invocations"].into_iter().find(|name| !number(name))?;
        Some(Misfit::Row(format!("the column {wrong} is no number")))
    }
}

/// The lines of a text without their ends, each with where it starts.
fn with_offsets(text: &str) -> Vec<(usize, &str)> {
    let mut start = 0_usize;
    let line = |line: &'_ str| {
        let at = start;
        start = start.saturating_add(line.len());
        at
    };
    let starts: Vec<usize> = text.split_inclusive('\n').map(line).collect();
    starts.into_iter().zip(text.lines()).collect()
}

/// What a header says of its table; `None` where a line is none.
fn header(line: &str) -> Option<(Flavour, Header<'_>)> {
    // Rows are many and headers few: most lines are told by a look.
    let names = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:,;\t\" ".contains(&byte);
    let cut_off = || line.contains("__") && line.trim_start_matches('\u{feff}').bytes().all(names);
    if !(line.contains("Kernel Name") || line.contains("Metric Name") || cut_off()) {
        return None;
    }
    // Output of the program may end without a line's end.
    let first = ["\"ID\",", "\"Process ID\","].iter().filter_map(|column| line.find(column)).min();
    let line = first.and_then(|at| line.get(at..)).unwrap_or(line).trim_start_matches('\u{feff}').trim();
    SEPARATORS.into_iter().find_map(|separator| {
        let record = Record::split(line, separator);
        let flavour = flavour(&record)?;
        Some((flavour, Header { names: record.cells, separator, quoted: line.starts_with('"') }))
    })
}

fn flavour(record: &Record<'_>) -> Option<Flavour> {
    let has = |name: &str| record.cells.iter().any(|cell| cell.trim().eq_ignore_ascii_case(name));
    let is_metric = |cell: &str| {
        cell.contains("__")
            && cell.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':'))
    };
    if has("Metric Name") && has("Metric Value") {
        return Some(Flavour::CsvDetails);
    }
    if has("Metric Name") && has("Average") {
        return Some(Flavour::CsvSummary);
    }
    let metrics = record.cells.iter().filter(|cell| is_metric(cell)).count();
    let of_launches = has("Kernel Name") && (metrics > 0 || has("ID"));
    // Scripts cut the first columns off; then nothing but metrics may be there.
    let launches_cut_off = metrics > 1 && record.cells.iter().all(|cell| is_metric(cell) || is_launch_column(cell));
    (of_launches || launches_cut_off).then_some(Flavour::CsvRaw)
}
