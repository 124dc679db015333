//! The text that Nsight Compute prints, of all pages and versions, among whatever the program printed itself.
//!
//! For: files made by `ncu`, with `--csv` or without, redirected from a terminal, joined, or saved again by a spreadsheet. Not for: reports,
//! and not for CSV that other tools made of them under names of their own.

mod console;
mod details;
mod labels;
mod launch;
mod number;
mod raw;
mod record;
mod scale;
mod summary;
mod table;
mod value;

use crate::error::ProfileError;
use crate::measurement::{Flavour, Measurement};

/// What a text holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    /// One a launch, or of a summary one for launches alike, in the order of the text.
    pub measurements: Vec<Measurement>,
    /// Lines that could not be read; everything else was.
    pub faults: Vec<ProfileError>,
}

/// Reads every table of a text.
///
/// # Errors
/// [`ProfileError::Text`] where there is no table at all.
pub fn read(text: &str) -> Result<Text, ProfileError> {
    let mut found = table::Found::read(text);
    if found.tables.is_empty() {
        found.tables.extend(console::table(text));
    }
    if found.tables.is_empty() {
        return Err(ProfileError::Text { line: 1, found: nothing() });
    }
    let mut read = Text { measurements: Vec::new(), faults: found.faults };
    for table in &found.tables {
        match table.flavour {
            Flavour::CsvRaw => raw::read(table, &mut read),
            Flavour::CsvSummary => summary::read(table, &mut read),
            _ => details::read(table, &mut read),
        }
    }
    // A session page of several GPUs does not say which one a launch was on.
    if let [gpu, rest @ ..] = found.gpus.as_slice()
        && rest.iter().all(|other| other == gpu)
    {
        for measured in &mut read.measurements {
            measured.gpu.get_or_insert_with(|| gpu.clone());
        }
    }
    Ok(read)
}

fn nothing() -> String {
    "no table of Nsight Compute from here on: expected a header with the columns `Metric Name` and `Metric Value` (details \
     page), `Kernel Name` and metrics (raw page), or `Metric Name` and `Average` (summary); print one with \
     `ncu --import FILE --page raw --csv`"
        .to_owned()
}

#[cfg(test)]
mod tests;
