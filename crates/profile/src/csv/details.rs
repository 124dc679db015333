//! The details page: a row a metric, and rows of rules between them; also `--metrics` runs and the forms of 2018 to 2020.
//! Not for: the raw page.

use std::collections::BTreeMap;

use super::number::Style;
use super::table::{Header, Row, Table};
use super::{Text, labels, launch, value};
use crate::error::ProfileError;
use crate::measurement::{Flavour, Measurement, Said};
use crate::ncu::SpeedupKind;

/// Reads a table of the details page.
pub(super) fn read(table: &Table<'_>, text: &mut Text) {
    read_as(table, "Metric Value", text, |_, _| {});
}

/// Reads a table of a row a metric, whose values stand in a column; `adapt` adds to each new measurement.
pub(super) fn read_as(table: &Table<'_>, values: &str, text: &mut Text, adapt: impl Fn(&mut Measurement, &Row<'_>)) {
    let header = &table.header;
    let column = header.column(values);
    let style = Style::of(table.rows.iter().map(|row| row.record.cell(column)));
    let mut launches =
        Launches { known: BTreeMap::new(), measured: Vec::new(), numbered: header.column("ID").is_some() };
    for row in &table.rows {
        let cell = |name: &str| row.record.cell(header.column(name));
        let (name, unit) = (cell("Metric Name"), cell("Metric Unit"));
        let metric = labels::metric(cell("Section Name"), name, unit);
        let at = launches.of(table.flavour, header, row, metric, &adapt);
        let Some(measured) = launches.measured.get_mut(at) else { continue };
        if name.is_empty() {
            measured.said.extend(said(header, row));
            continue;
        }
        // Labels of sections that users wrote have no metric to stand for.
        let Some(metric) = metric else { continue };
        match value::read(metric, row.record.cell(column), unit, style) {
            // The same metric may stand in several sections, with the same digits.
            Ok(Some(number)) => drop(measured.metrics.entry(metric.to_owned()).or_insert(number)),
            Ok(None) => {}
            Err(found) => text.faults.push(ProfileError::Text { line: row.line, found }),
        }
    }
    launches.measured.iter_mut().for_each(launch::complete);
    text.measurements.append(&mut launches.measured);
}

/// The launches of a table in the order of their first rows.
struct Launches {
    known: BTreeMap<String, usize>,
    measured: Vec<Measurement>,
    /// Launches have numbers; otherwise those of one kernel can be told apart by a metric that comes again.
    numbered: bool,
}

impl Launches {
    /// The position of a row's launch, which is added where the row is its first.
    fn of(
        &mut self,
        flavour: Flavour,
        header: &Header<'_>,
        row: &Row<'_>,
        metric: Option<&str>,
        adapt: &impl Fn(&mut Measurement, &Row<'_>),
    ) -> usize {
        let key = launch::key(header, &row.record);
        let again = |measured: &Measurement| {
            !self.numbered
                && flavour == Flavour::CsvDetails
                && metric.is_some_and(|metric| measured.metrics.contains_key(metric))
        };
        let known =
            self.known.get(&key).copied().filter(|at| self.measured.get(*at).is_some_and(|known| !again(known)));
        let at = known.unwrap_or(self.measured.len());
        if known.is_none() {
            let mut measured = launch::start(flavour, header, &row.record);
            adapt(&mut measured, row);
            self.measured.push(measured);
            self.known.insert(key, at);
        }
        at
    }
}

/// What a rule says, from a row of its own.
fn said(header: &Header<'_>, row: &Row<'_>) -> Option<Said> {
    let cell = |name: &str| row.record.cell(header.column(name));
    let (rule, text) = (cell("Rule Name"), cell("Rule Description"));
    if rule.is_empty() && text.is_empty() {
        return None;
    }
    let kind = match cell("Estimated Speedup Type").to_ascii_lowercase().as_str() {
        "global" => Some(SpeedupKind::Global),
        "local" => Some(SpeedupKind::Local),
        _ => None,
    };
    let percent = cell("Estimated Speedup").trim_end_matches('%').replace(',', ".").parse::<f64>().ok();
    let speedup = kind.zip(percent.filter(|percent| percent.is_finite()));
    Some(Said { rule: rule.to_owned(), text: text.to_owned(), speedup })
}
