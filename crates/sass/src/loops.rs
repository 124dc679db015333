//! Loops and how they nest. Not for: which of them matters; that is [`crate::hot`].

use crate::dominators::Dominators;
use crate::flow::Flow;

/// A loop with one way in, through its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The block through which it is entered.
    pub header: usize,
    /// The loop around it.
    pub parent: Option<usize>,
    /// 1 for the outermost.
    pub depth: usize,
    /// Its blocks, those of loops inside it included, ascending.
    pub blocks: Vec<usize>,
    /// No loop is inside it.
    pub innermost: bool,
}

/// The loops of a code section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loops {
    /// In order of their first block, outer before inner ones.
    pub all: Vec<Loop>,
    /// The innermost loop of each block.
    pub of_block: Vec<Option<usize>>,
    /// Ways back that enter a cycle beside its header: such cycles are not among the loops.
    pub irreducible: usize,
}

/// A loop while it grows, by the order of discovery: inner before outer.
struct Growing {
    header: usize,
    parent: Option<usize>,
    /// A loop around this one, further out than the parent where known: a shortcut.
    outer: Option<usize>,
}

impl Loops {
    /// The loops of a flow.
    #[must_use]
    pub fn new(flow: &Flow) -> Self {
        let dominators = Dominators::new(flow);
        let (growing, of_block) = find(flow, &dominators);
        let irreducible = irreducible(flow, &dominators);
        Self::finish(flow, growing, of_block, irreducible)
    }

    fn finish(flow: &Flow, growing: Vec<Growing>, of_block: Vec<Option<usize>>, irreducible: usize) -> Self {
        // Outer loops were found last; they come first.
        let last = growing.len().saturating_sub(1);
        let flipped = |number: usize| last.saturating_sub(number);
        let mut all: Vec<Loop> = Vec::with_capacity(growing.len());
        for found in growing.iter().rev() {
            let parent = found.parent.map(flipped);
            let depth = parent.and_then(|parent| all.get(parent)).map_or(0, |parent| parent.depth).saturating_add(1);
            all.push(Loop { header: found.header, parent, depth, blocks: Vec::new(), innermost: true });
        }
        let of_block: Vec<Option<usize>> = of_block.into_iter().map(|of| of.map(flipped)).collect();
        for parent in all.iter().filter_map(|found| found.parent).collect::<Vec<_>>() {
            if let Some(parent) = all.get_mut(parent) {
                parent.innermost = false;
            }
        }
        // A nest deeper than this is damaged code; its blocks are told for the inner loops only.
        const DEEPEST: usize = 64;
        for block in 0..flow.blocks.len() {
            let mut at = of_block.get(block).copied().flatten();
            for _ in 0..DEEPEST {
                let Some(found) = at.and_then(|at| all.get_mut(at)) else { break };
                found.blocks.push(block);
                at = found.parent;
            }
        }
        Self { all, of_block, irreducible }.in_order_of_code()
    }

    /// Loops were found in the order of a walk; people read code from its start.
    fn in_order_of_code(self) -> Self {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        // A loop has the blocks of those inside it, so it starts no later than they and has more.
        order.sort_by_key(|number| {
            let blocks = self.all.get(*number).map_or(&[][..], |found| &found.blocks);
            (blocks.first().copied(), std::cmp::Reverse(blocks.len()))
        });
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(*old) {
                *place = new;
            }
        }
        let moved = |old: Option<usize>| old.and_then(|old| place.get(old).copied());
        let all = order
            .iter()
            .filter_map(|old| self.all.get(*old))
            .map(|found| Loop { parent: moved(found.parent), ..found.clone() });
        Self {
            all: all.collect(),
            of_block: self.of_block.iter().map(|of| moved(*of)).collect(),
            irreducible: self.irreducible,
        }
    }

    /// The innermost loop around a block.
    #[must_use]
    pub fn around(&self, block: usize) -> Option<&Loop> {
        self.all.get(self.of_block.get(block).copied().flatten()?)
    }
}

/// The loops, and the innermost one of each block.
fn find(flow: &Flow, dominators: &Dominators) -> (Vec<Growing>, Vec<Option<usize>>) {
    let mut of_block: Vec<Option<usize>> = vec![None; flow.blocks.len()];
    let mut growing: Vec<Growing> = Vec::new();
    // Inner headers come later on a depth-first walk than the headers around them.
    for header in dominators.preorder.iter().rev().copied() {
        let back: Vec<usize> =
            flow.predecessors(header).iter().copied().filter(|from| dominators.dominates(header, *from)).collect();
        if !back.is_empty() {
            growing.push(Growing { header, parent: None, outer: None });
            grow(flow, &mut growing, &mut of_block, back);
        }
    }
    (growing, of_block)
}

/// Walks back from the ends of the newest loop to its header and takes in what it meets.
fn grow(flow: &Flow, growing: &mut [Growing], of_block: &mut [Option<usize>], back: Vec<usize>) {
    let newest = growing.len().saturating_sub(1);
    let Some(header) = growing.last().map(|found| found.header) else { return };
    let mut waiting = back;
    while let Some(block) = waiting.pop() {
        let Some(place) = of_block.get_mut(block) else { continue };
        let from = match *place {
            None => {
                *place = Some(newest);
                if block == header {
                    continue;
                }
                block
            }
            Some(inner) => {
                let outermost = outermost(growing, inner);
                if outermost == newest {
                    continue;
                }
                let Some(found) = growing.get_mut(outermost) else { continue };
                found.parent = Some(newest);
                found.outer = Some(newest);
                if found.header == header {
                    continue;
                }
                found.header
            }
        };
        waiting.extend(
            flow.predecessors(from).iter().filter(|block| flow.blocks.get(**block).is_some_and(|b| b.reachable)),
        );
    }
    if let Some(place @ None) = of_block.get_mut(header) {
        *place = Some(newest);
    }
}

