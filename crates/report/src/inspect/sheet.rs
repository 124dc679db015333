//! `occupant inspect` for spreadsheets and for pages of Markdown.

use occupant_core::report::{InspectReport, KernelRecord};
use serde::Serialize;

use super::notes::{legend, missing, totals};
use super::{cells, sizes, spills_anything};
use crate::places::{Place, labels};
use crate::sheet::Sheet;
use crate::words::{printable, resource};

/// Every kernel as a row, for CSV. Unknown is empty.
#[must_use]
pub fn inspect_sheet(kernels: &[KernelRecord]) -> Sheet {
    Sheet {
        columns: vec![
            "file",
            "entry",
            "arch",
            "gpu",
            "name",
            "demangled",
            "registers",
            "shared_static",
            "shared_dynamic",
            "shared_dynamic_from",
            "stack",
            "local",
            "barriers",
            "spill_instructions",
            "spill_store_bytes",
            "spill_load_bytes",
            "spill_in_loops_bytes",
            "spill_unlisted_bytes",
            "spill_source",
            "max_threads",
            "required_block",
            "max_registers",
            "cluster_blocks",
            "setmaxnreg",
            "tensor_memory",
            "virtual_resources",
            "toolkit",
            "block",
            "block_from",
            "launchable",
            "reason",
            "basis",
            "blocks_per_sm",
            "warps_per_sm",
            "percent",
            "limiters",
            "tile",
            "stages",
            "cluster",
            "schedule",
            "member",
            "code_bytes",
            "returns_at_once",
        ],
        rows: kernels.iter().map(row).collect(),
    }
}

fn row(kernel: &KernelRecord) -> Vec<String> {
    let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let named = kernel.from_name.as_ref();
    let found = kernel.occupancy.as_ref();
    vec![
        kernel.file.to_string(),
        kernel.entry.as_deref().unwrap_or_default().to_owned(),
        text(&kernel.arch),
        kernel.gpu.as_ref().map_or_else(String::new, |gpu| gpu.name.clone()),
        kernel.name.to_string(),
        kernel.demangled.to_string(),
        number(kernel.registers),
        number(kernel.shared_static),
        number(kernel.launch.shared_dynamic),
        kernel.launch.shared_dynamic_from.map_or_else(String::new, name),
        number(kernel.stack),
        number(kernel.local),
        number(kernel.barriers),
        number(kernel.spills.instructions),
        number(kernel.spills.store_bytes),
        number(kernel.spills.load_bytes),
        number(kernel.spills.in_loops_bytes),
        number(kernel.spills.unlisted_bytes),
        kernel.spills.source.unwrap_or_default().to_owned(),
        number(kernel.max_threads),
        number(kernel.required_block),
        number(kernel.max_registers),
        number(kernel.cluster.as_ref().and_then(|cluster| cluster.blocks)),
        kernel.setmaxnreg.to_string(),
        kernel.tensor_memory.to_string(),
        number(kernel.virtual_resources),
        text(&kernel.toolkit),
        number(kernel.launch.block),
        kernel.launch.block_from.map_or_else(String::new, name),
        kernel.launchable.map_or_else(String::new, |launchable| launchable.to_string()),
        text(&kernel.reason),
        found.map_or_else(String::new, |found| name(found.basis)),
        number(found.map(|found| found.blocks_per_sm)),
        number(found.map(|found| found.warps_per_sm)),
        found.map_or_else(String::new, |found| format!("{:?}", found.percent)),
        found.map_or_else(String::new, |found| found.limiters.join("+")),
        named.map_or_else(String::new, |named| sizes(&named.tile)),
        number(named.and_then(|named| named.stages)),
        named.map_or_else(String::new, |named| sizes(&named.cluster)),
        named.map_or_else(String::new, |named| named.schedule.join("+")),
        kernel.member.as_deref().unwrap_or_default().to_owned(),
        kernel.code_bytes.map_or_else(String::new, |bytes| bytes.to_string()),
        kernel.returns_at_once.map_or_else(String::new, |stub| stub.to_string()),
    ]
}

/// The name that a value without data has in JSON.
fn name(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

/// The kernels as a Markdown table and a line of totals, for a pull request or a report. Kernels without an image for the
/// GPU are told below the table.
#[must_use]
pub fn inspect_markdown(report: &InspectReport) -> String {
    let listed: Vec<&KernelRecord> = report.kernels.iter().filter(|kernel| kernel.entry.is_some()).collect();
    let with_gpu = listed.iter().any(|kernel| kernel.gpu.is_some());
    let places: Vec<Place<'_>> = listed.iter().map(|kernel| Place::of(kernel)).collect();
    let with_file = places.iter().any(|place| *place != places[0] || place.member.is_some());
    let mut columns =
        vec!["kernel", "arch", "registers", "shared memory", "block", "blocks per SM", "occupancy", "limited by"];
    let with_spills = listed.iter().any(|kernel| spills_anything(kernel));
    if with_spills {
        columns.insert(4, "spills");
    }
    if with_gpu {
        columns.insert(1, "gpu");
    }
    if with_file {
        columns.insert(1, "file");
    }
    let row = |(kernel, file): (&&KernelRecord, String)| {
        let found = kernel.occupancy.as_ref();
        let limit = match (kernel.launchable, found) {
            (Some(false), _) | (None, _) => kernel.reason.clone().unwrap_or_default(),
            (_, Some(found)) => found.limiters.iter().map(|name| resource(name)).collect::<Vec<_>>().join(", "),
            (_, None) => String::new(),
        };
        let all = cells(kernel);
        let mut row = vec![
            format!("`{}`", printable(&all[0]).replace('`', "'")),
            all[2].clone(),
            all[7].clone(),
            all[8].clone(),
            all[12].clone(),
            all[13].clone(),
            all[14].clone(),
            limit,
        ];
        if with_spills {
            row.insert(4, all[10].replace('*', "\\*"));
        }
        if with_gpu {
            row.insert(1, all[1].clone());
        }
        if with_file {
            row.insert(1, printable(&file).into_owned());
        }
        row
    };
    let sheet = Sheet { columns, rows: listed.iter().zip(labels(&places)).map(row).collect() };
    let mut text = sheet.markdown();
    for line in legend(&report.kernels).into_iter().chain(missing(report)) {
        text += &format!("\n{}\n", line.replace('<', "\\<").replace('~', "\\~").replace('*', "\\*"));
    }
    text + &format!("\n{}\n", totals(report))
}
