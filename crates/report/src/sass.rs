//! `occupant inspect --sass`: a kernel's loops, and the instructions of the one that matters, to read and to learn from.

use std::fmt::Write as _;

use occupant_core::report::{BlockRecord, InstructionRecord, KernelRecord, LoopFor, LoopRecord, MachineCode};
use occupant_core::shorten;

use crate::sheet::Sheet;
use crate::words::{count, grouped, printable, wrapped};

/// How much of the code is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The hot loop; of other blocks a line each, and of runs of plain arithmetic too.
    Hot,
    /// Every instruction of every block.
    All,
}

/// Beyond so many loops, those that do no work are told as a number.
const MANY_LOOPS: usize = 12;

/// Kernels that are shown; a screen each is enough to lose one's way.
pub const SASS_KERNELS: usize = 10;

/// The code of every kernel that has it, in at most `width` columns where that can be; `dropped` kernels more had some.
#[must_use]
pub fn sass_text(kernels: &[KernelRecord], dropped: usize, detail: Detail, width: usize) -> String {
    let with_code: Vec<_> =
        kernels.iter().filter_map(|kernel| Some((kernel, kernel.machine_code.as_deref()?))).collect();
    let mut text = String::new();
    for (kernel, code) in with_code.iter().take(SASS_KERNELS) {
        text += &heading(kernel, code, width);
        text += &loops(code, width);
        text += &blocks(code, detail, width);
        text.push('\n');
    }
    if !with_code.is_empty() {
        text += &wrapped(LEGEND, width, 2);
    }
    let hidden = with_code.len().saturating_sub(SASS_KERNELS).saturating_add(dropped);
    if hidden > 0 {
        let what = count(hidden as u64, "more kernel");
        text +=
            &wrapped(&format!("{what} not shown: narrow with --kernel and --arch, or take --format json"), width, 2);
    }
    text
}

const LEGEND: &str = "wait: scoreboards that it waits for; rd, wr: the scoreboard released when its operands are read, its \
                      result is there; y: prefers another warp next; stall: cycles to the next instruction; \
                      loads are counted within a block";

fn heading(kernel: &KernelRecord, code: &MachineCode, width: usize) -> String {
    let name = printable(&shorten(&kernel.demangled, width.saturating_sub(12))).into_owned();
    let mut text = format!("{name}  {}\n", kernel.arch.as_deref().unwrap_or("-"));
    let registers = kernel.registers.map_or_else(|| "? registers".to_owned(), |r| count(r.into(), "register"));
    let stack =
        kernel.stack.map_or_else(|| "a stack of unknown size".to_owned(), |stack| format!("{stack} B of stack"));
    let mut facts = vec![registers, stack, spills(kernel)];
    facts.retain(|fact| !fact.is_empty());
    text += &wrapped(&facts.join(", "), width, 2);
    let signs = [("warps do different work", &code.warp_specialised), ("irregular", &code.irregular)];
    for (title, signs) in signs.iter().filter(|(_, signs)| !signs.is_empty()) {
        signs.iter().for_each(|sign| text += &wrapped(&format!("{title}: {sign}"), width, 2));
    }
    for note in kernel.notes.iter().chain(&code.notes) {
        text += &wrapped(note, width, 2);
    }
    text
}

/// `spills 48 B stored, 96 B loaded a thread, 64 B of them in innermost loops`.
fn spills(kernel: &KernelRecord) -> String {
    let spills = &kernel.spills;
    let (Some(store), Some(load)) = (spills.store_bytes, spills.load_bytes) else {
        return "spills unknown".to_owned();
    };
    let unlisted = spills.unlisted_bytes.unwrap_or(0);
    let mut text = match (store, load) {
        (0, 0) => "no spills".to_owned(),
        _ => format!("spills {} B stored, {} B loaded a thread", grouped(store.into()), grouped(load.into())),
    };
    if store + load > 0 {
        let (in_loops, innermost) = (spills.in_loops_bytes.unwrap_or(0), spills.innermost_bytes.unwrap_or(0));
        text += &match (in_loops, innermost) {
            _ if spills.in_loops_bytes.is_none() => ", whether in loops is not known".to_owned(),
            (0, _) => ", none of them in loops".to_owned(),
            (all, inner) if all == inner => format!(", {} B of them in innermost loops", grouped(all.into())),
            (all, 0) => format!(", {} B of them in loops", grouped(all.into())),
            (all, inner) => {
                format!(", {} B of them in loops, {} B in innermost ones", grouped(all.into()), grouped(inner.into()))
            }
        };
    }
    if unlisted > 0 {
        let _ =
            write!(text, ", and called functions save {} B that the compiler does not list", grouped(unlisted.into()));
    }
    if spills.source == Some("stack_accesses") && store + load > 0 {
        text += " (from stack accesses: small local arrays can be among them)";
    }
    text
}

