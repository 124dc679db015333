//! How an address differs from lane to lane of a warp, followed from the thread index through the arithmetic.
//!
//! For: how many sectors a request touches, which accesses overlap, and whether an address was itself loaded. Not for:
//! values; only differences between lanes are followed, along one stretch of code in its order. What is not certain is
//! [`Lanes::Unknown`]. The x dimension of a block is taken to be a multiple of the warp, so that y and z are the same in
//! all lanes.

use std::collections::BTreeMap;

use crate::evidence::{THREE_OPERANDS, WIDE_MULTIPLY};
use crate::instruction::Instruction;
use crate::memory::AccessKind;
use crate::opcodes::{Class, Space};
use crate::word::{RZ, Word};

/// How a value differs between the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// The same in every lane.
    Uniform,
    /// More by this much from one lane to the next.
    Stride(i64),
    /// Loaded from memory, each lane from its own address; the offset of that load.
    Loaded(u32),
    /// Not known.
    Unknown,
}

/// An address: how it differs between lanes, and what it is a known distance from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// How it differs between lanes.
    pub lanes: Lanes,
    /// Addresses of one root differ by their distances alone: the register's origin, and the uniform registers that are
    /// added to it.
    pub root: u64,
    /// Bytes from the root.
    pub distance: i64,
}

/// A register's value.
#[derive(Debug, Clone, Copy)]
struct Value {
    lanes: Lanes,
    root: u32,
    distance: i64,
    /// Its value, where it is a constant of the code.
    constant: Option<i64>,
    /// The guard that it was written under: it holds for what stands under the same one.
    under: Option<Under>,
    /// How it differs for everything else, since some lanes can have kept what was there before.
    otherwise: Lanes,
}

impl Value {
    /// The same in all lanes, whoever asks.
    const fn uniform() -> Self {
        Self { lanes: Lanes::Uniform, root: 0, distance: 0, constant: None, under: None, otherwise: Lanes::Uniform }
    }
}

/// A guard: two that are equal hold for the same lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Under {
    /// Its predicate.
    pub predicate: u8,
    /// How often that had been written.
    pub written: u32,
    /// It stands for the opposite.
    pub negated: bool,
}

/// Follows the differences between lanes through instructions in their order.
#[derive(Debug, Clone)]
pub struct LaneTracker {
    registers: Vec<Value>,
    /// How each predicate differs between lanes, and how often it was written.
    predicates: [(Lanes, u32); 8],
    next_root: u32,
    /// Roots of products and sums by what they are made of, so that equal ones have one root.
    derived: BTreeMap<(u32, i64, u32), u32>,
    /// The thread's index along y or z was read.
    beyond_x: bool,
}

impl Default for LaneTracker {
    fn default() -> Self {
        let unknown = Value { lanes: Lanes::Unknown, ..UNIFORM };
        Self {
            registers: vec![unknown; usize::from(RZ)],
            predicates: [(Lanes::Uniform, 0); 8],
            next_root: 1,
            derived: BTreeMap::new(),
            beyond_x: false,
        }
    }
}

impl LaneTracker {
    /// The address of a memory access, before [`Self::follow`] takes the instruction in.
    #[must_use]
    pub fn address(&self, instruction: &Instruction) -> Option<Address> {
        let access = instruction.access()?;
        let value = access.base.map_or(UNIFORM, |base| self.get(base, self.under(instruction.word)));
        let distance = value.distance.saturating_add(i64::from(access.offset));
        let word = instruction.word;
        // Where a uniform register takes part it is named in the place that has no other use.
        let uniform = match access.kind {
            AccessKind::Load | AccessKind::AsyncCopy => word.bits(32, 8) << 8 | word.bits(64, 8),
            AccessKind::Store | AccessKind::Atomic => word.bits(64, 8),
        };
        let uniform = if word.bit(UNIFORM_REGISTER) { uniform } else { 0 };
        Some(Address { lanes: value.lanes, root: u64::from(value.root) << 16 | uniform, distance })
    }

    /// Whether the code looked at a thread's index along y or z: then lanes run along x only where a block is as wide as a
    /// warp.
    #[must_use]
    pub const fn beyond_x(&self) -> bool {
        self.beyond_x
    }

    /// How the value of a register differs between lanes.
    #[must_use]
    pub fn lanes(&self, register: u8) -> Lanes {
        self.get(register, None).lanes
    }

