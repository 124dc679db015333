//! JSON, pretty for a document and compact for a line of jsonl.

use serde::Serialize;

use crate::json_line::append;

/// A document over several lines, with a newline at its end.
///
/// # Errors
/// Never for the reports of this project: their maps have string keys and their numbers are finite.
pub fn json(report: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}

/// Appends a line, with a newline at its end.
///
/// # Errors
/// As [`json`].
pub fn append_json_line(to: &mut Vec<u8>, record: &impl Serialize) -> serde_json::Result<()> {
    append(to, record)?;
    to.push(b'\n');
    Ok(())
}

/// A line, with a newline at its end.
///
/// # Errors
/// As [`json`].
pub fn json_line(record: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(record).map(|text| text + "\n")
}
