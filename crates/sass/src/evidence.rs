//! Signs that a kernel's warps do different work, or that its memory accesses follow its data: both mean that one warp's
//! timeline does not tell the whole. Every sign names its place. Not for: how fast such kernels are.

use std::fmt;

use crate::analysis::Analysis;
use crate::asynchronous::{Detail, detail};
use crate::instruction::Instruction;
use crate::memory::AccessKind;
use crate::opcodes::{Class, Space};
use crate::word::RZ;

/// Signs of one kind that are told, at most.
const MOST: usize = 8;

/// A sign, at an offset of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Warps give registers back or take more (`setmaxnreg`).
    Registers {
        /// Offset of the instruction.
        at: u32,
        /// Gives back.
        release: bool,
        /// Registers of a thread from here on, where the code says so.
        count: Option<u16>,
    },
    /// A loop that only moves data in and waits for room.
    Producer {
        /// Offset of its first instruction.
        at: u32,
        /// Bulk and asynchronous copies in one pass.
        copies: u32,
    },
    /// A loop that computes and waits for data.
    Consumer {
        /// Offset of its first instruction.
        at: u32,
        /// Tensor-core operations in one pass.
        tensor: u32,
    },
    /// A load whose address comes from another load in the same loop.
    Gather {
        /// Offset of the load.
        at: u32,
        /// Offset of the load that its address comes from.
        from: u32,
    },
    /// Whether a loop goes on depends on data that it loads.
    DataDependentExit {
        /// Offset of the branch.
        at: u32,
        /// Offset of the load.
        from: u32,
    },
    /// A jump through a table or a pointer.
    IndirectBranch {
        /// Offset of the jump.
        at: u32,
    },
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Registers { at, release, count } => {
                let verb = if release { "released down" } else { "raised" };
                match count {
                    Some(count) => write!(f, "registers {verb} to {count} a thread at {at:#06x}"),
                    None => write!(f, "registers {verb} to what a register says at {at:#06x}"),
                }
            }
            Self::Producer { at, copies } => {
                let what = if copies == 1 { "copy" } else { "copies" };
                write!(f, "a loop at {at:#06x} only moves data: {copies} asynchronous {what} and mbarrier waits")
            }
            Self::Consumer { at, tensor } => {
                let what = if tensor == 1 { "operation" } else { "operations" };
                write!(f, "a loop at {at:#06x} waits on mbarriers and computes: {tensor} tensor-core {what}")
            }
            Self::Gather { at, from } => {
                write!(f, "the address of the load at {at:#06x} comes from the load at {from:#06x} in the same loop")
            }
            Self::DataDependentExit { at, from } => {
                write!(f, "the branch at {at:#06x} leaves its loop by what the load at {from:#06x} brings")
            }
            Self::IndirectBranch { at } => write!(f, "an indirect jump at {at:#06x}"),
        }
    }
}

/// Signs that warps do different work; empty where there are none, or only half of a pair.
#[must_use]
pub fn specialised(analysis: &Analysis) -> Vec<Sign> {
    let mut signs = Vec::new();
    for instruction in &analysis.instructions {
        if let Some(Detail::SetRegisters { release, count }) = detail(instruction) {
            signs.push(Sign::Registers { at: instruction.offset, release, count });
        }
    }
    let (mut producers, mut consumers) = (Vec::new(), Vec::new());
    for (number, content) in analysis.contents.iter().enumerate() {
        let leaf = analysis.leaves.get(number).copied().unwrap_or(false);
        let Some(found) = analysis.structure.loops.all.get(number).filter(|_| leaf) else { continue };
        let at = offset_of(analysis, found.header);
        let copies = content.tma.saturating_add(content.async_copies);
        if content.mbarrier_waits == 0 && copies == 0 {
            continue;
        }
        if copies > 0 && content.tensor == 0 && content.fp32 < copies.saturating_mul(16) {
            producers.push(Sign::Producer { at, copies });
        } else if content.tensor > 0 && copies == 0 {
            consumers.push(Sign::Consumer { at, tensor: content.tensor });
        }
    }
    if !producers.is_empty() && (!consumers.is_empty() || !signs.is_empty()) {
        signs.extend(producers);
        signs.extend(consumers);
    }
    signs.truncate(MOST.saturating_mul(2));
    signs
}