    /// Takes in an instruction.
    pub fn follow(&mut self, instruction: &Instruction) {
        let word = instruction.word;
        if let Some(access) = instruction.access() {
            if matches!(access.kind, AccessKind::Load | AccessKind::Atomic) {
                let lanes = self.loaded(instruction, access.space);
                let registers = access.bytes.unwrap_or(4).div_ceil(4).max(1);
                if let Some(first) = access.data {
                    (0..registers).for_each(|at| self.set(first.saturating_add(at as u8), lanes, word));
                }
            }
            return;
        }
        let value = instruction.result().map(|destination| (destination, self.result(instruction)));
        let upper = self.upper_half(word);
        self.compare(instruction);
        let Some((destination, value)) = value else { return };
        let merged = self.merge(destination, value, word);
        self.put(destination, merged);
        if word.opcode() == WIDE_MULTIPLY {
            self.set(destination.saturating_add(1), upper, word);
        }
    }

    /// Takes in what an instruction does to predicates.
    fn compare(&mut self, instruction: &Instruction) {
        let (word, name) = (instruction.word, instruction.mnemonic());
        let now = self.under(word);
        let second = || if name == "LOP3" { self.second(word, now) } else { self.second_of_two(word, now) };
        let of_registers = || together(&[self.get(word.register(24), now).lanes, second().lanes]);
        let lanes = match name {
            _ if name.contains("SETP") => together(&[of_registers(), self.predicate(word.bits(87, 3))]),
            // A logic operation can tell whether its result is 0.
            "FCHK" | "CSMTEST" | "LOP3" => of_registers(),
            "VOTE" => Lanes::Uniform,
            "PLOP3" | "R2P" => Lanes::Unknown,
            _ => return,
        };
        let second = if name == "LOP3" { 7 } else { word.bits(84, 3) };
        let written = [word.bits(81, 3), second];
        for (number, predicate) in self.predicates.iter_mut().enumerate().take(7) {
            if name == "R2P" || written.contains(&(number as u64)) {
                *predicate = (lanes, predicate.1.saturating_add(1));
            }
        }
    }

    fn predicate(&self, number: u64) -> Lanes {
        self.predicates.get(number as usize).map_or(Lanes::Uniform, |(lanes, _)| *lanes)
    }

    /// The guard of an instruction; `None` where every lane takes part.
    #[must_use]
    pub fn under(&self, word: Word) -> Option<Under> {
        let guard = word.guard();
        let under =
            Under { predicate: guard.predicate, written: self.written(guard.predicate), negated: guard.negated };
        (!guard.is_always()).then_some(under)
    }

    /// How often a predicate was written.
    #[must_use]
    pub fn written(&self, predicate: u8) -> u32 {
        self.predicates.get(usize::from(predicate)).map_or(0, |(_, written)| *written)
    }

    /// The upper half of a wide product: of an address the same in all lanes, since they carry into it seldom enough; of a
    /// product alone, as in a division by a constant, the quotient.
    fn upper_half(&self, word: Word) -> Lanes {
        let alone = matches!(word.form(), 1 | 4 | 5 | 6) && word.register(64) == RZ;
        let now = self.under(word);
        if alone {
            together(&[self.get(word.register(24), now).lanes, self.second(word, now).lanes])
        } else {
            Lanes::Uniform
        }
    }

    fn loaded(&self, instruction: &Instruction, space: Space) -> Lanes {
        let address = self.address(instruction).map_or(Lanes::Unknown, |address| address.lanes);
        let index = || self.get(instruction.word.register(24), self.under(instruction.word)).lanes;
        match (space, address) {
            // A table in constant memory can be read with an index of each lane.
            (Space::Constant, _) if index() != Lanes::Uniform => Lanes::Unknown,
            (Space::Constant, _) | (Space::Global | Space::Generic | Space::Shared, Lanes::Uniform) => Lanes::Uniform,
            (Space::Global | Space::Generic, _) => Lanes::Loaded(instruction.offset),
            // Each thread's stack is its own, and shared memory holds what the kernel put there.
            _ => Lanes::Unknown,
        }
    }

