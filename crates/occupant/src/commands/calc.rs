//! `occupant calc`.

use std::path::Path;

use anyhow::{Context, bail};
use occupant_core::{BatchColumns, Target, calc, matrix};
use occupant_report::{calc_sheet, calc_text, json, json_line, matrix_text};

use super::Status;
use crate::arguments::CalcOptions;
use crate::file::lines;
use crate::output::{Format, Output, complain};

pub(crate) fn run(options: &CalcOptions, output: &mut Output) -> anyhow::Result<Status> {
    let request = options.request();
    if let Some(file) = &options.batch {
        return batch(file, options, output);
    }
    let gpus = options.gpus();
    let named = gpus.iter().map(|gpu| Target::named(gpu, request.rules));
    let targets: Vec<Target<'_>> = named.collect::<Result<_, _>>()?;
    let [target] = targets.as_slice() else {
        if targets.is_empty() {
            bail!("which GPU? name it with --gpu, such as --gpu h100-sxm or --gpu sm_90; `occupant gpus` lists them");
        }
        let answer = matrix(&targets, &request)?;
        let launchable = answer.results.iter().all(|result| result.launchable);
        match output.format() {
            Format::Table => output.write(&matrix_text(&answer, output.width()))?,
            Format::Json => output.write(&json(&answer)?)?,
            Format::Jsonl => {
                answer.results.iter().try_for_each(|result| anyhow::Ok(output.write(&json_line(result)?)?))?
            }
            Format::Csv => output.write(&calc_sheet(&answer.results).csv())?,
            Format::Markdown => output.write(&calc_sheet(&answer.results).markdown())?,
        }
        return Ok(status(launchable));
    };
    let answer = calc(*target, &request)?;
    let text = match output.format() {
        Format::Table => calc_text(&answer, output.width()),
        Format::Json => json(&answer)?,
        Format::Jsonl => json_line(&answer)?,
        Format::Csv => calc_sheet(std::slice::from_ref(&answer)).csv(),
        Format::Markdown => calc_sheet(std::slice::from_ref(&answer)).markdown(),
    };
    output.write(&text)?;
    Ok(status(answer.launchable))
}

const fn status(launchable: bool) -> Status {
    if launchable { Status::Done } else { Status::No }
}

fn batch(file: &Path, options: &CalcOptions, output: &mut Output) -> anyhow::Result<Status> {
    if !matches!(output.format(), Format::Table | Format::Csv) {
        bail!("--batch answers in CSV: leave --format and --json away");
    }
    let gpus = options.gpus();
    if gpus.len() > 1 {
        bail!("--batch takes one --gpu; name others in a column gpu or cc");
    }
    let request = options.request();
    let name = file.display().to_string();
    let input = lines(file).with_context(|| name.clone())?;
    let gpu = gpus.first();
    if let Some(gpu) = gpu {
        Target::named(gpu, request.rules)?;
    }
    let mut complain = |line: u64, wrong: &str| complain(&format!("error: {name}, line {line}: {wrong}"));
    let done = BatchColumns::work(input, output.writer(), gpu, request.shape, request.rules, &mut complain)
        .with_context(|| name.clone())?;
    Ok(if done.failed == 0 { Status::Done } else { Status::CouldNot })
}
