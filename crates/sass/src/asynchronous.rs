//! What is certain of instructions whose operands are limits, counts or groups: waits by number, register pools, warp-group
//! multiplies, tensor-memory allocation. Not for: loads and stores.

use crate::code::Code;
use crate::instruction::Instruction;
use crate::opcodes::{Class, Kind};
use crate::structure::Outline;

/// What such an instruction says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Waits until at most `pending` operations of a scoreboard are left.
    WaitScoreboard {
        /// 0 to 5.
        scoreboard: u8,
        /// Operations that may be left.
        pending: u8,
    },
    /// Waits until at most `pending` groups of warp-group multiplies are left.
    WaitWarpgroup {
        /// Groups that may be left.
        pending: u8,
    },
    /// The registers of a thread become this many; `None` where a register says.
    SetRegisters {
        /// The warp gives registers back.
        release: bool,
        /// Registers per thread.
        count: Option<u16>,
    },
    /// Columns of an asynchronous multiply's result.
    WarpgroupColumns {
        /// N of the tile, 8 to 256.
        n: u16,
    },
    /// Tensor memory is taken: columns in units of 32 stand in this uniform register.
    AllocateTensorMemory {
        /// The register with the number of units.
        units_in: u8,
        /// For both blocks of a pair.
        pair: bool,
    },
}

/// What an instruction says of that kind.
#[must_use]
pub fn detail(instruction: &Instruction) -> Option<Detail> {
    let word = instruction.word;
    Some(match instruction.mnemonic() {
        "DEPBAR" if word.bit(47) && word.form() == 4 => {
            Detail::WaitScoreboard { scoreboard: word.bits(44, 3) as u8, pending: word.bits(38, 6) as u8 }
        }
        "WARPGROUP" if word.bit(80) => Detail::WaitWarpgroup { pending: word.bits(72, 3) as u8 },
        "USETMAXREG" => {
            let count = (word.form() == 4).then(|| word.bits(32, 10) as u16);
            Detail::SetRegisters { release: word.bit(72), count }
        }
        _ if instruction.class() == Some(Class::Wgmma) => {
            Detail::WarpgroupColumns { n: (word.bits(53, 5) as u16).saturating_add(1).saturating_mul(8) }
        }
        "UTCATOMSWS" if word.form() == 2 => {
            Detail::AllocateTensorMemory { units_in: word.register(32), pair: word.bit(PAIR) }
        }
        _ => return None,
    })
}

/// Bit of `.2CTA`.
const PAIR: u32 = 85;

/// Columns in a unit of tensor memory.
const UNIT: u64 = 32;

/// Columns of tensor memory that the code takes, where every allocation's size can be traced to a constant. Retries in
/// loops repeat an allocation before them and are not counted. Allocations of which neither leads to the other are not
/// added up: one warp can go either way, or two warps both.
#[must_use]
pub fn tensor_columns(code: &Code<'_>, outline: &Outline) -> Option<u32> {
    /// Allocations in one kernel; real ones have one or two.
    const MOST: usize = 8;
    let mut blocks: Vec<usize> = Vec::new();
    let mut columns = None;
    for (number, instruction) in code.of_kind(Kind::TensorMemory) {
        let Some(Detail::AllocateTensorMemory { units_in, .. }) = detail(&instruction) else { continue };
        if outline.around(number).is_some() {
            continue;
        }
        if !outline.knows(number) || blocks.len() == MOST {
            return None;
        }
        let units = constant_before(code, number, units_in)?;
        let taken = u32::try_from(units.saturating_mul(UNIT)).ok()?;
        columns = Some(columns.unwrap_or(0_u32).saturating_add(taken));
        blocks.push(outline.flow.block_of(number));
    }
    let one_way = |a: &usize| blocks.iter().all(|b| outline.flow.leads_to(*a, *b) || outline.flow.leads_to(*b, *a));
    columns.filter(|_| blocks.len() < 2 || blocks.iter().all(one_way))
}

/// Registers per thread that the code asks for at run time: the distinct constants, ascending.
#[must_use]
pub fn register_requests(code: &Code<'_>) -> Vec<u32> {
    let count = |instruction: &Instruction| match detail(instruction) {
        Some(Detail::SetRegisters { count, .. }) => count.map(u32::from),
        _ => None,
    };
    let mut requests: Vec<u32> =
        code.of_kind(Kind::RegisterPool).filter_map(|(_, instruction)| count(&instruction)).collect();
    requests.sort_unstable();
    requests.dedup();
    requests
}

/// The constant that a uniform register holds, where the last instruction in the same straight code that could have
/// written it is a move of one.
fn constant_before(code: &Code<'_>, number: usize, register: u8) -> Option<u64> {
    /// Instructions that are looked back through.
    const FAR: usize = 64;
    for (_, instruction) in code.range(number.saturating_sub(FAR), number).rev() {
        let writes_uniform = matches!(instruction.mnemonic(), "R2UR" | "S2UR" | "CS2UR" | "LDCU" | "ULDC")
            || instruction.class() == Some(Class::Uniform);
        if writes_uniform && instruction.word.register(16) == register {
            let word = instruction.word;
            let is_constant = instruction.mnemonic() == "UMOV" && word.form() == 4 && instruction.guard().is_always();
            return is_constant.then(|| word.bits(32, 32));
        }
        if matches!(instruction.class(), Some(Class::Branch | Class::Call | Class::Return | Class::Exit)) {
            return None;
        }
    }
    None
}
