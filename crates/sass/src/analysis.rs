//! What a code section does: every instruction, what each loop does, which one matters. Not for: its resources.

use crate::code::Code;
use crate::content::Content;
use crate::hot::{self, CopyOf, Hot};
use crate::instruction::Instruction;
use crate::structure::Structure;

/// One code section, taken apart.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Every whole instruction.
    pub instructions: Vec<Instruction>,
    /// Bytes after the last whole instruction; more than 0 in damaged code.
    pub trailing_bytes: usize,
    /// Blocks, loops, functions.
    pub structure: Structure,
    /// What each loop does in one pass, loops inside it included once.
    pub contents: Vec<Content>,
    /// For each loop, the unrolled loop that it belongs to.
    pub copies: Vec<Option<CopyOf>>,
    /// The loop that matters most; `None` where no loop works on data.
    pub hot: Option<Hot>,
}

impl Analysis {
    /// Takes a section apart; `inner` are the offsets of further functions in it.
    #[must_use]
    pub fn new(code: &Code<'_>, inner: &[u32]) -> Self {
        let structure = Structure::new(code, inner);
        let instructions: Vec<Instruction> = code.range(0, code.len()).map(|(_, instruction)| instruction).collect();
        let contents = contents(&instructions, &structure);
        let copies = hot::copies(&structure.loops, &contents);
        let of_kernel = |header: usize| structure.function_of_block.get(header) == Some(&0);
        let own: Vec<bool> = structure.loops.all.iter().map(|found| of_kernel(found.header)).collect();
        let hot = hot::hot(&structure.loops, &contents, &own);
        Self { instructions, trailing_bytes: code.trailing_bytes(), structure, contents, copies, hot }
    }

    /// The instructions of a block.
    #[must_use]
    pub fn block(&self, number: usize) -> &[Instruction] {
        let block = self.structure.flow.blocks.get(number);
        block.and_then(|block| self.instructions.get(block.start..block.end)).unwrap_or(&[])
    }

    /// The instructions of a loop, in order of their code, those of loops inside it included.
    pub fn of_loop(&self, number: usize) -> impl Iterator<Item = &Instruction> {
        let blocks = self.structure.loops.all.get(number).map_or(&[][..], |found| &found.blocks);
        blocks.iter().flat_map(|block| self.block(*block))
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

fn contents(instructions: &[Instruction], structure: &Structure) -> Vec<Content> {
    let loops = &structure.loops.all;
    let mut contents = vec![Content::default(); loops.len()];
    for (content, found) in contents.iter_mut().zip(loops) {
        let blocks = found.blocks.iter().filter_map(|block| structure.flow.blocks.get(*block));
        let body = blocks.filter_map(|block| instructions.get(block.start..block.end)).flatten();
        body.for_each(|instruction| content.add(instruction));
    }
    contents
}
