//! The details page as `ncu` prints it without `--csv`: sections with columns of fixed width, and rules below them. For:
//! terminal output that was kept. Not for: CSV. It becomes a table of the details page, so that values are read once only.

use std::borrow::Cow;

use super::record::Record;
use super::table::{Header, Row, Table};
use crate::measurement::Flavour;

/// The columns that the rest is put into.
const COLUMNS: [&str; 13] = [
    "ID",
    "Kernel Name",
    "Block Size",
    "Grid Size",
    "CC",
    "Section Name",
    "Metric Name",
    "Metric Unit",
    "Metric Value",
    "Rule Name",
    "Rule Description",
    "Estimated Speedup Type",
    "Estimated Speedup",
];
/// How messages of rules begin.
const KINDS: [&str; 5] = ["OPT", "WRN", "INF", "ERR", "OK"];

/// The launch and section that lines belong to.
#[derive(Default)]
struct State<'a> {
    launches: u64,
    launch: [Cow<'a, str>; 5],
    section: &'a str,
    /// Widths of the columns, from the dashes above them.
    widths: Option<[usize; 3]>,
    /// Messages of rules follow.
    in_rules: bool,
    rows: Vec<Row<'a>>,
}

/// The page as a table; `None` where there is no section with metrics.
pub(super) fn table(text: &str) -> Option<Table<'_>> {
    let mut state = State::default();
    for (line, number) in text.lines().zip(1_u64..) {
        state.line(line, number);
    }
    if state.rows.is_empty() {
        return None;
    }
    let names = COLUMNS.into_iter().map(Cow::Borrowed).collect();
    let header = Header { names, separator: ',', quoted: true };
    Some(Table { flavour: Flavour::CsvDetails, header, line: 1, rows: state.rows })
}

impl<'a> State<'a> {
    fn line(&mut self, line: &'a str, number: u64) {
        let content = line.trim();
        if let Some(launch) = launch(content) {
            self.launches = self.launches.saturating_add(1);
            let [name, block, grid, capability] = launch;
            self.launch =
                [Cow::Owned(self.launches.to_string()), name.into(), block.into(), grid.into(), capability.into()];
            (self.section, self.widths, self.in_rules) = ("", None, false);
        } else if let Some(section) = content.strip_prefix("Section: ") {
            (self.section, self.widths, self.in_rules) = (section.trim(), None, false);
        } else if self.launches == 0 || content.is_empty() {
            self.widths = None;
        } else if content.bytes().all(|byte| matches!(byte, b'-' | b' ')) {
            // Two columns stand between messages of rules.
            self.widths = widths(content).or(self.widths);
        } else if let Some(widths) = self.widths.filter(|_| begins(content).is_none()) {
            self.metric(line, widths, number);
        } else {
            self.rule(content, number);
        }
    }

    fn metric(&mut self, line: &'a str, widths: [usize; 3], number: u64) {
        let indented = line.trim_start();
        let [name, unit, value] = columns(indented, widths);
        if name == "Metric Name" || name.is_empty() {
            return;
        }
        self.push([name.into(), unit.into(), value.into(), "".into(), "".into(), "".into(), "".into()], number);
        self.in_rules = false;
    }

    fn rule(&mut self, content: &'a str, number: u64) {
        let Some(text) = begins(content) else {
            // The message goes on in further lines, below its estimate too.
            if let (true, Some(row)) = (self.in_rules, self.rows.last_mut())
                && let Some(description) = row.record.cells.get_mut(10)
            {
                let gap = if description.is_empty() { "" } else { " " };
                *description = Cow::Owned(format!("{description}{gap}{content}"));
            }
            return;
        };
        let estimate = |kind: &str| text.strip_prefix(kind).map(|percent| percent.trim().trim_end_matches('%'));
        let (kind, percent) = match (estimate("Est. Local Speedup:"), estimate("Est. Speedup:")) {
            (Some(percent), _) => ("local", percent),
            (_, Some(percent)) => ("global", percent),
            _ => ("", ""),
        };
        let description = if kind.is_empty() { text } else { "" };
        // The page does not name the rule; its section says which rules it can be.
        let cells =
            ["".into(), "".into(), "".into(), self.section.into(), description.into(), kind.into(), percent.into()];
        self.push(cells, number);
        // Before 2021 messages follow the dashes at once.
        (self.in_rules, self.widths) = (true, None);
    }

