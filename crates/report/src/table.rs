//! A table for a terminal: fits a width by dropping columns; the first column takes what the others leave.

use unicode_width::UnicodeWidthStr;

/// Space between columns.
const GAP: usize = 2;

/// The least that the first column is cut to.
const FIRST_FLOOR: usize = 8;

/// A column.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) right: bool,
    /// Columns with the lowest number go first when the width does not suffice; `u8::MAX` never goes.
    pub(crate) keep: u8,
}

impl Column {
    pub(crate) const fn left(title: &'static str, keep: u8) -> Self {
        Self { title, right: false, keep }
    }

    pub(crate) const fn right(title: &'static str, keep: u8) -> Self {
        Self { title, right: true, keep }
    }
}

/// A line of a table.
pub(crate) enum Line {
    /// One cell a column.
    Cells(Vec<String>),
    /// A heading over the whole width.
    Heading(String),
}

/// Columns and lines. Cells of the first column that are wider than it are the caller's to cut, see
/// [`Table::first_width`].
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
    /// The least that the first column is cut to while there is another column to be dropped.
    pub(crate) first_least: usize,
}

impl Table {
    /// The table in at most `width` columns, as far as the columns that must stay allow.
    pub(crate) fn render(&self, width: usize) -> String {
        let widths = self.widths();
        let shown = self.fitting(&widths, width);
        let titles: Vec<&str> = self.columns.iter().map(|column| column.title).collect();
        // A list of properties has no titles.
        let titled = titles.iter().any(|title| !title.is_empty());
        let mut text = if titled { self.line(&shown, &widths, &titles) } else { String::new() };
        for line in &self.lines {
            text += &match line {
                Line::Heading(heading) => heading.clone() + "\n",
                Line::Cells(row) => self.line(&shown, &widths, &row.iter().map(String::as_str).collect::<Vec<_>>()),
            };
        }
        text
    }

    /// The room that the first column has at `width`.
    pub(crate) fn first_width(&self, width: usize) -> usize {
        let widths = self.widths();
        let others: usize = self.fitting(&widths, width).iter().skip(1).map(|column| widths[*column] + GAP).sum();
        // Where even the columns that must stay leave less than it should have, it gives way too.
        width.saturating_sub(others).max(FIRST_FLOOR).min(widths[0])
    }

    /// The width that nothing is cut or dropped at.
    pub(crate) fn full_width(&self) -> usize {
        self.widths().iter().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// The width below which the table is wider than it should be.
    pub(crate) fn least_width(&self) -> usize {
        let widths = self.widths();
        let others: usize = self.fitting(&widths, 0).iter().skip(1).map(|column| widths[*column] + GAP).sum();
        others + FIRST_FLOOR.min(widths[0])
    }

    /// Titles of the columns that `width` has no room for.
    pub(crate) fn dropped(&self, width: usize) -> Vec<&'static str> {
        let shown = self.fitting(&self.widths(), width);
        let hidden = self.columns.iter().enumerate().filter(|(index, _)| !shown.contains(index));
        hidden.map(|(_, column)| column.title).collect()
    }

    /// One line of the shown columns, each in its width.
    fn line(&self, shown: &[usize], widths: &[usize], cells: &[&str]) -> String {
        let mut line = String::new();
        for (position, column) in shown.iter().enumerate() {
            let cell = cells[*column];
            let padding = " ".repeat(widths[*column].saturating_sub(cell.width()));
            if position > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let (before, after) =
                if self.columns[*column].right { (padding, String::new()) } else { (String::new(), padding) };
            line += &before;
            line += cell;
            line += &after;
        }
        line.trim_end().to_owned() + "\n"
    }

    /// The width that each column would like.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.title.width()).collect();
        for line in &self.lines {
            if let Line::Cells(row) = line {
                for (width, cell) in widths.iter_mut().zip(row) {
                    *width = (*width).max(cell.width());
                }
            }
        }
        widths
    }

    /// The columns that are shown: all, less the least important ones until the rest fits.
    fn fitting(&self, widths: &[usize], width: usize) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        loop {
            let least = self.first_least.min(widths[0]);
            let needed = least + shown.iter().skip(1).map(|column| widths[*column] + GAP).sum::<usize>();
            let droppable = |column: &&usize| self.columns[**column].keep < u8::MAX;
            let least_kept = shown.iter().skip(1).filter(droppable).min_by_key(|column| self.columns[**column].keep);
            match least_kept.copied() {
                Some(dropped) if needed > width => shown.retain(|column| *column != dropped),
                _ => return shown,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            columns: vec![Column::left("name", u8::MAX), Column::right("first", 2), Column::right("second", 1)],
            lines: vec![
                Line::Heading("group".to_owned()),
                Line::Cells(vec!["a rather long name".to_owned(), "1".to_owned(), "22".to_owned()]),
            ],
            first_least: 8,
        }
    }

    #[test]
    fn columns_go_by_importance_and_the_first_takes_the_rest() {
        assert_eq!(table().render(80), "name                first  second\ngroup\na rather long name      1      22\n");
        assert_eq!((table().first_width(80), table().first_width(25), table().first_width(20)), (18, 10, 13));
        assert_eq!(table().dropped(20), ["second"]);
        assert_eq!(table().dropped(3), ["first", "second"]);
        assert_eq!(table().first_width(3), 8);
    }
}
