//! Which instructions spill registers, and how many bytes in which loops. Not for: what that costs.
//!
//! Compilers from CUDA 12.6 on list them; the list holds a kernel's and those of the functions it calls, but not what
//! functions save that are called by pointer or by themselves. Before 12.6, and for those, accesses at a fixed distance
//! from the stack pointer stand in.

use crate::analysis::Analysis;
use crate::instruction::Instruction;
use crate::memory::AccessKind;
use crate::opcodes::{Class, Space};
use crate::word::INSTRUCTION_BYTES;

/// The register that holds the stack pointer.
const STACK_POINTER: u8 = 1;

/// One instruction that spills or refills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpillSite {
    /// Number of the instruction.
    pub number: usize,
    /// Registers to memory, or back.
    pub store: bool,
    /// Bytes of a thread; 0 where it moves between register files.
    pub bytes: u32,
    /// Loops around it.
    pub depth: usize,
    /// In a loop that has no other inside.
    pub innermost: bool,
}

/// Sums over spills, in bytes of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpillSums {
    /// Instructions.
    pub instructions: u32,
    /// Bytes stored.
    pub store_bytes: u32,
    /// Bytes loaded.
    pub load_bytes: u32,
    /// Bytes of both inside loops.
    pub in_loops_bytes: u32,
    /// Bytes of both inside loops that have no other inside.
    pub innermost_bytes: u32,
}

impl SpillSums {
    /// The sums of some sites.
    #[must_use]
    pub fn of(sites: &[SpillSite]) -> Self {
        let mut sums = Self::default();
        for site in sites {
            let add = |sum: &mut u32, when: bool| *sum = sum.saturating_add(if when { site.bytes } else { 0 });
            sums.instructions = sums.instructions.saturating_add(1);
            add(&mut sums.store_bytes, site.store);
            add(&mut sums.load_bytes, !site.store);
            add(&mut sums.in_loops_bytes, site.depth > 0);
            add(&mut sums.innermost_bytes, site.innermost);
        }
        sums
    }
}

/// The spills that the compiler lists, by offset in the section.
#[must_use]
pub fn listed(analysis: &Analysis, offsets: &[u32]) -> Vec<SpillSite> {
    let number = |offset: &u32| (*offset as usize).checked_div(INSTRUCTION_BYTES);
    offsets.iter().filter_map(number).filter_map(|number| site(analysis, number)).collect()
}

/// Accesses at a fixed distance from the stack pointer that no list names. In the kernel itself only with `kernel`, since
/// there they can be a local array; accesses beyond an address that is taken are left out everywhere.
#[must_use]
pub fn unlisted(analysis: &Analysis, listed: &[u32], kernel: bool) -> Vec<SpillSite> {
    let arrays = arrays(analysis);
    let mut sites = Vec::new();
    for (block, of) in analysis.flow.blocks.iter().enumerate().filter(|(_, block)| block.reachable) {
        let function = analysis.function_of_block.get(block).copied().unwrap_or(0);
        if function == 0 && !kernel {
            continue;
        }
        let array = arrays.get(function).copied().flatten().unwrap_or(i32::MAX);
        for number in of.start..of.end {
            let Some(instruction) = analysis.instructions.get(number) else { continue };
            let Some(access) = instruction.access().filter(|access| access.space == Space::Local) else { continue };
            let fixed = access.base == Some(STACK_POINTER) && access.offset < array;
            if fixed && listed.binary_search(&instruction.offset).is_err() {
                sites.extend(site(analysis, number));
            }
        }
    }
    sites
}

fn site(analysis: &Analysis, number: usize) -> Option<SpillSite> {
    let instruction = analysis.instructions.get(number)?;
    let around = analysis.block_of(number).and_then(|block| analysis.loops.around(block));
    let access = instruction.access();
    Some(SpillSite {
        number,
        store: access.is_some_and(|access| access.kind == AccessKind::Store),
        bytes: access.and_then(|access| access.bytes).unwrap_or(0),
        depth: around.map_or(0, |found| found.depth),
        innermost: around.is_some_and(|found| found.innermost),
    })
}

/// For each function the lowest offset from the stack pointer whose address is taken: an array starts there.
fn arrays(analysis: &Analysis) -> Vec<Option<i32>> {
    let mut arrays: Vec<Option<i32>> = vec![None; analysis.flow.entries.len()];
    for (block, of) in analysis.flow.blocks.iter().enumerate() {
        let function = analysis.function_of_block.get(block).copied().unwrap_or(0);
        for instruction in analysis.instructions.get(of.start..of.end).unwrap_or(&[]) {
            let (Some(offset), Some(array)) = (address_taken(instruction), arrays.get_mut(function)) else { continue };
            *array = Some(array.map_or(offset, |lowest| lowest.min(offset)));
        }
    }
    arrays
}

/// The offset of an address that is computed from the stack pointer into another register; 0 where another register is
/// added to it.
fn address_taken(instruction: &Instruction) -> Option<i32> {
    let word = instruction.word;
    let arithmetic = matches!(instruction.class(), Some(Class::Alu | Class::Fma));
    let moved = instruction.mnemonic() == "MOV" && word.form() == 1 && word.register(32) == STACK_POINTER;
    let added = instruction.mnemonic() != "MOV"
        && (word.register(24) == STACK_POINTER
            || (word.form() == 1 && word.register(32) == STACK_POINTER)
            || word.register(64) == STACK_POINTER);
    if !arithmetic || word.register(16) == STACK_POINTER || !(moved || added) {
        return None;
    }
    let adds_constant = matches!(instruction.mnemonic(), "IADD3" | "IADD" | "VIADD") && word.form() == 4;
    let constant = i32::try_from(word.signed(32, 32)).unwrap_or(0);
    Some(if adds_constant { constant.max(0) } else { 0 })
}
