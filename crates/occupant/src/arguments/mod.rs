//! What can be typed. One definition gives parser, help, completions and manual page.

mod calc;
mod inspect;
mod shape;

pub(crate) use calc::CalcOptions;
pub(crate) use inspect::{InspectFlags, Sort};

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::output::Look;

/// How many warps a CUDA kernel keeps resident on an SM, and what binds. No GPU, no CUDA toolkit.
#[derive(Debug, Parser)]
#[command(name = "occupant", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) look: Look,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List every kernel in libraries, fatbins and cubins with its resources and occupancy
    Inspect(Box<InspectFlags>),
    /// Occupancy of one launch shape given by numbers, or of many in a CSV file
    Calc(Box<CalcOptions>),
    /// GPU models and the limits of their SMs, with sources
    Gpus(GpusOptions),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  occupant completions bash > ~/.local/share/bash-completion/completions/occupant"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of the program or of one command, as roff
    #[command(after_help = "Example:\n  occupant man inspect | man -l -")]
    Man {
        /// The command; the program itself where not given
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  occupant gpus\n  occupant gpus h100-sxm\n  occupant gpus blackwell --format csv")]
pub(crate) struct GpusOptions {
    /// A model, a family, an architecture, or words to search for
    pub(crate) name: Vec<String>,
}
