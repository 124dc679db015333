//! Instructions marked as bits: where blocks start, what a scan found. Not for: what a mark means.

/// Marked instructions, as bits, so that how many are marked before one is found by counting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    bits: Vec<u64>,
    /// Marks before each word of bits.
    before: Vec<usize>,
}

impl Marks {
    /// From numbers of instructions; those from `count` on are left out.
    pub(crate) fn new(marked: impl Iterator<Item = usize>, count: usize) -> Self {
        let mut bits = vec![0_u64; count.div_ceil(64)];
        for number in marked.filter(|number| *number < count) {
            if let Some(word) = bits.get_mut(number / 64) {
                *word |= bit(number);
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

    /// Every marked number, ascending.
    pub(crate) fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().zip((0..).step_by(64)).flat_map(|(word, first)| set_bits(*word).map(move |bit| bit | first))
    }

    /// How many are marked up to a number, itself included.
    pub(crate) fn up_to(&self, number: usize) -> usize {
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

/// The numbers of the bits that are set, ascending.
pub(crate) fn set_bits(word: u64) -> impl Iterator<Item = usize> {
    let rests = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
    rests.take_while(|rest| *rest != 0).map(|rest| rest.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_and_counted() {
        let numbers = [0, 1, 63, 64, 130, 200];
        let marks = Marks::new(numbers.into_iter().chain([500]), 201);
        assert_eq!(marks.all().collect::<Vec<_>>(), numbers);
        assert_eq!([0, 62, 63, 64, 129, 130, 200, 9999].map(|number| marks.up_to(number)), [1, 2, 3, 4, 4, 5, 6, 6]);
    }
}
