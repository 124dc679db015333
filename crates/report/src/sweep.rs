//! `occupant sweep` for people: the plot, then every step.

use occupant_core::report::{SweepRecord, SweepReport};

use crate::names::cut;
use crate::plot::{Curve, columns, letter, plot};
use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{grouped, percent, resource, wrapped};

/// The staircases as text.
#[must_use]
pub fn sweep_text(report: &SweepReport, width: usize) -> String {
    let (first, last) = range(report);
    let columns = columns(width);
    let mut text = wrapped(&title(report, first, last), width, 0);
    text.push('\n');
    let curves: Vec<Curve> = report.sweeps.iter().map(|sweep| curve(sweep, first, last, columns)).collect();
    let wanted = (columns / 12).clamp(3, 9);
    let labels: Vec<(usize, String)> = ticks(first, last, report.axis, wanted)
        .into_iter()
        .map(|value| (column(value, first, last, columns), label(report, value)))
        .collect();
    text += &plot(&curves, &labels, width);
    text.push('\n');
    let several = report.sweeps.len() > 1;
    for (number, sweep) in report.sweeps.iter().enumerate() {
        let name = if several { format!("{}  ", letter(number)) } else { String::new() };
        text += &wrapped(&format!("{name}{}", now(report, sweep)), width, 3);
    }
    if several {
        text += "*  several of them\n";
    }
    for sweep in &report.sweeps {
        text.push('\n');
        if several {
            text += &format!("{}\n", cut(&subject(sweep), width));
        }
        text += &steps(sweep, width);
    }
    for note in &report.notes {
        text.push('\n');
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    text
}

fn title(report: &SweepReport, first: u32, last: u32) -> String {
    let of: Vec<String> = report.sweeps.iter().map(subject).collect();
    format!(
        "occupancy of {} by {}, {} to {}",
        of.join(", "),
        axis_words(report),
        label(report, first),
        label(report, last)
    )
}

/// What is swept, in words.
pub(crate) fn axis_words(report: &SweepReport) -> &'static str {
    match report.axis {
        "block" => "threads per block",
        "shared" => "shared memory per block",
        "barriers" => "named barriers per block",
        _ => "registers per thread",
    }
}

/// The GPU, and the kernel where there is one.
pub(crate) fn subject(sweep: &SweepRecord) -> String {
    match &sweep.kernel {
        Some(kernel) => format!("{} on {}", kernel.demangled, sweep.gpu.name),
        None => sweep.gpu.name.clone(),
    }
}

/// The smallest and largest amounts of all staircases.
pub(crate) fn range(report: &SweepReport) -> (u32, u32) {
    let firsts = report.sweeps.iter().filter_map(|sweep| sweep.steps.first()).map(|step| step.from);
    let lasts = report.sweeps.iter().filter_map(|sweep| sweep.steps.last()).map(|step| step.to);
    (firsts.min().unwrap_or(0), lasts.max().unwrap_or(0).max(1))
}

/// An amount as people write it.
pub(crate) fn label(report: &SweepReport, value: u32) -> String {
    if report.axis != "shared" {
        return value.to_string();
    }
    if value.is_multiple_of(1024) { format!("{}K", value / 1024) } else { grouped(value.into()) }
}

/// Round amounts for labels of an axis, about `wanted` of them.
pub(crate) fn ticks(first: u32, last: u32, axis: &str, wanted: usize) -> Vec<u32> {
    let steps: &[u32] = match axis {
        "registers" => &[8, 16, 32, 64],
        "block" => &[64, 128, 256],
        "barriers" => &[1, 2, 4],
        _ => &[4096, 8192, 16384, 32768, 65536],
    };
    let span = last - first;
    let fits = |step: &&u32| span / **step <= u32::try_from(wanted).unwrap_or(8);
    let step = steps.iter().find(fits).or(steps.last()).copied().unwrap_or(1);
    (first.next_multiple_of(step)..=last).step_by(step as usize).collect()
}

fn column(value: u32, first: u32, last: u32, columns: usize) -> usize {
    let share = f64::from(value - first) / f64::from((last - first).max(1));
    (share * (columns - 1) as f64).round() as usize
}

fn curve(sweep: &SweepRecord, first: u32, last: u32, columns: usize) -> Curve {
    let at = |column: usize| {
        let value = first + (f64::from(last - first) * column as f64 / (columns - 1) as f64).round() as u32;
        let step = sweep.steps.iter().find(|step| step.from <= value && value <= step.to);
        step.map_or(0.0, |step| step.percent / 100.0)
    };
    let current = sweep.current.filter(|point| (first..=last).contains(&point.value));
    Curve {
        heights: (0..columns).map(at).collect(),
        band: Vec::new(),
        marks: current.map(|point| (column(point.value, first, last, columns), 'o')).into_iter().collect(),
    }
}

fn now(report: &SweepReport, sweep: &SweepRecord) -> String {
    let max = sweep.max_warps_per_sm;
    match sweep.current {
        Some(point) => format!(
            "{}: o is at {}, {} blocks, {} of {max} warps ({} %)",
            subject(sweep),
            label(report, point.value),
            point.blocks_per_sm,
            point.warps_per_sm,
            percent(point.percent)
        ),
        None => format!("{}: 100 % are {max} warps", subject(sweep)),
    }
}

fn steps(sweep: &SweepRecord, width: usize) -> String {
    let current = sweep.current.map(|point| point.value);
    let lines = sweep.steps.iter().map(|step| {
        let here = current.is_some_and(|value| step.from <= value && value <= step.to);
        let limit = if step.blocks_per_sm == 0 { "can't launch: " } else { "" };
        let limiters: Vec<&str> = step.limiters.iter().map(|name| resource(name)).collect();
        Line::Cells(vec![
            grouped(step.from.into()),
            grouped(step.to.into()),
            step.blocks_per_sm.to_string(),
            step.warps_per_sm.to_string(),
            percent(step.percent) + "%",
            format!("{limit}{}", limiters.join(", ")),
            if here { "<- now" } else { "" }.to_owned(),
        ])
    });
    let table = Table {
        columns: vec![
            Column::right("from", u8::MAX),
            Column::right("to", u8::MAX),
            Column::right("blocks", u8::MAX),
            Column::right("warps", u8::MAX),
            Column::right("occupancy", 3),
            Column::left("limited by", 2),
            Column::left("", 4),
        ],
        lines: lines.collect(),
        first_least: 4,
    };
    table.render(width)
}

/// The steps as rows.
#[must_use]
pub fn sweep_sheet(report: &SweepReport) -> Sheet {
    let mut rows = Vec::new();
    for sweep in &report.sweeps {
        for step in &sweep.steps {
            let here = sweep.current.is_some_and(|point| step.from <= point.value && point.value <= step.to);
            rows.push(vec![
                sweep.gpu.name.clone(),
                sweep.gpu.compute_capability.clone(),
                sweep.kernel.as_ref().map_or_else(String::new, |kernel| kernel.name.to_string()),
                report.axis.to_owned(),
                step.from.to_string(),
                step.to.to_string(),
                step.blocks_per_sm.to_string(),
                step.warps_per_sm.to_string(),
                format!("{:?}", step.percent),
                step.limiters.join("+"),
                here.to_string(),
            ]);
        }
    }
    Sheet {
        columns: vec![
            "gpu",
            "compute_capability",
            "kernel",
            "axis",
            "from",
            "to",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "limiters",
            "current",
        ],
        rows,
    }
}
