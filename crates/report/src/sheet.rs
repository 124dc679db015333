//! Rows and named columns, for CSV and Markdown. Not for terminals; that is [`crate::table`].

use crate::words::printable;

/// Rows under column names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sheet {
    /// Column names.
    pub columns: Vec<&'static str>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// CSV with a header line.
    #[must_use]
    pub fn csv(&self) -> String {
        csv_lines([&self.columns[..]]) + &self.csv_rows()
    }

    /// The rows alone: what comes in parts has its header once.
    #[must_use]
    pub fn csv_rows(&self) -> String {
        csv_lines(self.rows.iter().map(Vec::as_slice))
    }

    /// A Markdown table. Pipes in cells are escaped.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        let mut text = line(&mut self.columns.iter().map(|name| (*name).to_owned()));
        text += &line(&mut self.columns.iter().map(|_| "---".to_owned()));
        for row in &self.rows {
            let cell = |cell: &String| printable(&cell.replace('\n', " ")).replace('|', "\\|");
            text += &line(&mut row.iter().map(cell));
        }
        text
    }
}

/// Lines of CSV, without controls.
fn csv_lines<'r, Cell: AsRef<str> + 'r>(rows: impl IntoIterator<Item = &'r [Cell]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = rows.into_iter().try_for_each(|row| {
        row.iter().try_for_each(|cell| writer.write_field(&*printable(cell.as_ref())))?;
        writer.write_record(None::<&[u8]>)
    });
    // A vector takes everything, and rows are as long as the header.
    debug_assert!(written.is_ok(), "{written:?}");
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}