/// Loops are numbered from 1 for people.
fn number(at: u32) -> String {
    u64::from(at).saturating_add(1).to_string()
}

fn loops(code: &MachineCode, width: usize) -> String {
    if code.loops.is_empty() {
        return "no loops\n\n".to_owned();
    }
    let mut text = "\nloop  in  depth  code              instr  one pass\n".to_owned();
    // Kernels with many barriers have dozens of loops that only wait.
    let hides = code.loops.len() > MANY_LOOPS;
    let hidden = |found: &LoopRecord| hides && found.kind != LoopFor::Work;
    for (at, found) in (0..).zip(&code.loops).filter(|(_, found)| !hidden(found)) {
        let parent = found.parent.map_or_else(|| "-".to_owned(), number);
        let range = format!("{:#06x}..{:#06x}", found.from, found.to);
        let line = format!(
            "{:>4}  {parent:>2}  {:>5}  {range:<16}  {:>5}  {}",
            number(at),
            found.depth,
            found.instructions,
            work(code, at, found)
        );
        text += &wrapped_at(&line, width, 41);
    }
    let waiting = code.loops.iter().filter(|found| hidden(found)).count();
    if waiting > 0 {
        text += &format!("      and {} that only wait, count or elect a thread\n", count(waiting as u64, "loop"));
    }
    text.push('\n');
    text
}

/// `global loads`; units of work that have no plural stay as they are.
fn plural(what: &str, count: u32) -> String {
    match what {
        _ if count == 1 => what.to_owned(),
        "FP32" | "FP16" | "FP64" | "TMA" => what.to_owned(),
        "integer multiply" => "integer multiplies".to_owned(),
        "local access" => "local accesses".to_owned(),
        "async copy" => "async copies".to_owned(),
        "tensor-core" => "tensor-core operations".to_owned(),
        what => format!("{what}s"),
    }
}

fn work(code: &MachineCode, at: u32, found: &LoopRecord) -> String {
    let named = |what: &str, count: u32| {
        let bytes = match what {
            "global load" => found.global_load_bytes,
            "global store" => found.global_store_bytes,
            _ => 0,
        };
        let plural = plural(what, count);
        if bytes > 0 { format!("{count} {plural} ({bytes} B)") } else { format!("{count} {plural}") }
    };
    let mut parts: Vec<String> = found.work.iter().map(|work| named(work.what, work.count)).collect();
    match found.kind {
        LoopFor::Wait if parts.is_empty() => parts.push("only counts or waits".to_owned()),
        LoopFor::Elect => parts.push("one thread at a time".to_owned()),
        LoopFor::Work | LoopFor::Wait => {}
    }
    let mut text = parts.join(", ");
    if let (Some(of), Some(times)) = (found.remainder_of, found.unrolled) {
        let _ = write!(text, "; remainder of loop {}, which does {times} times as much", number(of));
    }
    if let Some(hot) = code.hot_loop.as_ref().filter(|hot| hot.number == at) {
        let _ = write!(text, "  <- hot: {}", hot.because);
    }
    text
}

/// As [`wrapped`], with the first line's spaces kept.
fn wrapped_at(line: &str, width: usize, indent: usize) -> String {
    let (head, tail) = line.split_at(line.char_indices().nth(indent).map_or(line.len(), |(at, _)| at));
    let body = wrapped(tail, width.saturating_sub(indent).max(20), 0);
    let mut lines = body.lines();
    let mut text = format!("{head}{}\n", lines.next().unwrap_or(""));
    lines.for_each(|line| text += &format!("{}{line}\n", " ".repeat(indent)));
    text
}

