//! Basic blocks of a code section, and the ways between them. Not for: loops; those are [`crate::loops`].

use std::sync::OnceLock;

use crate::code::Code;
use crate::marks::Marks;
use crate::steps::{Steps, number_of};
use crate::ways::Ways;

/// A run of instructions that is entered at its first and left at its last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Number of its first instruction.
    pub start: usize,
    /// Number after its last.
    pub end: usize,
    /// A function starts here.
    pub entry: bool,
    /// Reached from an entry.
    pub reachable: bool,
}

/// What a file tells of a section's flow beside its code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'k> {
    /// Offsets of further functions in the section.
    pub inner: &'k [u32],
    /// Jumps through tables: the offset of each, ascending, and the offsets that it can lead to.
    pub jumps: &'k [(u32, &'k [u32])],
}

impl<'k> Known<'k> {
    /// The jump through a table at an offset.
    pub(crate) fn jump(&self, offset: u32) -> Option<&(u32, &'k [u32])> {
        let at = self.jumps.binary_search_by_key(&offset, |(from, _)| *from).ok()?;
        self.jumps.get(at)
    }
}

/// A call that stays in the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Number of the calling instruction.
    pub from: usize,
    /// Block that is called.
    pub to: usize,
}

/// The flow of control through one code section.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// In order of their code.
    pub blocks: Vec<Block>,
    starts: Marks,
    out: Ways,
    /// The same from their other ends, found when first asked for: many questions need only one direction.
    back: OnceLock<Ways>,
    /// Blocks where functions start: the section's own first, then callees.
    pub entries: Vec<usize>,
    /// Calls within the section.
    pub calls: Vec<Call>,
    /// Calls to code elsewhere.
    pub calls_elsewhere: usize,
    /// Numbers of the instructions that are jumps though they are written as calls, ascending.
    pub jumps_as_calls: Vec<usize>,
    /// Jumps whose targets are not known: ways are missing.
    pub indirect: Vec<usize>,
    /// Jumps to places that the section does not have: the code is damaged.
    pub stray: usize,
}

impl Flow {
    /// The flow of a section.
    #[must_use]
    pub fn new(code: &Code<'_>, known: &Known<'_>) -> Self {
        Self::along(Steps::new(code, known), known, code.len())
    }

    /// The flow along the steps of a section of `count` instructions.
    pub(crate) fn along(mut steps: Steps, known: &Known<'_>, count: usize) -> Self {
        if count == 0 {
            return Self::default();
        }
        let inner: Vec<usize> = known.inner.iter().filter_map(|offset| number_of(i64::from(*offset), count)).collect();
        let mut flow = Self::of(&steps, &inner, count);
        if !flow.calls.is_empty() {
            let returning = flow.returning(&steps);
            let returns = |number: usize| returning.get(flow.block_of(number)).copied().unwrap_or(false);
            let jumps = steps.make_jumps(|call| !returns(call.to) && !inner.contains(&call.to));
            if !jumps.is_empty() {
                flow = Self::of(&steps, &inner, count);
                flow.jumps_as_calls = jumps;
            }
        }
        flow.calls_elsewhere = steps.calls_elsewhere;
        flow.stray = steps.stray;
        flow.indirect = steps.indirect;
        flow
    }

    /// The blocks between steps and the ways between them; `inner` are the numbers of instructions where functions start.
    fn of(steps: &Steps, inner: &[usize], count: usize) -> Self {
        let mut flow = Self::default();
        let entries: Vec<usize> =
            [0].iter().chain(inner).copied().chain(steps.calls.iter().map(|call| call.to)).collect();
        flow.cut(steps, &entries, count);
        flow.connect(steps);
        flow.calls = steps.calls.iter().map(|call| Call { from: call.from, to: flow.block_of(call.to) }).collect();
        for number in entries {
            let number = flow.block_of(number);
            if let Some(entry) = flow.blocks.get_mut(number).filter(|block| !block.entry) {
                entry.entry = true;
                flow.entries.push(number);
            }
        }
        flow.reach();
        flow
    }

    /// For each block whether some way from it leads to a return. What is called and never returns is no function: compilers
    /// write jumps to code that they moved away as calls, with a jump behind for when they are not taken.
    fn returning(&self, steps: &Steps) -> Vec<bool> {
        let mut returning = vec![false; self.blocks.len()];
        let returns = steps.all.iter().filter(|step| step.returns);
        let mut waiting: Vec<usize> = returns.map(|step| self.block_of(step.number)).collect();
        while let Some(block) = waiting.pop() {
            let Some(found @ false) = returning.get_mut(block) else { continue };
            *found = true;
            waiting.extend_from_slice(self.predecessors(block));
        }
        returning
    }

    /// Blocks that can follow one, ascending.
    #[must_use]
    pub fn successors(&self, block: usize) -> &[usize] {
        self.out.of(block)
    }

