//! Tells a kernel's machine code: blocks, loops, and each instruction with what is certain of it.

use std::collections::HashMap;

use occupant_binary::{Function, demangle, shorten};
use occupant_sass::{
    Access, AccessKind, Analysis, Class, Detail, Instruction, LoopKind, Space, Target, detail, irregular, specialised,
};

use crate::report::{
    BlockRecord, FunctionRecord, HotLoop, InstructionRecord, LoopFor, LoopRecord, MachineCode, WorkRecord,
};

/// The record of an analysed code section; `spills` are the offsets of its spills, ascending.
pub(super) fn machine_code(function: &Function, analysis: &Analysis, spills: &[u32]) -> MachineCode {
    let offset = |block: usize| analysis.block(block).first().map_or(0, |first| first.offset);
    let signs = |signs: Vec<occupant_sass::Sign>| signs.iter().map(ToString::to_string).collect();
    let reachable = analysis.structure.flow.blocks.iter().enumerate().filter(|(_, block)| block.reachable);
    MachineCode {
        loops: (0..analysis.structure.loops.all.len()).map(|number| loop_record(analysis, number)).collect(),
        hot_loop: analysis.hot.map(|hot| HotLoop { number: small(hot.number), because: hot.because.words() }),
        blocks: reachable
            .map(|(number, _)| BlockRecord {
                offset: offset(number),
                in_loop: analysis.structure.loops.of_block.get(number).copied().flatten().map(small),
                function: small(analysis.structure.function_of_block.get(number).copied().unwrap_or(0)),
                next: analysis.structure.flow.successors(number).iter().map(|block| offset(*block)).collect(),
                instructions: instructions(analysis.block(number), spills),
            })
            .collect(),
        functions: function_records(function, analysis.structure.flow.entries.iter().map(|entry| offset(*entry))),
        warp_specialised: signs(specialised(analysis)),
        irregular: signs(irregular(analysis)),
        unknown_opcodes: small(analysis.unknown()),
        notes: notes(analysis),
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The functions of a section. A callee that no symbol names has no name.
fn function_records(function: &Function, offsets: impl Iterator<Item = u32>) -> Vec<FunctionRecord> {
    let inner: HashMap<u64, &str> = function.inner.iter().map(|inner| (inner.offset, inner.name.as_str())).collect();
    let record = |offset| {
        let name = if offset == 0 { Some(function.name.as_str()) } else { inner.get(&u64::from(offset)).copied() };
        FunctionRecord { name: name.map(|name| shorten(&demangle(name), usize::MAX).into_owned()), offset }
    };
    offsets.map(record).collect()
}

fn loop_record(analysis: &Analysis, number: usize) -> LoopRecord {
    let content = analysis.contents.get(number).copied().unwrap_or_default();
    let copy = analysis.copies.get(number).copied().flatten();
    let found = analysis.structure.loops.all.get(number);
    let header = found.and_then(|found| analysis.block(found.header).first());
    LoopRecord {
        header: header.map_or(0, |first| first.offset),
        from: analysis.of_loop(number).next().map_or(0, |first| first.offset),
        to: analysis.of_loop(number).last().map_or(0, Instruction::next),
        depth: small(found.map_or(0, |found| found.depth)),
        parent: found.and_then(|found| found.parent).map(small),
        kind: match analysis.kinds.get(number) {
            Some(LoopKind::Work) => LoopFor::Work,
            Some(LoopKind::Elect) => LoopFor::Elect,
            Some(LoopKind::Wait) | None => LoopFor::Wait,
        },
        instructions: content.instructions,
        work: content.parts().into_iter().map(|(count, what)| WorkRecord { what, count }).collect(),
        global_load_bytes: content.global_load_bytes,
        global_store_bytes: content.global_store_bytes,
        remainder_of: copy.map(|copy| small(copy.of)),
        unrolled: copy.map(|copy| copy.times),
    }
}

fn notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |number: usize, one: &str, several: &str, what: &str| {
        if number > 0 {
            notes.push(format!("{number} {}{what}", if number == 1 { one } else { several }));
        }
    };
    let flow = &analysis.structure.flow;
    let loops = &analysis.structure.loops;
    let trailing = " after the last whole instruction: the code is damaged";
    note(analysis.trailing_bytes, "byte", "bytes", trailing);
    note(flow.stray, "jump leads", "jumps lead", " outside the code: it is damaged");
    let indirect = " not known: blocks that only they lead to are missing, and with them loops";
    note(flow.indirect.len(), "jump whose targets are", "jumps whose targets are", indirect);
    let irreducible = " into the middle of cycles: those cycles are not among the loops";
    note(loops.irreducible, "jump", "jumps", irreducible);
    let elsewhere = " by pointer or of functions outside this section: what is called is not followed";
    note(flow.calls_elsewhere, "call", "calls", elsewhere);
    let unknown = " not known: their bits are shown";
    note(analysis.unknown(), "instruction whose opcode is", "instructions whose opcode is", unknown);
    notes
}

/// Loads that are under way. Those without a scoreboard of their own come back before the next load of the same kind,
/// and so are waited for with that.
#[derive(Default)]
struct InFlight {
    by_scoreboard: [u32; occupant_sass::SCOREBOARDS as usize],
    without: u32,
}

impl InFlight {
    fn all(&self) -> u32 {
        self.by_scoreboard.iter().sum::<u32>() + self.without
    }

    /// Takes out what the instruction waits for; returns how many loads that are.
    fn wait(&mut self, instruction: &Instruction) -> u32 {
        let mut waited = 0;
        for scoreboard in instruction.control().waits() {
            if let Some(pending) = self.by_scoreboard.get_mut(usize::from(scoreboard)) {
                waited += std::mem::take(pending);
            }
        }
        if let Some(Detail::WaitScoreboard { scoreboard, pending: left }) = detail(instruction)
            && let Some(pending) = self.by_scoreboard.get_mut(usize::from(scoreboard))
        {
            waited += pending.saturating_sub(u32::from(left));
            *pending = (*pending).min(u32::from(left));
        }
        waited
    }

    fn issue(&mut self, instruction: &Instruction) {
        let far = |access: Access| {
            access.kind == AccessKind::Load && !matches!(access.space, Space::Constant | Space::Tensor)
        };
        if !instruction.access().is_some_and(far) {
            return;
        }
        let scoreboard = instruction.control().write;
        match scoreboard.and_then(|scoreboard| self.by_scoreboard.get_mut(usize::from(scoreboard))) {
            Some(pending) => *pending += 1 + std::mem::take(&mut self.without),
            None => self.without += 1,
        }
    }
}

fn instructions(block: &[Instruction], spills: &[u32]) -> Vec<InstructionRecord> {
    let mut in_flight = InFlight::default();
    let record = |instruction: &Instruction| {
        let control = instruction.control();
        let loads_in_flight = in_flight.all();
        let waits_for_loads = in_flight.wait(instruction);
        in_flight.issue(instruction);
        InstructionRecord {
            offset: instruction.offset,
            text: text(instruction),
            stall: control.stall,
            yields: control.yields,
            write: control.write,
            read: control.read,
            wait: control.waits().collect(),
            spill: spills.binary_search(&instruction.offset).is_ok(),
            waits_for_loads,
            loads_in_flight,
        }
    };
    block.iter().map(record).collect()
}

/// Guard, name, and the operands that are certain.
fn text(instruction: &Instruction) -> String {
    let guard = instruction.guard().to_string();
    let guard = if guard.is_empty() { guard } else { guard + " " };
    if instruction.opcode.is_none() {
        return format!("{guard}? {:?}", instruction.word);
    }
    let operands = operands(instruction);
    let space = if operands.is_empty() || operands.starts_with('.') { "" } else { " " };
    format!("{guard}{}{space}{operands}", instruction.mnemonic())
}

fn operands(instruction: &Instruction) -> String {
    if let Some(access) = instruction.access().filter(|access| !matches!(access.space, Space::Tensor)) {
        return memory(instruction, &access);
    }
    match instruction.target() {
        // A register adds to the place that is named.
        Some(_) if instruction.class() == Some(Class::Call) && instruction.word.form() == 1 => {
            return "(by pointer)".to_owned();
        }
        Some(Target::At(to)) => {
            let asks = instruction.asks_of_the_warp().map_or_else(String::new, |asks| format!(".{asks} "));
            return format!("{asks}{to:#06x}");
        }
        Some(Target::Unknown) => return "(indirect)".to_owned(),
        None => {}
    }
    if instruction.is_mbarrier_wait() {
        return ".wait".to_owned();
    }
    match detail(instruction) {
        Some(Detail::WaitScoreboard { scoreboard, pending }) => format!(".LE SB{scoreboard}, {pending}"),
        Some(Detail::WaitWarpgroup { pending }) => format!(".DEPBAR.LE {pending}"),
        Some(Detail::SetRegisters { release, count }) => {
            let verb = if release { "release to" } else { "raise to" };
            format!("({verb} {})", count.map_or_else(|| "a register's value".to_owned(), |count| count.to_string()))
        }
        Some(Detail::WarpgroupColumns { n }) => format!("(n = {n})"),
        Some(Detail::AllocateTensorMemory { units_in, .. }) => format!("(allocate 32 x UR{units_in} columns)"),
        None => destination(instruction),
    }
}

/// The register that arithmetic writes.
fn destination(instruction: &Instruction) -> String {
    let arithmetic =
        matches!(instruction.class(), Some(Class::Alu | Class::Fma | Class::Half | Class::Fp64 | Class::Xu));
    let result = instruction.result().filter(|_| arithmetic && instruction.mnemonic() != "VOTE");
    result.map_or_else(String::new, |register| format!("R{register}"))
}

fn memory(instruction: &Instruction, access: &Access) -> String {
    let width = match access.bytes {
        Some(4) | None => String::new(),
        Some(bytes @ (1 | 2)) => format!(".{}", bytes * 8),
        Some(bytes) => format!(".{}", bytes * 8),
    };
    if access.space == Space::Constant {
        let uniform = matches!(instruction.mnemonic(), "ULDC" | "LDCU");
        let into = if uniform { Some(format!("UR{}", instruction.word.register(16))) } else { None };
        return format!("{width} {}", into.or(access.data.map(|data| format!("R{data}"))).unwrap_or_default());
    }
    let base = access.base.map_or_else(String::new, |base| format!("R{base}"));
    let offset = match (access.offset, base.is_empty()) {
        (0, false) => String::new(),
        (offset, true) => format!("{offset:#x}"),
        (offset, false) if offset < 0 => format!("-{:#x}", offset.unsigned_abs()),
        (offset, false) => format!("+{offset:#x}"),
    };
    let place = format!("[{base}{offset}]");
    let data = access.data.map_or_else(|| "RZ".to_owned(), |data| format!("R{data}"));
    match access.kind {
        AccessKind::Load => format!("{width} {data}, {place}"),
        AccessKind::Store => format!("{width} {place}, {data}"),
        AccessKind::Atomic | AccessKind::AsyncCopy => format!("{width} {place}"),
    }
}
