//! Basic blocks of a code section, and the ways between them. Not for: loops; those are [`crate::loops`].

use std::ops::Range;

use crate::branch::Target;
use crate::code::Code;
use crate::instruction::Instruction;
use crate::opcodes::{Class, Kind};
use crate::word::INSTRUCTION_BYTES;

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
    fn jump(&self, offset: u32) -> Option<&(u32, &'k [u32])> {
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
    starts: Starts,
    out: Ways,
    back: Ways,
    /// Blocks where functions start: the section's own first, then callees.
    pub entries: Vec<usize>,
    /// Calls within the section.
    pub calls: Vec<Call>,
    /// Calls to code elsewhere.
    pub calls_elsewhere: usize,
    /// Jumps whose targets are not known: ways are missing.
    pub indirect: Vec<usize>,
    /// Jumps to places that the section does not have: the code is damaged.
    pub stray: usize,
}

/// For each block the blocks at the other end of its ways, one list after the other.
#[derive(Debug, Clone, Default)]
struct Ways {
    ends: Vec<usize>,
    /// Where the list of each block starts; one more than there are blocks.
    starts: Vec<usize>,
}

impl Ways {
    /// From pairs of a block and the end of one of its ways, for `count` blocks. Ends keep the order of the pairs.
    fn new(pairs: impl Iterator<Item = (usize, usize)> + Clone, count: usize) -> Self {
        let mut starts = vec![0_usize; count.saturating_add(1)];
        for (block, _) in pairs.clone() {
            if let Some(start) = starts.get_mut(block) {
                *start = start.saturating_add(1);
            }
        }
        let mut sum = 0_usize;
        for start in &mut starts {
            sum = sum.saturating_add(std::mem::replace(start, sum));
        }
        let mut ends = vec![0; sum];
        let mut free = starts.clone();
        for (block, end) in pairs {
            let Some(at) = free.get_mut(block) else { continue };
            if let Some(place) = ends.get_mut(*at) {
                *place = end;
            }
            *at = at.saturating_add(1);
        }
        Self { ends, starts }
    }

    fn of(&self, block: usize) -> &[usize] {
        let range = || Some(*self.starts.get(block)?..*self.starts.get(block.checked_add(1)?)?);
        range().and_then(|range| self.ends.get(range)).unwrap_or(&[])
    }
}

/// An instruction that ends a block.
struct Step {
    /// Its number.
    number: usize,
    /// Where in [`Steps::targets`] the instructions are that it can lead to.
    targets: Range<usize>,
    /// The next instruction can follow, too.
    falls_through: bool,
}

/// Every instruction that ends a block, in order. One list holds all targets: a list for each would be thousands of
/// allocations in a section.
struct Steps {
    all: Vec<Step>,
    targets: Vec<usize>,
    /// Numbers of instructions that call, with the numbers of those that they call.
    calls: Vec<(usize, usize)>,
}

impl Steps {
    fn push(&mut self, number: usize, to: impl IntoIterator<Item = usize>, falls_through: bool) {
        let first = self.targets.len();
        self.targets.extend(to);
        self.all.push(Step { number, targets: first..self.targets.len(), falls_through });
    }

    fn targets(&self, step: &Step) -> &[usize] {
        self.targets.get(step.targets.clone()).unwrap_or(&[])
    }
}

/// The instructions at which blocks start, as bits, so that the block of an instruction is found by counting.
#[derive(Debug, Clone, Default)]
struct Starts {
    bits: Vec<u64>,
    /// Starts before each word of bits.
    before: Vec<usize>,
}

impl Starts {
    /// From numbers of instructions; those from `count` on are left out.
    fn new(starts: impl Iterator<Item = usize>, count: usize) -> Self {
        let mut bits = vec![0_u64; count.div_ceil(64)];
        for start in starts.filter(|start| *start < count) {
            if let Some(word) = bits.get_mut(start / 64) {
                *word |= bit(start);
            }
        }
        let mut sum = 0_usize;
        let before = bits.iter().map(|word| {
            let before = sum;
            sum = sum.saturating_add(word.count_ones() as usize);
            before
        });
        let before = before.collect();
        Self { bits, before }
    }

