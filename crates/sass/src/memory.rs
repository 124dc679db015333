//! Memory accesses: how many bytes of a thread, from which register and offset. Not for: how many sectors a warp touches;
//! that depends on the addresses.

use crate::family::Family;
use crate::opcodes::{Class, Opcode, Space};
use crate::word::{RZ, Word};

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read, modify, write, with or without the old value.
    Atomic,
    /// Global to shared memory without registers.
    AsyncCopy,
}

/// One thread's part in a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Which memory; of an asynchronous copy, the one it reads.
    pub space: Space,
    /// Bytes of a thread; `None` for forms whose width is not decoded.
    pub bytes: Option<u32>,
    /// The register that holds the address; `None` where it is the zero register.
    pub base: Option<u8>,
    /// Offset in bytes that is added to it.
    pub offset: i32,
    /// The first register that is loaded or stored; `None` where there is none or it is the zero register.
    pub data: Option<u8>,
}

/// The access of an instruction, where it is one.
pub(crate) fn access(opcode: &Opcode, word: Word, family: Family) -> Option<Access> {
    let space = opcode.space?;
    let kind = match opcode.class {
        Class::Load => AccessKind::Load,
        Class::Store => AccessKind::Store,
        Class::Atomic | Class::Reduction => AccessKind::Atomic,
        Class::AsyncCopy => AccessKind::AsyncCopy,
        _ => return None,
    };
    let named = |register: u8| (register != RZ).then_some(register);
    let data = match kind {
        // Uniform registers have numbers of their own.
        AccessKind::Load if matches!(opcode.mnemonic, "ULDC" | "LDCU") => None,
        AccessKind::Atomic if opcode.class == Class::Reduction => None,
        AccessKind::Load | AccessKind::Atomic => named(word.register(16)),
        AccessKind::Store if word.opcode() == ST && !(family > Family::Sm70 && word.bit(UNIFORM)) => {
            named(word.register(64))
        }
        AccessKind::Store => named(word.register(32)),
        AccessKind::AsyncCopy => None,
    };
    // Constants are addressed by bank, tensor memory by column, and some stores by uniform registers.
    let addressed = !matches!(space, Space::Constant | Space::Tensor) && !opcode.mnemonic.starts_with('U');
    Some(Access {
        kind,
        space,
        bytes: bytes(opcode, word, family),
        base: named(word.register(24)).filter(|_| addressed),
        offset: if addressed { offset(word, family) } else { 0 },
        data,
    })
}

fn offset(word: Word, family: Family) -> i32 {
    // The descriptor that makes room came with uniform registers.
    let uniform = family > Family::Sm70 && word.bit(UNIFORM);
    let offset = match word.opcode() {
        // The offset in shared memory stands above that in global memory.
        LDGSTS => word.signed(32, 12),
        // Without a uniform register, generic addresses have room for 32 bits.
        LD | ST if !uniform => word.signed(32, 32),
        // 256 bits at a time, and offsets in those.
        LDG_WIDE => word.signed(40, 17).saturating_mul(32),
        STG_WIDE => word.signed(40, 19).saturating_mul(32),
        // From 10.0 on the last bit belongs to the operation.
        ATOM | ATOMG | ATOM_FLOATS | ATOMG_FLOATS if uniform && family >= Family::Sm100 => word.signed(40, 23),
        _ => word.signed(40, 24),
    };
    i32::try_from(offset).unwrap_or(0)
}

/// A uniform register takes part.
const UNIFORM: u32 = 91;
const LDG_WIDE: usize = 0x17e;
const STG_WIDE: usize = 0x17f;
const LD: usize = 0x180;
const ST: usize = 0x185;
const LDGSTS: usize = 0x1ae;
const ATOM: usize = 0x18a;
const ATOMG: usize = 0x1a8;
/// Atomics on FP16, BF16 and FP32, with vectors of them (9.0).
const ATOM_FLOATS: usize = 0x1a2;
const ATOMG_FLOATS: usize = 0x1a3;
const REDG_FLOATS: usize = 0x1a6;

/// Bytes that one thread moves.
fn bytes(opcode: &Opcode, word: Word, family: Family) -> Option<u32> {
    match opcode.mnemonic {
        "LDG" | "STG" if matches!(word.opcode(), LDG_WIDE | STG_WIDE) => Some(32),
        "LDCU" if matches!(word.form(), 1 | 2 | 6) => Some(32),
        "LDSM" | "STSM" => power(word.bits(72, 2), 2).map(|matrices| matrices.saturating_mul(4)),
        "LDGSTS" if family >= Family::Sm100 => power(word.bits(74, 2), 2).map(|words| words.saturating_mul(4)),
        "LDTM" | "STTM" => tensor_bytes(word),
        "LDGMC" | "UMEMSETS" | "USTGR" | "UREDGR" => None,
        "ATOM" | "ATOMG" | "ATOMS" | "RED" | "REDG" | "REDAS" => atomic(opcode, word, family),
        _ => element(word.bits(73, 3)),
    }
}

