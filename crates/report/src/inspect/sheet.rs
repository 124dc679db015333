//! `occupant inspect` for spreadsheets and for pages of Markdown.

use occupant_core::report::{InspectReport, KernelRecord};
use serde::Serialize;

use super::notes::{legend, missing, totals};
use super::{Listing, cells, sizes, spills_anything};
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
            "only_reports",
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
        kernel.only_reports.map_or_else(String::new, |stub| stub.to_string()),
    ]
}

/// The name that a value without data has in JSON.
fn name(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

/// The kernels as a Markdown table and a line of totals, for a pull request or a report. Which files were named does not
/// matter: rows say which they come from where there are several.
/// Kernels without an image for the GPU are told below the table.
#[must_use]
pub fn inspect_markdown(report: &InspectReport, listing: Listing) -> String {
    let listed: Vec<&KernelRecord> = report.kernels.iter().filter(|kernel| kernel.entry.is_some()).collect();
    let all: Vec<Vec<String>> = listed.iter().map(|kernel| cells(kernel)).collect();
    let places: Vec<Place<'_>> = listed.iter().map(|kernel| Place::of(kernel)).collect();
    let with_file = places.iter().any(|place| *place != places[0] || place.member.is_some());
    let told = |at: usize| listing.names && all.iter().any(|cells| cells[at] != "-");
    // Titles, and which of the cells stands below.
    let columns = [
        ("gpu", 1, listed.iter().any(|kernel| kernel.gpu.is_some())),
        ("arch", 2, true),
        ("tile", 3, told(3)),
        ("stages", 4, told(4)),
        ("cluster", 5, told(5)),
        ("schedule", 6, told(6)),
        ("registers", 7, true),
        ("shared memory", 8, true),
        ("spills", 10, listed.iter().any(|kernel| spills_anything(kernel))),
        ("block", 12, true),
        ("blocks per SM", 13, true),
        ("occupancy", 14, true),
    ];
    let columns: Vec<(&str, usize)> =
        columns.into_iter().filter(|(_, _, shown)| *shown).map(|(title, at, _)| (title, at)).collect();
    let row = |((kernel, cells), file): ((&&KernelRecord, &Vec<String>), String)| {
        let name = format!("`{}`", printable(&cells[0]).replace('`', "'"));
        let file = with_file.then(|| printable(&file).into_owned());
        let rest = columns.iter().map(|(_, at)| cells[*at].replace('*', "\\*"));
        [name].into_iter().chain(file).chain(rest).chain([limited_by(kernel)]).collect()
    };
    let titles = ["kernel"].into_iter().chain(with_file.then_some("file"));
    let sheet = Sheet {
        columns: titles.chain(columns.iter().map(|(title, _)| *title)).chain(["limited by"]).collect(),
        rows: listed.iter().zip(&all).zip(labels(&places, &[])).map(row).collect(),
    };
    let mut text = sheet.markdown();
    for line in legend(&report.kernels).into_iter().chain(missing(report)) {
        text += &format!("\n{}\n", line.replace('<', "\\<").replace('~', "\\~").replace('*', "\\*"));
    }
    text + &format!("\n{}\n", totals(report, listing.functions))
}

/// What binds, in words, or why nothing is known or it can't be launched.
fn limited_by(kernel: &KernelRecord) -> String {
    match (kernel.launchable, &kernel.occupancy) {
        (Some(false), _) | (None, _) => kernel.reason.clone().unwrap_or_default(),
        (_, Some(found)) => found.limiters.iter().map(|name| resource(name)).collect::<Vec<_>>().join(", "),
        (_, None) => String::new(),
    }
}
