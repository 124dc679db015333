//! `--print-summary per-kernel`: launches alike in one row a metric, with their minimum, maximum and average. The average is
//! kept. Not for: summaries over different kernels, which are no measurement of any.

use super::table::Table;
use super::{Text, details};
use crate::error::ProfileError;

/// Reads a table of a summary.
pub(super) fn read(table: &Table<'_>, text: &mut Text) {
    let header = &table.header;
    if header.column("Kernel Name").is_none() {
        let found = "a summary over all kernels: print it with `--print-summary per-kernel`".to_owned();
        text.faults.push(ProfileError::Text { line: table.line, found });
        return;
    }
    let invocations = header.column("Invocations");
    details::read_as(table, "Average", text, |measured, row| {
        let digits: String = row.record.cell(invocations).chars().filter(char::is_ascii_digit).collect();
        measured.launches = digits.parse().unwrap_or(1);
    });
}
