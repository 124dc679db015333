//! Basic blocks of a code section, and the ways between them. Not for: loops; those are [`crate::loops`].

use std::collections::BTreeMap;

use crate::branch::Target;
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
    /// Blocks that can follow, by number, ascending.
    pub successors: Vec<usize>,
    /// Blocks that it can follow, by number, ascending.
    pub predecessors: Vec<usize>,
    /// A function starts here.
    pub entry: bool,
    /// Reached from an entry.
    pub reachable: bool,
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
    /// Blocks where functions start: the section's own first, then callees.
    pub entries: Vec<usize>,
    /// Calls within the section.
    pub calls: Vec<Call>,
    /// Calls to code elsewhere.
    pub calls_elsewhere: usize,
    /// Jumps whose target is in a register or a table: ways may be missing.
    pub indirect: Vec<usize>,
    /// Jumps to places that the section does not have: the code is damaged.
    pub stray: usize,
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
    /// The flow of a section; `inner` are the offsets of further functions in it.
    #[must_use]
    pub fn new(instructions: &[Instruction], inner: &[u32]) -> Self {
        let mut flow = Self::default();
        if instructions.is_empty() {
            return flow;
        }
        let reconvergence = reconvergence(instructions);
        let mut steps = Vec::with_capacity(instructions.len());
        let mut calls = Vec::new();
        for (number, instruction) in instructions.iter().enumerate() {
            steps.push(flow.step(number, instruction, instructions.len(), &reconvergence, &mut calls));
        }
        let mut entries = vec![0];
        entries.extend(inner.iter().filter_map(|offset| number_of(i64::from(*offset), instructions.len())));
        entries.extend(calls.iter().map(|(_, to)| *to));
        let block_of = flow.cut(&steps, &entries, instructions.len());
        flow.connect(&steps, &block_of);
        let block = |number: usize| block_of.get(number).copied().unwrap_or(0);
        flow.calls = calls.into_iter().map(|(from, to)| Call { from, to: block(to) }).collect();
        for number in entries.into_iter().map(block) {
            if let Some(entry) = flow.blocks.get_mut(number).filter(|block| !block.entry) {
                entry.entry = true;
                flow.entries.push(number);
            }
        }
        flow.reach();
        flow
    }

    fn step(
        &mut self,
        number: usize,
        instruction: &Instruction,
        count: usize,
        reconvergence: &BTreeMap<u8, Vec<i64>>,
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
                self.indirect.push(number);
                Step::End { falls_through: !instruction.guard().is_always() }
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

    /// Cuts the section into blocks; the block of every instruction.
    fn cut(&mut self, steps: &[Step], entries: &[usize], count: usize) -> Vec<usize> {
        let mut leads = vec![false; count];
        let mut lead = |number: usize| {
            if let Some(leads) = leads.get_mut(number) {
                *leads = true;
            }
        };
        entries.iter().for_each(|entry| lead(*entry));
        for (number, step) in steps.iter().enumerate() {
            if let Step::Jump { to, .. } = step {
                to.iter().for_each(|to| lead(*to));
            }
            if !matches!(step, Step::Next) {
                lead(number.saturating_add(1));
            }
        }
        let mut block_of = Vec::with_capacity(count);
        for (number, leads) in leads.into_iter().enumerate() {
            if leads || self.blocks.is_empty() {
                self.blocks.push(Block { start: number, ..Block::default() });
            }
            if let Some(block) = self.blocks.last_mut() {
                block.end = number.saturating_add(1);
            }
            block_of.push(self.blocks.len().saturating_sub(1));
        }
        block_of
    }

    fn connect(&mut self, steps: &[Step], block_of: &[usize]) {
        let mut ways = Vec::new();
        for (from, block) in self.blocks.iter_mut().enumerate() {
            let next = block_of.get(block.end).copied();
            let last = block.end.checked_sub(1).and_then(|last| steps.get(last));
            let (to, falls_through) = match last {
                Some(Step::Jump { to, falls_through }) => (to.as_slice(), *falls_through),
                Some(Step::End { falls_through }) => (&[][..], *falls_through),
                Some(Step::Next) | None => (&[][..], true),
            };
            block.successors = to.iter().filter_map(|to| block_of.get(*to).copied()).collect();
            block.successors.extend(next.filter(|_| falls_through));
            block.successors.sort_unstable();
            block.successors.dedup();
            ways.extend(block.successors.iter().map(|to| (from, *to)));
        }
        for (from, to) in ways {
            if let Some(block) = self.blocks.get_mut(to) {
                block.predecessors.push(from);
            }
        }
    }

    fn reach(&mut self) {
        let mut waiting = self.entries.clone();
        while let Some(block) = waiting.pop() {
            let Some(block) = self.blocks.get_mut(block).filter(|block| !block.reachable) else { continue };
            block.reachable = true;
            waiting.extend_from_slice(&block.successors);
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
fn reconvergence(instructions: &[Instruction]) -> BTreeMap<u8, Vec<i64>> {
    let mut targets: BTreeMap<u8, Vec<i64>> = BTreeMap::new();
    for instruction in instructions.iter().filter(|instruction| instruction.mnemonic() == "BSSY") {
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