    /// Every start, ascending.
    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().zip((0..).step_by(64)).flat_map(|(word, first)| {
            let rests = std::iter::successors(Some(*word), |rest| Some(rest & rest.wrapping_sub(1)));
            rests.take_while(|rest| *rest != 0).map(move |rest| rest.trailing_zeros() as usize | first)
        })
    }

    /// How many starts there are up to a number, itself included.
    fn up_to(&self, number: usize) -> usize {
        let last = self.bits.len().saturating_sub(1);
        let (at, mask) = if number / 64 > last { (last, u64::MAX) } else { (number / 64, up_to_bit(number)) };
        let (Some(word), Some(before)) = (self.bits.get(at), self.before.get(at)) else { return 0 };
        before.saturating_add((word & mask).count_ones() as usize)
    }
}

/// The bit of a number in its word.
const fn bit(number: usize) -> u64 {
    1_u64.wrapping_shl(number as u32)
}

/// The bit of a number in its word, and those below it.
const fn up_to_bit(number: usize) -> u64 {
    bit(number) | bit(number).wrapping_sub(1)
}

impl Flow {
    /// The flow of a section.
    #[must_use]
    pub fn new(code: &Code<'_>, known: &Known<'_>) -> Self {
        let mut flow = Self::default();
        if code.is_empty() {
            return flow;
        }
        let count = code.len();
        // Some percent of a section: enough room for most, so that the list is not moved again and again.
        let mut turns: Vec<(usize, Instruction)> = Vec::with_capacity(count / 16);
        turns.extend(code.of_kind(Kind::Flow));
        let reconvergence = reconvergence(&turns);
        let mut steps =
            Steps { all: Vec::with_capacity(turns.len()), targets: Vec::with_capacity(turns.len()), calls: Vec::new() };
        for (number, instruction) in &turns {
            flow.step(*number, instruction, count, &reconvergence, known, &mut steps);
        }
        let mut entries = vec![0];
        entries.extend(known.inner.iter().filter_map(|offset| number_of(i64::from(*offset), count)));
        entries.extend(steps.calls.iter().map(|(_, to)| *to));
        flow.cut(&steps, &entries, count);
        flow.connect(&steps);
        flow.calls = steps.calls.iter().map(|(from, to)| Call { from: *from, to: flow.block_of(*to) }).collect();
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

    /// Blocks that can follow one, ascending.
    #[must_use]
    pub fn successors(&self, block: usize) -> &[usize] {
        self.out.of(block)
    }

    /// Blocks that one can follow, ascending.
    #[must_use]
    pub fn predecessors(&self, block: usize) -> &[usize] {
        self.back.of(block)
    }

    /// Sets the ways between the blocks: pairs of where they start and end, ascending, each once.
    pub(crate) fn set_ways(&mut self, ways: &[(usize, usize)]) {
        self.out = Ways::new(ways.iter().copied(), self.blocks.len());
        self.back = Ways::new(ways.iter().map(|(from, to)| (*to, *from)), self.blocks.len());
    }

    /// The block of an instruction; the last one for numbers beyond the end.
    #[must_use]
    pub fn block_of(&self, number: usize) -> usize {
        self.starts.up_to(number).saturating_sub(1)
    }

    fn step(
        &mut self,
        number: usize,
        instruction: &Instruction,
        count: usize,
        reconvergence: &Reconvergence,
        known: &Known<'_>,
        steps: &mut Steps,
    ) {
        let may_not_be_taken = !instruction.guard().is_always();
        match (instruction.class(), instruction.target()) {
            (Some(Class::Exit | Class::Return), _) => steps.push(number, None, may_not_be_taken),
            (Some(Class::Branch), Some(Target::At(to))) => {
                let to = number_of(to, count);
                self.stray = self.stray.saturating_add(usize::from(to.is_none()));
                steps.push(number, to, instruction.is_conditional());
            }
            (Some(Class::Branch), _) => match known.jump(instruction.offset) {
                Some((_, to)) => {
                    let to = to.iter().filter_map(|to| number_of(i64::from(*to), count));
                    steps.push(number, to, may_not_be_taken);
                }
                None => {
                    self.indirect.push(number);
                    steps.push(number, None, may_not_be_taken);
                }
            },
            // With a register, the target is what the register adds to.
            (Some(Class::Call), Some(Target::At(to)))
                if instruction.word.form() == 4 && number_of(to, count).is_some() =>
            {
                steps.calls.extend(number_of(to, count).map(|to| (number, to)));
            }
            (Some(Class::Call), _) => self.calls_elsewhere = self.calls_elsewhere.saturating_add(1),
            (Some(Class::Convergence), Some(Target::At(to))) if instruction.mnemonic() == "WARPSYNC" => {
                steps.push(number, number_of(to, count), true);
            }
            (Some(Class::Convergence), _) if instruction.mnemonic() == "BSYNC" => {
                if let Some(to) = reconvergence.beyond(instruction).and_then(|to| number_of(to, count)) {
                    steps.push(number, Some(to), may_not_be_taken);
                }
            }
            _ => {}
        }
    }

    /// Cuts the section into blocks.
    fn cut(&mut self, steps: &Steps, entries: &[usize], count: usize) {
        let after = steps.all.iter().map(|step| step.number.saturating_add(1));
        self.starts = Starts::new(entries.iter().chain(&steps.targets).copied().chain(after), count);
        let ends = self.starts.all().skip(1).chain([count]);
        let blocks = self.starts.all().zip(ends);
        self.blocks = Vec::with_capacity(self.starts.up_to(count));
        self.blocks.extend(blocks.map(|(start, end)| Block { start, end, ..Block::default() }));
    }

    fn connect(&mut self, steps: &Steps) {
        let mut ways = Vec::with_capacity(self.blocks.len().saturating_mul(2));
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
            ways.extend(ends.iter().map(|to| (from, *to)));
        }
        self.set_ways(&ways);
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

/// The number of the instruction at an offset; `None` between two and beyond the section.
fn number_of(offset: i64, count: usize) -> Option<usize> {
    let offset = usize::try_from(offset).ok().filter(|offset| offset.is_multiple_of(INSTRUCTION_BYTES))?;
    offset.checked_div(INSTRUCTION_BYTES).filter(|number| *number < count)
}

/// Bits that name a convergence barrier, `B0` to `B15`.
fn barrier(instruction: &Instruction) -> usize {
    instruction.word.bits(16, 4) as usize
}

/// Where the threads that wait at each convergence barrier go on: the targets of the `BSSY`s that set it, ascending.
struct Reconvergence([Vec<i64>; BARRIERS]);

/// Convergence barriers.
const BARRIERS: usize = 16;

fn reconvergence(turns: &[(usize, Instruction)]) -> Reconvergence {
    let mut targets: [Vec<i64>; BARRIERS] = Default::default();
    for (_, instruction) in turns.iter().filter(|(_, instruction)| instruction.mnemonic() == "BSSY") {
        if let (Some(Target::At(to)), Some(targets)) = (instruction.target(), targets.get_mut(barrier(instruction))) {
            targets.push(to);
        }
    }
    targets.iter_mut().for_each(|targets| targets.sort_unstable());
    Reconvergence(targets)
}

impl Reconvergence {
    /// Threads that wait at a `BSYNC` go on where the `BSSY` said. That is nearly always the next instruction, and then
    /// there is nothing to tell; otherwise the nearest target beyond is taken, since regions nest.
    fn beyond(&self, instruction: &Instruction) -> Option<i64> {
        let next = i64::from(instruction.next());
        let targets = self.0.get(barrier(instruction))?;
        let beyond = targets.partition_point(|target| *target < next);
        targets.get(beyond).copied().filter(|target| *target != next)
    }
}
