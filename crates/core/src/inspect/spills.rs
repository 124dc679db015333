//! What a kernel spills, from the compiler's list and its machine code. Reads code only where there is something to find.

use occupant_binary::{Function, Source, Spills};
use occupant_hardware::ComputeCapability;
use occupant_sass::{Analysis, Decoder, SpillSums, listed, unlisted};

use crate::report::SpillRecord;

const ANNOTATIONS: &str = "annotations";
/// Start of the names of functions that the compiler brings along.
const HELPER: &str = "$__internal_";
const STACK_ACCESSES: &str = "stack_accesses";

/// The spills of a function; `image` holds its code.
///
/// # Errors
/// What is wrong with the code; the record then says what is known without it.
pub(super) fn spills(
    function: &Function,
    capability: ComputeCapability,
    image: &dyn Source,
) -> (SpillRecord, Option<String>) {
    let offsets = match &function.spills {
        Spills::Annotated(offsets) => Some(offsets.as_slice()),
        Spills::Unknown => None,
    };
    let from_list = || {
        let instructions = offsets.map(|offsets| u32::try_from(offsets.len()).unwrap_or(u32::MAX));
        SpillRecord { instructions, source: offsets.map(|_| ANNOTATIONS), ..SpillRecord::default() }
    };
    // Without a stack there is nowhere to spill to.
    let has_stack = function.stack != Some(0) || function.frame > 0 || function.local > 0;
    // Nor do the compiler's own helpers, such as slow paths of divisions, where the kernel has none. That a function which
    // calls itself has a stack is not always told (12.9).
    let saves = function.inner.iter().any(|inner| has_stack || inner.frame > 0 || !inner.name.starts_with(HELPER));
    let none = SpillSums::default();
    match offsets {
        Some([]) if !saves => return (record(ANNOTATIONS, none, none), None),
        None if !has_stack && !saves => return (record(STACK_ACCESSES, none, none), None),
        _ => {}
    }
    let Ok(decoder) = Decoder::new(capability) else { return (from_list(), None) };
    let code = match function.read_code(image) {
        Ok(code) => code,
        Err(error) => return (from_list(), Some(error.to_string())),
    };
    let analysis = analysis(&decoder, function, &code);
    let record = match offsets {
        Some(offsets) => {
            let mut offsets = offsets.to_vec();
            offsets.sort_unstable();
            let sites = listed(&analysis, &offsets);
            if sites.len() != offsets.len() {
                let beyond =
                    format!("{} spill annotations lie outside its code", offsets.len().saturating_sub(sites.len()));
                return (from_list(), Some(beyond));
            }
            let saves = if saves { unlisted(&analysis, &offsets, false) } else { Vec::new() };
            record(ANNOTATIONS, SpillSums::of(&sites), SpillSums::of(&saves))
        }
        None => record(STACK_ACCESSES, SpillSums::of(&unlisted(&analysis, &[], true)), none),
    };
    (record, None)
}

/// The structure of a function's code section.
pub(super) fn analysis(decoder: &Decoder, function: &Function, code: &[u8]) -> Analysis {
    let inner: Vec<u32> = function.inner.iter().filter_map(|inner| u32::try_from(inner.offset).ok()).collect();
    Analysis::new(decoder, code, &inner)
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