    fn result(&mut self, instruction: &Instruction) -> Value {
        let word = instruction.word;
        let now = self.under(word);
        let a = self.get(word.register(24), now);
        let (b, c) = if THREE_OPERANDS.contains(&instruction.mnemonic()) {
            (self.second(word, now), self.third(word, now))
        } else {
            (self.second_of_two(word, now), UNIFORM)
        };
        let lanes = match instruction.mnemonic() {
            "S2R" => match word.bits(72, 8) {
                LANE_ID | TID_X => Lanes::Stride(1),
                TID | FIRST_LANE_MASK..=LAST_LANE_MASK => Lanes::Unknown,
                index => {
                    self.beyond_x |= matches!(index, TID_Y | TID_Z);
                    Lanes::Uniform
                }
            },
            "CS2R" => Lanes::Uniform,
            // Predicates, packed: each lane has its own.
            "P2R" | "VOTE" => Lanes::Unknown,
            "MOV" => return self.moved(b, immediate(word)),
            // With zero factors it is a move of its constant.
            "HFMA2" if no_factor(word) => return self.moved(c, added_immediate(word)),
            // Upper halves of products: quotients of divisions by a constant.
            "IMAD" if word.opcode() == HIGH_MULTIPLY => together(&[a.lanes, b.lanes, c.lanes]),
            "IMAD" => return self.multiplied(word, a, b, c),
            "SEL" | "FSEL" => chosen(a.lanes, b.lanes, self.predicate(word.bits(87, 3))),
            // An index that is clamped for a few lanes.
            "IMNMX" | "VIMNMX" => match (a.lanes, b.lanes) {
                (Lanes::Stride(stride), Lanes::Uniform) | (Lanes::Uniform, Lanes::Stride(stride)) => {
                    Lanes::Stride(stride)
                }
                (a, b) => together(&[a, b]),
            },
            "IADD3" | "IADD" | "VIADD" if !word.bit(X) => return self.added(instruction, a, b, c),
            "LEA" if !word.bit(HIGH) => {
                let shift = word.bits(75, 5) as u32;
                sum(scaled(a.lanes, 1_i64.checked_shl(shift)), b.lanes)
            }
            // Upper halves of 64-bit addresses.
            "LEA" | "IADD3" | "IADD" | "VIADD" => together(&[a.lanes, b.lanes, c.lanes]).upper(),
            "SHF" => shifted(word, a.lanes, b.lanes, c.lanes),
            "LOP3" => masked(word, a.lanes, b.lanes, c.lanes),
            _ if instruction.class() == Some(Class::Shuffle) => Lanes::Unknown,
            _ if one_operand(instruction) => together(&[b.lanes]),
            _ => together(&[a.lanes, b.lanes, c.lanes]),
        };
        self.new_root(lanes)
    }

    /// `a * b + c`. With a factor of 1 or without factors it is a move or a sum.
    fn multiplied(&mut self, word: Word, a: Value, b: Value, c: Value) -> Value {
        if no_factor(word) {
            return self.moved(c, added_immediate(word));
        }
        let factor = immediate(word).or(b.constant);
        let product = match (a.lanes, factor, a.constant) {
            (lanes, Some(factor), _) => scaled(lanes, Some(factor)),
            (_, None, Some(factor)) => scaled(b.lanes, Some(factor)),
            (Lanes::Uniform, None, None) if b.lanes == Lanes::Uniform => Lanes::Uniform,
            (a, None, None) => together(&[a, b.lanes]),
        };
        let lanes = sum(product, c.lanes);
        match (factor, third_root(word, c)) {
            (Some(factor), Some(added)) => {
                let distance = a.distance.saturating_mul(factor).saturating_add(c.distance);
                let root = self.derived(a.root, factor, added);
                Value { lanes, root, distance, ..UNIFORM }
            }
            _ => self.new_root(lanes),
        }
    }

    /// The root of a product with a constant to which another value is added.
    fn derived(&mut self, of: u32, factor: i64, added: u32) -> u32 {
        let next = self.next_root;
        let root = *self.derived.entry((of, factor, added)).or_insert(next);
        if root == next {
            self.next_root = next.saturating_add(1);
        }
        root
    }

    /// A move of a register's value or of a constant.
    fn moved(&mut self, from: Value, constant: Option<i64>) -> Value {
        match constant {
            Some(constant) => Value { constant: Some(constant), ..self.new_root(Lanes::Uniform) },
            None => from,
        }
    }

