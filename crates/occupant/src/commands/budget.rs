//! `occupant budget`.

use anyhow::bail;
use occupant_core::report::{BudgetMatrix, BudgetReport, BudgetVerdict, KernelRecord};
use occupant_core::{Subject, Target, budget, budget_of_kernel};
use occupant_report::{budget_sheet, budget_text, json, json_line};

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
            let one = |gpu| anyhow::Ok(budget(Target::named(gpu, Default::default())?, &request)?);
            (gpus.iter().map(one).collect::<Result<Vec<_>, _>>()?, false)
        }
    };
    let legal = results.iter().all(|result| result.verdict == BudgetVerdict::Legal);
    print(results, output)?;
    Ok(match (failed, legal) {
        (true, _) => Status::CouldNot,
        (false, true) => Status::Done,
        (false, false) => Status::No,
    })
}

/// The kernels that use `setmaxnreg`; where none does, all that were named, whose answer says so.
fn of_files(options: &BudgetOptions) -> anyhow::Result<(Vec<BudgetReport>, bool)> {
    let read = read(&options.of, &ShapeFlags::none(), &options.of.gpus())?;
    let (asking, others): (Vec<KernelRecord>, Vec<KernelRecord>) =
        read.kernels.into_iter().partition(|kernel| kernel.setmaxnreg || !kernel.register_requests.is_empty());
    if !asking.is_empty() && !others.is_empty() {
        output::complain(&format!("note: {} other kernels have no setmaxnreg in their code", others.len()));
    }
    let mut results = Vec::new();
    for kernel in if asking.is_empty() { others } else { asking } {
        let name = kernel.demangled.clone();
        match Subject::of_kernel(kernel, &Default::default()) {
            Ok(subject) => {
                let Some(kernel) = &subject.kernel else { continue };
                match budget_of_kernel(subject.target()?, kernel) {
                    Ok(report) => results.push(report),
                    Err(error) => output::complain(&format!("note: {name}: {error}")),
                }
            }
            Err(without) => output::complain(&format!("note: {name} on {}: {}", without.gpu.name, without.reason)),
        }
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
        (Format::Table, several) => {
            several.iter().map(|result| budget_text(result, output.width())).collect::<Vec<_>>().join("\n")
        }
        (Format::Json, [one]) => json(one)?,
        (Format::Json, _) => json(&BudgetMatrix { schema: "occupant.budget_matrix.v1", results })?,
        (Format::Jsonl, several) => several.iter().map(json_line).collect::<Result<_, _>>()?,
        (Format::Csv, several) => budget_sheet(several).csv(),
        (Format::Markdown, several) => budget_sheet(several).markdown(),
    };
    Ok(output.write(&text)?)
}
