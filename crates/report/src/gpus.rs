//! `occupant gpus` for people and for spreadsheets.

use occupant_core::report::{GpuRow, GpusReport, LimitsRow, Origin};

use crate::sheet::Sheet;
use crate::table::{Column, Line, Table};
use crate::words::{count, grouped, wrapped};

/// Models as a table; one model as a page with its SM's limits and every source.
#[must_use]
pub fn gpus_text(report: &GpusReport, width: usize) -> String {
    match (report.gpus.as_slice(), report.compute_capabilities.as_slice()) {
        ([gpu], [limits]) => one(gpu, limits, width),
        ([], capabilities) => capabilities.iter().map(|limits| capability(limits, width)).collect(),
        (gpus, _) => many(gpus, width),
    }
}

fn many(gpus: &[GpuRow], width: usize) -> String {
    let line = |gpu: &GpuRow| {
        Line::Cells(vec![
            gpu.id.clone(),
            gpu.name.clone(),
            gpu.compute_capability.clone(),
            shown(gpu.sm_count),
            shown(gpu.boost_mhz),
            gpu.memory_type.clone(),
            shown(gpu.memory_gb),
            shown(gpu.memory_gb_per_s),
            shown(gpu.l2_mb),
            gpu.confidence.clone(),
        ])
    };
    let table = Table {
        columns: vec![
            Column::left("gpu", u8::MAX),
            Column::left("name", 10),
            Column::right("cc", u8::MAX),
            Column::right("SMs", u8::MAX),
            Column::right("MHz", 50),
            Column::left("memory", 40),
            Column::right("GB", 60),
            Column::right("GB/s", 70),
            Column::right("L2 MB", 45),
            Column::left("confidence", 30),
        ],
        lines: gpus.iter().map(line).collect(),
        first_least: 34,
    };
    let total =
        format!("{}; `occupant gpus NAME` shows one with its limits and sources", count(gpus.len() as u64, "model"));
    format!("{}\n{}", table.render(width), wrapped(&total, width, 2))
}

fn one(gpu: &GpuRow, limits: &LimitsRow, width: usize) -> String {
    let mut text = format!("{} ({}), compute capability {}\n\n", gpu.name, gpu.id, gpu.compute_capability);
    text += &facts(
        &[
            ("SMs", shown(gpu.sm_count)),
            ("clock", format!("{} MHz base, {} MHz boost", shown(gpu.base_mhz), shown(gpu.boost_mhz))),
            ("memory", format!("{} GB {}, {} GB/s", shown(gpu.memory_gb), gpu.memory_type, shown(gpu.memory_gb_per_s))),
            ("L2", format!("{} MB", shown(gpu.l2_mb))),
        ],
        width,
    );
    text += &facts(&of_sm(limits), width);
    text += &facts(&[("latency", latency(gpu))], width);
    text.push('\n');
    text += &wrapped(&format!("model: {} ({})", gpu.source, gpu.confidence), width, 2);
    if let Some(note) = &gpu.note {
        text += &wrapped(&format!("note: {note}"), width, 2);
    }
    text += &from("limits", &limits.limits_from, width);
    text += &from("units and pools", &limits.allocation_from, width);
    if let Some(latency) = &gpu.latency {
        text += &from("latency", &latency.origin, width);
    }
    text
}

/// A capability of which no model is listed.
fn capability(limits: &LimitsRow, width: usize) -> String {
    let mut text = format!("compute capability {}, no model listed\n\n", limits.compute_capability);
    text += &facts(&of_sm(limits), width);
    text.push('\n');
    text += &from("limits", &limits.limits_from, width);
    text + &from("units and pools", &limits.allocation_from, width)
}

fn facts(facts: &[(&str, String)], width: usize) -> String {
    const NAMES: usize = 18;
    let line = |(name, fact): &(&str, String)| {
        format!(
            "{name:<NAMES$}{}",
            wrapped(fact, width.saturating_sub(NAMES), 0).trim_end().replace('\n', &format!("\n{}", " ".repeat(NAMES)))
        ) + "\n"
    };
    facts.iter().map(line).collect()
}

