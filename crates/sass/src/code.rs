//! A code section with its decoder: instructions by number, without a list of them. Not for: what they mean together.

use std::cell::OnceCell;

use crate::instruction::{Decoder, Instruction};
use crate::marks::set_bits;
use crate::opcodes::Kind;
use crate::word::{INSTRUCTION_BYTES, Word};

/// The bytes of one code section and what decodes them.
#[derive(Clone)]
pub struct Code<'c> {
    decoder: Decoder,
    words: &'c [[u8; INSTRUCTION_BYTES]],
    trailing_bytes: usize,
    /// Instructions that can be of a [`Kind`]: a number and its kinds. A few percent of a section; found in one pass when
    /// first asked for.
    found: OnceCell<Vec<Found>>,
}

/// The number of an instruction, and in the low bits the kinds it can be of.
#[derive(Clone, Copy)]
struct Found(u32);

impl Found {
    const KIND_BITS: u32 = 4;

    fn new(number: usize, kinds: u8) -> Self {
        // Sections have less than 2^28 instructions.
        Self((number as u32).wrapping_shl(Self::KIND_BITS) | u32::from(kinds))
    }

    const fn number(self) -> usize {
        self.0.wrapping_shr(Self::KIND_BITS) as usize
    }

    const fn can_be(self, kind: Kind) -> bool {
        self.0 & kind as u32 != 0
    }
}

impl<'c> Code<'c> {
    /// A section's bytes. What is beyond 4 GiB is left out.
    #[must_use]
    pub fn new(decoder: Decoder, bytes: &'c [u8]) -> Self {
        const MOST: usize = u32::MAX as usize / INSTRUCTION_BYTES;
        let (words, rest) = bytes.as_chunks();
        let words = words.get(..MOST).unwrap_or(words);
        Self { decoder, words, trailing_bytes: rest.len(), found: OnceCell::new() }
    }

    /// Whole instructions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.words.len()
    }

    /// There is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Bytes after the last whole instruction; more than 0 in damaged code.
    #[must_use]
    pub const fn trailing_bytes(&self) -> usize {
        self.trailing_bytes
    }

    /// An instruction by its number.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<Instruction> {
        Some(self.decoder.instruction(*self.words.get(number)?, offset_of(number)))
    }

    /// Instructions from a number up to another, with their numbers.
    pub fn range(&self, from: usize, to: usize) -> impl DoubleEndedIterator<Item = (usize, Instruction)> + use<'c> {
        let decoder = self.decoder;
        let words = self.words.get(from..to.min(self.words.len())).unwrap_or(&[]);
        words.iter().enumerate().map(move |(at, word)| {
            let number = from.saturating_add(at);
            (number, decoder.instruction(*word, offset_of(number)))
        })
    }

    /// Only the instructions that can be of a kind, with their numbers; the others are not decoded.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (usize, Instruction)> {
        let found = self.found.get_or_init(|| self.find());
        let numbers = found.iter().filter(move |found| found.can_be(kind)).map(|found| found.number());
        numbers.filter_map(|number| Some((number, self.get(number)?)))
    }

    /// Every instruction that can be of a kind. Bits of 64 at a time tell which.
    fn find(&self) -> Vec<Found> {
        // Enough room for most sections, so that the list is not moved again and again.
        let mut all = Vec::with_capacity(self.words.len() / 8);
        for (words, first) in self.words.chunks(64).zip((0_usize..).step_by(64)) {
            let mark = |marks: u64, word| marks.wrapping_shl(1) | u64::from(self.decoder.kinds(word) != 0);
            let marked = words.iter().rev().fold(0, mark);
            let found =
                set_bits(marked).filter_map(|at| Some(Found::new(first | at, self.decoder.kinds(words.get(at)?))));
            all.extend(found);
        }
        all
    }

    /// The bits of the instructions from a number up to another, with their numbers: for what is told without an opcode.
    pub(crate) fn words(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, Word)> + use<'c> {
        let words = self.words.get(from..to.min(self.words.len())).unwrap_or(&[]);
        words.iter().enumerate().map(move |(at, word)| (from.saturating_add(at), Word::from_bytes(*word)))
    }
}

/// Bytes from the start of the section to an instruction.
fn offset_of(number: usize) -> u32 {
    u32::try_from(number.saturating_mul(INSTRUCTION_BYTES)).unwrap_or(u32::MAX)
}
