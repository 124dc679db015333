//! Explanations: what a message of a compiler or a failed launch means, as one inequality with both sides in numbers, the
//! smallest fixes, and the GPUs on which it would fit.
//!
//! For: turning facts of `occupant-logs` and what a person adds (registers, block, GPU) into words. Not for: finding
//! messages in text, computing occupancy, or saying that more of it is better.

mod compiled;
mod explanation;
mod gpus;
mod limits;
mod question;
mod rules;
pub mod verdict;

pub use compiled::{kernel_notes, kernel_shape};
pub use explanation::{Explanation, Fix, Inequality};
pub use question::{Gpu, LaunchBounds, Question};

use occupant_logs::{Fact, LaunchError, Located};

/// The explanations of a log's facts, in their order. Errors that state no numbers are left out where another message of
/// the same log does.
#[must_use]
pub fn explain(facts: &[Located], question: &Question) -> Vec<(u32, u32, Explanation)> {
    let block = facts.iter().find_map(|located| match located.fact {
        Fact::Block(threads) => Some(threads),
        _ => None,
    });
    let question = Question { block: question.block.or(block), ..question.clone() };
    let numbered = facts.iter().any(|located| has_numbers(&located.fact));
    let worth = |located: &&Located| !(numbered && is_vague(&located.fact));
    let explained = |located: &Located| Some((located.line, located.times, rules::explain(&located.fact, &question)?));
    facts.iter().filter(worth).filter_map(explained).collect()
}

const fn has_numbers(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::OverLimit { .. }
            | Fact::BlockRegisters { .. }
            | Fact::KernelThreads { .. }
            | Fact::Dimension { .. }
            | Fact::TooMuch { .. }
    )
}

const fn is_vague(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Launch(
            LaunchError::InvalidValue
                | LaunchError::PerhapsInvalidValue
                | LaunchError::InvalidConfiguration
                | LaunchError::Cutlass
                | LaunchError::OutOfResources
        )
    )
}
