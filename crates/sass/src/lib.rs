//! NVIDIA's machine code, as far as it can be read with certainty.
//!
//! For: instructions with their control codes, memory accesses, branches; blocks and loops; spills. Not for: how long any
//! of it takes, finding the code in a file, or the 64-bit encoding before sm_70.
//!
//! ```
//! use occupant_hardware::ComputeCapability;
//! use occupant_sass::Decoder;
//!
//! let code = [0x07, 0x79, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0, 0, 0, 0, 0, 0, 0, 0];
//! let decoder = Decoder::new(ComputeCapability::new(9, 0))?;
//! for instruction in decoder.instructions(&code) {
//!     println!("{:04x} {} {}", instruction.offset, instruction.control(), instruction.mnemonic());
//! }
//! # Ok::<(), occupant_sass::NotDecoded>(())
//! ```
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod analysis;
mod asynchronous;
mod branch;
mod code;
mod content;
mod control;
mod dominators;
mod evidence;
mod family;
mod flow;
mod hot;
mod instruction;
mod lanes;
mod loops;
mod marks;
mod memory;
mod nest;
mod opcodes;
mod spills;
mod steps;
mod structure;
mod ways;
mod word;

pub use analysis::Analysis;
pub use asynchronous::{Detail, detail, register_requests, tensor_columns};
pub use branch::Target;
pub use code::Code;
pub use content::Content;
pub use control::{Control, SCOREBOARDS};
pub use evidence::{Sign, irregular, specialised};
pub use family::{Family, NotDecoded};
pub use flow::{Block, Call, Flow, Known};
pub use hot::{Because, CopyOf, Hot, LoopKind};
pub use instruction::{Decoder, Instruction};
pub use lanes::{Address, LaneTracker, Lanes, Under};
pub use loops::{Loop, Loops};
pub use memory::{Access, AccessKind};
pub use nest::Nested;
pub use opcodes::{Class, Opcode, Space};
pub use spills::{SpillSite, SpillSums, listed, may_have_unlisted, unlisted};
pub use structure::{Outline, Structure};
pub use word::{Guard, INSTRUCTION_BYTES, RZ, Word};
