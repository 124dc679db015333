//! `occupant fit`.

use occupant_core::report::{FitMatrix, FitReport};
use occupant_core::{current_gpus, fit_each};
use occupant_report::{fit_sheet, fit_text, fits_text, json, json_line};

use super::Status;
use crate::arguments::FitOptions;
use crate::output::{Format, Output};
use crate::subjects::subjects;

pub(crate) fn run(options: &FitOptions, output: &mut Output) -> anyhow::Result<Status> {
    let mut gpus = options.of.gpus();
    let named = !gpus.is_empty();
    if !named {
        gpus = current_gpus();
    }
    let asked = subjects(&options.of, &options.shape, &gpus)?;
    let results = fit_each(asked.all, &options.request())?;
    if results.is_empty() {
        return Ok(Status::CouldNot);
    }
    // Of GPUs that nobody named, one that fits is a yes; of those named, all have to.
    let mut answered = results.iter().filter(|result| result.input.is_some());
    let yes = if named { answered.clone().next().is_some() && answered.all(reached) } else { answered.any(reached) };
    print(results, output)?;
    Ok(match (asked.failed, yes) {
        (true, _) => Status::CouldNot,
        (false, true) => Status::Done,
        (false, false) => Status::No,
    })
}

/// Whether the blocks asked for can be reached; without a number, whether the shape can launch, now or changed.
fn reached(result: &FitReport) -> bool {
    match result.wanted {
        Some(wanted) if wanted.given => !result.solutions.is_empty(),
        _ => result.launchable == Some(true) || !result.solutions.is_empty(),
    }
}

fn print(results: Vec<FitReport>, output: &mut Output) -> anyhow::Result<()> {
    let text = match (output.format(), results.as_slice()) {
        (Format::Table, [one]) => fit_text(one, output.width()),
        (Format::Table, several) => fits_text(several, output.width()),
        (Format::Json, [one]) => json(one)?,
        (Format::Json, _) => json(&FitMatrix { schema: "occupant.fit_matrix.v1", results })?,
        (Format::Jsonl, several) => several.iter().map(json_line).collect::<Result<_, _>>()?,
        (Format::Csv, several) => fit_sheet(several).csv(),
        (Format::Markdown, several) => fit_sheet(several).markdown(),
    };
    Ok(output.write(&text)?)
}
