//! The control code: what the compiler tells the warp scheduler about each instruction.
//!
//! Bits 105 to 125, the same since sm_70. Source: NVK's compiler (`nak`, `set_instr_deps`) and CuAssembler; stall counts
//! agree with measured cycles. Not for: how long an instruction takes; a scoreboard only says who waits for it.

use std::fmt;

use crate::word::Word;

/// Scoreboards of a warp.
pub const SCOREBOARDS: u8 = 6;

/// The control code of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp may issue its next instruction, 0 to 15. 0 is a long safe wait, not none.
    pub stall: u8,
    /// The scheduler is told to prefer another warp next: bit 109 is clear.
    pub yields: bool,
    /// The scoreboard that is released when the result is written, 0 to 5.
    pub write: Option<u8>,
    /// The scoreboard that is released when the operands are read, 0 to 5.
    pub read: Option<u8>,
    /// Scoreboards that must be released before it issues, a bit each.
    pub wait: u8,
    /// Operands kept in the reuse cache, a bit each.
    pub reuse: u8,
}

impl Control {
    /// The control code of an instruction.
    #[must_use]
    pub const fn of(word: Word) -> Self {
        const fn scoreboard(number: u64) -> Option<u8> {
            if number < SCOREBOARDS as u64 { Some(number as u8) } else { None }
        }
        Self {
            stall: word.bits(105, 4) as u8,
            yields: !word.bit(109),
            write: scoreboard(word.bits(110, 3)),
            read: scoreboard(word.bits(113, 3)),
            wait: word.bits(116, 6) as u8,
            reuse: word.bits(122, 4) as u8,
        }
    }

    /// The scoreboards it waits for.
    pub fn waits(self) -> impl Iterator<Item = u8> {
        (0..SCOREBOARDS).filter(move |scoreboard| self.wait >> scoreboard & 1 == 1)
    }
}

/// Columns of equal width: wait mask, read and write scoreboard, yield, stall.
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |scoreboard: Option<u8>| scoreboard.map_or('-', |number| char::from(b'0'.saturating_add(number)));
        for scoreboard in 0..SCOREBOARDS {
            let waited = self.wait >> scoreboard & 1 == 1;
            write!(f, "{}", digit(waited.then_some(scoreboard)))?;
        }
        let yields = if self.yields { 'Y' } else { '-' };
        write!(f, " {} {} {yields} {:>2}", digit(self.read), digit(self.write), self.stall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_and_its_consumer() {
        // LDS R7, [R2+0x10] and the SHF.L.U32 that waits for it.
        let word = |low: u64, high: u64| Word::from_bytes(((u128::from(high) << 64) | u128::from(low)).to_le_bytes());
        let load = Control::of(word(0x0000_1000_0207_7984, 0x000e_2200_0000_0800));
        assert_eq!((load.stall, load.write, load.read, load.wait), (1, Some(0), None, 0));
        let consumer = Control::of(word(0x0000_001f_0707_7819, 0x001f_c800_0000_06ff));
        assert_eq!((consumer.stall, consumer.wait), (4, 1));
        assert_eq!(consumer.waits().collect::<Vec<_>>(), [0]);
        assert_eq!(load.to_string(), "------ - 0 -  1");
        assert_eq!(consumer.to_string(), "0----- - - Y  4");
    }
}