    /// A sum keeps its root where all but one of its terms are constants.
    fn added(&mut self, instruction: &Instruction, a: Value, b: Value, c: Value) -> Value {
        let word = instruction.word;
        let three = instruction.mnemonic() == "IADD3";
        let c = if three { c } else { UNIFORM };
        // The bits that negate terms.
        let negated = [word.bit(72), word.bit(63) && immediate(word).is_none(), three && word.bit(75)];
        if negated.contains(&true) {
            let signed = |lanes: Lanes, negated: bool| if negated { scaled(lanes, Some(-1)) } else { lanes };
            let [a, b, c] = [signed(a.lanes, negated[0]), signed(b.lanes, negated[1]), signed(c.lanes, negated[2])];
            return self.new_root(sum(sum(a, b), c));
        }
        let others_are_zero = !three || word.register(64) == RZ;
        match immediate(word).filter(|_| others_are_zero) {
            Some(constant) => Value { distance: a.distance.saturating_add(constant), constant: None, ..a },
            None => self.new_root(sum(sum(a.lanes, b.lanes), c.lanes)),
        }
    }

    fn new_root(&mut self, lanes: Lanes) -> Value {
        let root = self.next_root;
        self.next_root = root.saturating_add(1);
        Value { lanes, root, ..UNIFORM }
    }

    /// A register's value for what stands under a guard.
    fn get(&self, register: u8, now: Option<Under>) -> Value {
        let value = self.registers.get(usize::from(register)).copied().unwrap_or(UNIFORM);
        if value.under.is_none() || value.under == now {
            return Value { under: None, ..value };
        }
        Value { lanes: value.otherwise, constant: None, under: None, ..value }
    }

    fn put(&mut self, register: u8, value: Value) {
        if let Some(place) = self.registers.get_mut(usize::from(register)) {
            *place = value;
        }
    }

    fn set(&mut self, register: u8, lanes: Lanes, word: Word) {
        let value = self.new_root(lanes);
        let merged = self.merge(register, value, word);
        self.put(register, merged);
    }

    /// What a register holds once an instruction wrote it: under a guard some lanes may keep the old value.
    fn merge(&self, register: u8, value: Value, word: Word) -> Value {
        let Some(now) = self.under(word) else { return value };
        let old = self.get(register, None);
        // An index that is clamped for a few lanes: the difference between the others stays.
        if matches!((old.lanes, value.lanes), (Lanes::Stride(_), Lanes::Uniform)) {
            return old;
        }
        let otherwise = chosen(old.lanes, value.lanes, self.predicate(u64::from(now.predicate)));
        Value { under: Some(now), otherwise, ..value }
    }

    /// The second operand of two: constants and uniform registers can stand in the place of either.
    fn second_of_two(&self, word: Word, now: Option<Under>) -> Value {
        if word.form() == 1 { self.get(word.register(32), now) } else { UNIFORM }
    }

    fn second(&self, word: Word, now: Option<Under>) -> Value {
        match word.form() {
            1 => self.get(word.register(32), now),
            2 | 3 | 7 => self.get(word.register(64), now),
            _ => UNIFORM,
        }
    }

    fn third(&self, word: Word, now: Option<Under>) -> Value {
        match word.form() {
            1 | 4 | 5 | 6 => self.get(word.register(64), now),
            _ => UNIFORM,
        }
    }
}

/// RZ and everything that is the same in all lanes.
const UNIFORM: Value = Value::uniform();
const LANE_ID: u64 = 0;
const TID_X: u64 = 0x21;
/// The thread's index along x, y and z, packed.
const TID: u64 = 0x20;
const TID_Y: u64 = 0x22;
const TID_Z: u64 = 0x23;
/// Masks of the lanes that are equal to, below or above each one.
const FIRST_LANE_MASK: u64 = 0x38;
const LAST_LANE_MASK: u64 = 0x3c;
const HIGH_MULTIPLY: usize = 0x027;
/// The upper half of a shift or of an address computation.
const HIGH: u32 = 80;
/// A uniform register takes part in an address.
const UNIFORM_REGISTER: u32 = 91;
/// Takes a carry in: the upper half of a sum.
const X: u32 = 74;
/// Tables of truth of the three operands a = 0xf0, b = 0xcc, c = 0xaa. The complement of x is -x - 1.
const AND: u64 = 0xc0;
const NOT_A: u64 = 0x0f;
const NOT_B: u64 = 0x33;

impl Lanes {
    /// The upper half of a 64-bit value of these lanes.
    fn upper(self) -> Self {
        match self {
            Self::Stride(_) => Self::Uniform,
            other => other,
        }
    }
}

