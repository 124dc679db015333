//! A code section with its decoder: instructions by number, without a list of them. Not for: what they mean together.

use crate::instruction::{Decoder, Instruction};
use crate::marks::set_bits;
use crate::opcodes::Kind;
use crate::word::{INSTRUCTION_BYTES, Word};

/// The bytes of one code section and what decodes them.
#[derive(Clone, Copy)]
pub struct Code<'c> {
    decoder: Decoder,
    words: &'c [[u8; INSTRUCTION_BYTES]],
    trailing_bytes: usize,
}

impl<'c> Code<'c> {
    /// A section's bytes. What is beyond 4 GiB is left out.
    #[must_use]
    pub fn new(decoder: Decoder, bytes: &'c [u8]) -> Self {
        const MOST: usize = u32::MAX as usize / INSTRUCTION_BYTES;
        let (words, rest) = bytes.as_chunks();
        let words = words.get(..MOST).unwrap_or(words);
        Self { decoder, words, trailing_bytes: rest.len() }
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
    pub fn range(self, from: usize, to: usize) -> impl DoubleEndedIterator<Item = (usize, Instruction)> + 'c {
        let words = self.words.get(from..to.min(self.words.len())).unwrap_or(&[]);
        words.iter().enumerate().map(move |(at, word)| {
            let number = from.saturating_add(at);
            (number, self.decoder.instruction(*word, offset_of(number)))
        })
    }

    /// Only the instructions that can be of a kind, with their numbers: a few percent of a section. Bits of 64 at a time
    /// tell which; the others are not decoded.
    pub(crate) fn of_kind(self, kind: Kind) -> impl Iterator<Item = (usize, Instruction)> + 'c {
        let mark = move |marks: u64, word: &[u8; INSTRUCTION_BYTES]| {
            marks.wrapping_shl(1) | u64::from(self.decoder.can_be(kind, word))
        };
        let groups = self.words.chunks(64).zip((0..).step_by(64));
        let found = groups.flat_map(move |(words, first)| {
            let found = set_bits(words.iter().rev().fold(0, mark));
            found.filter_map(move |at| Some((first | at, words.get(at)?)))
        });
        found.map(move |(number, word)| (number, self.decoder.instruction(*word, offset_of(number))))
    }

    /// The bits of the instructions from a number up to another, with their numbers: for what is told without an opcode.
    pub(crate) fn words(self, from: usize, to: usize) -> impl Iterator<Item = (usize, Word)> + 'c {
        let words = self.words.get(from..to.min(self.words.len())).unwrap_or(&[]);
        words.iter().enumerate().map(move |(at, word)| (from.saturating_add(at), Word::from_bytes(*word)))
    }
}

/// Bytes from the start of the section to an instruction.
fn offset_of(number: usize) -> u32 {
    u32::try_from(number.saturating_mul(INSTRUCTION_BYTES)).unwrap_or(u32::MAX)
}