fn blocks(code: &MachineCode, detail: Detail, width: usize) -> String {
    let mut text = format!("{HEAD}\n");
    let mut function = 0;
    let hot = in_hot_loop(code);
    for block in &code.blocks {
        if block.function != function {
            function = block.function;
            let found = code.functions.get(function as usize);
            let unnamed = || format!("function at {:#06x}", found.map_or(0, |function| function.offset));
            let name = found.and_then(|function| function.name.clone()).unwrap_or_else(unnamed);
            text += &format!("{}:\n", printable(&shorten(&name, width.saturating_sub(1))));
        }
        if detail == Detail::All || is_hot(code, &hot, block) {
            text += &format!("{}\n", title(code, block));
            text += &lines(block, detail);
        } else {
            text += &wrapped_at(&format!("{:04x}    {}", block.offset, brief(block)), width, 8);
        }
    }
    text
}

const HEAD: &str = "offset  wait   rd wr  y stall  instruction";

fn is_hot(code: &MachineCode, hot: &[bool], block: &BlockRecord) -> bool {
    match (&code.hot_loop, block.in_loop) {
        (Some(_), Some(at)) => hot.get(at as usize).copied().unwrap_or(false),
        (Some(_), None) => false,
        // A kernel without loops is short, or it is all the same to it.
        (None, _) => block.function == 0 && code.loops.is_empty(),
    }
}

/// For each loop whether it is the hot one or lies in it: those inside it that wait or elect belong to it. Outer loops come
/// before inner ones.
fn in_hot_loop(code: &MachineCode) -> Vec<bool> {
    let mut inside: Vec<bool> = Vec::with_capacity(code.loops.len());
    for (at, found) in (0_u32..).zip(&code.loops) {
        let is_hot = code.hot_loop.as_ref().is_some_and(|hot| hot.number == at);
        let parent = found.parent.and_then(|parent| inside.get(parent as usize));
        inside.push(is_hot || parent.copied().unwrap_or(false));
    }
    inside
}

/// `---- loop 2, then 0x0120 or 0x0340`.
fn title(code: &MachineCode, block: &BlockRecord) -> String {
    let place = match block.in_loop {
        Some(at) => {
            let hot = code.hot_loop.as_ref().is_some_and(|hot| hot.number == at);
            format!("loop {}{}", number(at), if hot { " (hot)" } else { "" })
        }
        None => "outside loops".to_owned(),
    };
    format!("---- {place}{}", next(block))
}

fn next(block: &BlockRecord) -> String {
    let places: Vec<String> = block.next.iter().map(|next| format!("{next:#06x}")).collect();
    if places.is_empty() { String::new() } else { format!(", then {}", places.join(" or ")) }
}

/// A block in a line: `12 instructions: 2 LDG, 3 IMAD, ...`.
fn brief(block: &BlockRecord) -> String {
    let place = block.in_loop.map_or_else(String::new, |at| format!("loop {}: ", number(at)));
    let spilled = block.instructions.iter().filter(|instruction| instruction.spill).count();
    let spilled = if spilled > 0 { format!(", {}", count(spilled as u64, "spill")) } else { String::new() };
    let total = count(block.instructions.len() as u64, "instruction");
    format!("{place}{total}: {}{spilled}{}", names(&block.instructions, 4), next(block))
}

/// The most frequent names, and how many others.
fn names(instructions: &[InstructionRecord], shown: usize) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for instruction in instructions {
        let name = name(&instruction.text);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, number)) => *number += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let others: usize = counts.iter().skip(shown).map(|(_, number)| number).sum();
    let mut parts: Vec<String> = counts.iter().take(shown).map(|(name, number)| format!("{number} {name}")).collect();
    if others > 0 {
        parts.push(format!("{others} more"));
    }
    parts.join(", ")
}

/// The name in `@P0 LDG.128 R4, [R2]`.
fn name(text: &str) -> &str {
    let rest = if text.starts_with('@') { text.split_once(' ').map_or(text, |(_, rest)| rest) } else { text };
    rest.split([' ', '.']).next().unwrap_or(rest)
}

/// Runs of plain arithmetic from this length on are told in a line.
const RUN: usize = 4;

