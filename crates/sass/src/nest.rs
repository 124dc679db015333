//! How deep in loops each block is, without the loops themselves. Not for: which blocks a loop has; that is
//! [`crate::loops`].
//!
//! One depth-first walk finds the nest of code whose loops all have one way in, as compilers write it (Wei, Mao, Zou, Chen:
//! A New Algorithm for Identifying Loops in Decompilation, SAS 2007). Other code is left to [`Loops`].

use crate::flow::Flow;
use crate::loops::Loops;

/// What `Nest` tells of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nested {
    /// 1 for the outermost.
    pub depth: usize,
    /// No loop is inside it.
    pub innermost: bool,
}

/// How the loops of a code section nest: less than [`Loops`], for less.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nest {
    loops: Vec<Nested>,
    /// The innermost loop of each block; [`NONE`] outside of loops.
    of_block: Vec<u32>,
}

/// No block, no loop.
const NONE: u32 = u32::MAX;

impl Nest {
    pub(crate) fn new(flow: &Flow) -> Self {
        // A cycle has a way that does not lead on in the code; many sections have none.
        let leads_back = |block: usize| flow.successors(block).first().is_some_and(|to| *to <= block);
        if !(0..flow.blocks.len()).any(leads_back) {
            return Self::default();
        }
        Walk::new(flow).and_then(Walk::nest).unwrap_or_else(|| Self::of(&Loops::new(flow)))
    }

    fn of(loops: &Loops) -> Self {
        let number = |of: &Option<usize>| of.and_then(|of| u32::try_from(of).ok()).unwrap_or(NONE);
        Self {
            loops: loops.all.iter().map(|found| Nested { depth: found.depth, innermost: found.innermost }).collect(),
            of_block: loops.of_block.iter().map(number).collect(),
        }
    }

    /// The innermost loop around a block.
    pub(crate) fn around(&self, block: usize) -> Option<&Nested> {
        self.loops.get(*self.of_block.get(block)? as usize)
    }
}

/// What the walk knows of a block.
#[derive(Clone, Copy)]
struct Mark {
    /// Header of the innermost loop around it; of a header, of the loop around its own.
    header: u32,
    /// Place on the path from the root, from 1 on; 0 beside the path.
    on_path: u32,
    visited: bool,
    is_header: bool,
}

/// A depth-first walk from the entries that gives each block the header of its innermost loop.
struct Walk<'f> {
    flow: &'f Flow,
    marks: Vec<Mark>,
    /// Blocks by the time of their first visit.
    order: Vec<u32>,
    /// Steps along headers that may still be taken: damaged code could ask for the square of its blocks.
    left: usize,
}

impl<'f> Walk<'f> {
    /// `None` where a loop has a second way in, or the nest is too deep.
    fn new(flow: &'f Flow) -> Option<Self> {
        /// Steps for each block; real code takes about one.
        const STEPS: usize = 64;
        let blocks = flow.blocks.len();
        let unseen = Mark { header: NONE, on_path: 0, visited: false, is_header: false };
        let left = blocks.saturating_mul(STEPS);
        let mut walk = Self { flow, marks: vec![unseen; blocks], order: Vec::with_capacity(blocks), left };
        for entry in &flow.entries {
            let mark = walk.marks.get(*entry)?;
            if !mark.visited {
                walk.from(u32::try_from(*entry).ok()?)?;
            } else if mark.header != NONE {
                // From the root into the middle of a loop.
                return None;
            }
        }
        Some(walk)
    }

