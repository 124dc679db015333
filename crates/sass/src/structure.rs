//! Blocks, loops and functions of a code section, found from its jumps alone. Not for: what the code does; that is
//! [`crate::analysis`].

use crate::code::Code;
use crate::flow::{Flow, Known};
use crate::loops::Loops;
use crate::nest::{Nest, Nested};

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
        let flow = Flow::new(code, known);
        let nest = Nest::new(&flow);
        let function_of_block = functions(&flow);
        Self { flow, function_of_block, nest }
    }

    /// Whether some way leads to an instruction. Not so where a jump's targets are not known: nothing is known of loops there.
    #[must_use]
    pub fn reaches(&self, number: usize) -> bool {
        self.flow.blocks.get(self.flow.block_of(number)).is_some_and(|block| block.reachable)
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
