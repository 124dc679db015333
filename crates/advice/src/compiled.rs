//! What the resources of a compiled kernel mean, said without alarm: a stack is no spill, a spill is not always bad.

use occupant_hardware::SmLimits;
use occupant_logs::Compiled;
use occupant_occupancy::{Shape, register_cap};

use crate::question::Question;

/// The registers that a compiler may use for blocks of 1024 threads, on GPUs whose SM has 65,536.
const CAP_OF_THE_LARGEST_BLOCK: u32 = 64;

/// The shape of a kernel as the compiler printed it, with the launch that the question adds.
#[must_use]
pub fn kernel_shape(kernel: &Compiled, question: &Question, block: u32) -> Shape {
    Shape {
        registers_per_thread: kernel.registers,
        threads_per_block: block,
        shared_static: kernel.shared,
        shared_dynamic: question.shared_dynamic.unwrap_or(0),
        barriers: kernel.barriers.unwrap_or(1),
        ..Shape::default()
    }
}

/// What a reader should know about the resources of a kernel.
#[must_use]
pub fn kernel_notes(kernel: &Compiled, question: &Question, limits: Option<&SmLimits>) -> Vec<String> {
    let mut notes = Vec::new();
    let spilled = kernel.spill_stores.unwrap_or(0).saturating_add(kernel.spill_loads.unwrap_or(0));
    let stack = kernel.stack.unwrap_or(0);
    if stack > 0 && spilled == 0 && kernel.spill_stores.is_some() {
        notes.push(format!(
            "{stack} B of stack and no spills: local arrays with computed indices or frames of calls, not registers that were \
             missing"
        ));
    }
    if spilled > 0 {
        notes.push(
            "spills are not bad by themselves: what counts is whether they are in loops, which `occupant inspect FILE` says; \
             measure before trading anything for them"
                .to_owned(),
        );
    }
    if let Some(note) = bound(kernel, spilled, question, limits) {
        notes.push(note);
    }
    if let (Some(barriers), Some(pool)) =
        (kernel.barriers.filter(|barriers| *barriers > 4), limits.and_then(|l| l.barriers_per_sm))
    {
        let blocks = pool / barriers;
        let reside = if blocks == 1 { "1 block reside".to_owned() } else { format!("{blocks} blocks reside") };
        notes.push(format!("{barriers} named barriers of an SM's {pool} let {reside}"));
    }
    notes
}

/// What held the registers where they are.
fn bound(kernel: &Compiled, spilled: u32, question: &Question, limits: Option<&SmLimits>) -> Option<String> {
    if spilled == 0 {
        return (kernel.registers == 255).then(|| "255 registers are the most that a thread can have".to_owned());
    }
    if kernel.registers == CAP_OF_THE_LARGEST_BLOCK {
        let cap = question.block.zip(limits).and_then(|(block, limits)| register_cap(limits, block, 1));
        let block = question.block.map_or_else(|| "threads".to_owned(), |block| block.to_string());
        let gives = cap.map_or_else(String::new, |cap| format!(", which gives {cap}"));
        return Some(format!(
            "64 registers are all that blocks of 1024 threads leave: where no block size is stated some compilers assume 1024; \
             state the real one with __launch_bounds__({block}){gives}"
        ));
    }
    (kernel.registers == 255)
        .then(|| "255 registers are the most that a thread can have: only less work per thread helps".to_owned())
}
