//! Blocks, loops and functions of a code section, found from its jumps alone. Not for: what the code does; that is
//! [`crate::analysis`].

use crate::code::Code;
use crate::flow::{Flow, Known};
use crate::loops::Loops;
use crate::nest::{Nest, Nested};
use crate::steps::{Steps, number_of};

/// Blocks and functions of a code section, and how deep in loops each block is. Enough for sums over instructions, and
/// found in half the time of a [`Structure`].
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// Blocks and the ways between them.
    pub flow: Flow,
    /// The function of each block, as a number of [`Flow::entries`]; 0 where none reaches it.
    pub function_of_block: Vec<usize>,
    nest: Nest,
}

impl Outline {
    /// The outline of a section.
    #[must_use]
    pub fn new(code: &Code<'_>, known: &Known<'_>) -> Self {
        Self::of(Flow::new(code, known))
    }

    /// What the outline of a section tells of the instructions at some offsets, which ascend. There are no blocks where it
    /// is plain without them that none of these is in a loop: that takes a fraction of the time.
    #[must_use]
    pub fn around_some(code: &Code<'_>, known: &Known<'_>, offsets: &[u32]) -> Self {
        let steps = Steps::new(code, known);
        let numbers = offsets.iter().filter_map(|offset| number_of(i64::from(*offset), code.len()));
        if steps.indirect.is_empty() && !steps.lead_back_around(numbers) {
            return Self::default();
        }
        Self::of(Flow::along(steps, known, code.len()))
    }

    fn of(flow: Flow) -> Self {
        let nest = Nest::new(&flow);
        let function_of_block = functions(&flow);
        Self { flow, function_of_block, nest }
    }

    /// Whether all is known of the loops around an instruction. Not so where no known way leads to it, while there are jumps
    /// whose targets are not known.
    #[must_use]
    pub fn knows(&self, number: usize) -> bool {
        let reached = || self.flow.blocks.get(self.flow.block_of(number)).is_some_and(|block| block.reachable);
        self.flow.indirect.is_empty() || reached()
    }

    /// The innermost loop around an instruction.
    #[must_use]
    pub fn around(&self, number: usize) -> Option<&Nested> {
        self.nest.around(self.flow.block_of(number))
    }
}

/// The structure of one code section.
#[derive(Debug, Clone, Default)]
pub struct Structure {
    /// Blocks and the ways between them.
    pub flow: Flow,
    /// Loops.
    pub loops: Loops,
    /// The function of each block, as a number of [`Flow::entries`]; 0 where none reaches it.
    pub function_of_block: Vec<usize>,
}

impl Structure {
    /// The structure of a section.
    #[must_use]
    pub fn new(code: &Code<'_>, known: &Known<'_>) -> Self {
        let flow = Flow::new(code, known);
        let loops = Loops::new(&flow);
        let function_of_block = functions(&flow);
        Self { flow, loops, function_of_block }
    }
}

/// The function of each block: the first entry from which it is reached without passing another.
fn functions(flow: &Flow) -> Vec<usize> {
    // Most sections hold one function.
    if flow.entries.len() <= 1 {
        return vec![0; flow.blocks.len()];
    }
    let mut function: Vec<Option<usize>> = vec![None; flow.blocks.len()];
    for (number, entry) in flow.entries.iter().enumerate() {
        let mut waiting = vec![*entry];
        while let Some(block) = waiting.pop() {
            let Some(place @ None) = function.get_mut(block) else { continue };
            let of_other = block != *entry && flow.blocks.get(block).is_some_and(|block| block.entry);
            if of_other {
                continue;
            }
            *place = Some(number);
            waiting.extend_from_slice(flow.successors(block));
        }
    }
    function.into_iter().map(Option::unwrap_or_default).collect()
}
