//! `occupant gpus`.

use occupant_core::report::GpuLine;
use occupant_core::{GpuSelector, gpu_rows};
use occupant_report::{gpus_sheet, gpus_text, json, json_line};

use super::Status;
use crate::arguments::GpusOptions;
use crate::output::{Format, Output};

pub(crate) fn run(options: &GpusOptions, output: &mut Output) -> anyhow::Result<Status> {
    let report = gpu_rows(&options.name);
    if report.gpus.is_empty() && report.compute_capabilities.is_empty() {
        // The error of the look-up has the nearest names.
        options.name.join(" ").parse::<GpuSelector>()?;
    }
    let text = match output.format() {
        Format::Table => gpus_text(&report, output.width()),
        Format::Json => json(&report)?,
        Format::Jsonl => report
            .gpus
            .iter()
            .map(|gpu| json_line(&GpuLine { schema: "occupant.gpu.v1", gpu }))
            .collect::<Result<_, _>>()?,
        Format::Csv => gpus_sheet(&report).csv(),
        Format::Markdown => gpus_sheet(&report).markdown(),
    };
    output.write(&text)?;
    Ok(Status::Done)
}
