//! What the details page calls a metric, and the metric's name. For: looking up a label of a section. Not for: the values.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::scale::Scale;

/// The table, see the README beside it.
const DATA: &str = include_str!("../../data/labels.csv");

/// The section of `--metrics`.
const ASKED: &str = "Command line profiler metrics";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Label {
    section: String,
    label: String,
    unit: String,
    metric: String,
}

/// Labels by their name in lower case: its capitals changed between versions.
static LABELS: LazyLock<BTreeMap<String, Vec<Label>>> = LazyLock::new(|| {
    let mut labels: BTreeMap<String, Vec<Label>> = BTreeMap::new();
    // A row that does not parse would be a fault of the table; a test finds it.
    for label in ::csv::Reader::from_reader(DATA.as_bytes()).deserialize().filter_map(Result::<Label, _>::ok) {
        labels.entry(label.label.to_lowercase()).or_default().push(label);
    }
    labels
});

/// The metric that a page names, whether by its name or by its label. `None` for a label that is not known or stands for
/// several metrics.
pub(super) fn metric<'a>(section: &str, name: &'a str, unit: &str) -> Option<&'a str> {
    let name = name.trim();
    // `--print-metric-name label-name` prints both; labels that are formulas name several metrics.
    let mut named = name.split([' ', '(', ')']).filter(|word| word.contains("__"));
    let written = named.next().filter(|_| named.next().is_none());
    // Names without a double underscore exist, and stand only where names were asked for.
    let asked = || (section.eq_ignore_ascii_case(ASKED) && !name.contains(' ') && !name.is_empty()).then_some(name);
    written.or_else(|| by_label(section, name, unit)).or_else(asked)
}

fn by_label(section: &str, label: &str, unit: &str) -> Option<&'static str> {
    let scale = Scale::of(unit);
    let fits = |label: &&Label| unit.is_empty() || label.unit.is_empty() || scale.alike(&label.unit);
    let known = LABELS.get(&label.to_lowercase())?;
    let mut fitting = known.iter().filter(fits);
    let here = known.iter().filter(fits).find(|label| label.section.eq_ignore_ascii_case(section.trim()));
    if let Some(label) = here {
        return Some(&label.metric);
    }
    // Sections were renamed, and users write their own: the label alone will do where it means one thing.
    let first = fitting.next()?;
    fitting.all(|label| label.metric == first.metric).then_some(first.metric.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_parses() {
        let rows: Vec<Result<Label, _>> = ::csv::Reader::from_reader(DATA.as_bytes()).deserialize().collect();
        assert!(rows.len() > 200, "{}", rows.len());
        for row in rows {
            let label = row.expect("a row of labels.csv");
            assert!(label.metric.contains("__"), "{label:?}");
        }
    }

    #[test]
    fn one_label_of_two_sections() {
        let share = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
        assert_eq!(metric("GPU Speed Of Light Throughput", "Memory Throughput", "%"), Some(share));
        assert_eq!(
            metric("Memory Workload Analysis", "Memory Throughput", "Gbyte/s"),
            Some("dram__bytes.sum.per_second")
        );
        // Without its section the unit decides, and without both nothing does.
        assert_eq!(metric("", "Memory Throughput", "Tbyte/s"), Some("dram__bytes.sum.per_second"));
        assert_eq!(metric("", "Memory Throughput", ""), None);
    }

    #[test]
    fn labels_that_decide_occupancy() {
        let known = [
            ("Occupancy", "Theoretical Occupancy", "%", "sm__maximum_warps_per_active_cycle_pct"),
            ("Occupancy", "Achieved Occupancy", "%", "sm__warps_active.avg.pct_of_peak_sustained_active"),
            ("Occupancy", "Block Limit Registers", "block", "launch__occupancy_limit_registers"),
            ("Occupancy", "Block Limit Barriers", "block", "launch__occupancy_limit_barriers"),
            ("Launch Statistics", "Registers Per Thread", "register/thread", "launch__registers_per_thread"),
            ("Launch Statistics", "Waves Per SM", "", "launch__waves_per_multiprocessor"),
            ("Scheduler Statistics", "Issued Warp Per Scheduler", "", "smsp__issue_active.avg.per_cycle_active"),
            (
                "Scheduler Statistics",
                "Eligible Warps Per Scheduler",
                "warp",
                "smsp__warps_eligible.avg.per_cycle_active",
            ),
            ("GPU Speed Of Light", "SOL FB", "%", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
            ("GPU Speed Of Light", "SOL SM", "%", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            ("GPU Speed Of Light", "SM [%]", "%", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            ("GPU Speed Of Light", "Memory Frequency", "cycle/second", "dram__cycles_elapsed.avg.per_second"),
            ("GPU Speed Of Light", "Duration", "usecond", "gpu__time_duration.sum"),
        ];
        for (section, label, unit, expected) in known {
            assert_eq!(metric(section, label, unit), Some(expected), "{label}");
        }
    }

    #[test]
    fn names_of_metrics_stand_for_themselves() {
        assert_eq!(
            metric("Command line profiler metrics", "gpu__time_duration.sum", "ns"),
            Some("gpu__time_duration.sum")
        );
        assert_eq!(metric("", "Duration (gpu__time_duration.sum)", "ns"), Some("gpu__time_duration.sum"));
        assert_eq!(metric(ASKED, "branch_inst_executed", ""), Some("branch_inst_executed"));
        assert_eq!(metric("", "smsp__inst_issued.sum / smsp__inst_executed.sum", ""), None);
        assert_eq!(metric("My Section", "My Label", "%"), None);
    }
}