fn lines(block: &BlockRecord, detail: Detail) -> String {
    let mut text = String::new();
    let mut at = 0;
    while let Some(instruction) = block.instructions.get(at) {
        let run = block.instructions[at..].iter().take_while(|instruction| is_plain(instruction)).count();
        if detail == Detail::Hot && run >= RUN {
            let run = &block.instructions[at..at + run];
            let cycles: u32 = run.iter().map(|instruction| u32::from(instruction.stall.max(1))).sum();
            text += &format!("{:04x}    ...{:18}{} ({cycles} cycles)\n", instruction.offset, "", names(run, 4));
            at += run.len();
        } else {
            text += &line(instruction);
            at += 1;
        }
    }
    text
}

/// Arithmetic that waits for nothing and that nobody waits for.
fn is_plain(instruction: &InstructionRecord) -> bool {
    let silent = instruction.wait.is_empty() && instruction.write.is_none() && instruction.read.is_none();
    let flow = ["BRA", "BRX", "BRXU", "JMP", "JMX", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "WARPSYNC"];
    let waits = ["BAR", "WARPGROUP", "USETMAXREG", "DEPBAR", "SYNCS"];
    let text = instruction.text.as_str();
    let tensor = name(text).ends_with("MMA") && !text.contains("HFMA2");
    silent
        && !instruction.spill
        && !tensor
        && !text.contains('[')
        && !flow.contains(&name(text))
        && !waits.contains(&name(text))
}

fn line(instruction: &InstructionRecord) -> String {
    let digit = |scoreboard: Option<u8>| scoreboard.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let wait: String = (0..6)
        .map(|number| if instruction.wait.contains(&number) { digit(Some(number)) } else { "-".to_owned() })
        .collect();
    let yields = if instruction.yields { 'y' } else { '-' };
    let mut notes = Vec::new();
    if instruction.spill {
        notes.push("spill".to_owned());
    }
    if instruction.waits_for_loads > 0 {
        notes.push(format!(
            "waits for {} of {}",
            instruction.waits_for_loads,
            count(instruction.loads_in_flight.into(), "load")
        ));
    }
    let text = format!(
        "{:04x}    {wait} {:>2} {:>2}  {yields} {:>5}  {:<34} {}",
        instruction.offset,
        digit(instruction.read),
        digit(instruction.write),
        instruction.stall,
        instruction.text,
        notes.join(", ")
    );
    text.trim_end().to_owned() + "\n"
}

/// Every instruction as a row, for CSV.
#[must_use]
pub fn sass_sheet(kernels: &[KernelRecord]) -> Sheet {
    let columns = vec![
        "kernel",
        "arch",
        "offset",
        "block",
        "loop",
        "depth",
        "instruction",
        "wait",
        "read",
        "write",
        "yield",
        "stall",
        "spill",
        "waits_for_loads",
        "loads_in_flight",
    ];
    let number = |value: Option<u8>| value.map_or_else(String::new, |value| value.to_string());
    let mut rows = Vec::new();
    for (kernel, code) in kernels.iter().filter_map(|kernel| Some((kernel, kernel.machine_code.as_deref()?))) {
        for (block, instruction) in code.blocks.iter().flat_map(|b| b.instructions.iter().map(move |i| (b, i))) {
            let depth = block.in_loop.and_then(|at| code.loops.get(at as usize)).map_or(0, |found| found.depth);
            rows.push(vec![
                kernel.name.to_string(),
                kernel.arch.clone().unwrap_or_default(),
                instruction.offset.to_string(),
                block.offset.to_string(),
                block.in_loop.map_or_else(String::new, number_of),
                depth.to_string(),
                instruction.text.clone(),
                instruction.wait.iter().map(u8::to_string).collect::<Vec<_>>().join("+"),
                number(instruction.read),
                number(instruction.write),
                instruction.yields.to_string(),
                instruction.stall.to_string(),
                instruction.spill.to_string(),
                instruction.waits_for_loads.to_string(),
                instruction.loads_in_flight.to_string(),
            ]);
        }
    }
    Sheet { columns, rows }
}

/// As in JSON, from 0.
fn number_of(at: u32) -> String {
    at.to_string()
}