/// What an SM has.
fn of_sm(limits: &LimitsRow) -> Vec<(&'static str, String)> {
    let sizes = |value: u32| format!("{} B", grouped(value.into()));
    let kib: Vec<String> = limits.carveouts.iter().map(|bytes| (bytes / 1024).to_string()).collect();
    let block = if limits.shared_per_block == limits.shared_per_block_optin {
        sizes(limits.shared_per_block)
    } else {
        format!("{} by default, {} with opt-in", sizes(limits.shared_per_block), sizes(limits.shared_per_block_optin))
    };
    vec![
        ("an SM holds", format!("{} warps, {} blocks", limits.max_warps_per_sm, limits.max_blocks_per_sm)),
        (
            "registers",
            format!(
                "{} per SM, {} at most per block, {} per thread; {} per warp at a time from {} sub-partitions",
                grouped(limits.registers_per_sm.into()),
                grouped(limits.registers_per_block.into()),
                limits.max_registers_per_thread,
                limits.register_allocation_unit,
                limits.sub_partitions
            ),
        ),
        (
            "shared memory",
            format!(
                "{} per SM; a block {block}, in units of {} B, {} taken by the system",
                sizes(limits.shared_per_sm),
                limits.shared_allocation_unit,
                sizes(limits.shared_reserved_per_block)
            ),
        ),
        ("carve-outs", if kib.is_empty() { "fixed".to_owned() } else { format!("{} KiB", kib.join(", ")) }),
        ("named barriers", limits.barriers_per_sm.map_or("no limit of the SM".to_owned(), |pool| pool.to_string())),
        (
            "virtual resources",
            limits.virtual_resources_per_sm.map_or("none".to_owned(), |pool| format!("{pool}, a launch-time limit")),
        ),
        (
            "tensor memory",
            limits.tensor_memory_columns.map_or("none".to_owned(), |columns| format!("{columns} columns")),
        ),
    ]
}

fn from(what: &str, origin: &Origin, width: usize) -> String {
    let note = origin.note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
    wrapped(&format!("{what}: {} ({}{note})", origin.source, origin.basis), width, 2)
}

fn latency(gpu: &GpuRow) -> String {
    let Some(row) = &gpu.latency else { return "not known".to_owned() };
    let part = |name: &str, cycles: Option<f64>| cycles.map(|cycles| format!("{name} {cycles}"));
    let parts = [
        part("L1", row.l1_cycles),
        part("L2", row.l2_near_cycles),
        part("far L2", row.l2_far_cycles),
        part("DRAM", row.dram_cycles),
    ];
    let cycles: Vec<String> = parts.into_iter().flatten().collect();
    let clock = row.clock_mhz.map_or_else(String::new, |mhz| format!(" at {mhz} MHz"));
    let dram = row.dram_ns.map_or_else(String::new, |ns| format!("DRAM {ns} ns"));
    if cycles.is_empty() { dram } else { format!("{} cycles{clock}; {dram}", cycles.join(", ")) }
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

/// Models as rows, for CSV and Markdown. Unknown is empty.
#[must_use]
pub fn gpus_sheet(report: &GpusReport) -> Sheet {
    fn cell<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let row = |gpu: &GpuRow| {
        vec![
            gpu.id.clone(),
            gpu.name.clone(),
            gpu.generation.clone(),
            gpu.die.clone(),
            gpu.compute_capability.clone(),
            cell(gpu.sm_count),
            cell(gpu.base_mhz),
            cell(gpu.boost_mhz),
            gpu.memory_type.clone(),
            cell(gpu.memory_gb),
            cell(gpu.memory_gb_per_s),
            cell(gpu.l2_mb),
            cell(gpu.fp32_lanes_per_sm),
            cell(gpu.fp64_lanes_per_sm),
            cell(gpu.tensor_fp16_dense_tflops),
            cell(gpu.latency.as_ref().and_then(|latency| latency.dram_ns)),
            gpu.confidence.clone(),
            gpu.source.clone(),
            cell(gpu.note.clone()),
        ]
    };
    Sheet {
        columns: vec![
            "id",
            "name",
            "generation",
            "die",
            "compute_capability",
            "sm_count",
            "base_mhz",
            "boost_mhz",
            "memory_type",
            "memory_gb",
            "memory_gb_per_s",
            "l2_mb",
            "fp32_lanes_per_sm",
            "fp64_lanes_per_sm",
            "tensor_fp16_dense_tflops",
            "dram_ns",
            "confidence",
            "source",
            "note",
        ],
        rows: report.gpus.iter().map(row).collect(),
    }
}
