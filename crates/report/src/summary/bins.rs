//! Tables of counts by ranges. Not for: where the ranges are; that is the census'.
//!
//! Where a width has no room for every range, empty ones go first, then neighbours become one: counts are never left out.

use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{grouped, percent};

/// Upper ends of the ranges of registers.
pub(super) const REGISTERS: [&str; 8] = ["≤32", "≤40", "≤48", "≤64", "≤80", "≤128", "≤168", "≤255"];
/// Upper ends of the ranges of occupancy, percent.
pub(super) const TENTHS: [&str; 10] = ["≤10", "≤20", "≤30", "≤40", "≤50", "≤60", "≤70", "≤80", "≤90", "≤100"];
/// The column that claims about the fastest kernels are checked with.
pub(super) const MIDDLE: &str = "30-60%";

/// Counts by range, a row a group.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    pub(super) title: String,
    /// Upper ends.
    pub(super) ends: Vec<&'static str>,
    pub(super) rows: Vec<Row>,
    /// Whether there is the share of [`MIDDLE`].
    pub(super) with_middle: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) label: String,
    pub(super) kernels: u64,
    pub(super) median: Option<f64>,
    /// Kernels of [`MIDDLE`].
    pub(super) middle: u64,
    pub(super) bins: Vec<u64>,
}

impl Bins {
    pub(super) fn sheet(&self) -> Sheet {
        let mut columns = vec!["arch", "kernels", "median"];
        columns.extend(&self.ends);
        columns.extend(self.with_middle.then_some(MIDDLE));
        let row = |row: &Row| {
            let mut cells = vec![row.label.clone(), grouped(row.kernels), row.median.map_or("-".to_owned(), percent)];
            cells.extend(row.bins.iter().map(|kernels| grouped(*kernels)));
            cells.extend(self.with_middle.then(|| share(row.middle, row.kernels)));
            cells
        };
        Sheet { columns, rows: self.rows.iter().map(row).collect() }
    }

    /// The table in `width`; a line says what has no room.
    pub(super) fn text(&self, width: usize) -> String {
        let mut bins = self.clone();
        if bins.table().full_width() > width {
            bins = bins.without_empty();
        }
        while bins.table().full_width() > width && bins.ends.len() > 1 {
            bins = bins.in_pairs();
        }
        let table = bins.table();
        let mut text = table.render(width);
        let dropped = table.dropped(width);
        if !dropped.is_empty() {
            text += &format!("no room for: {} (--width)\n", dropped.join(", "));
        }
        text
    }

    fn table(&self) -> Table {
        let sheet = self.sheet();
        let column = |(index, title): (usize, &&'static str)| match (index, *title) {
            (0, title) => Column::left(title, u8::MAX),
            (_, MIDDLE) => Column::right(MIDDLE, 1),
            (2, title) => Column::right(title, 2),
            (_, title) => Column::right(title, u8::MAX),
        };
        Table {
            columns: sheet.columns.iter().enumerate().map(column).collect(),
            lines: sheet.rows.into_iter().map(Line::Cells).collect(),
            // A group's name is not cut.
            first_least: usize::MAX,
        }
    }

    /// Without ranges that hold nothing: the others' upper ends stay true.
    fn without_empty(&self) -> Self {
        let holds = |bin: &usize| self.rows.iter().any(|row| row.bins.get(*bin).is_some_and(|kernels| *kernels > 0));
        let kept: Vec<usize> = (0..self.ends.len()).filter(holds).collect();
        self.with_bins(kept.iter().map(|bin| self.ends[*bin]).collect(), |bins| {
            kept.iter().map(|bin| bins[*bin]).collect()
        })
    }

    /// Each two ranges as one, under the upper end of the second; the first stays alone where their number is odd.
    fn in_pairs(&self) -> Self {
        let ends = self.ends.rchunks(2).rev().filter_map(|pair| pair.last().copied()).collect();
        self.with_bins(ends, |bins| bins.rchunks(2).rev().map(|pair| pair.iter().sum()).collect())
    }

    fn with_bins(&self, ends: Vec<&'static str>, change: impl Fn(&[u64]) -> Vec<u64>) -> Self {
        let rows = self.rows.iter().map(|row| Row { bins: change(&row.bins), ..row.clone() }).collect();
        Self { title: self.title.clone(), ends, rows, with_middle: self.with_middle }
    }
}

/// A share in whole percent; neither 0 % nor 100 % where it is not exactly that.
pub(super) fn share(part: u64, of: u64) -> String {
    whole_percent(part as f64 * 100.0 / of.max(1) as f64)
}

pub(super) fn whole_percent(percent: f64) -> String {
    match percent {
        percent if percent > 0.0 && percent < 1.0 => "<1%".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => ">99%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins() -> Bins {
        let row = |label: &str, bins: [u64; 10]| Row {
            label: label.to_owned(),
            kernels: bins.iter().sum(),
            median: Some(12.5),
            middle: 1,
            bins: bins.to_vec(),
        };
        Bins {
            title: "occupancy".to_owned(),
            ends: TENTHS.to_vec(),
            rows: vec![row("sm_90", [0, 2000, 3, 0, 1, 0, 0, 0, 0, 5]), row("sm_90a", [0, 0, 0, 0, 0, 7, 0, 0, 0, 0])],
            with_middle: true,
        }
    }

    #[test]
    fn a_narrow_table_has_fewer_ranges_and_every_kernel() {
        let wide = bins().text(120);
        assert!(wide.starts_with("arch    kernels  median  ≤10    ≤20  ≤30  ≤40  ≤50  ≤60"), "{wide}");
        let narrow = bins().text(62);
        assert!(narrow.starts_with("arch    kernels  median    ≤20  ≤30  ≤50  ≤60  ≤100  30-60%\n"), "{narrow}");
        assert!(narrow.contains("sm_90     2,009    12.5  2,000    3    1    0     5     <1%\n"), "{narrow}");
        let narrower = bins().text(50);
        assert!(narrower.starts_with("arch    kernels  median    ≤20  ≤50  ≤100  30-60%\n"), "{narrower}");
        assert!(narrower.contains("sm_90     2,009    12.5  2,000    4     5     <1%\n"), "{narrower}");
        assert!(bins().text(26).ends_with("no room for: median, 30-60% (--width)\n"), "{}", bins().text(26));
    }

    #[test]
    fn shares_are_not_rounded_to_none_or_all() {
        assert_eq!((share(0, 5), share(1, 1000), share(999, 1000)), ("0%".into(), "<1%".into(), ">99%".into()));
        assert_eq!((share(1, 4), share(5, 5), share(0, 0)), ("25%".into(), "100%".into(), "0%".into()));
    }
}
