//! Which loop matters most, and which loops are copies of one source loop. Trip counts are unknown, so the choice rests on
//! nesting and content, and says so. Not for: kernels without loops; there the whole body counts.

use crate::content::Content;
use crate::loops::Loops;

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
        (content.async_copies, 16),
        (content.global_loads, 8),
        (content.global_stores, 8),
        (content.atomics, 8),
        (content.texture, 8),
        (content.fp64, 4),
        (content.shared_loads, 2),
        (content.shared_stores, 2),
        (content.xu, 2),
        (content.half, 1),
        (content.fma, 1),
    ];
    weighted.iter().map(|(count, weight)| u64::from(*count).saturating_mul(*weight)).fold(0, u64::saturating_add)
}

/// The hot loop; `contents` are those of each loop, inner loops included. `None` without a loop that works on data.
pub(crate) fn hot(loops: &Loops, contents: &[Content], own: &[bool]) -> Option<Hot> {
    let of = |number: usize| contents.get(number).copied().unwrap_or_default();
    let candidates: Vec<usize> = (0..loops.all.len())
        .filter(|number| loops.all.get(*number).is_some_and(|found| found.innermost) && of(*number).works())
        .collect();
    // Loops of called functions only where the kernel's own has none: how often a call is made is not known.
    let of_kernel: Vec<usize> =
        candidates.iter().copied().filter(|number| own.get(*number).copied().unwrap_or(true)).collect();
    let candidates = if of_kernel.is_empty() { candidates } else { of_kernel };
    let depth = |number: usize| loops.all.get(number).map_or(0, |found| found.depth);
    let key = |number: &usize| (u64::from(of(*number).tensor > 0), depth(*number), work(&of(*number)));
    let number = candidates.iter().copied().max_by_key(|number| (key(number), std::cmp::Reverse(*number)))?;
    let with = |test: &dyn Fn(usize) -> bool| candidates.iter().filter(|number| test(**number)).count();
    let because = if candidates.len() == 1 {
        Because::Only
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
pub(crate) fn copies(loops: &Loops, contents: &[Content]) -> Vec<Option<CopyOf>> {
    // Beyond this many loops in one place, they are not told apart: the comparison is one of pairs.
    const MOST: usize = 64;
    let mut copies = vec![None; loops.all.len()];
    let mut by_parent: std::collections::BTreeMap<Option<usize>, Vec<usize>> = std::collections::BTreeMap::new();
    for (number, found) in loops.all.iter().enumerate().filter(|(_, found)| found.innermost) {
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
    fn a_remainder_does_a_whole_fraction_of_everything() {
        let large = Content { global_load_bytes: 64, global_store_bytes: 64, fma: 40, ..Content::default() };
        let small = Content { global_load_bytes: 16, global_store_bytes: 16, fma: 11, ..Content::default() };
        assert_eq!(times(&large, &small), Some(4));
        assert_eq!(times(&small, &large), None);
        assert_eq!(times(&large, &large), None);
        let other = Content { global_store_bytes: 32, ..small };
        assert_eq!(times(&large, &other), None);
        assert_eq!(times(&Content { fma: 8, ..Content::default() }, &Content { fma: 4, ..Content::default() }), None);
    }
}
