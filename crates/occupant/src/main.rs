//! The program: arguments, files, terminal, exit codes. Everything else is in the libraries it joins.
//!
//! Exit status: 0 done, 1 the answer is no, 2 could not do it (docs/json.md).
#![allow(clippy::disallowed_methods, reason = "the program is the one place that opens files and asks the terminal")]

mod arguments;
mod commands;
mod file;
mod folder;
mod output;
mod scan;
mod subjects;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use commands::Status;
use output::Output;

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| arguments::refusal(error).exit());
    let mut output = Output::new(arguments.look);
    let result = match arguments.command {
        Command::Inspect(options) => commands::inspect::run(&options, &mut output),
        Command::Calc(options) => commands::calc::run(&options, &mut output),
        Command::Fit(options) => commands::fit::run(&options, &mut output),
        Command::Sweep(options) => commands::sweep::run(&options, &mut output),
        Command::Launch(options) => commands::launch::run(&options, &mut output),
        Command::Budget(options) => commands::budget::run(&options, &mut output),
        Command::Need(options) => commands::need::run(&options, &mut output),
        Command::Verdict(options) => commands::verdict::run(&options, &mut output),
        Command::Strip(options) => commands::strip::run(&options, &mut output),
        Command::Probe(flags) => commands::probe::run(&flags, &mut output),
        Command::Explain(options) => commands::explain::run(&options, &mut output),
        Command::Gpus(options) => commands::gpus::run(&options, &mut output),
        Command::Completions { shell } => commands::manual::completions(shell, &mut output),
        Command::Man { command } => commands::manual::man(command.as_deref(), &mut output),
    };
    let result = result.and_then(|status| match output.finish().map_err(anyhow::Error::from) {
        // What could not be done was told already; a reader that is gone changes nothing about it.
        Err(error) if !(status == Status::CouldNot && output::is_broken_pipe(&error)) => Err(error),
        _ => Ok(status),
    });
    match result {
        Ok(status) => status.into(),
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&format!("error: {error:#}"));
            Status::CouldNot.into()
        }
    }
}
