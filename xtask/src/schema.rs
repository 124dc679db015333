//! `cargo xtask schema`: JSON Schemas of every document, generated from the types and checked in under `docs/schemas`.

use std::fs;

use anyhow::bail;
use clap::Args;
use occupant_core::report::{
    BudgetMatrix, BudgetReport, CalcReport, ExplainReport, FitMatrix, FitReport, GpuLine, GpusReport, InspectReport,
    KernelLine, LaunchMatrix, LaunchReport, MatrixReport, NeedNumbersMatrix, NeedNumbersReport, NeedReport,
    ProbeReport, SummaryReport, SweepReport, VerdictLine, VerdictReport,
};

use crate::paths;

/// Options of `cargo xtask schema`.
#[derive(Args)]
pub(crate) struct Options {
    /// Fail where a file is not up to date instead of writing it
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = paths::root().join("docs/schemas");
    fs::create_dir_all(&folder)?;
    let schemas = [
        ("occupant.calc.v1", schemars::schema_for!(CalcReport)),
        ("occupant.matrix.v1", schemars::schema_for!(MatrixReport)),
        ("occupant.fit.v1", schemars::schema_for!(FitReport)),
        ("occupant.fit_matrix.v1", schemars::schema_for!(FitMatrix)),
        ("occupant.sweep.v1", schemars::schema_for!(SweepReport)),
        ("occupant.launch.v1", schemars::schema_for!(LaunchReport)),
        ("occupant.launch_matrix.v1", schemars::schema_for!(LaunchMatrix)),
        ("occupant.budget.v1", schemars::schema_for!(BudgetReport)),
        ("occupant.budget_matrix.v1", schemars::schema_for!(BudgetMatrix)),
        ("occupant.need.v1", schemars::schema_for!(NeedReport)),
        ("occupant.need_numbers.v1", schemars::schema_for!(NeedNumbersReport)),
        ("occupant.need_numbers_matrix.v1", schemars::schema_for!(NeedNumbersMatrix)),
        ("occupant.probe.v1", schemars::schema_for!(ProbeReport)),
        ("occupant.verdict.v1", schemars::schema_for!(VerdictReport)),
        ("occupant.verdict_launch.v1", schemars::schema_for!(VerdictLine<'static>)),
        ("occupant.explain.v1", schemars::schema_for!(ExplainReport)),
        ("occupant.inspect.v1", schemars::schema_for!(InspectReport)),
        ("occupant.kernel.v1", schemars::schema_for!(KernelLine<'static>)),
        ("occupant.summary.v1", schemars::schema_for!(SummaryReport)),
        ("occupant.gpus.v1", schemars::schema_for!(GpusReport)),
        ("occupant.gpu.v1", schemars::schema_for!(GpuLine<'static>)),
    ];
    let mut stale = Vec::new();
    for (name, schema) in schemas {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        if fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
            continue;
        }
        stale.push(name);
        if !options.check {
            fs::write(&path, text)?;
        }
    }
    if options.check && !stale.is_empty() {
        bail!("not up to date: {}; run `cargo xtask schema`", stale.join(", "));
    }
    println!("schemas: {} written{}", stale.len(), stale.iter().map(|name| format!(" {name}")).collect::<String>());
    Ok(())
}
