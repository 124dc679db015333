//! JSON, pretty for a document and compact for a line of jsonl.

use std::io::{self, Write};

use serde::Serialize;

/// A document over several lines, with a newline at its end.
///
/// # Errors
/// Never for the reports of this project: their maps have string keys and their numbers are finite.
pub fn json(report: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}

/// Writes a line, with a newline at its end, without holding it.
///
/// # Errors
/// Where `to` fails.
pub fn write_json_line(to: &mut impl Write, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, record)?;
    to.write_all(b"\n")
}

/// A line, with a newline at its end.
///
/// # Errors
/// As [`json`].
pub fn json_line(record: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(record).map(|text| text + "\n")
}
