//! One instruction of ours beside the oracle's text for it.

use std::collections::BTreeMap;
use std::fmt;

use occupant_sass::{Class, Decoder, Guard, Instruction, Space, Target};

use super::listing::Section;

/// Counts of what was compared, and what differed.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) instructions: usize,
    pub(super) unknown: usize,
    pub(super) targets: usize,
    pub(super) outside: usize,
    pub(super) widths: usize,
    pub(super) addresses: usize,
    pub(super) too_old: usize,
    /// Functions whose flow the oracle draws.
    pub(super) drawn: usize,
    /// Functions of files that it draws none of.
    pub(super) not_drawn: usize,
    /// Ends of blocks from which the same ways lead on.
    pub(super) ways: usize,
    /// Accesses whose width is not decoded, by mnemonic.
    pub(super) without_width: BTreeMap<&'static str, usize>,
    pub(super) differing: usize,
    /// The first few differences, to look at.
    pub(super) faults: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.unknown += other.unknown;
        self.targets += other.targets;
        self.outside += other.outside;
        self.widths += other.widths;
        self.addresses += other.addresses;
        self.too_old += other.too_old;
        self.drawn += other.drawn;
        self.not_drawn += other.not_drawn;
        self.ways += other.ways;
        self.differing += other.differing;
        for (mnemonic, number) in other.without_width {
            *self.without_width.entry(mnemonic).or_default() += number;
        }
        let room = FAULTS.saturating_sub(self.faults.len());
        self.faults.extend(other.faults.into_iter().take(room));
    }

    pub(super) fn is_clean(&self) -> bool {
        self.differing == 0 && self.unknown * 1000 <= self.instructions && self.instructions + self.too_old > 0
    }

    fn differs(&mut self, what: &str, ours: &dyn fmt::Debug, theirs: &str, instruction: &Instruction) {
        self.differing += 1;
        if self.faults.len() < FAULTS {
            let Instruction { offset, word, .. } = instruction;
            self.faults.push(format!("{what}: {ours:?} here, nvdisasm has `{theirs}` at {offset:#x}: {word:?}"));
        }
    }
}

const FAULTS: usize = 200;

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instructions, unknown, targets, outside, widths, addresses, differing, .. } = self;
        write!(
            f,
            "{instructions} instructions, {differing} differences, {unknown} unknown opcodes; {targets} targets \
             ({outside} more lead elsewhere), {widths} widths, {addresses} addresses"
        )?;
        for (mnemonic, number) in &self.without_width {
            write!(f, "; {number} {mnemonic} without a width")?;
        }
        if self.drawn > 0 {
            write!(f, "; the same ways on from {} ends of blocks in {} functions", self.ways, self.drawn)?;
        }
        if self.not_drawn > 0 {
            write!(f, "; {} functions in files whose flow it does not draw", self.not_drawn)?;
        }
        if self.too_old > 0 {
            write!(f, "; {} functions before sm_70 left out", self.too_old)?;
        }
        Ok(())
    }
}

/// Compares a section.
pub(super) fn section(decoder: &Decoder, section: &Section, tally: &mut Tally) {
    for line in &section.lines {
        let [low, high] = line.halves;
        let bytes = ((u128::from(high) << 64) | u128::from(low)).to_le_bytes();
        let instruction = decoder.instruction(bytes, line.offset);
        let target = |name: &str| section.labels.get(name).map(|offset| i64::from(*offset));
        one(&instruction, &line.text, &target, tally);
    }
}

/// Compares an instruction; `label` finds the offset of a label.
pub(super) fn one(instruction: &Instruction, text: &str, label: &dyn Fn(&str) -> Option<i64>, tally: &mut Tally) {
    tally.instructions += 1;
    let (guard, rest) = split_guard(text);
    if instruction.guard() != guard {
        tally.differs("guard", &instruction.guard(), text, instruction);
    }
    let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut parts = name.split('.');
    let mnemonic = parts.next().unwrap_or("");
    let modifiers: Vec<&str> = parts.collect();
    if instruction.opcode.is_none() {
        tally.unknown += 1;
        tally.faults.push(format!("unknown opcode: `{text}`: {:?}", instruction.word));
        return;
    }
    if instruction.mnemonic() != mnemonic {
        return tally.differs("opcode", &instruction.mnemonic(), text, instruction);
    }
    branch(instruction, text, (&modifiers, operands), label, tally);
    width(instruction, text, &modifiers, tally);
    address(instruction, text, operands, tally);
}

