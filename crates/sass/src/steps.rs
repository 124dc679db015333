//! The instructions at which control can go elsewhere than to the next one. Not for: the blocks between them; those are
//! [`crate::flow`].

use std::ops::Range;

use crate::branch::Target;
use crate::code::Code;
use crate::flow::Known;
use crate::instruction::Instruction;
use crate::opcodes::{Class, Kind};
use crate::word::INSTRUCTION_BYTES;

/// An instruction that ends a block.
pub(crate) struct Step {
    /// Its number.
    pub(crate) number: usize,
    /// Where in [`Steps::targets`] the instructions are that it can lead to.
    targets: Range<usize>,
    /// The next instruction can follow, too.
    pub(crate) falls_through: bool,
    /// It returns from a function.
    pub(crate) returns: bool,
}

/// A call of code in the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallTo {
    /// Number of the calling instruction.
    pub(crate) from: usize,
    /// Number of the instruction that is called.
    pub(crate) to: usize,
    /// Some threads or warps may not take it.
    conditional: bool,
}

/// Every instruction that ends a block, in order, and every call. One list holds all targets: a list for each would be
/// thousands of allocations in a section.
#[derive(Default)]
pub(crate) struct Steps {
    pub(crate) all: Vec<Step>,
    targets: Vec<usize>,
    pub(crate) calls: Vec<CallTo>,
    /// Calls to code elsewhere.
    pub(crate) calls_elsewhere: usize,
    /// Jumps whose targets are not known.
    pub(crate) indirect: Vec<usize>,
    /// Jumps to places that the section does not have.
    pub(crate) stray: usize,
}

impl Steps {
    /// The steps of a section.
    pub(crate) fn new(code: &Code<'_>, known: &Known<'_>) -> Self {
        let count = code.len();
        let turns: Vec<(usize, Instruction)> = code.of_kind(Kind::Flow).collect();
        let reconvergence = reconvergence(&turns);
        let room = || Vec::with_capacity(turns.len());
        let mut steps = Self { all: room(), targets: Vec::with_capacity(turns.len()), ..Self::default() };
        for (number, instruction) in &turns {
            steps.read(*number, instruction, count, &reconvergence, known);
        }
        steps
    }

    /// The instructions that a step can lead to, beside the next.
    pub(crate) fn targets(&self, step: &Step) -> &[usize] {
        self.targets.get(step.targets.clone()).unwrap_or(&[])
    }

    /// The targets of all steps.
    pub(crate) fn all_targets(&self) -> impl Iterator<Item = usize> + '_ {
        self.targets.iter().copied()
    }

    /// Whether some way leads back around one of these instructions, which ascend: from it or behind it to it or before it.
    /// Where none does, it is in no loop: what is in one comes to itself again, and some step of that goes back over it.
    pub(crate) fn lead_back_around(&self, numbers: impl Iterator<Item = usize>) -> bool {
        let jumps = self.all.iter().flat_map(|step| self.targets(step).iter().map(|to| (*to, step.number)));
        // A call can turn out to be a jump.
        let calls = self.calls.iter().map(|call| (call.to, call.from));
        let mut back: Vec<(usize, usize)> = jumps.chain(calls).filter(|(to, from)| to <= from).collect();
        back.sort_unstable();
        let mut left = back.into_iter().peekable();
        let mut furthest = None;
        numbers.into_iter().any(|number| {
            while let Some((_, from)) = left.next_if(|(to, _)| *to <= number) {
                furthest = furthest.max(Some(from));
            }
            furthest.is_some_and(|from| number <= from)
        })
    }

    /// Makes jumps of the calls for which `is_jump` holds; the numbers of those instructions, ascending.
    pub(crate) fn make_jumps(&mut self, is_jump: impl Fn(&CallTo) -> bool) -> Vec<usize> {
        let jumps: Vec<CallTo> = self.calls.extract_if(.., |call| is_jump(call)).collect();
        for call in &jumps {
            self.push(call.from, Some(call.to), call.conditional);
        }
        self.all.sort_by_key(|step| step.number);
        jumps.iter().map(|call| call.from).collect()
    }

    fn push(&mut self, number: usize, to: impl IntoIterator<Item = usize>, falls_through: bool) {
        let first = self.targets.len();
        self.targets.extend(to);
        self.all.push(Step { number, targets: first..self.targets.len(), falls_through, returns: false });
    }

    fn read(
        &mut self,
        number: usize,
        instruction: &Instruction,
        count: usize,
        reconvergence: &Reconvergence,
        known: &Known<'_>,
    ) {
        let Some(class) = instruction.class() else { return };
        let conditional = !instruction.guard().is_always();
        match (class, instruction.target()) {
            (Class::Exit, _) => self.push(number, None, conditional),
            (Class::Return, _) => {
                self.push(number, None, conditional);
                self.all.iter_mut().next_back().into_iter().for_each(|step| step.returns = true);
            }
            (Class::Branch, Some(Target::At(to))) => {
                let to = number_of(to, count);
                self.stray = self.stray.saturating_add(usize::from(to.is_none()));
                self.push(number, to, instruction.is_conditional());
            }
            (Class::Branch, _) => match known.jump(instruction.offset) {
                Some((_, to)) => {
                    let to = to.iter().filter_map(|to| number_of(i64::from(*to), count));
                    self.push(number, to, conditional);
                }
                None => {
                    self.indirect.push(number);
                    self.push(number, None, conditional);
                }
            },
            (Class::Call, target) => self.call(number, instruction, target, count),
            (Class::Convergence, Some(Target::At(to))) if instruction.mnemonic() == "WARPSYNC" => {
                self.push(number, number_of(to, count), true);
            }
            (Class::Convergence, _) if instruction.mnemonic() == "BSYNC" => {
                if let Some(to) = reconvergence.beyond(instruction).and_then(|to| number_of(to, count)) {
                    self.push(number, Some(to), conditional);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, number: usize, instruction: &Instruction, target: Option<Target>, count: usize) {
        let to = match target {
            // With a register, the target is what the register adds to.
            Some(Target::At(to)) if instruction.word.form() == 4 => number_of(to, count),
            _ => None,
        };
        match to {
            Some(to) => {
                self.calls.push(CallTo { from: number, to, conditional: !instruction.guard().is_always() });
            }
            None => self.calls_elsewhere = self.calls_elsewhere.saturating_add(1),
        }
    }
}

/// The number of the instruction at an offset; `None` between two and beyond the section.
pub(crate) fn number_of(offset: i64, count: usize) -> Option<usize> {
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
