//! What `occupant explain` answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::OccupancyRecord;

/// What the messages of a text mean.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExplainReport {
    /// `occupant.explain.v1`.
    pub schema: &'static str,
    /// Messages that are understood, in their order.
    pub findings: Vec<Finding>,
    /// Kernels whose resources the text lists (`ptxas -v`), in order.
    pub kernels: Vec<CompiledRecord>,
    /// Lines of the text.
    pub lines: u32,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Its line, from 1.
    pub line: u32,
    /// Messages that say the same.
    pub times: u32,
    /// Stable identifier.
    pub code: &'static str,
    /// The kernel it names, for reading.
    pub kernel: Option<String>,
    /// Further kernels of which the same is said.
    pub other_kernels: u32,
    /// What it means.
    pub says: String,
    /// What failed, in numbers; `null` where they are not known.
    pub inequality: Option<InequalityRecord>,
    /// Fixes, the smallest first.
    pub fixes: Vec<FixRecord>,
    /// GPUs on which it fits, of a set of present parts.
    pub fits_on: Vec<String>,
    /// GPUs on which it does not.
    pub fails_on: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// What to add for a fuller answer.
    pub missing: Vec<String>,
}

/// Both sides in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InequalityRecord {
    /// Of what.
    pub what: String,
    /// The left side.
    pub needed: u64,
    /// The right side.
    pub allowed: u64,
    /// By how much it fails; 0 where it holds.
    pub over: u64,
    /// `B`, or empty for counts.
    pub unit: &'static str,
    /// All of it in words.
    pub text: String,
}

/// A change that makes it fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FixRecord {
    /// What to change.
    pub change: String,
    /// What that gives or rests on; empty where the change says all.
    pub then: String,
}

/// A kernel as the compiler printed it. Sizes in bytes; `null` is what it did not print.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CompiledRecord {
    /// Line of its registers, from 1.
    pub line: u32,
    /// Mangled name.
    pub name: String,
    /// Name for reading.
    pub demangled: Arc<str>,
    /// Target.
    pub arch: Option<String>,
    /// Registers per thread.
    pub registers: u32,
    /// Named barriers.
    pub barriers: Option<u32>,
    /// Stack frame.
    pub stack: Option<u32>,
    /// Spilled bytes stored.
    pub spill_store_bytes: Option<u32>,
    /// Spilled bytes loaded.
    pub spill_load_bytes: Option<u32>,
    /// Static shared memory.
    pub shared_static: u32,
    /// Constant memory.
    pub constant: u32,
    /// Threads per block that the occupancy is for.
    pub block: u32,
    /// The launch works.
    pub launchable: Option<bool>,
    /// Why not, or why unknown.
    pub reason: Option<String>,
    /// The answer; `null` where the architecture is not known. An assumed block makes it hypothetical, unknown dynamic
    /// shared memory an upper bound.
    pub occupancy: Option<OccupancyRecord>,
    /// What a reader should know.
    pub notes: Vec<String>,
}
