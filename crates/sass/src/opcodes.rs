//! Which instruction an opcode number stands for, by family, from `data/opcodes.csv`. Not for: operands.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{self, StrDeserializer};

use crate::family::{Family, FamilyRange};
use crate::word::Word;

/// The kind of work an instruction does; what it competes with others for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Integer, logic, comparison, conversion within the ALU pipe.
    Alu,
    /// FP32 and integer multiply-add.
    Fma,
    /// Packed FP16.
    Half,
    /// FP64.
    Fp64,
    /// Transcendental functions, conversions, bit counts.
    Xu,
    /// Tensor cores, by one warp, registers only.
    Tensor,
    /// Tensor cores, by a warp group, asynchronous (9.0).
    Wgmma,
    /// Tensor cores with tensor memory, asynchronous (10.x, 11.0).
    Tcgen05Mma,
    /// Tensor memory: copies, allocation, completion.
    Tcgen05,
    /// Scalar work of a warp on uniform registers.
    Uniform,
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read, modify, write, with the old value back.
    Atomic,
    /// Read, modify, write, nothing back.
    Reduction,
    /// Global to shared memory without registers (`cp.async`).
    AsyncCopy,
    /// Bulk copies by the tensor memory accelerator.
    Tma,
    /// Order and caches of those.
    TmaControl,
    /// Barriers in shared memory.
    Mbarrier,
    /// Barriers of a block or a cluster.
    Barrier,
    /// Waits for scoreboards, copies or warp groups.
    Scoreboard,
    /// Memory order.
    Fence,
    /// Cache maintenance and prefetch.
    CacheControl,
    /// Jumps.
    Branch,
    /// Calls of functions.
    Call,
    /// Returns from them.
    Return,
    /// Ends of threads.
    Exit,
    /// Divergence and reconvergence of a warp's threads.
    Convergence,
    /// Exchange between the threads of a warp.
    Shuffle,
    /// Special registers, moves between register files.
    Special,
    /// Texture fetches.
    Texture,
    /// Surface accesses.
    Surface,
    /// Register counts changed at run time (`setmaxnreg`).
    RegisterPool,
    /// Launch and end of dependent or persistent blocks.
    BlockControl,
    /// Nothing, or time.
    Nop,
    /// Graphics stages only.
    Graphics,
}

impl Class {
    /// Whether it can change where a warp or some of its threads go on.
    #[must_use]
    pub const fn is_flow(self) -> bool {
        matches!(self, Self::Branch | Self::Call | Self::Return | Self::Exit | Self::Convergence)
    }
}

/// Memory that an instruction touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Device memory, through L1 and L2.
    Global,
    /// Shared memory of the block.
    Shared,
    /// A thread's own memory: stack and spills.
    Local,
    /// Constant banks.
    Constant,
    /// Global, shared or local, by the address.
    Generic,
    /// Shared memory of another block of the cluster.
    Cluster,
    /// Tensor memory.
    Tensor,
}

impl Space {
    /// Its name for reading.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Constant => "constant",
            Self::Generic => "generic",
            Self::Cluster => "cluster",
            Self::Tensor => "tensor",
        }
    }
}

/// An instruction by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opcode {
    /// The name before the first dot, e.g. `LDG`.
    pub mnemonic: &'static str,
    /// Kind of work.
    pub class: Class,
    /// Memory it touches.
    pub space: Option<Space>,
}

/// What must hold of an instruction beside its opcode number.
#[derive(Debug, Clone, Copy)]
struct Condition {
    at: u32,
    count: u32,
    value: u64,
}

struct Row {
    opcode: Opcode,
    when: Vec<Condition>,
}

/// Kinds of instructions that are looked for in whole sections: told by an opcode's number, without decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Can change the flow of control.
    Flow = 1,
    /// Touches local memory.
    Local = 2,
    /// Changes register counts at run time.
    RegisterPool = 4,
    /// Works on tensor memory.
    TensorMemory = 8,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Flow, Self::Local, Self::RegisterPool, Self::TensorMemory];

    fn has(self, opcode: &Opcode) -> bool {
        match self {
            Self::Flow => opcode.class.is_flow(),
            Self::Local => opcode.space == Some(Space::Local),
            Self::RegisterPool => opcode.class == Class::RegisterPool,
            Self::TensorMemory => opcode.space == Some(Space::Tensor),
        }
    }
}

/// The opcodes of one family, by number.
pub(crate) struct Table {
    rows: Vec<Vec<Row>>,
    /// The kinds that each number can be of, as bits.
    kinds: [u8; NUMBERS],
}

