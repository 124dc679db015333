//! A table for a terminal: fits a width by dropping columns, then by shortening the one flexible column.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// Space between columns.
const GAP: usize = 2;

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

/// Columns and lines; the first column is flexible: `shorten` cuts its cells to a width.
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
    /// The least that the flexible column is shortened to before another column is dropped.
    pub(crate) flexible_least: usize,
    pub(crate) shorten: fn(&str, usize) -> Cow<'_, str>,
}

impl Table {
    /// The table in at most `width` columns, as far as the columns that must stay allow.
    pub(crate) fn render(&self, width: usize) -> String {
        let widths = self.widths();
        let shown = self.fitting(&widths, width);
        let others: usize = shown.iter().skip(1).map(|column| widths[*column] + GAP).sum();
        let flexible = widths[0].min(width.saturating_sub(others).max(self.flexible_least.min(widths[0])));
        let rooms: Vec<usize> =
            shown.iter().map(|column| if *column == 0 { flexible } else { widths[*column] }).collect();
        let titles = shown.iter().map(|column| Cow::Borrowed(self.columns[*column].title)).collect();
        let mut text = self.line(&shown, &rooms, titles);
        for line in &self.lines {
            text += &match line {
                Line::Heading(heading) => heading.clone() + "\n",
                Line::Cells(row) => {
                    let cell = |column: &usize| match *column {
                        0 => (self.shorten)(&row[0], flexible),
                        other => Cow::Borrowed(row[other].as_str()),
                    };
                    self.line(&shown, &rooms, shown.iter().map(cell).collect())
                }
            };
        }
        text
    }

    /// One line of the shown columns, each in its room.
    fn line(&self, shown: &[usize], rooms: &[usize], cells: Vec<Cow<'_, str>>) -> String {
        let mut line = String::new();
        for (position, (cell, room)) in cells.iter().zip(rooms).enumerate() {
            let padding = " ".repeat(room.saturating_sub(cell.width()));
            if position > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let (before, after) =
                if self.columns[shown[position]].right { (padding, String::new()) } else { (String::new(), padding) };
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
            let least = self.flexible_least.min(widths[0]);
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
            flexible_least: 8,
            shorten: |name, width| Cow::Owned(name.chars().take(width).collect()),
        }
    }

    #[test]
    fn shortens_then_drops() {
        assert_eq!(table().render(80), "name                first  second\ngroup\na rather long name      1      22\n");
        assert_eq!(table().render(25), "name        first  second\ngroup\na rather l      1      22\n");
        assert_eq!(table().render(20), "name           first\ngroup\na rather long      1\n");
        assert_eq!(table().render(3), "name\ngroup\na rather\n");
    }
}
