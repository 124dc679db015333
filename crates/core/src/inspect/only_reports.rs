//! Kernels that only report: what libraries leave of a kernel that was compiled for an architecture which it was not written
//! for. It prints that, or fails an assertion, or traps. Not for: kernels that check data; whatever reads or writes memory
//! beyond constants and a thread's own stack does something else, too.
//!
//! Told from the machine code alone, and only where it is certain. Jumps go forward, so nothing is repeated. What is called
//! was loaded from the constant bank of addresses that the loader fills in, by an absolute call: compilers reach functions
//! of the file itself in other ways. So it is among the functions outside the file that the kernel's attributes list, and
//! all of those report.

use std::collections::BTreeSet;

use occupant_sass::{Class, Decoder, Instruction, Space, Target};

/// What `printf` and `assert` call.
const REPORTERS: [&str; 2] = ["vprintf", "__assertfail"];
/// The constant bank of addresses that the loader fills in.
const ADDRESSES: u64 = 4;

/// Whether all functions outside the file that a kernel calls report.
pub(super) fn only_calls_reporters(externals: &[String]) -> bool {
    externals.iter().all(|name| REPORTERS.contains(&name.as_str()))
}

/// Whether a kernel's code does nothing but print, fail an assertion or trap, under conditions or not, and end the thread.
/// `calls_reporters` where it calls functions outside the file, all of which report. `None` for calls of what is not certain.
pub(super) fn only_reports(decoder: &Decoder, code: &[u8], calls_reporters: bool) -> Option<bool> {
    let end = u32::try_from(code.len()).ok()?;
    let mut walk = Walk::new(end, calls_reporters);
    for instruction in decoder.instructions(code) {
        match walk.step(&instruction) {
            Does::OnlyReports => {}
            Does::More => return Some(false),
            Does::NotKnown => return None,
        }
    }
    // Ways that lead on behind the last instruction are those of damaged code.
    if walk.reached || walk.uncertain { None } else { Some(walk.reports) }
}

/// What an instruction does.
enum Does {
    /// What a kernel that only reports may do.
    OnlyReports,
    /// Something else.
    More,
    NotKnown,
}

/// One pass over code whose jumps go forward.
struct Walk {
    end: u32,
    calls_reporters: bool,
    /// Whether some way leads to the instruction.
    reached: bool,
    /// Offsets ahead that jumps lead to.
    ahead: BTreeSet<u32>,
    /// Registers that hold, with the next one, an address from the bank of addresses, whichever way was taken.
    addresses: BTreeSet<u8>,
    /// A call or a trap was reached.
    reports: bool,
    /// A call of what is not certain was reached.
    uncertain: bool,
    /// The instruction before is a trap.
    trapped: bool,
}

impl Walk {
    fn new(end: u32, calls_reporters: bool) -> Self {
        let (ahead, addresses) = (BTreeSet::new(), BTreeSet::new());
        Self { end, calls_reporters, reached: true, ahead, addresses, reports: false, uncertain: false, trapped: false }
    }

    fn step(&mut self, instruction: &Instruction) -> Does {
        if self.ahead.remove(&instruction.offset) {
            self.reached = true;
            self.addresses.clear();
        }
        if !self.reached {
            return Does::OnlyReports;
        }
        let Some(class) = instruction.class() else { return Does::NotKnown };
        let trapped = std::mem::replace(&mut self.trapped, false);
        match (class, instruction.target()) {
            (Class::Call, _) => return self.call(instruction),
            // What compilers write behind what does not go on.
            (Class::Branch, Some(Target::At(to))) if trapped && to == i64::from(instruction.offset) => {
                self.reached = false;
            }
            (Class::Branch | Class::Convergence, Some(Target::At(to))) => {
                let ahead = u32::try_from(to).ok().filter(|to| (instruction.next()..self.end).contains(to));
                let Some(to) = ahead else { return Does::More };
                self.ahead.insert(to);
                self.reached = class == Class::Convergence || instruction.is_conditional();
            }
            (Class::Exit, _) => self.reached = !instruction.guard().is_always(),
            _ if is_trap(instruction) => (self.reports, self.trapped) = (true, instruction.guard().is_always()),
            _ if !stays_in_thread(instruction, class) => return Does::More,
            _ => {}
        }
        self.follow_addresses(instruction, class);
        Does::OnlyReports
    }

    /// Certain is `CALL.ABS` by a register that holds an address. Others are those of the file's own functions, and before
    /// linking those of any.
    fn call(&mut self, instruction: &Instruction) -> Does {
        const ABSOLUTE: usize = 0x143;
        const BY_REGISTER: u64 = 1;
        let word = instruction.word;
        if !self.calls_reporters {
            return Does::More;
        }
        let by_register = word.opcode() == ABSOLUTE && word.form() == BY_REGISTER;
        self.uncertain |= !(by_register && self.addresses.contains(&word.register(24)));
        // A function called may change any register that callers save.
        self.addresses.clear();
        self.reports = true;
        Does::OnlyReports
    }

    fn follow_addresses(&mut self, instruction: &Instruction, class: Class) {
        let access = instruction.access().filter(|_| class == Class::Load);
        let written = if class == Class::Load { access.and_then(|access| access.data) } else { instruction.result() };
        let Some(first) = written else { return };
        // Results of 64 bits fill two registers; which are so wide is not told of all.
        let last = first.saturating_add(access.map_or(1, |access| (access.bytes.unwrap_or(16) / 4).max(1) as u8 - 1));
        self.addresses.retain(|address| *address > last || address.saturating_add(1) < first);
        if instruction.guard().is_always() && is_address(instruction) {
            self.addresses.insert(first);
        }
    }
}

/// `LDC.64` of the bank of addresses, named by its number.
fn is_address(instruction: &Instruction) -> bool {
    const NUMBERED: u64 = 5;
    const BY_DESCRIPTOR: u32 = 91;
    let word = instruction.word;
    instruction.mnemonic() == "LDC"
        && word.form() == NUMBERED
        && !word.bit(BY_DESCRIPTOR)
        && word.bits(54, 5) == ADDRESSES
        && instruction.access().is_some_and(|access| access.bytes == Some(8))
}

/// `BPT.TRAP`: the kernel ends with an error.
fn is_trap(instruction: &Instruction) -> bool {
    const TRAP: u64 = 3;
    instruction.mnemonic() == "BPT" && instruction.word.bits(84, 3) == TRAP
}

/// Whether nothing of an instruction can be seen from outside its thread, and nothing of other threads by it.
fn stays_in_thread(instruction: &Instruction, class: Class) -> bool {
    match class {
        Class::Alu | Class::Fma | Class::Half | Class::Fp64 | Class::Xu | Class::Uniform => true,
        Class::Convergence | Class::Scoreboard => true,
        // Not what sets them.
        Class::Special => !instruction.mnemonic().starts_with("SET"),
        Class::Nop => instruction.mnemonic() == "NOP",
        Class::Load => matches!(instruction.space(), Some(Space::Constant | Space::Local)),
        Class::Store => instruction.space() == Some(Space::Local),
        _ => false,
    }
}