/// The constant in the place of the second operand.
fn immediate(word: Word) -> Option<i64> {
    (word.form() == 4).then(|| word.signed(32, 32))
}

/// The constant in the place of the third operand.
fn added_immediate(word: Word) -> Option<i64> {
    (word.form() == 2).then(|| word.signed(32, 32))
}

/// A product with RZ.
fn no_factor(word: Word) -> bool {
    let second = match word.form() {
        1 => word.register(32),
        2 | 3 | 7 => word.register(64),
        _ => 0,
    };
    word.register(24) == RZ || second == RZ
}

/// What stands for the third operand in a root: a register's root, or a place in a constant bank, which nobody writes.
/// `None` where a uniform register is added, whose value can be another one the next time.
fn third_root(word: Word, c: Value) -> Option<u32> {
    const CONSTANT: u32 = 1 << 31;
    match word.form() {
        1 | 4 | 5 | 6 => Some(c.root),
        3 => u32::try_from(word.bits(38, 21)).ok().map(|place| CONSTANT | place),
        _ => None,
    }
}

fn one_operand(instruction: &Instruction) -> bool {
    matches!(instruction.class(), Some(Class::Xu)) || matches!(instruction.mnemonic(), "I2FP" | "F2FP" | "IABS")
}

fn scaled(lanes: Lanes, factor: Option<i64>) -> Lanes {
    match (lanes, factor) {
        (Lanes::Stride(stride), Some(factor)) => match stride.checked_mul(factor) {
            Some(0) => Lanes::Uniform,
            Some(stride) => Lanes::Stride(stride),
            None => Lanes::Unknown,
        },
        (Lanes::Stride(_), None) => Lanes::Unknown,
        (other, _) => other,
    }
}

fn sum(a: Lanes, b: Lanes) -> Lanes {
    match (a, b) {
        (Lanes::Loaded(from), _) | (_, Lanes::Loaded(from)) => Lanes::Loaded(from),
        (Lanes::Uniform, other) | (other, Lanes::Uniform) => other,
        (Lanes::Stride(a), Lanes::Stride(b)) => match a.checked_add(b) {
            Some(0) => Lanes::Uniform,
            Some(stride) => Lanes::Stride(stride),
            None => Lanes::Unknown,
        },
        _ => Lanes::Unknown,
    }
}

/// One of two values, by a predicate: where that differs between lanes, so does what is chosen.
fn chosen(a: Lanes, b: Lanes, predicate: Lanes) -> Lanes {
    match (a, b, predicate) {
        (Lanes::Loaded(from), ..) | (_, Lanes::Loaded(from), _) => Lanes::Loaded(from),
        (Lanes::Uniform, Lanes::Uniform, Lanes::Uniform) => Lanes::Uniform,
        (Lanes::Uniform, Lanes::Uniform, Lanes::Loaded(from)) => Lanes::Loaded(from),
        (Lanes::Stride(a), Lanes::Stride(b), _) if a == b => Lanes::Stride(a),
        // A default for a few lanes, beside the index of the others.
        (Lanes::Uniform, Lanes::Stride(stride), _) | (Lanes::Stride(stride), Lanes::Uniform, _) => {
            Lanes::Stride(stride)
        }
        _ => Lanes::Unknown,
    }
}

/// A result of which only the origin of its operands is known.
fn together(sources: &[Lanes]) -> Lanes {
    let loaded = sources.iter().find(|lanes| matches!(lanes, Lanes::Loaded(_)));
    match loaded {
        Some(loaded) => *loaded,
        None if sources.iter().all(|lanes| *lanes == Lanes::Uniform) => Lanes::Uniform,
        None => Lanes::Unknown,
    }
}

/// A funnel shift: to the left by a constant it scales; the number of a warp, the thread index shifted right by 5 or
/// more, is the same in all lanes.
fn shifted(word: Word, a: Lanes, b: Lanes, c: Lanes) -> Lanes {
    let right = word.bit(76);
    let amount = immediate(word).and_then(|amount| u32::try_from(amount).ok());
    match (amount, right, word.bit(HIGH)) {
        (Some(_), false, true) => together(&[a, c]).upper(),
        (Some(amount), false, false) => scaled(a, 1_i64.checked_shl(amount)),
        (Some(amount), true, _) => match sum(a, c) {
            Lanes::Stride(1) if amount >= 5 => Lanes::Uniform,
            Lanes::Stride(_) => Lanes::Unknown,
            other => other,
        },
        (None, ..) => together(&[a, b, c]),
    }
}

