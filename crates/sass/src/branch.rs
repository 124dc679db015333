//! Where branches, calls and reconvergence points lead. Not for: targets in registers; those are [`Target::Unknown`].

use crate::family::Family;
use crate::opcodes::{Class, Opcode};
use crate::word::{INSTRUCTION_BYTES, Word};

/// What an instruction names as the place to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// An offset in the same section; negative or beyond its end in damaged code.
    At(i64),
    /// In a register or a constant, or absolute and filled in by the loader.
    Unknown,
}

/// Bit width of the distance in units of four bytes, up to sm_89.
const DISTANCE_BITS: u32 = 48;

/// The target of an instruction, where it has one.
pub(crate) fn target(opcode: &Opcode, word: Word, offset: u32, family: Family) -> Option<Target> {
    // With an immediate the distance is in the instruction; other forms take it from a register or a constant.
    match (opcode.mnemonic, word.form()) {
        ("BRA", 2 | 4) => Some(Target::At(relative(word, offset, family))),
        ("CALL", 1 | 4) if word.opcode() == CALL_RELATIVE => Some(Target::At(relative(word, offset, family))),
        ("BSSY", _) => Some(Target::At(beyond(offset, word.signed(34, 30)))),
        // Only the collective form, which sm_90 brought, has a target.
        ("WARPSYNC", 1 | 4) if family >= Family::Sm90 && word.bit(COLLECTIVE) => {
            Some(Target::At(relative(word, offset, family)))
        }
        _ if matches!(opcode.class, Class::Branch | Class::Call) => Some(Target::Unknown),
        _ => None,
    }
}

const CALL_RELATIVE: usize = 0x144;
/// Bit of `WARPSYNC.COLLECTIVE`.
const COLLECTIVE: u32 = 85;

fn relative(word: Word, offset: u32, family: Family) -> i64 {
    let units = word.signed(34, DISTANCE_BITS);
    let units = if family < Family::Sm90 { units } else { (units << 8) | i64::from(word.register(16)) };
    beyond(offset, units)
}

/// `units` of four bytes beyond the end of the instruction at `offset`.
fn beyond(offset: u32, units: i64) -> i64 {
    let end = i64::from(offset).saturating_add(INSTRUCTION_BYTES as i64);
    end.saturating_add(units.saturating_mul(4))
}

/// Whether a branch may fall through: by its guard, by a predicate operand, or by a uniform predicate.
pub(crate) fn is_conditional(word: Word) -> bool {
    const TRUE: u64 = 7;
    let uniform = word.form() == 2 && (word.bits(24, 3) != TRUE || word.bit(27));
    !word.guard().is_always() || word.bits(87, 3) != TRUE || word.bit(90) || uniform
}
