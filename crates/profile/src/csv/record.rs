//! Splits one record of CSV into its cells. For: records of known beginning and end, quotes doubled. Not for: finding them
//! among program output; that is [`super::table`].

use std::borrow::Cow;

/// The cells of a record.
#[derive(Debug, PartialEq)]
pub(super) struct Record<'a> {
    pub(super) cells: Vec<Cow<'a, str>>,
    /// A quote has no end: the record goes on in the next line, or is damaged.
    pub(super) open: bool,
}

impl<'a> Record<'a> {
    pub(super) fn split(text: &'a str, separator: char) -> Self {
        let mut record = Self { cells: Vec::new(), open: false };
        let mut rest = text;
        loop {
            let (cell, after) = match rest.trim_start_matches(' ').strip_prefix('"') {
                Some(inner) => {
                    let Some((cell, tail)) = quoted(inner) else {
                        record.open = true;
                        return record;
                    };
                    // Quotes within a name that nobody doubled: what follows belongs to the cell.
                    match tail.split_once(separator) {
                        Some((more, after)) => (extended(cell, more), Some(after)),
                        None => (extended(cell, tail), None),
                    }
                }
                None => match rest.split_once(separator) {
                    Some((cell, after)) => (Cow::Borrowed(cell.trim()), Some(after)),
                    None => (Cow::Borrowed(rest.trim()), None),
                },
            };
            record.cells.push(cell);
            match after {
                Some(after) => rest = after,
                None => return record,
            }
        }
    }

    /// A cell; empty where the record is shorter, as rows of metrics are where a table has columns of rules.
    pub(super) fn cell(&self, column: Option<usize>) -> &str {
        column.and_then(|column| self.cells.get(column)).map_or("", |cell| cell.trim())
    }
}

fn extended<'a>(cell: Cow<'a, str>, more: &str) -> Cow<'a, str> {
    if more.trim().is_empty() { cell } else { Cow::Owned(format!("{cell}{}", more.trim_end().trim_end_matches('"'))) }
}

/// A quoted cell and what follows it; `None` where the quote has no end.
fn quoted(inner: &str) -> Option<(Cow<'_, str>, &str)> {
    let (first, mut tail) = inner.split_once('"')?;
    let mut cell = Cow::Borrowed(first);
    while let Some(more) = tail.strip_prefix('"') {
        let (part, after) = more.split_once('"')?;
        let cell = cell.to_mut();
        cell.push('"');
        cell.push_str(part);
        tail = after;
    }
    Some((cell, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<String> {
        Record::split(text, ',').cells.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn quotes_commas_and_the_trailing_comma() {
        assert_eq!(
            cells(r#""0","void f<int, 2>(T1 *)","a ""b"" c",7,"#),
            ["0", "void f<int, 2>(T1 *)", "a \"b\" c", "7", ""]
        );
        assert_eq!(cells(r#""""","x""#), ["\"", "x"]);
    }

    #[test]
    fn a_quote_without_end_is_told() {
        let record = Record::split("\"0\",\"text that goes", ',');
        assert!(record.open);
        assert_eq!(record.cells, ["0"]);
    }

    #[test]
    fn quotes_that_nobody_doubled_stay_in_their_cell() {
        assert_eq!(cells(r#""f("x")","1""#), ["f(x\")", "1"]);
    }
}