/// A mask that keeps the lane's number keeps the difference; one that drops it leaves none.
fn masked(word: Word, a: Lanes, b: Lanes, c: Lanes) -> Lanes {
    let mask = immediate(word).filter(|_| word.bits(72, 8) == AND && word.register(64) == RZ);
    // The bits that tell the lanes apart, where they are a stretch of their own.
    let of_lanes = match a {
        Lanes::Stride(stride) if stride > 0 && stride.count_ones() == 1 => stride.checked_mul(31),
        _ => None,
    };
    match word.bits(72, 8) {
        NOT_A => return scaled(a, Some(-1)),
        NOT_B => return scaled(b, Some(-1)),
        _ => {}
    }
    match (mask, of_lanes) {
        (Some(mask), Some(bits)) if mask & bits == bits => a,
        (Some(mask), Some(bits)) if mask & bits == 0 => Lanes::Uniform,
        _ => together(&[a, b, c]),
    }
}

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;

    use super::*;
    use crate::Decoder;

    /// Lanes of the address of the last instruction, a load or store; instructions as nvdisasm 13.5.37 prints both halves.
    fn last(words: &[(u64, u64)]) -> Address {
        let decoder = Decoder::new(ComputeCapability::new(9, 0)).unwrap();
        let mut tracker = LaneTracker::default();
        let mut found = None;
        for (low, high) in words {
            let word = u128::from(*low) | u128::from(*high) << 64;
            let instruction = decoder.instruction(word.to_le_bytes(), 0);
            found = tracker.address(&instruction);
            tracker.follow(&instruction);
        }
        found.unwrap()
    }

    // S2R R5, SR_CTAID.X; S2R R2, SR_TID.X; IMAD.WIDE.U32 R4, R5, UR4, R2; LEA R6, P1, R4, UR4, 0x3.
    const BLOCK: (u64, u64) = (0x0000_0000_0005_7919, 0x000e_2200_0000_2500);
    const THREAD: (u64, u64) = (0x0000_0000_0002_7919, 0x000e_2400_0000_2100);
    const INDEX: (u64, u64) = (0x0000_0004_0504_7c25, 0x001f_e200_0f8e_0002);
    const EIGHT_TIMES: (u64, u64) = (0x0000_0004_0406_7c11, 0x000f_c800_0f82_18ff);
    // STG.E.64 desc[UR4][R6.64], R8.
    const STORE: (u64, u64) = (0x0000_0008_0600_7986, 0x000f_e200_0c10_1b04);

    #[test]
    fn an_element_of_eight_bytes_a_thread() {
        assert_eq!(last(&[BLOCK, THREAD, INDEX, EIGHT_TIMES, STORE]).lanes, Lanes::Stride(8));
        // The number of the block is the same in all lanes.
        assert_eq!(last(&[BLOCK, BLOCK_ONLY, INDEX, EIGHT_TIMES, STORE]).lanes, Lanes::Uniform);
        assert_eq!(last(&[STORE]).lanes, Lanes::Unknown);
    }

    /// S2R R2, SR_CTAID.X.
    const BLOCK_ONLY: (u64, u64) = (0x0000_0000_0002_7919, 0x000e_2400_0000_2500);

    #[test]
    fn addresses_of_one_root_differ_by_their_distance() {
        // The same store 16 bytes on, in bits 40 to 63.
        let further = (STORE.0 | 16 << 40, STORE.1);
        let [here, there] = [STORE, further].map(|store| last(&[BLOCK, THREAD, INDEX, EIGHT_TIMES, store]));
        assert_eq!((here.root, here.distance + 16), (there.root, there.distance));
    }

    #[test]
    fn an_address_that_each_lane_loads() {
        // LDG.E.64 R6, desc[UR4][R6.64], then a store to what it brought.
        let load = (0x0000_0004_0606_7981, 0x000e_a200_0c1e_1b00);
        assert_eq!(last(&[BLOCK, THREAD, INDEX, EIGHT_TIMES, load, STORE]).lanes, Lanes::Loaded(0));
        // Where all lanes load the same address, what they get is the same, too.
        assert_eq!(last(&[BLOCK, BLOCK_ONLY, INDEX, EIGHT_TIMES, load, STORE]).lanes, Lanes::Uniform);
    }
}
