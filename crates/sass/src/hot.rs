//! What kind each loop is, which one matters most, and which are copies of one source loop. Trip counts are unknown, so the choice rests on
//! nesting and content, and says so. Not for: kernels without loops; there the whole body counts.

use crate::content::Content;
use crate::evidence::WIDE_MULTIPLY;
use crate::instruction::Instruction;
use crate::loops::{Loop, Loops};
use crate::memory::AccessKind;
use crate::opcodes::Space;
use crate::word::RZ;

/// What a loop is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// It works on data.
    Work,
    /// It waits, polls or counts.
    Wait,
    /// The compiler's way to let one thread at a time do something: a single pass as a rule.
    Elect,
}

/// The kind of each loop; `body` gives the instructions of a loop.
pub(crate) fn kinds<'i, B: Iterator<Item = &'i Instruction>>(
    loops: &Loops,
    contents: &[Content],
    body: impl Fn(&Loop) -> B,
) -> Vec<LoopKind> {
    let kind = |(found, content): (&Loop, &Content)| match content {
        content if found.innermost && may_poll(content) && same_address(body(found)) => LoopKind::Wait,
        content if content.elections > 0 && found.innermost && found.blocks.len() == 1 => LoopKind::Elect,
        content if content.works() => LoopKind::Work,
        _ => LoopKind::Wait,
    };
    loops.all.iter().zip(contents).map(kind).collect()
}

/// A loop so short that it can be a wait for a flag or a try at an atomic exchange: it reads memory and does nothing else.
fn may_poll(content: &Content) -> bool {
    const SHORT: u32 = 24;
    let reads = [content.global_loads, content.generic_loads, content.atomics];
    let reads = reads.into_iter().fold(0, u32::saturating_add);
    let works = [
        content.global_stores,
        content.generic_stores,
        content.async_copies,
        content.tma,
        content.tensor,
        content.fp64,
        content.texture,
        content.calls,
        content.shared_stores,
    ];
    content.instructions <= SHORT && (1..=2).contains(&reads) && works.iter().all(|count| *count == 0)
}

/// Every access of memory in a loop has an address that is the same in each pass: what makes it is written outside, or is
/// moved from there.
fn same_address<'i>(body: impl Iterator<Item = &'i Instruction>) -> bool {
    let body: Vec<&Instruction> = body.collect();
    let mut changes = Changes([false; 256]);
    // What the loop writes differs from pass to pass, until a move in it brings back what does not.
    body.iter().filter(|instruction| moved(instruction).is_none()).for_each(|instruction| changes.follow(instruction));
    let mut found = false;
    for instruction in body {
        if let Some(access) =
            instruction.access().filter(|access| matches!(access.space, Space::Global | Space::Generic))
        {
            found = true;
            if access.base.is_some_and(|base| changes.of(base)) {
                return false;
            }
        }
        changes.follow(instruction);
    }
    found
}

/// Registers whose values differ from one pass of a loop to the next.
struct Changes([bool; 256]);

impl Changes {
    fn of(&self, register: u8) -> bool {
        register != RZ && self.0.get(usize::from(register)).copied().unwrap_or(true)
    }

    fn set(&mut self, first: u8, count: usize, changes: bool) {
        self.0.iter_mut().skip(usize::from(first)).take(count).for_each(|place| *place = changes);
    }

    fn follow(&mut self, instruction: &Instruction) {
        if let Some(access) = instruction.access() {
            if let Some(data) = access.data.filter(|_| matches!(access.kind, AccessKind::Load | AccessKind::Atomic)) {
                self.set(data, access.bytes.unwrap_or(4).div_ceil(4) as usize, true);
            }
        } else if let Some(result) = instruction.result() {
            let changes = moved(instruction).is_none_or(|source| source.is_some_and(|source| self.of(source)));
            // Of a wide multiply both halves.
            self.set(result, if instruction.word.opcode() == WIDE_MULTIPLY { 2 } else { 1 }, changes);
        }
    }
}

/// The register that a move takes its value from: `None` where it is no move, nothing inside where it moves a constant.
fn moved(instruction: &Instruction) -> Option<Option<u8>> {
    let word = instruction.word;
    match instruction.mnemonic() {
        "MOV" => Some((word.form() == 1).then(|| word.register(32))),
        "IMAD" if word.register(24) == RZ => Some(matches!(word.form(), 1 | 4 | 5 | 6).then(|| word.register(64))),
        _ => None,
    }
}

