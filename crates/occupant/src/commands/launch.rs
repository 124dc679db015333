//! `occupant launch`.

use anyhow::bail;
use occupant_core::report::{LaunchMatrix, LaunchReport};
use occupant_core::{GpuSelector, Subject, Tile, launch};
use occupant_report::{json, json_line, launch_sheet, launch_text};

use super::Status;
use crate::arguments::{LaunchOptions, models};
use crate::output::{self, Format, Output};

pub(crate) fn run(options: &LaunchOptions, output: &mut Output) -> anyhow::Result<Status> {
    let (shape, request) = (options.shape().request(), options.request());
    let silent = |tile: &Tile| tile.blocks_per_sm.is_none();
    if request.tiles.iter().any(silent) && request.blocks_per_sm.is_none() && options.shape().registers.is_none() {
        bail!(
            "how many blocks per SM? give --blocks-per-sm, or a tile's own as in --tile 128x256@1, or the launch shape with --registers"
        );
    }
    let one = |gpu| launch(&Subject::by_numbers(gpu, shape), &request);
    let differs = |gpu: &GpuSelector| request.sms.is_none() && gpu.sm_count().is_none();
    let (gpus, notes) = models(options.gpus(), differs, "SMs");
    let results: Vec<LaunchReport> = gpus.into_iter().map(one).collect::<Result<_, _>>()?;
    notes.iter().for_each(|note| output::complain(&format!("note: {note}")));
    let launchable = results.iter().all(|result| result.launchable);
    let text = match (output.format(), results.as_slice()) {
        (Format::Table, several) => {
            several.iter().map(|result| launch_text(result, output.width())).collect::<Vec<_>>().join("\n")
        }
        (Format::Json, [one]) => json(one)?,
        (Format::Json, _) => json(&LaunchMatrix { schema: "occupant.launch_matrix.v1", results })?,
        (Format::Jsonl, several) => several.iter().map(json_line).collect::<Result<_, _>>()?,
        (Format::Csv, several) => launch_sheet(several).csv(),
        (Format::Markdown, several) => launch_sheet(several).markdown(),
    };
    output.write(&text)?;
    Ok(if launchable { Status::Done } else { Status::No })
}