fn split_guard(text: &str) -> (Guard, &str) {
    let Some(rest) = text.strip_prefix('@') else { return (Guard::ALWAYS, text) };
    let (guard, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let negated = guard.starts_with('!');
    let predicate = guard.trim_start_matches('!').trim_start_matches('U').trim_start_matches('P');
    (Guard { predicate: predicate.parse().unwrap_or(7), negated }, rest.trim_start())
}

fn branch(
    instruction: &Instruction,
    text: &str,
    (modifiers, operands): (&[&str], &str),
    label: &dyn Fn(&str) -> Option<i64>,
    tally: &mut Tally,
) {
    // Encodings that no compiler writes.
    if instruction.mnemonic() == "BRA" && !text.contains("INVALID") && !text.contains("???") {
        let predicated = operands.split(',').any(|operand| {
            let negated = operand.trim().starts_with('!');
            let name = operand.trim().trim_start_matches('!').trim_start_matches('U');
            name.starts_with('P') && (negated || !name.starts_with("PT"))
        });
        let by_divergence = modifiers.iter().any(|modifier| matches!(*modifier, "DIV" | "CONV"));
        if instruction.is_conditional() != (text.starts_with('@') || predicated || by_divergence) {
            tally.differs("conditional", &instruction.is_conditional(), text, instruction);
        }
    }
    let named = operands.rsplit_once("`(").map(|(_, name)| name.trim_end_matches(')'));
    let number = || {
        let last = operands.rsplit([' ', ',']).next()?;
        let negative = last.starts_with('-');
        let value = i64::from_str_radix(last.trim_start_matches('-').strip_prefix("0x")?, 16).ok()?;
        Some(if negative { -value } else { value })
    };
    let Some(Target::At(ours)) = instruction.target() else {
        // A return names the function that it is in, not where it goes.
        let goes_there = instruction.class().is_some_and(Class::is_flow) && instruction.class() != Some(Class::Return);
        if goes_there && named.and_then(label).is_some() {
            tally.differs("target", &instruction.target(), text, instruction);
        }
        return;
    };
    let theirs = match named {
        Some(name) => label(name),
        None => number(),
    };
    match theirs {
        None => tally.outside += 1,
        Some(theirs) if theirs == ours => tally.targets += 1,
        Some(_) => tally.differs("target", &ours, text, instruction),
    }
}

/// Bytes by the modifiers that nvdisasm prints.
fn printed_width(mnemonic: &str, modifiers: &[&str]) -> Option<u32> {
    if matches!(mnemonic, "LDTM" | "STTM") {
        return tensor_width(modifiers);
    }
    let is_matrix = matches!(mnemonic, "LDSM" | "STSM");
    let width = |modifier: &&str| {
        Some(match *modifier {
            "2" if is_matrix => 8,
            "4" if is_matrix => 16,
            "16" | "8" if is_matrix => return None,
            "U8" | "S8" => 1,
            "U16" | "S16" => 2,
            "64" | "S64" | "F64" | "F16x4" | "BF16x4" | "F32x2" => 8,
            "128" | "F16x8" | "BF16x8" | "F32x4" => 16,
            "256" => 32,
            _ => return None,
        })
    };
    modifiers.iter().rev().find_map(width).or(Some(4))
}

/// Registers by shape (`16dp128bit`; 32 lanes of 32 bits where none is printed) and repetition (`x4`).
fn tensor_width(modifiers: &[&str]) -> Option<u32> {
    let repeated = modifiers.iter().find_map(|modifier| modifier.strip_prefix('x')?.parse::<u32>().ok());
    let registers = match modifiers.iter().find(|modifier| modifier.contains("dp")) {
        Some(shape) if shape.contains("128bit") => 2,
        Some(shape) if shape.contains("256bit") => 4,
        _ => 1,
    };
    Some(repeated.unwrap_or(1) * registers * 4)
}

fn width(instruction: &Instruction, text: &str, modifiers: &[&str], tally: &mut Tally) {
    let Some(access) = instruction.access() else { return };
    // Encodings that no compiler writes.
    if text.contains("INVALID") || text.contains("???") {
        return;
    }
    let theirs = printed_width(instruction.mnemonic(), modifiers);
    match access.bytes {
        None => *tally.without_width.entry(instruction.mnemonic()).or_default() += 1,
        ours if ours == theirs => tally.widths += 1,
        ours => tally.differs("width", &ours, text, instruction),
    }
}

/// The base register and offset of the last bracket, e.g. `desc[UR4][R2.64+0x10]`.
fn address(instruction: &Instruction, text: &str, operands: &str, tally: &mut Tally) {
    let Some(access) = instruction.access() else { return };
    let uniform = instruction.mnemonic().starts_with('U');
    if uniform || matches!(access.space, Space::Constant | Space::Tensor) {
        return;
    }
    let Some((_, bracket)) = operands.rsplit_once('[') else { return };
    let inside = bracket.split(']').next().unwrap_or("");
    let (mut base, mut offset) = (None, 0_i64);
    for (part, negative) in parts(inside) {
        let sign = if negative { -1 } else { 1 };
        if let Some(digits) = part.strip_prefix("0x") {
            offset = sign * i64::from_str_radix(digits, 16).unwrap_or(i64::MAX);
        } else if let Some(register) = part.strip_prefix('R') {
            base = register.split('.').next().and_then(|number| number.parse().ok());
        }
    }
    // Without a base an address is printed without its sign.
    let ours = i64::from(access.offset);
    let same_offset = ours == offset || (base.is_none() && (ours - offset) % (1 << 24) == 0);
    if access.base == base && same_offset {
        tally.addresses += 1;
    } else {
        tally.differs("address", &(access.base, access.offset), text, instruction);
    }
}

/// The terms of a sum, each with whether it is negative: `R2.64+-0x10`.
fn parts(sum: &str) -> impl Iterator<Item = (&str, bool)> {
    sum.split('+').map(|part| (part.trim_start_matches('-'), part.starts_with('-')))
}
