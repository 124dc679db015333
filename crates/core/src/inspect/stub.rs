//! Kernels that return at once: what compilers leave of a kernel whose body is compiled for other architectures only. Not
//! for: kernels that do little; whatever could be seen from outside counts as doing something.

use occupant_binary::Function;
use occupant_hardware::ComputeCapability;
use occupant_sass::{Decoder, Instruction};

use super::ReadCode;
use super::code::Coded;

/// The longest code that is read for this, in bytes: an exit, and the padding behind it.
const LONGEST: u64 = 512;
/// The register that holds the stack pointer.
const STACK_POINTER: u8 = 1;

/// Whether a kernel's code does nothing but end the thread. `None` where that is not known: a device function, code that
/// can't be read, is not decoded (before sm_70) or is not to be read.
pub(super) fn returns_at_once(
    function: &Function,
    capability: ComputeCapability,
    coded: &mut Coded<'_>,
    read: ReadCode,
) -> Option<bool> {
    if !function.is_kernel {
        return None;
    }
    let size = function.code.end.saturating_sub(function.code.start);
    if size > LONGEST {
        return Some(false);
    }
    let decoder = Decoder::new(capability).ok().filter(|_| read != ReadCode::Nothing)?;
    let code = function.read_code_in(coded.image, coded.room).ok()?;
    let first_that_tells = decoder.instructions(code).find(|instruction| !sets_up(instruction))?;
    Some(is_always(&first_that_tells) && first_that_tells.mnemonic() == "EXIT")
}

/// What every kernel begins with: the stack pointer is read from the constant bank.
fn sets_up(instruction: &Instruction) -> bool {
    if !is_always(instruction) {
        return false;
    }
    match instruction.mnemonic() {
        "MOV" | "IMAD" | "LDC" => instruction.word.register(16) == STACK_POINTER,
        name => name == "NOP",
    }
}

fn is_always(instruction: &Instruction) -> bool {
    instruction.guard().is_always()
}
