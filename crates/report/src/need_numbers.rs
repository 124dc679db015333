//! `occupant need` by numbers, for people.

use occupant_core::report::{IlpRow, NeedNumbersReport};

use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{grouped, on_gpu, wrapped};

/// The answers as text.
#[must_use]
pub fn need_numbers_text(report: &NeedNumbersReport, width: usize) -> String {
    let mut text = wrapped(&format!("{}: {}", on_gpu(&report.gpu), report.says), width, 2);
    if let Some(stream) = &report.stream {
        let law = &stream.littles_law;
        let line = |name: &str, value: String| Line::Cells(vec![name.to_owned(), value]);
        let lines = vec![
            line("latency", format!("{:.0} ns, unloaded", law.latency_ns)),
            line("bandwidth", format!("{:.0} GB/s for reads ({})", law.gb_per_s, law.ceiling.basis)),
            line(
                "in flight an SM",
                format!(
                    "{} bytes by Little's law alone, {} for {} %",
                    grouped(law.bytes_per_sm.into()),
                    grouped(law.bytes_per_sm_for_target.into()),
                    stream.target
                ),
            ),
            line("in flight a warp", format!("{:.0} bytes", stream.bytes_in_flight_per_warp)),
        ];
        text += &format!("\n{}", two_columns(lines).render(width));
        text += &format!("\n{}", by_ilp(&stream.by_ilp, "loads in flight", stream.max_warps_per_sm).render(width));
    }
    if let Some(operation) = &report.operation {
        let line = |name: &str, value: String| Line::Cells(vec![name.to_owned(), value]);
        let lines = vec![
            line("latency", format!("{} cycles", operation.latency_cycles)),
            line("an SM takes", format!("{} a cycle", operation.per_cycle)),
        ];
        text += &format!("\n{}", two_columns(lines).render(width));
        text += &format!("\n{}", by_ilp(&operation.by_ilp, "independent", u32::MAX).render(width));
        text += &format!("\n{}", wrapped(&format!("source: {}", operation.source), width, 2));
    }
    if let Some(roofline) = &report.roofline {
        text += &format!(
            "\n{}",
            wrapped(
                &format!(
                    "{} operations a byte; {} GB/s by specification, streams reach {:.0}",
                    roofline.intensity, roofline.gb_per_s, roofline.reached_gb_per_s
                ),
                width,
                2
            )
        );
        text += &roofs(report).render(width);
    }
    for assumption in &report.assumptions {
        text += &format!("\n{}", wrapped(&format!("assumed: {assumption}"), width, 2));
    }
    text
}

fn two_columns(lines: Vec<Line>) -> Table {
    Table { columns: vec![Column::left("", u8::MAX), Column::left("", u8::MAX)], lines, first_least: 16 }
}

/// How many warps stand for how many independent operations.
fn by_ilp(rows: &[IlpRow], what: &'static str, most: u32) -> Table {
    let registers = rows.iter().any(|row| row.registers.is_some());
    let mut columns = vec![Column::right(what, u8::MAX), Column::right("warps needed", u8::MAX)];
    if registers {
        columns.push(Column::right("registers that hold them", u8::MAX));
    }
    let line = |row: &IlpRow| {
        let over = if row.warps > f64::from(most) { " (more than an SM holds)" } else { "" };
        let mut cells = vec![row.ilp.to_string(), format!("{:.1}{over}", row.warps)];
        cells.extend(row.registers.map(|registers| registers.to_string()));
        Line::Cells(cells)
    };
    Table { columns, lines: rows.iter().map(line).collect(), first_least: 8 }
}

fn roofs(report: &NeedNumbersReport) -> Table {
    let rows = report.roofline.as_ref().map_or(&[][..], |roofline| &roofline.roofs);
    let lines = rows.iter().map(|roof| {
        Line::Cells(vec![
            roof.arithmetic.replace('_', " "),
            format!("{:.0}", roof.peak_gflops),
            format!("{:.1}", roof.ridge),
            format!("{} bound", roof.bound),
            format!("{:.0}", roof.attainable_gflops),
        ])
    });
    Table {
        columns: vec![
            Column::left("arithmetic", u8::MAX),
            Column::right("peak GFLOP/s", u8::MAX),
            Column::right("ridge", u8::MAX),
            Column::left("side", u8::MAX),
            Column::right("at most GFLOP/s", 2),
        ],
        lines: lines.collect(),
        first_least: 12,
    }
}

/// Answers as rows: one a GPU and number of independent operations, or a GPU and roof.
#[must_use]
pub fn need_numbers_sheet(reports: &[NeedNumbersReport]) -> Sheet {
    let mut rows = Vec::new();
    for report in reports {
        let gpu = &report.gpu.name;
        let mut ilp = |question: &str, of: &[IlpRow]| {
            for row in of {
                let registers = row.registers.map_or_else(String::new, |registers| registers.to_string());
                let cells = [gpu, question, &row.ilp.to_string(), &format!("{:?}", row.warps), &registers, "", ""];
                rows.push(cells.map(str::to_owned).to_vec());
            }
        };
        if let Some(stream) = &report.stream {
            ilp(stream.memory, &stream.by_ilp);
        }
        if let Some(operation) = &report.operation {
            ilp(operation.operation, &operation.by_ilp);
        }
        for roof in report.roofline.iter().flat_map(|roofline| &roofline.roofs) {
            let ridge = format!("{:?}", roof.ridge);
            rows.push([gpu, roof.arithmetic, "", "", "", &ridge, roof.bound].map(str::to_owned).to_vec());
        }
    }
    Sheet { columns: vec!["gpu", "question", "ilp", "needed_warps", "registers", "ridge", "bound"], rows }
}
