//! The machine code of a kernel, as `inspect --sass` tells it.

use schemars::JsonSchema;
use serde::Serialize;

/// The structure and the instructions of a kernel's code section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MachineCode {
    /// Loops, outer before inner ones.
    pub loops: Vec<LoopRecord>,
    /// The loop that most of the time is likely spent in; `null` where no loop works on data.
    pub hot_loop: Option<HotLoop>,
    /// Basic blocks that can be reached, in the order of the code.
    pub blocks: Vec<BlockRecord>,
    /// Functions in the section: the kernel, then those it calls.
    pub functions: Vec<FunctionRecord>,
    /// Signs that warps do different work; empty where there are none.
    pub warp_specialised: Vec<String>,
    /// Signs that accesses or the way through the code follow the data.
    pub irregular: Vec<String>,
    /// Instructions whose opcode is not known.
    pub unknown_opcodes: u32,
    /// What a reader should know about the code.
    pub notes: Vec<String>,
}

/// A function in the section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FunctionRecord {
    /// Name for reading; `null` for one that no symbol names.
    pub name: Option<String>,
    /// Bytes from the start of the section.
    pub offset: u32,
}

/// One loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopRecord {
    /// Offset of the block through which it is entered.
    pub header: u32,
    /// Offset of its first instruction.
    pub from: u32,
    /// Offset after its last instruction.
    pub to: u32,
    /// 1 for the outermost.
    pub depth: u32,
    /// The loop around it, by its place in the list.
    pub parent: Option<u32>,
    /// What it is for.
    pub kind: LoopFor,
    /// Instructions, those of inner loops included once.
    pub instructions: u32,
    /// What one pass does, the weightiest first.
    pub work: Vec<WorkRecord>,
    /// Bytes that a thread loads from global memory in one pass.
    pub global_load_bytes: u32,
    /// Bytes that a thread stores to it.
    pub global_store_bytes: u32,
    /// The unrolled loop of which this is the remainder, by its place in the list.
    pub remainder_of: Option<u32>,
    /// How many times the work of this one that loop does in a pass.
    pub unrolled: Option<u32>,
}

/// What a loop is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopFor {
    /// It works on data.
    Work,
    /// It waits, polls or counts.
    Wait,
    /// The compiler's way to let one thread at a time do something: a single pass as a rule.
    Elect,
}

/// How often a loop does something in one pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkRecord {
    /// e.g. `global load`.
    pub what: &'static str,
    /// Instructions.
    pub count: u32,
}

/// The loop that matters, and what decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HotLoop {
    /// Its place in the list of loops.
    pub number: u32,
    /// Why.
    pub because: &'static str,
}

/// One basic block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockRecord {
    /// Offset of its first instruction.
    pub offset: u32,
    /// The innermost loop around it, by its place in the list.
    pub in_loop: Option<u32>,
    /// Its function, by its place in the list.
    pub function: u32,
    /// Offsets of the blocks that can follow.
    pub next: Vec<u32>,
    /// Its instructions.
    pub instructions: Vec<InstructionRecord>,
}

/// One instruction. Only what is certain of its operands is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstructionRecord {
    /// Bytes from the start of the section.
    pub offset: u32,
    /// Guard, name and operands.
    pub text: String,
    /// Cycles until the warp may issue the next one.
    pub stall: u8,
    /// The scheduler is told to prefer another warp next.
    pub yields: bool,
    /// Scoreboard released when the result is there.
    pub write: Option<u8>,
    /// Scoreboard released when the operands are read.
    pub read: Option<u8>,
    /// Scoreboards that are waited for.
    pub wait: Vec<u8>,
    /// It spills a register or brings one back.
    pub spill: bool,
    /// Loads that it waits for, where it does.
    pub waits_for_loads: u32,
    /// Loads in flight when it issues, of the same block.
    pub loads_in_flight: u32,
}