/// Signs that accesses or the way follow the data.
#[must_use]
pub fn irregular(analysis: &Analysis) -> Vec<Sign> {
    let jumps = analysis.structure.flow.indirect.iter().filter_map(|number| analysis.instructions.get(*number));
    let mut signs: Vec<Sign> =
        jumps.map(|instruction| Sign::IndirectBranch { at: instruction.offset }).take(MOST).collect();
    let leaf = |number: usize| analysis.leaves.get(number).copied().unwrap_or(false);
    let leaves = analysis.structure.loops.all.iter().enumerate().filter(|(number, _)| leaf(*number));
    for (number, found) in leaves {
        let mut origins = Origins::default();
        let mut of_loop = Vec::new();
        // Twice: what is loaded at the end of one pass is used at the start of the next.
        for pass in 0..2 {
            for block in &found.blocks {
                for instruction in analysis.block(*block) {
                    let sign = origins.follow(instruction);
                    if pass == 1 {
                        of_loop.extend(sign);
                    }
                }
                if pass == 1 {
                    of_loop.extend(exit(analysis, number, *block, &origins));
                }
            }
        }
        signs.extend(of_loop.into_iter().take(MOST));
        if signs.len() >= MOST.saturating_mul(2) {
            break;
        }
    }
    signs
}

/// A branch out of the loop whose predicate comes from a load.
fn exit(analysis: &Analysis, number: usize, block: usize, origins: &Origins) -> Option<Sign> {
    let last = analysis.block(block).last().filter(|last| last.class() == Some(Class::Branch))?;
    let found = analysis.structure.loops.all.get(number)?;
    let leaves = analysis.structure.flow.successors(block).iter().any(|to| found.blocks.binary_search(to).is_err());
    let guard = last.guard();
    let from = (!guard.is_always()).then(|| origins.predicates.get(guard.predicate as usize).copied().flatten())??;
    leaves.then_some(Sign::DataDependentExit { at: last.offset, from })
}

fn offset_of(analysis: &Analysis, block: usize) -> u32 {
    analysis.block(block).first().map_or(0, |first| first.offset)
}

/// For each register and predicate, the global load that its value comes from.
struct Origins {
    registers: [Option<u32>; 256],
    predicates: [Option<u32>; 8],
}

impl Default for Origins {
    fn default() -> Self {
        Self { registers: [None; 256], predicates: [None; 8] }
    }
}

impl Origins {
    fn of(&self, register: u8) -> Option<u32> {
        if register == RZ { None } else { self.registers.get(register as usize).copied().flatten() }
    }

    fn set(&mut self, register: u8, count: u32, from: Option<u32>) {
        let registers = self.registers.iter_mut().take(usize::from(RZ));
        registers.skip(register as usize).take(count as usize).for_each(|place| *place = from);
    }

