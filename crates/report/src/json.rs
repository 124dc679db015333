//! JSON, pretty for a document and compact for a line of jsonl.

use serde::Serialize;

use crate::json_line::append;

/// A document over several lines, with a newline at its end.
///
/// # Errors
/// Never for the reports of this project: their maps have string keys and their numbers are finite.
pub fn json(report: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|text| without_controls(text) + "\n")
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
    serde_json::to_string(record).map(|text| without_controls(text) + "\n")
}

/// JSON with the control characters that need not be escaped in it escaped too: DEL and those after it move a terminal's
/// cursor like others. Outside of texts JSON has none.
pub(crate) fn without_controls(json: String) -> String {
    let is_control = |c: char| ('\u{7f}'..='\u{9f}').contains(&c);
    if json.is_ascii() && !json.contains('\u{7f}') || !json.contains(is_control) {
        return json;
    }
    let escaped = |c: char| if is_control(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    json.chars().map(escaped).collect()
}
