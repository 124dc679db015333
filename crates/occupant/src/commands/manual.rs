//! Completions and manual pages, from the same definitions as the parser.

use anyhow::{Context, bail};
use clap::CommandFactory;
use clap_complete::Shell;

use super::Status;
use crate::arguments::Arguments;
use crate::output::Output;

pub(crate) fn completions(shell: Shell, output: &mut Output) -> anyhow::Result<Status> {
    clap_complete::generate(shell, &mut Arguments::command(), "occupant", output.writer());
    Ok(Status::Done)
}

pub(crate) fn man(command: Option<&str>, output: &mut Output) -> anyhow::Result<Status> {
    let mut program = Arguments::command();
    program.build();
    let described = match command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(found) => found.clone(),
            None => bail!("no command `{name}`: `occupant help` lists them"),
        },
    };
    clap_mangen::Man::new(described).render(output.writer()).context("writing the manual page")?;
    Ok(Status::Done)
}
