//! Which blocks every way to a block leads through. Not for: loops, which follow from it.
//!
//! The algorithm is Lengauer and Tarjan's with path compression, so that time stays near linear for any bytes.

use crate::flow::Flow;

/// The root above all entries.
const ROOT: usize = 0;
const NONE: usize = usize::MAX;

/// Immediate dominators of the reachable blocks, and their order.
pub(crate) struct Dominators {
    /// Reachable blocks by the time of the first visit of a depth-first walk.
    pub(crate) preorder: Vec<usize>,
    /// For each block the range of times of its subtree in the dominator tree; empty where not reachable.
    subtree: Vec<(usize, usize)>,
}

impl Dominators {
    pub(crate) fn new(flow: &Flow) -> Self {
        let walk = Walk::new(flow);
        let idom = walk.immediate(flow);
        Self { subtree: subtrees(&walk, &idom, flow.blocks.len()), preorder: walk.preorder() }
    }

    /// Whether every way to `to` leads through `block`; a block dominates itself.
    pub(crate) fn dominates(&self, block: usize, to: usize) -> bool {
        match (self.subtree.get(block), self.subtree.get(to)) {
            (Some((start, end)), Some((at, last))) => start < end && at < last && start <= at && at < end,
            _ => false,
        }
    }
}

/// Depth-first numbering: number 0 is the root above the entries, block numbers follow.
struct Walk {
    /// Block of each number; `NONE` for the root.
    block: Vec<usize>,
    parent: Vec<usize>,
    /// Number of each block; `NONE` where not reachable.
    number: Vec<usize>,
}

impl Walk {
    fn new(flow: &Flow) -> Self {
        let blocks = flow.blocks.len();
        let room = || Vec::with_capacity(blocks.saturating_add(1));
        let mut walk = Self { block: room(), parent: room(), number: vec![NONE; blocks] };
        walk.block.push(NONE);
        walk.parent.push(ROOT);
        // Entries are pushed in reverse so that the section's own is walked first.
        let mut waiting: Vec<(usize, usize)> = flow.entries.iter().rev().map(|entry| (*entry, ROOT)).collect();
        while let Some((block, parent)) = waiting.pop() {
            let Some(number) = walk.number.get_mut(block).filter(|number| **number == NONE) else { continue };
            *number = walk.block.len();
            let number = *number;
            walk.block.push(block);
            walk.parent.push(parent);
            waiting.extend(flow.successors(block).iter().rev().map(|to| (*to, number)));
        }
        walk
    }

    fn preorder(&self) -> Vec<usize> {
        self.block.iter().copied().skip(1).collect()
    }

    /// Numbers from which the block of a number is entered.
    fn sources<'w>(&'w self, flow: &'w Flow, number: usize) -> impl Iterator<Item = usize> + 'w {
        let block = get(&self.block, number);
        let entered = flow.blocks.get(block).is_some_and(|block| block.entry).then_some(ROOT);
        let known =
            flow.predecessors(block).iter().map(|from| get(&self.number, *from)).filter(|number| *number != NONE);
        known.chain(entered)
    }

    /// The immediate dominator of each number, by Lengauer and Tarjan.
    fn immediate(&self, flow: &Flow) -> Vec<usize> {
        let count = self.block.len();
        let mut forest = Forest::new(count);
        let mut idom = vec![ROOT; count];
        // For each number, those that have it as semidominator: the first, and for each the next.
        let (mut first, mut next) = (vec![NONE; count], vec![NONE; count]);
        for number in (1..count).rev() {
            let least = self.sources(flow, number).map(|from| forest.least(from)).min().unwrap_or(number);
            let semi = least.min(number);
            set(&mut forest.semi, number, semi);
            set(&mut next, number, get(&first, semi));
            set(&mut first, semi, number);
            let parent = get(&self.parent, number);
            forest.link(parent, number);
            let mut child = get(&first, parent);
            set(&mut first, parent, NONE);
            while child != NONE {
                let best = forest.evaluate(child);
                let closer = get(&forest.semi, best) < get(&forest.semi, child);
                set(&mut idom, child, if closer { best } else { parent });
                child = get(&next, child);
            }
        }
        for number in 1..count {
            let of = get(&idom, number);
            if of != get(&forest.semi, number) {
                let above = get(&idom, of);
                set(&mut idom, number, above);
            }
        }
        idom
    }
}