/// Loops that work on data and have none inside that does.
pub(crate) fn leaves(loops: &Loops, kinds: &[LoopKind]) -> Vec<bool> {
    let works = |number: usize| kinds.get(number) == Some(&LoopKind::Work);
    let mut leaves: Vec<bool> = (0..loops.all.len()).map(works).collect();
    // Inner loops come after those around them; what works inside marks every loop around it.
    for number in (0..loops.all.len()).rev().filter(|number| works(*number)) {
        let mut at = loops.all.get(number).and_then(|found| found.parent);
        while let Some(parent) = at {
            let Some(leaf @ true) = leaves.get_mut(parent) else { break };
            *leaf = false;
            at = loops.all.get(parent).and_then(|found| found.parent);
        }
    }
    leaves
}

/// The loop that most of the time is likely spent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hot {
    /// Its number among the loops.
    pub number: usize,
    /// What decided.
    pub because: Because,
}

/// Why a loop was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// There is no other loop that works on data.
    Only,
    /// It alone uses the tensor cores, or it has the most of them.
    TensorCores,
    /// It is nested deepest.
    Deepest,
    /// Of those nested as deep it moves and computes most.
    MostWork,
    /// Of those with as many tensor-core operations it does the least else. Compilers write a loop several times, and what
    /// the others do more is for edges: masks, above all.
    LeastElse,
}

impl Because {
    /// For reading, behind "hot: ".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Only => "no other loop works on data",
            Self::TensorCores => "it uses the tensor cores",
            Self::Deepest => "it is nested deepest",
            Self::MostWork => "it does the most in one pass",
            Self::LeastElse => "of loops with as many tensor-core operations it does the least else",
        }
    }
}

/// A loop whose work is a fraction of another's: what the compiler leaves beside an unrolled loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyOf {
    /// The larger loop, by number.
    pub of: usize,
    /// How many times the work of this one it does per pass.
    pub times: u32,
}

/// Work of one pass: an order of magnitude, to compare loops of one kernel with.
fn work(content: &Content) -> u64 {
    let weighted = [
        (content.tensor, 64),
        (content.tma, 64),
        (content.async_copies, 32),
        // A pass that goes to memory takes as long as many that stay on the SM.
        (content.global_loads, 32),
        (content.global_stores, 16),
        (content.atomics, 16),
        (content.texture, 32),
        (content.fp64, 4),
        (content.generic_loads, 4),
        (content.generic_stores, 4),
        (content.shared_loads, 2),
        (content.shared_stores, 2),
        (content.xu, 2),
        (content.half, 1),
        (content.fp32, 1),
        (content.imad, 1),
    ];
    weighted.iter().map(|(count, weight)| u64::from(*count).saturating_mul(*weight)).fold(0, u64::saturating_add)
}

/// The hot loop among the `leaves`; `contents` are those of each loop, inner loops included, and `own` tells the loops of the
/// kernel from those of functions it calls. `None` without a loop that works on data.
pub(crate) fn hot(loops: &Loops, contents: &[Content], leaves: &[bool], own: &[bool]) -> Option<Hot> {
    let of = |number: usize| contents.get(number).copied().unwrap_or_default();
    let is_leaf = |number: &usize| leaves.get(*number).copied().unwrap_or(false);
    // Tensor-core operations matter most, also where short loops are left in their midst.
    let tensor_in_leaves = (0..loops.all.len()).filter(is_leaf).any(|number| of(number).tensor > 0);
    let mut around_tensor = vec![false; loops.all.len()];
    for (_, found) in loops.all.iter().enumerate().filter(|(number, _)| of(*number).tensor > 0) {
        if let Some(around) = found.parent.and_then(|parent| around_tensor.get_mut(parent)) {
            *around = true;
        }
    }
    let innermost_with_tensor = |number: usize| of(number).tensor > 0 && around_tensor.get(number) == Some(&false);
    let is_candidate = |number: &usize| is_leaf(number) || (!tensor_in_leaves && innermost_with_tensor(*number));
    let candidates: Vec<usize> = (0..loops.all.len()).filter(is_candidate).collect();
    // Loops of called functions only where the kernel's own has none: how often a call is made is not known.
    let of_kernel: Vec<usize> =
        candidates.iter().copied().filter(|number| own.get(*number).copied().unwrap_or(true)).collect();
    let candidates = if of_kernel.is_empty() { candidates } else { of_kernel };
    let depth = |number: usize| loops.all.get(number).map_or(0, |found| found.depth);
    let key = |number: &usize| {
        let content = of(*number);
        let order = match content.tensor {
            0 => work(&content),
            _ => u64::from(u32::MAX.saturating_sub(content.instructions)),
        };
        (u64::from(content.tensor > 0), depth(*number), content.tensor, order)
    };
    let number = candidates.iter().copied().max_by_key(|number| (key(number), std::cmp::Reverse(*number)))?;
    let with = |test: &dyn Fn(usize) -> bool| candidates.iter().filter(|number| test(**number)).count();
    let because = if candidates.len() == 1 {
        Because::Only
    } else if of(number).tensor > 0
        && with(&|other| of(other).tensor == of(number).tensor && depth(other) == depth(number)) > 1
    {
        Because::LeastElse
    } else if of(number).tensor > 0 && with(&|other| of(other).tensor > 0) < candidates.len() {
        Because::TensorCores
    } else if with(&|other| depth(other) == depth(number)) == 1 {
        Because::Deepest
    } else {
        Because::MostWork
    };
    Some(Hot { number, because })
}