    fn push(&mut self, cells: [Cow<'a, str>; 7], line: u64) {
        let launch = self.launch.iter().cloned();
        let cells = launch.chain([Cow::Borrowed(self.section)]).chain(cells).collect();
        self.rows.push(Row { line, record: Record { cells, open: false } });
    }
}

/// The text of a line that begins a message of a rule.
fn begins(content: &str) -> Option<&str> {
    content.split_once("  ").filter(|(kind, _)| KINDS.contains(kind)).map(|(_, text)| text.trim())
}

/// Kernel, block, grid and compute capability of a line that begins a launch:
/// `name(int) (4096, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0`, before 2021 `name(int), DATE, Context 1, ...`.
fn launch(content: &str) -> Option<[&str; 4]> {
    let (before, after) = content.rsplit_once(", Context ")?;
    if !after.contains("Stream ") {
        return None;
    }
    let capability = after.rsplit_once("CC ").map_or("", |(_, capability)| capability.trim());
    let Some((start, block)) = before.rsplit_once(")x(") else {
        let name = before.rsplit_once(", ").map_or(before, |(name, _)| name);
        return Some([name, "", "", capability]);
    };
    let (name, grid) = start.rsplit_once(" (")?;
    Some([name, block, grid, capability])
}

/// The widths of three columns of dashes.
fn widths(dashes: &str) -> Option<[usize; 3]> {
    let widths: Vec<usize> = dashes.split(' ').map(str::len).collect();
    <[usize; 3]>::try_from(widths).ok()
}

/// A line in three columns of given widths, a space between them.
fn columns(line: &str, widths: [usize; 3]) -> [&str; 3] {
    let after = |text: &'_ str, width: usize| text.char_indices().nth(width).map_or(text.len(), |(at, _)| at);
    let (name, rest) = line.split_at(after(line, widths[0]));
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (unit, value) = rest.split_at(after(rest, widths[1]));
    [name.trim(), unit.trim(), value.trim()]
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::ncu::SpeedupKind;

    const PAGE: &str = "==PROF== Connected to process 31 (/app)
step 1, loss 0.5
[31] app@127.0.0.1
  void saxpy<float, (int)4>(T1 *) (1056, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: Launch Statistics
    -------------------------------- --------------- ---------------
    Metric Name                          Metric Unit    Metric Value
    -------------------------------- --------------- ---------------
    Function Cache Configuration                     CachePreferNone
    Registers Per Thread             register/thread              42
    Shared Memory Configuration Size           Kbyte           32.77
    Threads                                   thread         270,336
    -------------------------------- --------------- ---------------

    OPT   Est. Speedup: 50%
          A wave is what runs
          at once.
    ----- ---------------------------------------------------------
    WRN   Few blocks.

    Section: Occupancy
    ------------------ ----------- ------------
    Achieved Occupancy           %        50.40
    ------------------ ----------- ------------

  flux(int, float*), 2020-Apr-07 17:01:05, Context 1, Stream 7
    Section: GPU Speed Of Light
    ------------------ ----------- ------------
    SOL FB                       %        39.60
    Duration               usecond         9.50
    ------------------ ----------- ------------
    WRN   Low use of
          both.
";

    #[test]
    fn the_page_without_csv() {
        let read = read(PAGE).expect("a page");
        assert_eq!(read.faults, []);
        assert_eq!(read.measurements.len(), 2);
        let first = &read.measurements[0];
        assert_eq!(first.name, "void saxpy<float, (int)4>(T1 *)");
        assert_eq!((first.grid, first.block), (Some([1056, 1, 1]), Some([256, 1, 1])));
        assert_eq!(first.capability.map(|one| one.to_string()).as_deref(), Some("9.0"));
        assert_eq!(first.get("launch__registers_per_thread"), Some(42.0));
        assert_eq!(first.get("launch__shared_mem_config_size"), Some(32_768.0));
        assert_eq!(first.get("launch__thread_count"), Some(270_336.0));
        assert_eq!(first.get("sm__warps_active.avg.pct_of_peak_sustained_active"), Some(50.4));
        let said: Vec<_> =
            first.said.iter().map(|said| (said.rule.as_str(), said.text.as_str(), said.speedup)).collect();
        let wave = ("Launch Statistics", "A wave is what runs at once.", Some((SpeedupKind::Global, 50.0)));
        assert_eq!(said, [wave, ("Launch Statistics", "Few blocks.", None)]);
        let second = &read.measurements[1];
        assert_eq!((second.name.as_str(), second.grid), ("flux(int, float*)", None));
        assert_eq!(second.get("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), Some(39.6));
        assert_eq!(second.get("gpu__time_duration.sum"), Some(9500.0));
        assert_eq!(second.said[0].text, "Low use of both.");
    }
}
