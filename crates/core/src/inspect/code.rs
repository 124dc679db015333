//! What a kernel's machine code adds to its attributes: spill bytes, tensor memory, and on request the code itself. Reads
//! code only where there is something to find.

use occupant_binary::{Function, Source, Spills};
use occupant_hardware::ComputeCapability;
use occupant_sass::{
    Analysis, Code, Decoder, Known, Outline, SpillSite, SpillSums, listed, may_have_unlisted, register_requests,
    tensor_columns, unlisted,
};

use super::ReadCode;
use super::machine::machine_code;
use crate::report::{MachineCode, SpillRecord};
use crate::taken_apart::{Landmarks, taken_apart};

const ANNOTATIONS: &str = "annotations";
const STACK_ACCESSES: &str = "stack_accesses";
/// Start of the names of functions that the compiler brings along.
const HELPER: &str = "$__internal_";

/// What the code of a function tells.
#[derive(Default)]
pub(super) struct FromCode {
    pub(super) spills: SpillRecord,
    pub(super) tensor_columns: Option<u32>,
    /// Distinct counts that its warps ask for with `setmaxnreg`, ascending.
    pub(super) register_requests: Vec<u32>,
    pub(super) machine_code: Option<Box<MachineCode>>,
    /// The code taken apart, where a need is asked for, or why it is not.
    pub(super) analysis: Option<crate::need::Code>,
    /// What is wrong with the code.
    pub(super) fault: Option<String>,
}

/// An image whose code is read.
pub(super) struct Coded<'i> {
    pub(super) image: &'i dyn Source,
    /// Room for the code of one function after the other.
    pub(super) room: &'i mut Vec<u8>,
}

/// Reads what there is to find in the code of a function of an image.
pub(super) fn from_code(
    function: &Function,
    capability: ComputeCapability,
    coded: &mut Coded<'_>,
    read: ReadCode,
    need: bool,
) -> FromCode {
    let offsets = annotated(function);
    let looks = Looks::new(function, offsets.as_deref());
    let nothing_to_find = !looks.at_spills && !function.tensor_memory && !function.setmaxnreg;
    if nothing_to_find && read != ReadCode::All && !need {
        let source = if offsets.is_some() { ANNOTATIONS } else { STACK_ACCESSES };
        return FromCode { spills: record(source, SpillSums::default(), SpillSums::default()), ..FromCode::default() };
    }
    if read == ReadCode::Nothing {
        return FromCode { spills: only_counted(offsets.as_deref()), ..FromCode::default() };
    }
    // Older files have resources all the same; that their code is not decoded is said once an image.
    let decoder = match Decoder::new(capability) {
        Ok(decoder) => decoder,
        Err(reason) => return not_read(offsets.as_deref(), need, reason.to_string()),
    };
    match function.read_code_in(coded.image, coded.room) {
        Ok(bytes) => told(function, &Code::new(decoder, bytes), offsets.as_deref(), &looks, (read, need)),
        Err(error) => {
            let fault = error.to_string();
            FromCode { fault: Some(fault.clone()), ..not_read(offsets.as_deref(), need, fault) }
        }
    }
}

/// What is told without the code.
fn not_read(offsets: Option<&[u32]>, need: bool, why: String) -> FromCode {
    FromCode { spills: only_counted(offsets), analysis: need.then_some(Err(why)), ..FromCode::default() }
}

/// Spills that are listed, without their bytes.
fn only_counted(offsets: Option<&[u32]>) -> SpillRecord {
    let instructions = offsets.map(|offsets| u32::try_from(offsets.len()).unwrap_or(u32::MAX));
    SpillRecord { instructions, source: offsets.map(|_| ANNOTATIONS), ..SpillRecord::default() }
}

/// What the code tells, and on request the code itself.
fn told(
    function: &Function,
    code: &Code<'_>,
    offsets: Option<&[u32]>,
    looks: &Looks,
    (read, need): (ReadCode, bool),
) -> FromCode {
    let landmarks = Landmarks::of(function);
    let known = landmarks.known();
    let outline = outline(code, &known, function.tensor_memory, offsets, looks);
    let found = found(code, &outline, offsets, looks);
    let beyond = offsets.map_or(0, |offsets| offsets.len().saturating_sub(found.listed.len()));
    FromCode {
        spills: if beyond > 0 { only_counted(offsets) } else { found.record(offsets.is_some()) },
        tensor_columns: if function.tensor_memory { tensor_columns(code, &outline) } else { None },
        analysis: need.then(|| taken_apart(code, &known)),
        register_requests: if function.setmaxnreg { register_requests(code) } else { Vec::new() },
        machine_code: (read == ReadCode::All).then(|| {
            let mut spills: Vec<u32> = found.sites().filter_map(|site| Some(code.get(site.number)?.offset)).collect();
            spills.sort_unstable();
            Box::new(machine_code(function, &Analysis::new(code, &known), &spills))
        }),
        fault: match (beyond, code.trailing_bytes()) {
            (0, 0) => None,
            (0, bytes) => Some(format!("{bytes} bytes after the last whole instruction of its code")),
            (beyond, _) => Some(format!("spill annotations that name no instruction of its code: {beyond}")),
        },
    }
}

