//! The verdicts on public reports against labels that people gave them by their evidence: how often which became which.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use occupant_advice::verdict::{Label, verdict};
use occupant_profile::ncu::{Report, unpack};
use serde::Deserialize;

use crate::paths;

#[derive(Deserialize)]
struct Row {
    report: String,
    launch: usize,
    kernel: String,
    label: String,
    occupancy_would_help: String,
    close: String,
}

/// Compares and prints the confusion table.
pub(super) fn compare(reports: &[PathBuf]) -> anyhow::Result<()> {
    let path = paths::root().join("xtask/data/verdicts/labels.csv");
    let rows: Vec<Row> = csv::Reader::from_path(path)?.deserialize().collect::<Result<_, _>>()?;
    let mut tally = Tally::default();
    for report in reports {
        let name = report.file_name().unwrap_or_default().to_string_lossy();
        let of_report: Vec<&Row> = rows.iter().filter(|row| row.report == name).collect();
        judge(report, &of_report, &mut tally).with_context(|| name.into_owned())?;
    }
    tally.print(rows.len());
    Ok(())
}

#[derive(Default)]
struct Tally {
    /// Launches by label and by verdict.
    confusion: BTreeMap<(String, String), usize>,
    /// Distinct kernels of a report with both labels equal, and all.
    distinct: BTreeMap<(String, String, String), (String, bool)>,
    launches: usize,
    right: usize,
    right_clear: usize,
    clear: usize,
    help_right: usize,
    help_wrong: usize,
    differ: Vec<String>,
}

fn judge(path: &Path, rows: &[&Row], tally: &mut Tally) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let packed = fs::read(path)?;
    let bytes = unpack(&packed)?;
    let measured = Report::read(&bytes)?.measurements();
    for row in rows {
        let Some(launch) = measured.get(row.launch) else { continue };
        let found = verdict(launch);
        let (label, help) = (found.label.name(), found.help.name());
        tally.launches += 1;
        let right = label == row.label;
        tally.right += usize::from(right);
        if row.close == "no" {
            tally.clear += 1;
            tally.right_clear += usize::from(right);
        }
        tally.help_right += usize::from(help == row.occupancy_would_help);
        // A yes for a no or the other way round is worse than not knowing.
        let opposite = matches!((help, row.occupancy_would_help.as_str()), ("yes", "no") | ("no", "yes"));
        tally.help_wrong += usize::from(opposite);
        *tally.confusion.entry((row.label.clone(), label.to_owned())).or_default() += 1;
        tally.distinct.insert((row.report.clone(), row.kernel.clone(), row.label.clone()), (label.to_owned(), right));
        if !right {
            tally.differ.push(format!(
                "{} {} `{}`: labelled {}{}, found {label}: {}",
                row.report,
                row.launch,
                row.kernel,
                row.label,
                if row.close == "no" { "" } else { " (close)" },
                found.says
            ));
        }
    }
    Ok(())
}

impl Tally {
    fn print(&self, labelled: usize) {
        let names: Vec<&str> = Label::ALL.iter().map(|label| label.name()).collect();
        println!("| label \\ verdict | {} |", names.join(" | "));
        println!("|---|{}", "---|".repeat(names.len()));
        for label in &names {
            let count = |found: &&str| {
                let key = ((*label).to_owned(), (*found).to_owned());
                self.confusion.get(&key).map_or_else(String::new, usize::to_string)
            };
            println!("| {label} | {} |", names.iter().map(count).collect::<Vec<_>>().join(" | "));
        }
        let kernels = self.distinct.values().filter(|(_, right)| *right).count();
        println!();
        println!("{} of {} launches as labelled ({labelled} are labelled)", self.right, self.launches);
        println!("{} of {} that no reader called close", self.right_clear, self.clear);
        println!("{kernels} of {} distinct kernels of a report", self.distinct.len());
        println!(
            "occupancy would help: {} of {} as labelled, {} the opposite",
            self.help_right, self.launches, self.help_wrong
        );
        for line in &self.differ {
            println!("{line}");
        }
    }
}
