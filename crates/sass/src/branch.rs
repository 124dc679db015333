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
/// `BRA`.
const BRANCH: usize = 0x147;
/// Bit of `WARPSYNC.COLLECTIVE`.
const COLLECTIVE: u32 = 86;

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

/// What a `BRA` asks of the warp, where it is about divergence. At bit 32: 0 nothing, 1 that it goes as one (`.U`).
pub(crate) fn divergence(branch: Word) -> Option<&'static str> {
    match branch.bits(32, 2) {
        2 => Some("DIV"),
        3 => Some("CONV"),
        _ => None,
    }
}

/// Whether a branch may fall through: by its guard, by a predicate operand, by a uniform predicate, or because it asks
/// whether the warp has diverged (`BRA.DIV`) or not (`BRA.CONV`).
pub(crate) fn is_conditional(word: Word) -> bool {
    const TRUE: u64 = 7;
    let uniform = word.form() == 2 && (word.bits(24, 3) != TRUE || word.bit(27));
    let by_divergence = word.opcode() == BRANCH && divergence(word).is_some();
    !word.guard().is_always() || word.bits(87, 3) != TRUE || word.bit(90) || uniform || by_divergence
}

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;

    use super::*;
    use crate::instruction::{Decoder, Instruction};

    fn read(capability: (u8, u8), low: u64, high: u64, offset: u32) -> Instruction {
        let decoder = Decoder::new(ComputeCapability::new(capability.0, capability.1)).unwrap();
        decoder.instruction((u128::from(high) << 64 | u128::from(low)).to_le_bytes(), offset)
    }

    /// Words of bitsandbytes 0.50.2 and sgl-kernel 0.3.21, as nvdisasm 13.5 reads them.
    #[test]
    fn a_branch_that_asks_for_divergence_falls_through_where_there_is_none() {
        for (capability, low, high) in [
            ((7, 5), 0x0772_0000_7947, 0x000f_ee00_0380_0000),
            ((8, 0), 0x0742_7f00_7947, 0x000f_ee00_0b80_0000),
            ((8, 0), 0x0043_7f00_7947, 0x000f_ea00_0b80_0000),
            ((9, 0), 0x0042_084c_7947, 0x010f_ec00_0b80_0000),
        ] {
            let branch = read(capability, low, high, 0);
            assert_eq!((branch.mnemonic(), branch.is_conditional()), ("BRA", true), "{low:#x} of {capability:?}");
            assert!(branch.asks_of_the_warp().is_some());
        }
        for (capability, low, high) in [
            ((8, 0), 0xffff_fff0_0000_7947, 0x000f_c000_0383_ffff),
            ((9, 0), 0x0000_0000_0020_7947, 0x000f_ea00_0380_0000),
        ] {
            let branch = read(capability, low, high, 0);
            assert!(!branch.is_conditional() && branch.asks_of_the_warp().is_none(), "{low:#x} of {capability:?}");
        }
    }

    #[test]
    fn lanes_that_take_no_part_go_on_behind_the_collective() {
        let collective = read((9, 0), 0x0808_7348, 0x020f_ea00_03c0_0000, 0x24200);
        assert_eq!((collective.mnemonic(), collective.target()), ("WARPSYNC", Some(Target::At(0x24230))));
        // For a mask in a register there is nowhere else to go.
        assert_eq!(read((9, 0), 0x0f00_7348, 0x000f_ea00_0380_0000, 0).target(), None);
    }
}