/// The outermost loop known around one, with the way to it shortened.
fn outermost(growing: &mut [Growing], number: usize) -> usize {
    let outer = |growing: &[Growing], at: usize| growing.get(at).and_then(|found| found.outer);
    let mut top = number;
    while let Some(above) = outer(growing, top) {
        top = above;
    }
    let mut at = number;
    while let Some(above) = outer(growing, at) {
        if let Some(found) = growing.get_mut(at) {
            found.outer = Some(top);
        }
        if above == top {
            break;
        }
        at = above;
    }
    top
}

/// Cycles with more than one way in: a way back, in the order of a depth-first walk, to a block that is no dominator.
fn irreducible(flow: &Flow, dominators: &Dominators) -> usize {
    let mut finished = vec![false; flow.blocks.len()];
    let mut open = vec![false; flow.blocks.len()];
    let mut count = 0_usize;
    let mut stack: Vec<(usize, usize)> = flow.entries.iter().rev().map(|entry| (*entry, 0)).collect();
    while let Some((block, next)) = stack.pop() {
        let (Some(finished), Some(is_open)) = (finished.get_mut(block), open.get_mut(block)) else { continue };
        if *finished || (next == 0 && *is_open) {
            continue;
        }
        *is_open = true;
        let Some(to) = flow.successors(block).get(next).copied() else {
            *finished = true;
            *is_open = false;
            continue;
        };
        stack.push((block, next.saturating_add(1)));
        if open.get(to).copied().unwrap_or(false) {
            count = count.saturating_add(usize::from(!dominators.dominates(to, block)));
        } else {
            stack.push((to, 0));
        }
    }
    count
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use std::collections::BTreeSet;

    use super::*;
    use crate::flow::Block;
    use crate::ways::Ways;

    /// A flow with these ways and, beside block 0, these entries.
    pub(crate) fn flow(blocks: usize, ways: &[(usize, usize)], entries: &[usize]) -> Flow {
        let mut flow = Flow::default();
        flow.blocks = vec![Block::default(); blocks];
        for entry in [0].iter().chain(entries) {
            if !std::mem::replace(&mut flow.blocks[*entry].entry, true) {
                flow.entries.push(*entry);
            }
        }
        let mut out = Ways::default();
        for block in 0..blocks {
            let ends: BTreeSet<usize> = ways.iter().filter(|(from, _)| *from == block).map(|(_, to)| *to).collect();
            out.push(&ends.into_iter().collect::<Vec<_>>());
        }
        flow.set_ways(out);
        let mut waiting = flow.entries.clone();
        while let Some(block) = waiting.pop() {
            if !std::mem::replace(&mut flow.blocks[block].reachable, true) {
                waiting.extend_from_slice(flow.successors(block));
            }
        }
        flow
    }

    #[test]
    fn a_nest_a_self_loop_and_code_that_is_never_reached() {
        // 0 -> 1 -> 2 -> 2, 2 -> 3 -> 1, 3 -> 4, 5 -> 5.
        let loops = Loops::new(&flow(6, &[(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4), (5, 5)], &[]));
        let told: Vec<_> = loops.all.iter().map(|l| (l.header, l.depth, l.parent, l.blocks.clone())).collect();
        assert_eq!(told, [(1, 1, None, vec![1, 2, 3]), (2, 2, Some(0), vec![2])]);
        assert_eq!(loops.of_block, [None, Some(0), Some(1), Some(0), None, None]);
        assert!(loops.all[1].innermost && !loops.all[0].innermost);
    }

    #[test]
    fn a_cycle_with_two_ways_in_is_no_loop_and_is_counted() {
        let loops = Loops::new(&flow(3, &[(0, 1), (0, 2), (1, 2), (2, 1)], &[]));
        assert_eq!((loops.all.len(), loops.irreducible), (0, 1));
    }

    proptest! {
        /// The definition: the loop of a header is what reaches one of its ways back without passing the header.
        #[test]
        fn equal_to_the_definition(ways in proptest::collection::vec((0..10_usize, 0..10_usize), 0..30)) {
            let flow = flow(10, &ways, &[]);
            let dominators = Dominators::new(&flow);
            let loops = Loops::new(&flow);
            for header in 0..10 {
                let back: Vec<usize> =
                    (0..10).filter(|from| flow.successors(*from).contains(&header) && dominators.dominates(header, *from)).collect();
                let found = loops.all.iter().find(|found| found.header == header);
                prop_assert_eq!(found.is_some(), !back.is_empty());
                let Some(found) = found else { continue };
                let mut body = [false; 10];
                body[header] = true;
                let mut waiting = back;
                while let Some(block) = waiting.pop() {
                    if flow.blocks[block].reachable && !std::mem::replace(&mut body[block], true) {
                        waiting.extend_from_slice(flow.predecessors(block));
                    }
                }
                let body: Vec<usize> = (0..10).filter(|block| body[*block]).collect();
                prop_assert_eq!(&found.blocks, &body);
                prop_assert_eq!(found.depth, found.parent.map_or(0, |parent| loops.all[parent].depth) + 1);
            }
        }
    }
}