/// The offsets of the spills that the compiler lists, ascending, each once.
fn annotated(function: &Function) -> Option<Vec<u32>> {
    let Spills::Annotated(offsets) = &function.spills else { return None };
    let mut offsets = offsets.clone();
    offsets.sort_unstable();
    offsets.dedup();
    Some(offsets)
}

/// Why the code of an image that was asked for can't be told.
pub(super) fn not_decoded(capability: ComputeCapability, read: ReadCode) -> Option<String> {
    Decoder::new(capability).err().filter(|_| read == ReadCode::All).map(|reason| reason.to_string())
}

/// What to look for.
struct Looks {
    /// Anything that spills.
    at_spills: bool,
    /// Functions that save registers without an annotation.
    at_saves: bool,
}

impl Looks {
    fn new(function: &Function, offsets: Option<&[u32]>) -> Self {
        // Without a stack there is nowhere to spill to.
        let has_stack = function.stack != Some(0) || function.frame > 0 || function.local > 0;
        // Nor do the compiler's own helpers, such as slow paths of divisions, save where the kernel has none. That a
        // function which calls itself has a stack is not always told (12.9).
        let saves = |inner: &occupant_binary::Inner| has_stack || inner.frame > 0 || !inner.name.starts_with(HELPER);
        let at_saves = function.inner.iter().any(saves);
        let at_spills = offsets.map_or(has_stack, |offsets| !offsets.is_empty());
        Self { at_spills: at_spills || at_saves, at_saves }
    }
}

/// The blocks and loops of a function, as far as they tell anything: most functions with a stack spill nothing.
fn outline(code: &Code<'_>, known: &Known<'_>, tensor_memory: bool, offsets: Option<&[u32]>, looks: &Looks) -> Outline {
    let unlisted = match offsets {
        Some(offsets) => looks.at_saves && may_have_unlisted(code, offsets),
        None => may_have_unlisted(code, &[]),
    };
    match offsets {
        _ if tensor_memory || unlisted => Outline::new(code, known),
        Some(offsets) if !offsets.is_empty() => Outline::around_some(code, known, offsets),
        _ => Outline::default(),
    }
}

/// Spills by where they were found.
#[derive(Default)]
struct Found {
    listed: Vec<SpillSite>,
    by_stack: Vec<SpillSite>,
    saves: Vec<SpillSite>,
}

fn found(code: &Code<'_>, outline: &Outline, offsets: Option<&[u32]>, looks: &Looks) -> Found {
    let none = Vec::new;
    match offsets {
        Some(offsets) => Found {
            listed: listed(code, outline, offsets),
            by_stack: none(),
            saves: if looks.at_saves { unlisted(code, outline, offsets, false) } else { none() },
        },
        None => Found { listed: none(), by_stack: unlisted(code, outline, &[], true), saves: none() },
    }
}

impl Found {
    fn sites(&self) -> impl Iterator<Item = &SpillSite> {
        self.listed.iter().chain(&self.by_stack).chain(&self.saves)
    }

    fn record(&self, annotated: bool) -> SpillRecord {
        let (source, sites) = if annotated { (ANNOTATIONS, &self.listed) } else { (STACK_ACCESSES, &self.by_stack) };
        let sums = record(source, SpillSums::of(sites), SpillSums::of(&self.saves));
        // Code that only jumps of unknown targets lead to can be in loops or not.
        if sites.iter().all(|site| site.known) {
            sums
        } else {
            SpillRecord { in_loops_bytes: None, innermost_bytes: None, ..sums }
        }
    }
}

fn record(source: &'static str, sums: SpillSums, saves: SpillSums) -> SpillRecord {
    SpillRecord {
        instructions: Some(sums.instructions),
        store_bytes: Some(sums.store_bytes),
        load_bytes: Some(sums.load_bytes),
        in_loops_bytes: Some(sums.in_loops_bytes),
        innermost_bytes: Some(sums.innermost_bytes),
        unlisted_bytes: Some(saves.store_bytes.saturating_add(saves.load_bytes)),
        source: Some(source),
    }
}
