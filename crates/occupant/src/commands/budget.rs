//! `occupant budget`.

use anyhow::bail;
use occupant_core::report::{BudgetMatrix, BudgetReport, BudgetVerdict, KernelRecord};
use occupant_core::{BudgetError, Subject, Target, budget, budget_of_kernel};
use occupant_report::{budget_sheet, budget_text, budgets_text, grouped, json, json_line};

use super::Status;
use crate::arguments::{BudgetOptions, ShapeFlags};
use crate::output::{self, Format, Output};
use crate::subjects::read;

pub(crate) fn run(options: &BudgetOptions, output: &mut Output) -> anyhow::Result<Status> {
    let (results, failed) = match options.request() {
        None if options.of.paths.is_empty() => {
            bail!("which requests? give them with --warpgroups, such as --warpgroups 40,232,232, or name a file")
        }
        None => of_files(options)?,
        Some(request) => {
            let gpus = options.of.gpus();
            if gpus.is_empty() {
                bail!("which GPU? name it with --gpu, such as --gpu h100-sxm or --gpu sm_90a");
            }
            let mut results = Vec::new();
            for gpu in &gpus {
                match budget(Target::named(gpu, Default::default())?, &request) {
                    // Of a set, GPUs without it are left out.
                    Err(error @ BudgetError::TooOld { .. }) if gpus.len() > 1 => {
                        output::complain(&format!("note: {}: {error}", gpu.name()));
                    }
                    answer => results.push(answer?),
                }
            }
            if results.is_empty() {
                bail!("none of these GPUs has setmaxnreg: it needs compute capability 9.0 or later");
            }
            (results, false)
        }
    };
    if results.is_empty() {
        return Ok(if failed { Status::CouldNot } else { Status::No });
    }
    // What the code does not decide is not a no.
    let wrong = |result: &BudgetReport| matches!(result.verdict, BudgetVerdict::HangRisk | BudgetVerdict::Ignored);
    let legal = !results.iter().any(wrong);
    print(results, output)?;
    Ok(match (failed, legal) {
        (true, _) => Status::CouldNot,
        (false, true) => Status::Done,
        (false, false) => Status::No,
    })
}

/// The kernels that use `setmaxnreg`; a single one that was named is answered in any case.
fn of_files(options: &BudgetOptions) -> anyhow::Result<(Vec<BudgetReport>, bool)> {
    let read = read(&options.of, &ShapeFlags::none(), &options.of.gpus())?;
    let (asking, others): (Vec<KernelRecord>, Vec<KernelRecord>) =
        read.kernels.into_iter().partition(|kernel| kernel.setmaxnreg || !kernel.register_requests.is_empty());
    let kernels = match (asking.is_empty(), others.len()) {
        (true, 1) => others,
        // What could not be read is told already.
        (true, 0) => return Ok((Vec::new(), read.failed)),
        (true, number) => {
            let none =
                "no setmaxnreg in their code; where the source asks for it, the compiler dropped it (ptxas note C7508)";
            output::complain(&format!("note: {} kernels: {none}", grouped(number as u64)));
            return Ok((Vec::new(), read.failed));
        }
        (false, 0) => asking,
        (false, number) => {
            output::complain(&format!(
                "note: {} other kernels have no setmaxnreg in their code",
                grouped(number as u64)
            ));
            asking
        }
    };
    let (mut results, mut unanswered, mut why) = (Vec::new(), 0, String::new());
    for kernel in kernels {
        let answer = match Subject::of_kernel(kernel, &Default::default()) {
            Ok(subject) => match &subject.kernel {
                Some(kernel) => budget_of_kernel(subject.target()?, kernel).map_err(|error| error.to_string()),
                None => continue,
            },
            Err(without) => Err(without.reason),
        };
        match answer {
            Ok(report) => results.push(report),
            Err(reason) => (unanswered, why) = (unanswered + 1, reason),
        }
    }
    if unanswered > 0 {
        output::complain(&format!("note: {unanswered} kernels can't be answered for, the last because {why}"));
    }
    if results.is_empty() && !read.failed {
        bail!("no kernel for a GPU that has setmaxnreg");
    }
    Ok((results, read.failed))
}

fn print(results: Vec<BudgetReport>, output: &mut Output) -> anyhow::Result<()> {
    if results.is_empty() {
        return Ok(());
    }
    let text = match (output.format(), results.as_slice()) {
        (Format::Table, [one]) => budget_text(one, output.width()),
        (Format::Table, several) => budgets_text(several, output.width()),
        (Format::Json, [one]) => json(one)?,
        (Format::Json, _) => json(&BudgetMatrix { schema: "occupant.budget_matrix.v1", results })?,
        (Format::Jsonl, several) => several.iter().map(json_line).collect::<Result<_, _>>()?,
        (Format::Csv, several) => budget_sheet(several).csv(),
        (Format::Markdown, several) => budget_sheet(several).markdown(),
    };
    Ok(output.write(&text)?)
}