impl Table {
    /// The table of a family.
    pub(crate) fn of(family: Family) -> &'static Self {
        static EMPTY: Table = Table { rows: Vec::new(), kinds: [0; NUMBERS] };
        static TABLES: LazyLock<Vec<Table>> =
            LazyLock::new(|| Family::ALL.into_iter().map(|family| Table::read(family, DATA)).collect());
        TABLES.get(family as usize).unwrap_or(&EMPTY)
    }

    fn read(family: Family, text: &'static str) -> Self {
        let mut rows: Vec<Vec<Row>> = Vec::new();
        rows.resize_with(NUMBERS, Vec::new);
        for line in parse(text).filter(|line| line.families.iter().any(|range| range.contains(family))) {
            if let Some(of_number) = rows.get_mut(line.number) {
                of_number.push(Row { opcode: line.opcode, when: line.when });
            }
        }
        let mut kinds = [0; NUMBERS];
        for (kinds, rows) in kinds.iter_mut().zip(&rows) {
            let of_number = Kind::ALL.into_iter().filter(|kind| rows.iter().any(|row| kind.has(&row.opcode)));
            *kinds = of_number.fold(0, |kinds, kind| kinds | kind as u8);
        }
        Self { rows, kinds }
    }

    /// The kinds that instructions with these first two bytes can be of, as bits of [`Kind`].
    pub(crate) fn kinds(&self, low: [u8; 2]) -> u8 {
        let number = usize::from(u16::from_le_bytes(low)) % NUMBERS;
        self.kinds.get(number).copied().unwrap_or(0)
    }

    /// The opcode of an instruction; `None` where the family has none with these bits.
    pub(crate) fn find(&self, word: Word) -> Option<&Opcode> {
        let holds = |condition: &Condition| word.bits(condition.at, condition.count) == condition.value;
        let row = self.rows.get(word.opcode())?.iter().find(|row| row.when.iter().all(holds))?;
        Some(&row.opcode)
    }
}

const DATA: &str = include_str!("../data/opcodes.csv");
/// Opcode numbers there can be.
const NUMBERS: usize = 512;

struct Line {
    number: usize,
    when: Vec<Condition>,
    opcode: Opcode,
    families: Vec<FamilyRange>,
}

/// The rows of the data file that can be read; a test holds that all can.
fn parse(text: &'static str) -> impl Iterator<Item = Line> {
    text.lines().skip(1).filter_map(line)
}

fn line(text: &'static str) -> Option<Line> {
    let mut fields = text.split(',');
    let mut next = || fields.next();
    let (number, when, mnemonic, class, space, families) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let when: Option<Vec<Condition>> = when.split_whitespace().map(condition).collect();
    let families: Result<Vec<FamilyRange>, String> = families.split_whitespace().map(str::parse).collect();
    let space = if space.is_empty() { None } else { Some(named(space)?) };
    Some(Line {
        number: usize::from_str_radix(number, 16).ok().filter(|number| *number < NUMBERS)?,
        when: when?,
        opcode: Opcode { mnemonic, class: named(class)?, space },
        families: families.ok()?,
    })
}

/// A variant by its name.
fn named<T: for<'de> Deserialize<'de>>(name: &str) -> Option<T> {
    let name: StrDeserializer<'_, value::Error> = name.into_deserializer();
    T::deserialize(name).ok()
}

/// `form=3` or `bit76=1`.
fn condition(text: &str) -> Option<Condition> {
    let (field, value) = text.split_once('=')?;
    let (at, count) = if field == "form" { (9, 3) } else { (field.strip_prefix("bit")?.parse().ok()?, 1) };
    Some(Condition { at, count, value: value.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_conditions_come_first() {
        assert_eq!(parse(DATA).count(), DATA.lines().count() - 1);
        for family in Family::ALL {
            for (number, rows) in Table::of(family).rows.iter().enumerate() {
                let unconditional = rows.iter().filter(|row| row.when.is_empty()).count();
                assert!(unconditional <= 1, "{family} {number:03x} has two names");
                let last = rows.last().is_none_or(|row| row.when.is_empty() || rows.iter().all(|r| !r.when.is_empty()));
                assert!(last, "{family} {number:03x}: the row without a condition is not the last");
            }
        }
    }

    #[test]
    fn numbers_are_reused_between_families() {
        let find = |family, number: u64| Table::of(family).find(Word::from_bytes(u128::from(number).to_le_bytes()));
        assert_eq!(find(Family::Sm90, 0x235).unwrap().mnemonic, "HFMA2");
        assert_eq!(find(Family::Sm120, 0x235).unwrap().mnemonic, "IADD");
        assert_eq!(find(Family::Sm90, 0x5ab).unwrap().mnemonic, "CGAERRBAR");
        assert_eq!(find(Family::Sm70, 0x1f0), None);
        assert_eq!(find(Family::Sm90, 0x1f0).unwrap().class, Class::Wgmma);
    }
}