    /// Blocks that one can follow, ascending.
    #[must_use]
    pub fn predecessors(&self, block: usize) -> &[usize] {
        self.back.get_or_init(|| self.out.turned()).of(block)
    }

    /// Sets the ways between the blocks.
    pub(crate) fn set_ways(&mut self, out: Ways) {
        self.out = out;
        self.back = OnceLock::new();
    }

    /// Whether some way leads from a block to another; each leads to itself.
    #[must_use]
    pub fn leads_to(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut waiting = vec![from];
        while let Some(block) = waiting.pop() {
            if block == to {
                return true;
            }
            let Some(seen @ false) = seen.get_mut(block) else { continue };
            *seen = true;
            waiting.extend_from_slice(self.successors(block));
        }
        false
    }

    /// The block of an instruction; the last one for numbers beyond the end.
    #[must_use]
    pub fn block_of(&self, number: usize) -> usize {
        self.starts.up_to(number).saturating_sub(1)
    }

    /// Cuts the section into blocks.
    fn cut(&mut self, steps: &Steps, entries: &[usize], count: usize) {
        let after = steps.all.iter().map(|step| step.number.saturating_add(1));
        self.starts = Marks::new(entries.iter().copied().chain(steps.all_targets()).chain(after), count);
        let ends = self.starts.all().skip(1).chain([count]);
        let blocks = self.starts.all().zip(ends);
        self.blocks = Vec::with_capacity(self.starts.up_to(count));
        self.blocks.extend(blocks.map(|(start, end)| Block { start, end, ..Block::default() }));
    }

    fn connect(&mut self, steps: &Steps) {
        let mut ways = Ways::with_room(self.blocks.len());
        let mut ends = Vec::new();
        let mut left = steps.all.iter().peekable();
        for (from, block) in self.blocks.iter().enumerate() {
            let next = Some(from.saturating_add(1)).filter(|next| *next < self.blocks.len());
            let last = left.next_if(|step| step.number.saturating_add(1) == block.end);
            let to = last.map_or(&[][..], |step| steps.targets(step));
            ends.clear();
            ends.extend(to.iter().map(|to| self.block_of(*to)));
            ends.extend(next.filter(|_| last.is_none_or(|step| step.falls_through)));
            ends.sort_unstable();
            ends.dedup();
            ways.push(&ends);
        }
        self.set_ways(ways);
    }

    fn reach(&mut self) {
        let mut waiting = self.entries.clone();
        while let Some(number) = waiting.pop() {
            let Some(block) = self.blocks.get_mut(number).filter(|block| !block.reachable) else { continue };
            block.reachable = true;
            waiting.extend_from_slice(self.out.of(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;

    use super::*;
    use crate::instruction::Decoder;
    use crate::word::INSTRUCTION_BYTES;

    const ALWAYS: u64 = 7 << 12;
    const IF_P0: u64 = 0;

    /// An instruction of sm_80; for those with a target, the distance to it in instructions from the next one.
    fn word(opcode: u64, guard: u64, distance: i64) -> [u8; INSTRUCTION_BYTES] {
        let units = u128::from((distance * 4) as u64 & ((1 << 48) - 1));
        let unconditional = 7_u128 << 87;
        (u128::from(opcode | guard) | units << 34 | unconditional).to_le_bytes()
    }

    #[test]
    fn what_is_called_and_never_returns_is_jumped_to() {
        let [nop, call, bra, exit, ret]: [u64; 5] = [0x918, 0x944, 0x947, 0x94d, 0x950];
        let code = [
            word(call, IF_P0, 3),
            word(bra, ALWAYS, -2),
            word(call, ALWAYS, 3),
            word(exit, ALWAYS, 0),
            // Moved away: the way out of the loop.
            word(nop, ALWAYS, 0),
            word(bra, ALWAYS, -4),
            // A function.
            word(nop, ALWAYS, 0),
            word(ret, ALWAYS, 0),
        ];
        let decoder = Decoder::new(ComputeCapability::new(8, 0)).unwrap();
        let code = code.concat();
        let flow = Flow::new(&Code::new(decoder, &code), &Known::default());
        let starts: Vec<usize> = flow.blocks.iter().map(|block| block.start).collect();
        assert_eq!(starts, [0, 1, 2, 4, 6]);
        assert_eq!(flow.jumps_as_calls, [0]);
        assert_eq!((flow.entries.as_slice(), flow.calls.as_slice()), (&[0, 4][..], &[Call { from: 2, to: 4 }][..]));
        let ways: Vec<&[usize]> = (0..5).map(|block| flow.successors(block)).collect();
        assert_eq!(ways, [&[1, 3][..], &[0], &[], &[2], &[]]);
        assert!(flow.leads_to(0, 2) && flow.leads_to(3, 2) && !flow.leads_to(2, 0));
        // With a symbol it is a function all the same.
        let known = Known { inner: &[4 * INSTRUCTION_BYTES as u32], ..Known::default() };
        assert_eq!(Flow::new(&Code::new(decoder, &code), &known).calls.len(), 2);
    }
}
