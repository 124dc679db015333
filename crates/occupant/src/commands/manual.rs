//! Completions and manual pages, from the same definitions as the parser.

use std::io::Write;

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
    page(described, output.writer()).context("writing the manual page")?;
    Ok(Status::Done)
}

/// The page with its examples as they are typed; the renderer of the crate fills them like prose.
fn page(command: clap::Command, writer: &mut impl Write) -> std::io::Result<()> {
    let examples = command.get_after_help().map(ToString::to_string);
    let has_commands = command.get_subcommands().next().is_some();
    let man = clap_mangen::Man::new(command);
    man.render_title(writer)?;
    man.render_name_section(writer)?;
    man.render_synopsis_section(writer)?;
    man.render_description_section(writer)?;
    man.render_options_section(writer)?;
    if has_commands {
        man.render_subcommands_section(writer)?;
    }
    if let Some(examples) = examples {
        writeln!(writer, ".SH EXAMPLES AND NOTES\n.nf")?;
        for line in examples.lines() {
            // A line that starts with a dot or a quote would be a request, and a backslash an escape.
            writeln!(writer, "\\&{}", line.replace('\\', "\\\\").replace('-', "\\-"))?;
        }
        writeln!(writer, ".fi")?;
    }
    Ok(())
}
