//! The structure of one code section: blocks, loops, what each loop does, which one matters. Not for: its resources.

use crate::content::Content;
use crate::flow::Flow;
use crate::hot::{self, CopyOf, Hot};
use crate::instruction::{Decoder, Instruction};
use crate::loops::Loops;

/// One code section, taken apart.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Every whole instruction.
    pub instructions: Vec<Instruction>,
    /// Bytes after the last whole instruction; more than 0 in damaged code.
    pub trailing_bytes: usize,
    /// Blocks and the ways between them.
    pub flow: Flow,
    /// Loops.
    pub loops: Loops,
    /// What each loop does in one pass, loops inside it included once.
    pub contents: Vec<Content>,
    /// For each loop, the unrolled loop that it belongs to.
    pub copies: Vec<Option<CopyOf>>,
    /// The loop that matters most; `None` where no loop works on data.
    pub hot: Option<Hot>,
    /// The function of each block, as a number of [`Flow::entries`].
    pub function_of_block: Vec<usize>,
}

impl Analysis {
    /// Takes a section apart; `inner` are the offsets of further functions in it.
    #[must_use]
    pub fn new(decoder: &Decoder, code: &[u8], inner: &[u32]) -> Self {
        let instructions: Vec<Instruction> = decoder.instructions(code).collect();
        let trailing_bytes = code.as_chunks::<{ crate::INSTRUCTION_BYTES }>().1.len();
        let flow = Flow::new(&instructions, inner);
        let loops = Loops::new(&flow);
        let contents = contents(&instructions, &flow, &loops);
        let copies = hot::copies(&loops, &contents);
        let function_of_block = functions(&flow);
        let of_kernel = |header: usize| function_of_block.get(header) == Some(&0);
        let own: Vec<bool> = loops.all.iter().map(|found| of_kernel(found.header)).collect();
        let hot = hot::hot(&loops, &contents, &own);
        Self { instructions, trailing_bytes, flow, loops, contents, copies, hot, function_of_block }
    }

    /// The block of an instruction.
    #[must_use]
    pub fn block_of(&self, number: usize) -> Option<usize> {
        let after = self.flow.blocks.partition_point(|block| block.start <= number);
        after.checked_sub(1)
    }

    /// The instructions of a block.
    #[must_use]
    pub fn block(&self, number: usize) -> &[Instruction] {
        let block = self.flow.blocks.get(number);
        block.and_then(|block| self.instructions.get(block.start..block.end)).unwrap_or(&[])
    }

    /// The instructions of a loop, in order of their code, those of loops inside it included.
    pub fn of_loop(&self, number: usize) -> impl Iterator<Item = &Instruction> {
        let blocks = self.loops.all.get(number).map_or(&[][..], |found| &found.blocks);
        blocks.iter().flat_map(|block| self.block(*block))
    }

    /// How deep in loops an instruction is; 0 outside.
    #[must_use]
    pub fn depth(&self, number: usize) -> usize {
        self.block_of(number).and_then(|block| self.loops.around(block)).map_or(0, |found| found.depth)
    }

    /// Instructions whose opcode is not known.
    #[must_use]
    pub fn unknown(&self) -> usize {
        self.instructions.iter().filter(|instruction| instruction.opcode.is_none()).count()
    }

    /// What the whole section does, each instruction once.
    #[must_use]
    pub fn content(&self) -> Content {
        let mut content = Content::default();
        self.instructions.iter().for_each(|instruction| content.add(instruction));
        content
    }
}

fn contents(instructions: &[Instruction], flow: &Flow, loops: &Loops) -> Vec<Content> {
    let mut contents = vec![Content::default(); loops.all.len()];
    for (content, found) in contents.iter_mut().zip(&loops.all) {
        let blocks = found.blocks.iter().filter_map(|block| flow.blocks.get(*block));
        let body = blocks.filter_map(|block| instructions.get(block.start..block.end)).flatten();
        body.for_each(|instruction| content.add(instruction));
    }
    contents
}

/// The function of each block: the first entry from which it is reached without passing another.
fn functions(flow: &Flow) -> Vec<usize> {
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
            waiting.extend(flow.blocks.get(block).map_or(&[][..], |block| &block.successors));
        }
    }
    function.into_iter().map(Option::unwrap_or_default).collect()
}
