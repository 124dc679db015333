//! One instruction as 128 bits, and the fields that every instruction has in the same place.
//!
//! Layout of sm_70 to sm_121: opcode in bits 0 to 8, form 9 to 11, guard 12 to 15, control code 105 to 125. Not for: what
//! the bits between mean; that depends on the opcode.

use std::fmt;

/// Bytes of an instruction.
pub const INSTRUCTION_BYTES: usize = 16;
/// The register that reads as 0 and drops what is written to it.
pub const RZ: u8 = 255;

/// The bits of one instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word(u128);

impl Word {
    /// From the bytes as they stand in memory.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; INSTRUCTION_BYTES]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// `count` bits from bit `at` on; `count` below 64, bits beyond 127 read as 0.
    #[must_use]
    pub const fn bits(self, at: u32, count: u32) -> u64 {
        let shifted = match self.0.checked_shr(at) {
            Some(shifted) => shifted as u64,
            None => 0,
        };
        match 1_u64.checked_shl(count) {
            Some(end) => shifted & end.wrapping_sub(1),
            None => shifted,
        }
    }

    /// One bit.
    #[must_use]
    pub const fn bit(self, at: u32) -> bool {
        self.bits(at, 1) == 1
    }

    /// `count` bits from bit `at` on as a signed number; `count` from 1 to 63.
    #[must_use]
    pub const fn signed(self, at: u32, count: u32) -> i64 {
        let unused = 64_u32.saturating_sub(count);
        match (self.bits(at, count) as i64).checked_shl(unused) {
            Some(shifted) => shifted >> unused,
            None => 0,
        }
    }

    /// Eight bits that name a register.
    #[must_use]
    pub const fn register(self, at: u32) -> u8 {
        self.bits(at, 8) as u8
    }

    /// The opcode's number, 0 to 511.
    #[must_use]
    pub const fn opcode(self) -> usize {
        self.bits(0, 9) as usize
    }

    /// Where the operands come from, 0 to 7.
    #[must_use]
    pub const fn form(self) -> u64 {
        self.bits(9, 3)
    }

    /// The two halves, low first, as NVIDIA's disassembler prints them.
    #[must_use]
    pub const fn halves(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// The predicate that decides whether a thread takes part.
    #[must_use]
    pub const fn guard(self) -> Guard {
        Guard { predicate: self.bits(12, 3) as u8, negated: self.bit(15) }
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.halves();
        write!(f, "{low:#018x} {high:#018x}")
    }
}

/// A guard predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// 0 to 6; 7 is always true.
    pub predicate: u8,
    /// Taken where the predicate is false.
    pub negated: bool,
}

impl Guard {
    /// Every thread takes part.
    pub const ALWAYS: Self = Self { predicate: 7, negated: false };

    /// Whether every thread takes part.
    #[must_use]
    pub const fn is_always(self) -> bool {
        self.predicate == 7 && !self.negated
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.predicate, self.negated) {
            (7, false) => Ok(()),
            (7, true) => f.write_str("@!PT"),
            (predicate, false) => write!(f, "@P{predicate}"),
            (predicate, true) => write!(f, "@!P{predicate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_branch() {
        let low = 0xffff_fffd_08e8_7547_u64;
        let high = 0x000f_ec00_0b83_ffff_u64;
        let word = Word(u128::from(low) | u128::from(high) << 64);
        assert_eq!((word.opcode(), word.form()), (0x147, 2));
        assert!(word.guard().is_always());
        assert_eq!((word.signed(34, 48), word.bits(16, 8)), (-1, 0xe8));
        assert_eq!(word.halves(), [low, high]);
    }

    #[test]
    fn bits_beyond_the_end_are_0() {
        let word = Word(u128::MAX);
        assert_eq!((word.bits(120, 16), word.bits(200, 8), word.bits(0, 0)), (0xff, 0, 0));
        assert_eq!((word.signed(0, 63), word.signed(4, 1)), (-1, -1));
        assert_eq!(Guard { predicate: 7, negated: true }.to_string(), "@!PT");
    }
}
