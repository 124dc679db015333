//! What a code section does: every instruction, what each loop does, which one matters. Not for: its resources.

use crate::code::Code;
use crate::content::Content;
use crate::flow::Known;
use crate::hot::{self, CopyOf, Hot, LoopKind};
use crate::instruction::Instruction;
use crate::loops::Loop;
use crate::opcodes::{Class, Opcode};
use crate::structure::Structure;

/// A jump that is written as a call: its work is that of a branch.
static JUMP_AS_CALL: Opcode = Opcode { mnemonic: "CALL", class: Class::Branch, space: None };

/// One code section, taken apart.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Every whole instruction. What is written as a call and never comes back has the class of a branch.
    pub instructions: Vec<Instruction>,
    /// Bytes after the last whole instruction; more than 0 in damaged code.
    pub trailing_bytes: usize,
    /// Blocks, loops, functions.
    pub structure: Structure,
    /// What each loop does in one pass, loops inside it included once.
    pub contents: Vec<Content>,
    /// What each loop is for.
    pub kinds: Vec<LoopKind>,
    /// Loops that work on data and have none inside that does.
    pub leaves: Vec<bool>,
    /// For each loop, the unrolled loop that it belongs to.
    pub copies: Vec<Option<CopyOf>>,
    /// The loop that matters most; `None` where no loop works on data.
    pub hot: Option<Hot>,
}

impl Analysis {
    /// Takes a section apart.
    #[must_use]
    pub fn new(code: &Code<'_>, known: &Known<'_>) -> Self {
        let structure = Structure::new(code, known);
        let mut instructions: Vec<Instruction> =
            code.range(0, code.len()).map(|(_, instruction)| instruction).collect();
        for number in &structure.flow.jumps_as_calls {
            if let Some(jump) = instructions.get_mut(*number) {
                jump.opcode = Some(&JUMP_AS_CALL);
            }
        }
        let contents = contents(&instructions, &structure);
        let body = |found: &Loop| {
            let blocks = found.blocks.iter().filter_map(|block| structure.flow.blocks.get(*block));
            blocks
                .filter_map(|block| instructions.get(block.start..block.end))
                .flatten()
                .collect::<Vec<_>>()
                .into_iter()
        };
        let kinds = hot::kinds(&structure.loops, &contents, body);
        let leaves = hot::leaves(&structure.loops, &kinds);
        let copies = hot::copies(&structure.loops, &contents, &leaves);
        let of_kernel = |header: usize| structure.function_of_block.get(header) == Some(&0);
        let own: Vec<bool> = structure.loops.all.iter().map(|found| of_kernel(found.header)).collect();
        let hot = hot::hot(&structure.loops, &contents, &leaves, &own);
        Self { instructions, trailing_bytes: code.trailing_bytes(), structure, contents, kinds, leaves, copies, hot }
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

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        Decoder, Outline, SpillSums, irregular, listed, may_have_unlisted, register_requests, specialised,
        tensor_columns, unlisted,
    };

    /// Instructions of which many are branches, so that garbage has a flow.
    fn garbage() -> impl Strategy<Value = Vec<u8>> {
        let branch = any::<(i8, u8, u16)>().prop_map(|(distance, guard, control)| {
            let low = 0x947 | u64::from(guard & 0xf) << 12 | ((i64::from(distance) * 4) as u64) << 34;
            let high = 0x0003_8000_0000_ffff | u64::from(control) << 41;
            [low.to_le_bytes(), high.to_le_bytes()].concat()
        });
        let anything = any::<[u8; 16]>().prop_map(|bytes| bytes.to_vec());
        proptest::collection::vec(prop_oneof![branch, anything], 0..200).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn garbage_has_a_structure_that_holds_together(
            mut bytes in garbage(),
            rest in proptest::collection::vec(any::<u8>(), 0..16),
            inner in proptest::collection::vec(any::<u32>(), 0..4),
            minor in prop_oneof![Just((7, 0)), Just((8, 6)), Just((9, 0)), Just((10, 0)), Just((12, 0))],
        ) {
            let whole = bytes.len() / 16;
            bytes.extend(&rest);
            let decoder = Decoder::new(ComputeCapability::new(minor.0, minor.1)).unwrap();
            let code = Code::new(decoder, &bytes);
            let known = Known { inner: &inner, jumps: &[(0, &inner)] };
            let analysis = Analysis::new(&code, &known);
            let Structure { flow, loops, function_of_block } = &analysis.structure;
            prop_assert_eq!(analysis.instructions.len(), whole + rest.len() / 16);
            prop_assert_eq!(flow.blocks.iter().map(|block| block.end - block.start).sum::<usize>(), code.len());
            prop_assert_eq!(function_of_block.len(), flow.blocks.len());
            for (number, block) in flow.blocks.iter().enumerate() {
                prop_assert!(block.start < block.end);
                prop_assert!(flow.successors(number).is_sorted());
                for next in flow.successors(number) {
                    prop_assert!(flow.predecessors(*next).contains(&number));
                    prop_assert!(!block.reachable || flow.blocks[*next].reachable);
                }
            }
            for found in &loops.all {
                prop_assert!(found.blocks.contains(&found.header) && found.blocks.is_sorted());
                let parent = found.parent.map(|parent| &loops.all[parent]);
                prop_assert_eq!(found.depth, parent.map_or(0, |parent| parent.depth) + 1);
                prop_assert!(parent.is_none_or(|parent| found.blocks.iter().all(|b| parent.blocks.contains(b))));
            }
            let every: Vec<u32> = (0..u32::try_from(code.len()).unwrap()).map(|number| number * 16).collect();
            let outline = Outline::new(&code, &known);
            prop_assert_eq!(&outline.function_of_block, function_of_block);
            for number in 0..code.len() + 200 {
                let by_definition = flow.blocks.partition_point(|block| block.start <= number).saturating_sub(1);
                prop_assert_eq!(flow.block_of(number), by_definition);
                let depth = loops.around(by_definition).map(|found| (found.depth, found.innermost));
                prop_assert_eq!(outline.around(number).map(|found| (found.depth, found.innermost)), depth);
            }
            for some in every.chunks(3).chain([&every[..]]) {
                let around = Outline::around_some(&code, &known, some);
                prop_assert_eq!(listed(&code, &around, some), listed(&code, &outline, some));
            }
            let sums = SpillSums::of(&listed(&code, &outline, &every));
            prop_assert_eq!(sums.instructions as usize, code.len());
            prop_assert!(sums.innermost_bytes <= sums.in_loops_bytes);
            let found = unlisted(&code, &outline, &[], true);
            prop_assert!(found.is_empty() || may_have_unlisted(&code, &[]));
            let _ = (tensor_columns(&code, &outline), register_requests(&code));
            let signs = [irregular(&analysis), specialised(&analysis)].concat();
            prop_assert!(signs.iter().all(|sign| !sign.to_string().is_empty()));
        }
    }
}