    /// Carries origins through an instruction; a sign where it loads from an address that was loaded.
    fn follow(&mut self, instruction: &Instruction) -> Option<Sign> {
        if let Some(access) = instruction.access() {
            let global = matches!(access.space, Space::Global | Space::Generic);
            let address = access.base.and_then(|base| self.of(base).or_else(|| self.of(base.saturating_add(1))));
            if let Some(data) = access.data.filter(|_| access.kind == AccessKind::Load) {
                let registers = access.bytes.unwrap_or(4).div_ceil(4);
                self.set(data, registers, global.then_some(instruction.offset));
            }
            let reads = matches!(access.kind, AccessKind::Load | AccessKind::AsyncCopy) && global;
            return address.filter(|_| reads).map(|from| Sign::Gather { at: instruction.offset, from });
        }
        let compares = instruction.mnemonic().contains("SETP");
        let result = instruction.result();
        if result.is_none() && !compares {
            return None;
        }
        let from = sources(instruction).into_iter().flatten().find_map(|register| self.of(register));
        // Comparisons, carries and selections write predicates here, whatever was in them before.
        for predicate in [instruction.word.bits(81, 3), instruction.word.bits(84, 3)] {
            if let Some(place) = self.predicates.get_mut(predicate as usize).filter(|_| predicate != 7) {
                *place = from.filter(|_| compares);
            }
        }
        if let Some(destination) = result {
            // Of multiplications only the wide one has 64 bits of result.
            let pair = instruction.word.opcode() == WIDE_MULTIPLY;
            self.set(destination, if pair { 2 } else { 1 }, from);
        }
        None
    }
}

/// Arithmetic with three operands; the place of the third means nothing in others.
pub(crate) const THREE_OPERANDS: [&str; 11] =
    ["FFMA", "IMAD", "IADD3", "LEA", "LOP3", "PRMT", "SHF", "HFMA2", "DFMA", "VIADDMNMX", "IDP"];

pub(crate) const WIDE_MULTIPLY: usize = 0x025;

/// Registers that an arithmetic instruction reads. Those with one operand have it in the place of the second; the place of
/// the third means something with three operands only.
fn sources(instruction: &Instruction) -> [Option<u8>; 3] {
    const UNARY: [&str; 12] =
        ["MOV", "MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV", "I2I", "I2FP", "F2FP"];
    let word = instruction.word;
    let second = (word.form() == 1).then(|| word.register(32));
    if UNARY.contains(&instruction.mnemonic()) {
        return [None, second, None];
    }
    if instruction.class() == Some(Class::Special) {
        return [None; 3];
    }
    let third = THREE_OPERANDS.contains(&instruction.mnemonic()).then(|| word.register(64));
    [Some(word.register(24)), second, third]
}

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;

    use super::*;
    use crate::{Code, Decoder, Known};

    /// A loop of: load R2 from the address in `base`; add 4 to R4; compare R2 with 0; go on where it is not; then the end.
    fn chase(base: u64) -> Vec<u8> {
        let distance = (-16_i64 as u128) & ((1 << 48) - 1);
        let words: [u128; 5] = [
            0x000e_a200_0c1e_1900_u128 << 64 | u128::from(0x0000_0004_0002_7981 | base << 24),
            0x000f_e200_07ff_e0ff_u128 << 64 | 0x0000_0004_0404_7810,
            0x000f_e400_03f0_5270_u128 << 64 | 0x0000_00ff_0200_720c,
            0x000f_ea00_0380_0000_u128 << 64 | distance << 34 | 0x0947,
            0x000f_ea00_0380_0000_u128 << 64 | 0x0000_794d,
        ];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn signs(base: u64) -> Vec<Sign> {
        let bytes = chase(base);
        let decoder = Decoder::new(ComputeCapability::new(8, 0)).unwrap();
        let analysis = Analysis::new(&Code::new(decoder, &bytes), &Known::default());
        assert_eq!(analysis.structure.loops.all.len(), 1);
        irregular(&analysis)
    }

    #[test]
    fn a_pointer_chase_is_irregular_and_a_search_ends_by_its_data() {
        let exit = Sign::DataDependentExit { at: 0x30, from: 0 };
        assert_eq!(signs(2), [Sign::Gather { at: 0, from: 0 }, exit]);
        // A search through memory by an index of its own; a wait for a flag, always at the same address.
        assert_eq!(signs(4), [exit]);
        assert_eq!(signs(6), []);
        assert_eq!(exit.to_string(), "the branch at 0x0030 leaves its loop by what the load at 0x0000 brings");
    }
}
