//! Kernels that do nothing of what they were written for: what compilers and libraries leave of a kernel for architectures
//! that it was not written for. Some return at once; whether others [`only_reports`] is told there. Not for: kernels that do
//! little; whatever could be seen from outside counts as doing something.

use occupant_binary::Function;
use occupant_hardware::ComputeCapability;
use occupant_sass::{Decoder, Instruction};

use super::ReadCode;
use super::code::Coded;
use super::only_reports::{only_calls_reporters, only_reports};

/// The longest code of a kernel that returns at once, in bytes: an exit, and the padding behind it.
const LONGEST_EXIT: u64 = 512;
/// The longest code of one that only reports; the longest seen has 768.
const LONGEST_REPORT: u64 = 4096;
/// The register that holds the stack pointer.
const STACK_POINTER: u8 = 1;

/// What is known of a kernel as a stub. `None` where it is not known: a device function, code that can't be read, is not
/// decoded (before sm_70) or is not to be read.
#[derive(Clone, Copy, Default)]
pub(super) struct Stub {
    /// The code does nothing but end the thread.
    pub(super) returns_at_once: Option<bool>,
    /// It does nothing but print, fail an assertion or trap.
    pub(super) only_reports: Option<bool>,
}

/// Whether a kernel is a stub. Longer code is taken to do more.
pub(super) fn stub(function: &Function, capability: ComputeCapability, coded: &mut Coded<'_>, read: ReadCode) -> Stub {
    if !function.is_kernel {
        return Stub::default();
    }
    let size = function.code.end.saturating_sub(function.code.start);
    let calls_more = !only_calls_reporters(&function.externals);
    let mut stub = Stub {
        returns_at_once: (size > LONGEST_EXIT).then_some(false),
        only_reports: (size > LONGEST_REPORT || calls_more).then_some(false),
    };
    let is_known = stub.returns_at_once.is_some() && stub.only_reports.is_some();
    let Some(decoder) = Decoder::new(capability).ok().filter(|_| !is_known && read != ReadCode::Nothing) else {
        return stub;
    };
    let Ok(code) = function.read_code_in(coded.image, coded.room) else { return stub };
    stub.returns_at_once = stub.returns_at_once.or_else(|| returns_at_once(&decoder, code));
    let calls = !function.externals.is_empty();
    stub.only_reports = stub.only_reports.or_else(|| only_reports(&decoder, code, calls));
    stub
}

fn returns_at_once(decoder: &Decoder, code: &[u8]) -> Option<bool> {
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
