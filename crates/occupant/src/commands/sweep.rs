//! `occupant sweep`.

use std::path::Path;

use anyhow::{Context, bail};
use occupant_core::{Subject, WithoutShape, sweep};
use occupant_report::{json, json_line, sweep_sheet, sweep_svg, sweep_text};

use super::Status;
use crate::arguments::SweepOptions;
use crate::output::{self, Format, Output};
use crate::subjects::subjects;

/// Staircases on one plot, at most: more can't be told apart.
const MOST: usize = 8;

pub(crate) fn run(options: &SweepOptions, output: &mut Output) -> anyhow::Result<Status> {
    let gpus = options.of.gpus();
    if gpus.is_empty() && options.of.paths.is_empty() {
        bail!("which GPU? name it with --gpu, such as --gpu h100-sxm or --gpu sm_90; `occupant gpus` lists them");
    }
    let asked = subjects(&options.of, &options.shape, &gpus)?;
    let mut known: Vec<Subject> = Vec::new();
    for subject in asked.all {
        match subject {
            Ok(subject) => known.push(subject),
            Err(without) => output::complain(&format!("warning: {}: {}", name(&without), without.reason)),
        }
    }
    if known.is_empty() && asked.failed {
        return Ok(Status::CouldNot);
    }
    if known.is_empty() {
        bail!("nothing to sweep: no kernel has an image for these GPUs");
    }
    let drawn = matches!(output.format(), Format::Table) || options.svg.is_some();
    if drawn && known.len() > MOST {
        bail!(
            "{} staircases do not fit on one plot, {MOST} do: narrow it with --kernel or --gpu, or take --format csv",
            known.len()
        );
    }
    let report = sweep(&known, options.axis.into(), options.has_current())?;
    let svg = options.svg.as_deref();
    if let Some(file) = svg {
        let picture = sweep_svg(&report);
        if file == Path::new("-") {
            output.write(&picture)?;
            return Ok(Status::Done);
        }
        std::fs::write(file, picture).with_context(|| file.display().to_string())?;
    }
    let text = match output.format() {
        Format::Table => sweep_text(&report, output.width()),
        Format::Json => json(&report)?,
        Format::Jsonl => json_line(&report)?,
        Format::Csv => sweep_sheet(&report).csv(),
        Format::Markdown => sweep_sheet(&report).markdown(),
    };
    output.write(&text)?;
    Ok(if asked.failed { Status::CouldNot } else { Status::Done })
}

fn name(without: &WithoutShape) -> String {
    format!("{} on {}", without.kernel.demangled, without.gpu.name)
}
