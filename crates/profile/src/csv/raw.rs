//! The raw page: one row a launch, a column a metric, units in the row below the header. Not for: the details page.

use std::borrow::Cow;

use super::number::{Cell, Style};
use super::table::{Row, Table};
use super::{Text, labels, launch, value};
use crate::error::ProfileError;
use crate::measurement::Flavour;

/// Reads a table of the raw page.
pub(super) fn read(table: &Table<'_>, text: &mut Text) {
    let columns = metrics(table);
    let (units, rows) = match table.rows.split_first() {
        Some((first, rest)) if is_units(table, first, &columns) => (Some(first), rest),
        _ => (None, table.rows.as_slice()),
    };
    if units.is_none() && !rows.is_empty() {
        // Without them a time may be in any unit; reports and `--print-units base` have base units.
        let found = "no row of units below the header: values are taken to be in base units".to_owned();
        text.faults.push(ProfileError::Text { line: table.line, found });
    }
    let printed = rows.iter().flat_map(|row| columns.iter().map(|(at, _)| row.record.cell(Some(*at))));
    let style = Style::of(printed);
    let named = columns.iter().map(|(at, name)| {
        let unit = units.map_or("", |units| units.record.cell(Some(*at)));
        // `--print-metric-name label` puts labels here.
        (*at, *name, labels::metric("", name, unit).unwrap_or(name), unit)
    });
    let named: Vec<_> = named.collect();
    for row in rows {
        let mut measured = launch::start(Flavour::CsvRaw, &table.header, &row.record);
        for (at, name, metric, unit) in &named {
            let printed = row.record.cell(Some(*at));
            if *name == "device__attribute_display_name" && !printed.is_empty() {
                measured.gpu = Some(printed.to_owned());
                continue;
            }
            match value::read(metric, printed, unit, style) {
                Ok(Some(number)) => drop(measured.metrics.insert((*metric).to_owned(), number)),
                Ok(None) => {}
                Err(found) => text.faults.push(ProfileError::Text { line: row.line, found }),
            }
        }
        launch::complete(&mut measured);
        text.measurements.push(measured);
    }
}

/// The columns of metrics.
fn metrics<'a>(table: &'a Table<'_>) -> Vec<(usize, &'a str)> {
    let named = table.header.names.iter().map(Cow::as_ref).map(str::trim).enumerate();
    // Breakdowns and groups hold names of other metrics.
    let is_list = |name: &str| name.starts_with("breakdown:") || name.starts_with("group:");
    named.filter(|(_, name)| !name.is_empty() && !launch::is_launch_column(name) && !is_list(name)).collect()
}

/// A row of units has no number, and a unit somewhere.
fn is_units(table: &Table<'_>, row: &Row<'_>, columns: &[(usize, &str)]) -> bool {
    let mut cells = columns.iter().map(|(at, _)| Cell::read(row.record.cell(Some(*at)), Style::Dot));
    let named = columns.iter().any(|(at, _)| !row.record.cell(Some(*at)).is_empty());
    let names = table.header.names.iter().zip(&row.record.cells);
    let mut launch =
        names.filter(|(name, _)| launch::is_launch_column(name.trim())).map(|(_, cell)| cell.trim()).peekable();
    let cut_off = launch.peek().is_none();
    let empty = launch.all(str::is_empty);
    empty && (named || !cut_off) && cells.all(|cell| !matches!(cell, Cell::Number(_)))
}
