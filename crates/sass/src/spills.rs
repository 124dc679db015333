//! Which instructions spill registers, and how many bytes in which loops. Not for: what that costs.
//!
//! Compilers from CUDA 12.6 on list them; the list holds a kernel's and those of the functions it calls, but not what
//! functions save that are called by pointer or by themselves. Before 12.6, and for those, accesses at a fixed distance
//! from the stack pointer stand in.

use crate::code::Code;
use crate::instruction::Instruction;
use crate::memory::AccessKind;
use crate::opcodes::{Class, Kind, Space};
use crate::structure::Outline;
use crate::word::{INSTRUCTION_BYTES, Word};

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
    /// Whether all is known of the loops around it.
    pub known: bool,
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
pub fn listed(code: &Code<'_>, outline: &Outline, offsets: &[u32]) -> Vec<SpillSite> {
    // Offsets between instructions name none.
    let whole = |offset: &u32| (*offset as usize).is_multiple_of(INSTRUCTION_BYTES);
    let number = |offset: &u32| (*offset as usize).checked_div(INSTRUCTION_BYTES);
    offsets
        .iter()
        .filter(|offset| whole(offset))
        .filter_map(number)
        .filter_map(|number| Some(site(outline, number, &code.get(number)?)))
        .collect()
}

/// Whether [`unlisted`] can find anything, told without an outline.
#[must_use]
pub fn may_have_unlisted(code: &Code<'_>, listed: &[u32]) -> bool {
    stack_accesses(code, listed).next().is_some()
}

/// Accesses at a fixed distance from the stack pointer that no list names, with that distance.
fn stack_accesses(code: &Code<'_>, listed: &[u32]) -> impl Iterator<Item = (usize, i32, Instruction)> {
    code.of_kind(Kind::Local).filter_map(|(number, instruction)| {
        let access = instruction.access().filter(|access| access.space == Space::Local)?;
        let at_fixed_distance = access.base == Some(STACK_POINTER);
        let found = at_fixed_distance && listed.binary_search(&instruction.offset).is_err();
        found.then_some((number, access.offset, instruction))
    })
}

/// Accesses at a fixed distance from the stack pointer that no list names. In the kernel itself only with `kernel`, since
/// there they can be a local array; accesses beyond an address that is taken are left out everywhere.
#[must_use]
pub fn unlisted(code: &Code<'_>, outline: &Outline, listed: &[u32], kernel: bool) -> Vec<SpillSite> {
    let flow = &outline.flow;
    let function_of = |block: usize| outline.function_of_block.get(block).copied().unwrap_or(0);
    let counts = |block: usize| {
        flow.blocks.get(block).is_some_and(|found| found.reachable) && (kernel || function_of(block) != 0)
    };
    let mut sites: Vec<(usize, i32, SpillSite)> = Vec::new();
    for (number, offset, instruction) in stack_accesses(code, listed) {
        let block = flow.block_of(number);
        if counts(block) {
            sites.push((function_of(block), offset, site(outline, number, &instruction)));
        }
    }
    if sites.is_empty() {
        return Vec::new();
    }
    // For each function the lowest offset from the stack pointer whose address is taken: an array starts there.
    let mut arrays: Vec<i32> = vec![i32::MAX; flow.entries.len()];
    for (block, of) in flow.blocks.iter().enumerate().filter(|(block, _)| counts(*block)) {
        let Some(array) = arrays.get_mut(function_of(block)) else { continue };
        let from_stack = code.words(of.start, of.end).filter(|(_, word)| reads_stack_pointer(*word));
        let taken = from_stack.filter_map(|(number, _)| address_taken(&code.get(number)?));
        *array = taken.fold(*array, i32::min);
    }
    let is_array = |function: usize, offset: i32| arrays.get(function).is_some_and(|array| offset >= *array);
    sites.retain(|(function, offset, _)| !is_array(*function, *offset));
    sites.into_iter().map(|(_, _, site)| site).collect()
}

fn site(outline: &Outline, number: usize, instruction: &Instruction) -> SpillSite {
    let around = outline.around(number);
    let access = instruction.access();
    SpillSite {
        number,
        store: access.is_some_and(|access| access.kind == AccessKind::Store),
        bytes: access.and_then(|access| access.bytes).unwrap_or(0),
        depth: around.map_or(0, |found| found.depth),
        innermost: around.is_some_and(|found| found.innermost),
        known: outline.knows(number),
    }
}

/// Whether one of the places of source registers names the stack pointer: true of all that [`address_taken`] finds, and told
/// without an opcode.
fn reads_stack_pointer(word: Word) -> bool {
    [24, 32, 64].into_iter().any(|place| word.register(place) == STACK_POINTER)
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
