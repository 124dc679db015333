//! What compilers and launches print, as facts: `ptxas -v` output, warnings, launch errors of CUDA, Triton, XLA, CUDA.jl and
//! others.
//!
//! For: finding known messages in whatever surrounds them: build prefixes, time stamps, tracebacks. Not for: what they
//! mean; that is `occupant-advice`. Text that is no known message is passed over; [`Log::lines`] counts all of it.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod fact;
mod messages;
mod patterns;
mod ptxas;

use std::sync::LazyLock;

use regex::Regex;

pub use fact::{Compiled, Fact, LaunchError, Located, Resource, TooMuch};

/// What terminals are told about colours stands between words.
static COLOURS: LazyLock<Regex> = LazyLock::new(|| patterns::compile(r"\x1b\[[0-9;?]*[A-Za-z]"));

/// The facts of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// Facts in the order of their lines, each once, with how often it was found.
    pub facts: Vec<Located>,
    /// Kernels as `ptxas -v` lists them, in order.
    pub kernels: Vec<Compiled>,
    /// Lines of the text.
    pub lines: u32,
}

/// Finds the known messages of a text.
#[must_use]
pub fn read(text: &str) -> Log {
    let text = &*COLOURS.replace_all(text, "");
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    Log { facts: messages::find(text), kernels: ptxas::kernels(text), lines }
}
