//! What can be typed. One definition gives parser, help, completions and manual page.

mod budget;
mod calc;
mod explain;
mod fit;
mod gpus;
mod inspect;
mod kernels;
mod launch;
mod need;
mod probe;
mod shape;
mod strip;
mod verdict;

pub(crate) use budget::BudgetOptions;
pub(crate) use calc::CalcOptions;
pub(crate) use explain::ExplainOptions;
pub(crate) use fit::{FitOptions, SweepOptions};
pub(crate) use gpus::models;
pub(crate) use inspect::{InspectFlags, Sort};
pub(crate) use kernels::KernelFlags;
pub(crate) use launch::LaunchOptions;
pub(crate) use need::NeedFlags;
pub(crate) use probe::ProbeFlags;
pub(crate) use shape::ShapeFlags;
pub(crate) use strip::StripFlags;
pub(crate) use verdict::VerdictFlags;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use occupant_core::in_short;

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
    /// What must change for more blocks to fit, how far each step is, and which GPUs a shape fits
    Fit(Box<FitOptions>),
    /// Occupancy along one amount: the whole staircase, plotted
    Sweep(Box<SweepOptions>),
    /// A grid on a whole GPU: waves, tail, idle SMs, cooperative launches, clusters
    Launch(Box<LaunchOptions>),
    /// Register budgets of warp-specialised kernels (setmaxnreg)
    Budget(Box<BudgetOptions>),
    /// How many warps saturate what a kernel is bound by, against how many it has
    Need(Box<NeedFlags>),
    /// From a profiler report: was occupancy the limit at all?
    Verdict(Box<VerdictFlags>),
    /// A profiler report without host name, paths, environment and command line, to be given on
    Strip(Box<StripFlags>),
    /// Plan and read an experiment that lowers occupancy without a change of code
    Probe(Box<ProbeFlags>),
    /// What a compiler log or launch error means, and the smallest fixes
    Explain(Box<ExplainOptions>),
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

/// What is wrong with the arguments, with long ones shortened.
pub(crate) fn refusal(mut error: clap::Error) -> clap::Error {
    /// Bytes of an argument that are shown.
    const LONGEST: usize = 200;
    let long = |(kind, value): (_, &ContextValue)| match value {
        ContextValue::String(text) if text.len() > LONGEST => {
            Some((kind, ContextValue::String(in_short(text, LONGEST).into_owned())))
        }
        _ => None,
    };
    let shortened: Vec<_> = error.context().filter_map(long).collect();
    if !shortened.is_empty() {
        // Suggestions repeat the argument.
        error.insert(ContextKind::Suggested, ContextValue::None);
    }
    for (kind, value) in shortened {
        error.insert(kind, value);
    }
    error
}
