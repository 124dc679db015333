//! Basic blocks of a code section, and the ways between them. Not for: loops; those are [`crate::loops`].

use std::collections::BTreeMap;

use crate::branch::Target;
use crate::code::Code;
use crate::instruction::Instruction;
use crate::opcodes::Class;
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

/// What an instruction does to the flow.
enum Step {
    /// The next one follows.
    Next,
    /// One of several, and the next too where the flag says so.
    Jump { to: Vec<usize>, falls_through: bool },
    /// Nothing follows, or the next where the flag says so.
    End { falls_through: bool },
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
        let turns: Vec<(usize, Instruction)> = code.of_flow().collect();
        let reconvergence = reconvergence(&turns);
        let mut calls = Vec::new();
        let mut steps = Vec::with_capacity(turns.len());
        for (number, instruction) in &turns {
            match flow.step(*number, instruction, count, &reconvergence, known, &mut calls) {
                Step::Next => {}
                step => steps.push((*number, step)),
            }
        }
        let mut entries = vec![0];
        entries.extend(known.inner.iter().filter_map(|offset| number_of(i64::from(*offset), count)));
        entries.extend(calls.iter().map(|(_, to)| *to));
        flow.cut(&steps, &entries, count);
        flow.connect(&steps);
        flow.calls = calls.into_iter().map(|(from, to)| Call { from, to: flow.block_of(to) }).collect();
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
        self.blocks.partition_point(|block| block.start <= number).saturating_sub(1)
    }

    fn step(
        &mut self,
        number: usize,
        instruction: &Instruction,
        count: usize,
        reconvergence: &BTreeMap<u8, Vec<i64>>,
        known: &Known<'_>,
        calls: &mut Vec<(usize, usize)>,
    ) -> Step {
        let falls_through = instruction.is_conditional();
        match (instruction.class(), instruction.target()) {
            (Some(Class::Exit | Class::Return), _) => Step::End { falls_through: !instruction.guard().is_always() },
            (Some(Class::Branch), Some(Target::At(to))) => match number_of(to, count) {
                Some(to) => Step::Jump { to: vec![to], falls_through },
                None => {
                    self.stray = self.stray.saturating_add(1);
                    Step::End { falls_through }
                }
            },
            (Some(Class::Branch), _) => {
                let falls_through = !instruction.guard().is_always();
                match known.jump(instruction.offset) {
                    Some((_, to)) => {
                        let to = to.iter().filter_map(|to| number_of(i64::from(*to), count)).collect();
                        Step::Jump { to, falls_through }
                    }
                    None => {
                        self.indirect.push(number);
                        Step::End { falls_through }
                    }
                }
            }
            // With a register, the target is what the register adds to.
            (Some(Class::Call), Some(Target::At(to)))
                if instruction.word.form() == 4 && number_of(to, count).is_some() =>
            {
                calls.extend(number_of(to, count).map(|to| (number, to)));
                Step::Next
            }
            (Some(Class::Call), _) => {
                self.calls_elsewhere = self.calls_elsewhere.saturating_add(1);
                Step::Next
            }
            (Some(Class::Convergence), Some(Target::At(to))) if instruction.mnemonic() == "WARPSYNC" => {
                Step::Jump { to: number_of(to, count).into_iter().collect(), falls_through: true }
            }
            (Some(Class::Convergence), _) if instruction.mnemonic() == "BSYNC" => {
                rejoin(instruction, count, reconvergence)
            }
            _ => Step::Next,
        }
    }

    /// Cuts the section into blocks.
    fn cut(&mut self, steps: &[(usize, Step)], entries: &[usize], count: usize) {
        let mut starts = entries.to_vec();
        for (number, step) in steps {
            if let Step::Jump { to, .. } = step {
                starts.extend_from_slice(to);
            }
            starts.push(number.saturating_add(1));
        }
        starts.retain(|start| *start < count);
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().copied().skip(1).chain([count]);
        let blocks = starts.iter().zip(ends);
        self.blocks = blocks.map(|(start, end)| Block { start: *start, end, ..Block::default() }).collect();
    }

    fn connect(&mut self, steps: &[(usize, Step)]) {
        let mut ways = Vec::with_capacity(self.blocks.len().saturating_mul(2));
        let mut ends = Vec::new();
        let mut steps = steps.iter().peekable();
        for (from, block) in self.blocks.iter().enumerate() {
            let next = Some(from.saturating_add(1)).filter(|next| *next < self.blocks.len());
            let last = steps.next_if(|(number, _)| number.saturating_add(1) == block.end).map(|(_, step)| step);
            let (to, falls_through) = match last {
                Some(Step::Jump { to, falls_through }) => (to.as_slice(), *falls_through),
                Some(Step::End { falls_through }) => (&[][..], *falls_through),
                Some(Step::Next) | None => (&[][..], true),
            };
            ends.clear();
            ends.extend(to.iter().map(|to| self.block_of(*to)));
            ends.extend(next.filter(|_| falls_through));
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
fn barrier(instruction: &Instruction) -> u8 {
    instruction.word.bits(16, 4) as u8
}

/// Where the threads that wait at each convergence barrier go on: the targets of the `BSSY`s that set it, ascending.
fn reconvergence(turns: &[(usize, Instruction)]) -> BTreeMap<u8, Vec<i64>> {
    let mut targets: BTreeMap<u8, Vec<i64>> = BTreeMap::new();
    for (_, instruction) in turns.iter().filter(|(_, instruction)| instruction.mnemonic() == "BSSY") {
        if let Some(Target::At(to)) = instruction.target() {
            targets.entry(barrier(instruction)).or_default().push(to);
        }
    }
    targets.values_mut().for_each(|targets| targets.sort_unstable());
    targets
}

/// Threads that wait at a `BSYNC` go on where the `BSSY` said. That is nearly always the next instruction; otherwise the
/// nearest target beyond is taken, since regions nest.
fn rejoin(instruction: &Instruction, count: usize, reconvergence: &BTreeMap<u8, Vec<i64>>) -> Step {
    let next = i64::from(instruction.next());
    let Some(targets) = reconvergence.get(&barrier(instruction)) else { return Step::Next };
    let beyond = targets.partition_point(|target| *target < next);
    match targets.get(beyond) {
        Some(target) if *target != next => match number_of(*target, count) {
            Some(to) => Step::Jump { to: vec![to], falls_through: !instruction.guard().is_always() },
            None => Step::Next,
        },
        _ => Step::Next,
    }
}