/// Registers of a thread by shape and repetition, 4 bytes each. Of shapes that serve 16 lanes, what each of those moves.
/// Source of the registers: PTX ISA, `tcgen05.ld`.
fn tensor_bytes(word: Word) -> Option<u32> {
    // Two 16-bit columns in a register.
    if word.bit(80) {
        return None;
    }
    let repeated = power(word.bits(83, 3), 7)?;
    let registers = match (word.bit(87), word.bits(81, 2)) {
        (false, 0) => 2,
        (false, 1) => 4,
        // 32 lanes of 32 bits, 16 of 64 bits, and the halves of 16 lanes of 32 bits.
        (false, 2 | 3) | (true, 0 | 1) => 1,
        _ => return None,
    };
    repeated.checked_mul(registers)?.checked_mul(4)
}

/// 2 to the `code`, up to the exponent `most`.
fn power(code: u64, most: u64) -> Option<u32> {
    if code > most { None } else { 1_u32.checked_shl(code as u32) }
}

/// Bytes of a width code: U8, S8, U16, S16, 32, 64, 128 bits, and 128 again for a uniform load.
const fn element(code: u64) -> Option<u32> {
    match code {
        0 | 1 => Some(1),
        2 | 3 => Some(2),
        4 => Some(4),
        5 => Some(8),
        6 | 7 => Some(16),
        _ => None,
    }
}

fn atomic(opcode: &Opcode, word: Word, family: Family) -> Option<u32> {
    // In shared memory the third bit came with 128-bit exchanges (9.0).
    let narrow = opcode.space == Some(Space::Shared) && family < Family::Sm90;
    let code = word.bits(73, if narrow { 2 } else { 3 });
    match (word.opcode(), code) {
        // Vectors of floats (9.0): F16x2 to F16x8, BF16x2 to BF16x8, F32 to F32x4.
        (ATOM_FLOATS | ATOMG_FLOATS | REDG_FLOATS, _) => match word.bits(73, 4) {
            0 | 3 | 9 | 12 => Some(4),
            1 | 4 | 10 | 13 | 15 => Some(8),
            2 | 5 | 11 | 14 => Some(16),
            _ => None,
        },
        (_, 0 | 1) => Some(4),
        (_, 2 | 6) => Some(8),
        // FP32 until 8.9, a signed 64-bit integer after it.
        (_, 3) => Some(if family < Family::Sm90 { 4 } else { 8 }),
        // Two FP16 until 8.9, 128 bits after it.
        (_, 4) => Some(if family < Family::Sm90 { 4 } else { 16 }),
        (_, 5) => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;

    use crate::code::Code;
    use crate::instruction::Decoder;

    /// The width of an instruction of sm_100.
    fn bytes(low: u64, high: u64) -> Option<u32> {
        let decoder = Decoder::new(ComputeCapability::new(10, 0)).unwrap();
        let word = [low.to_le_bytes(), high.to_le_bytes()].concat();
        Code::new(decoder, &word).get(0).unwrap().access().unwrap().bytes
    }

    #[test]
    fn tensor_memory_by_shape_and_repetition() {
        // `LDTM.x4 R4, tmem[UR6]` as nvdisasm 13.5.37 prints it, then its other shapes and repetitions.
        const LDTM: (u64, u64) = (0x0000_0006_0004_79ee, 0x000e_a200_0814_0000);
        let shaped = |shape: u64| (LDTM.1 & !(3 << 17)) | (shape & 3) << 17 | (shape >> 2) << 23;
        let widths: Vec<Option<u32>> = (0..8).map(|shape| bytes(LDTM.0, shaped(shape))).collect();
        // 16dp128bit, 16dp256bit, 32 lanes, 16dp64bit, the two halves of 16dp32bit, and none.
        let expected = [Some(32), Some(64), Some(16), Some(16), Some(16), Some(16), None, None];
        assert_eq!(widths, expected);
        let repeated = |code: u64| (LDTM.1 & !(7 << 19)) | code << 19;
        let widths: Vec<Option<u32>> = (0..8).map(|code| bytes(LDTM.0, repeated(code))).collect();
        assert_eq!(widths, [4, 8, 16, 32, 64, 128, 256, 512].map(Some));
        assert_eq!(bytes(LDTM.0, LDTM.1 | 1 << 16), None, "packed columns");
    }
}