    fn from(&mut self, entry: u32) -> Option<()> {
        let mut path: Vec<(u32, std::slice::Iter<'f, usize>)> = Vec::new();
        self.enter(entry, &mut path)?;
        while let Some((block, ways)) = path.last_mut() {
            let block = *block;
            let Some(to) = ways.next() else {
                path.pop();
                let mark = self.marks.get_mut(block as usize)?;
                mark.on_path = 0;
                let header = mark.header;
                if let Some((above, _)) = path.last() {
                    self.put_in(*above, header)?;
                }
                continue;
            };
            let to = u32::try_from(*to).ok()?;
            let met = self.marks.get_mut(to as usize)?;
            if !met.visited {
                self.enter(to, &mut path)?;
            } else if met.on_path > 0 {
                met.is_header = true;
                self.put_in(block, to)?;
            } else if met.header != NONE {
                let header = met.header;
                if self.marks.get(header as usize)?.on_path == 0 {
                    return None;
                }
                self.put_in(block, header)?;
            }
        }
        Some(())
    }

    fn enter(&mut self, block: u32, path: &mut Vec<(u32, std::slice::Iter<'f, usize>)>) -> Option<()> {
        path.push((block, self.flow.successors(block as usize).iter()));
        let mark = self.marks.get_mut(block as usize)?;
        mark.visited = true;
        mark.on_path = u32::try_from(path.len()).ok()?;
        self.order.push(block);
        Some(())
    }

    /// Puts a block into the loop of a header on the path, between the loops that it is known to be in.
    fn put_in(&mut self, block: u32, header: u32) -> Option<()> {
        let (mut inner, mut outer) = (block, header);
        while inner != outer && outer != NONE {
            self.left = self.left.checked_sub(1)?;
            let known = self.marks.get(inner as usize)?.header;
            let deeper = |of: u32| self.marks.get(of as usize).map_or(0, |mark| mark.on_path);
            if known == outer {
                break;
            }
            if known == NONE || deeper(known) < deeper(outer) {
                self.marks.get_mut(inner as usize)?.header = outer;
                (inner, outer) = (outer, known);
            } else {
                inner = known;
            }
        }
        Some(())
    }

    fn nest(self) -> Option<Nest> {
        let mut loops: Vec<Nested> = Vec::new();
        let mut of_block = vec![NONE; self.marks.len()];
        // A header is visited before the blocks of its loop.
        for block in self.order {
            let mark = self.marks.get(block as usize)?;
            let around = of_block.get(mark.header as usize).copied().unwrap_or(NONE);
            let number = if mark.is_header {
                let parent = loops.get_mut(around as usize);
                let depth = parent.map_or(1, |parent| {
                    parent.innermost = false;
                    parent.depth.saturating_add(1)
                });
                loops.push(Nested { depth, innermost: true });
                u32::try_from(loops.len()).ok()?.checked_sub(1)?
            } else {
                around
            };
            *of_block.get_mut(block as usize)? = number;
        }
        Some(Nest { loops, of_block })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loops::tests::flow;

    fn equal(ways: &[(usize, usize)], entries: &[usize]) -> Result<bool, TestCaseError> {
        let flow = flow(10, ways, entries);
        let expected = Nest::of(&Loops::new(&flow));
        let nest = Nest::new(&flow);
        for block in 0..10 {
            prop_assert_eq!(nest.around(block), expected.around(block), "block {}", block);
        }
        Ok(Walk::new(&flow).is_some())
    }

    proptest! {
        #[test]
        fn a_nest_tells_the_same_as_the_loops(
            ways in proptest::collection::vec((0..10_usize, 0..10_usize), 0..30),
            entries in proptest::collection::vec(0..10_usize, 0..3),
        ) {
            equal(&ways, &entries)?;
        }

        /// Jumps over a few blocks and back to an earlier start: what compilers write, and mostly loops with one way in.
        #[test]
        fn also_of_code_that_goes_on_mostly(
            jumps in proptest::collection::vec((0..9_usize, 0..4_usize), 0..4),
            backs in proptest::collection::vec((0..10_usize, 0..10_usize), 0..4),
        ) {
            let on = (0..9).map(|block| (block, block + 1));
            let over = jumps.iter().map(|(from, far)| (*from, (from + far).min(9)));
            let back = backs.iter().map(|(a, b)| (*a.max(b), *a.min(b)));
            equal(&on.chain(over).chain(back).collect::<Vec<_>>(), &[])?;
        }
    }

    #[test]
    fn one_walk_is_enough_for_a_nest_and_not_for_a_second_way_in() {
        let nest = [(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4)];
        assert!(equal(&nest, &[]).unwrap());
        assert!(!equal(&[(0, 1), (0, 2), (1, 2), (2, 1)], &[]).unwrap());
        // A function that starts in the middle of another's loop.
        assert!(!equal(&nest, &[2]).unwrap());
    }

    #[test]
    fn a_nest_of_a_thousand_loops_is_left_to_the_loops() {
        let blocks = 1000;
        let ways: Vec<(usize, usize)> =
            (1..blocks).map(|to| (to - 1, to)).chain((0..blocks).map(|to| (blocks - 1, to))).collect();
        let flow = flow(blocks, &ways, &[]);
        let deepest = Nest::new(&flow).around(blocks - 1).copied();
        assert_eq!(deepest, Some(Nested { depth: blocks, innermost: true }));
    }
}