/// For each loop, the larger loop beside it that does a whole number of times its work.
pub(crate) fn copies(loops: &Loops, contents: &[Content], leaves: &[bool]) -> Vec<Option<CopyOf>> {
    // Beyond this many loops in one place, they are not told apart: the comparison is one of pairs.
    const MOST: usize = 64;
    let mut copies = vec![None; loops.all.len()];
    let mut by_parent: std::collections::BTreeMap<Option<usize>, Vec<usize>> = std::collections::BTreeMap::new();
    for (number, found) in loops.all.iter().enumerate().filter(|(number, _)| leaves.get(*number) == Some(&true)) {
        by_parent.entry(found.parent).or_default().push(number);
    }
    for beside in by_parent.values().filter(|beside| beside.len() <= MOST) {
        for number in beside {
            let larger = beside.iter().filter_map(|other| {
                let times = times(contents.get(*other)?, contents.get(*number)?)?;
                Some(CopyOf { of: *other, times })
            });
            if let Some(copy) = copies.get_mut(*number) {
                *copy = larger.max_by_key(|copy| copy.times);
            }
        }
    }
    copies
}

/// How many times the work of `small` `large` does: 2 or more, the same for everything that both do, and twice at least
/// of some memory access or tensor-core operation.
fn times(large: &Content, small: &Content) -> Option<u32> {
    let mut times = None;
    for (large, small) in large.proportions().into_iter().zip(small.proportions()) {
        match (large, small) {
            (0, 0) => {}
            (large, small) if small > 0 && large.is_multiple_of(small) => {
                let found = large.checked_div(small)?;
                if *times.get_or_insert(found) != found {
                    return None;
                }
            }
            _ => return None,
        }
    }
    times.filter(|times| *times >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_same_loop_with_and_without_masks_the_one_without_is_hot() {
        let flow = crate::loops::tests::flow(5, &[(0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 4)], &[]);
        let loops = Loops::new(&flow);
        let content = |tensor, instructions| Content { tensor, instructions, ..Content::default() };
        let chosen = |contents: [Content; 3]| {
            hot(&loops, &contents, &[true; 3], &[true; 3]).map(|hot| (hot.number, hot.because))
        };
        let masked = content(256, 900);
        assert_eq!(chosen([masked, content(256, 700), content(64, 100)]), Some((1, Because::LeastElse)));
        assert_eq!(chosen([masked, content(128, 400), content(0, 9000)]), Some((0, Because::TensorCores)));
    }

    #[test]
    fn a_remainder_does_a_whole_fraction_of_everything() {
        let large = Content { global_load_bytes: 64, global_store_bytes: 64, fp32: 40, imad: 9, ..Content::default() };
        let small = Content { global_load_bytes: 16, global_store_bytes: 16, fp32: 10, imad: 5, ..Content::default() };
        assert_eq!(times(&large, &small), Some(4));
        assert_eq!(times(&small, &large), None);
        assert_eq!(times(&large, &large), None);
        let other = Content { global_store_bytes: 32, ..small };
        assert_eq!(times(&large, &other), None);
        assert_eq!(times(&Content { imad: 8, ..Content::default() }, &Content { imad: 4, ..Content::default() }), None);
    }
}