/// The forest of Lengauer and Tarjan, with compressed paths.
struct Forest {
    ancestor: Vec<usize>,
    best: Vec<usize>,
    semi: Vec<usize>,
    /// Room for a path.
    path: Vec<usize>,
}

impl Forest {
    fn new(count: usize) -> Self {
        Self { ancestor: vec![NONE; count], best: (0..count).collect(), semi: (0..count).collect(), path: Vec::new() }
    }

    fn link(&mut self, parent: usize, child: usize) {
        set(&mut self.ancestor, child, parent);
    }

    /// The least semidominator above.
    fn least(&mut self, number: usize) -> usize {
        let best = self.evaluate(number);
        get(&self.semi, best)
    }

    fn evaluate(&mut self, number: usize) -> usize {
        let mut path = std::mem::take(&mut self.path);
        let mut at = number;
        while get(&self.ancestor, at) != NONE && get(&self.ancestor, get(&self.ancestor, at)) != NONE {
            path.push(at);
            at = get(&self.ancestor, at);
        }
        for at in path.drain(..).rev() {
            let above = get(&self.ancestor, at);
            let (mine, theirs) = (get(&self.best, at), get(&self.best, above));
            if get(&self.semi, theirs) < get(&self.semi, mine) {
                set(&mut self.best, at, theirs);
            }
            let further = get(&self.ancestor, above);
            set(&mut self.ancestor, at, further);
        }
        self.path = path;
        get(&self.best, number)
    }
}

/// Times of the dominator tree's walk, so that "dominates" is a comparison.
fn subtrees(walk: &Walk, idom: &[usize], blocks: usize) -> Vec<(usize, usize)> {
    let count = walk.block.len();
    // A dominator has a smaller number than what it dominates: sizes add up from the last to the first.
    let mut size = vec![1_usize; count];
    for number in (1..count).rev() {
        let above = get(idom, number);
        let sum = get(&size, above).saturating_add(get(&size, number));
        set(&mut size, above, sum);
    }
    let mut start = vec![0_usize; count];
    let mut free = vec![1_usize; count];
    for number in 1..count {
        let above = get(idom, number);
        let at = get(&start, above).saturating_add(get(&free, above));
        set(&mut start, number, at);
        let next = get(&free, above).saturating_add(get(&size, number));
        set(&mut free, above, next);
    }
    let mut subtree = vec![(0, 0); blocks];
    for number in 1..count {
        let at = get(&start, number);
        if let Some(subtree) = subtree.get_mut(get(&walk.block, number)) {
            *subtree = (at, at.saturating_add(get(&size, number)));
        }
    }
    subtree
}

fn get(values: &[usize], at: usize) -> usize {
    values.get(at).copied().unwrap_or(NONE)
}

fn set(values: &mut [usize], at: usize, value: usize) {
    if let Some(place) = values.get_mut(at) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loops::tests::flow;

    /// The definition: `block` dominates `to` if `to` can't be reached without it.
    fn by_definition(flow: &Flow, block: usize, to: usize) -> bool {
        let reached = |without: Option<usize>| {
            let mut seen = vec![false; flow.blocks.len()];
            let mut waiting = vec![0];
            while let Some(at) = waiting.pop() {
                if Some(at) != without && !std::mem::replace(&mut seen[at], true) {
                    waiting.extend_from_slice(flow.successors(at));
                }
            }
            seen
        };
        reached(None)[to] && !reached(Some(block))[to]
    }

    proptest! {
        #[test]
        fn equal_to_the_definition(ways in proptest::collection::vec((0..12_usize, 0..12_usize), 0..40)) {
            let flow = flow(12, &ways, &[]);
            let dominators = Dominators::new(&flow);
            for block in 0..12 {
                for to in 0..12 {
                    let expected = by_definition(&flow, block, to);
                    prop_assert_eq!(dominators.dominates(block, to), expected, "{} {}", block, to);
                }
            }
        }
    }
}
