//! Starts other programs and turns their failure into an error that shows what they said.

use std::process::{Command, Output};

use anyhow::{Context, bail};

/// Runs a command to its end; its output is kept.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<Output> {
    let output = command.output().with_context(|| format!("can't start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(output)
}

/// Runs a command that prints to the terminal.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("can't start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
