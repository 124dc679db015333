//! The ways between blocks, in lists that share one allocation. Not for: where they come from; that is [`crate::flow`].

/// For each block the blocks at the other end of its ways, one list after the other.
#[derive(Debug, Clone)]
pub(crate) struct Ways {
    ends: Vec<usize>,
    /// Where the list of each block starts; one more than there are lists.
    starts: Vec<usize>,
}

impl Default for Ways {
    fn default() -> Self {
        Self { ends: Vec::new(), starts: vec![0] }
    }
}

impl Ways {
    /// Without a list yet, with room for so many of two ways.
    pub(crate) fn with_room(blocks: usize) -> Self {
        let mut starts = Vec::with_capacity(blocks.saturating_add(1));
        starts.push(0);
        Self { ends: Vec::with_capacity(blocks.saturating_mul(2)), starts }
    }

    /// Adds the list of the next block.
    pub(crate) fn push(&mut self, ends: &[usize]) {
        self.ends.extend_from_slice(ends);
        self.starts.push(self.ends.len());
    }

    /// The same ways from their other ends, for as many blocks. Ends ascend in each list.
    pub(crate) fn turned(&self) -> Self {
        let blocks = self.starts.len().saturating_sub(1);
        // Place n + 1 counts the ways of block n, then holds where its list starts, then, one way after the other, ends.
        let mut starts = vec![0_usize; blocks.saturating_add(2)];
        for end in &self.ends {
            if let Some(count) = starts.get_mut(end.saturating_add(2)) {
                *count = count.saturating_add(1);
            }
        }
        let mut sum = 0_usize;
        for start in &mut starts {
            sum = sum.saturating_add(*start);
            *start = sum;
        }
        let mut ends = vec![0; sum];
        for block in 0..blocks {
            for end in self.of(block) {
                let Some(at) = starts.get_mut(end.saturating_add(1)) else { continue };
                if let Some(place) = ends.get_mut(*at) {
                    *place = block;
                }
                *at = at.saturating_add(1);
            }
        }
        starts.truncate(blocks.saturating_add(1));
        Self { ends, starts }
    }

    /// The list of a block; empty for numbers beyond the last.
    pub(crate) fn of(&self, block: usize) -> &[usize] {
        let range = || Some(*self.starts.get(block)?..*self.starts.get(block.checked_add(1)?)?);
        range().and_then(|range| self.ends.get(range)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_round_and_back() {
        let mut ways = Ways::with_room(4);
        let lists: [&[usize]; 4] = [&[1, 3], &[], &[0, 1, 2], &[1]];
        lists.iter().for_each(|list| ways.push(list));
        let back = ways.turned();
        assert_eq!([0, 1, 2, 3, 4].map(|block| back.of(block)), [&[2][..], &[0, 2, 3], &[2], &[0], &[]]);
        assert_eq!([0, 1, 2, 3].map(|block| back.turned().of(block).to_vec()), lists.map(<[usize]>::to_vec));
    }
}
