//! Machine code of any family: structure, loops, spills and signs hold together. The first byte chooses the family.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_hardware::ComputeCapability;
use occupant_sass::{
    Analysis, Code, Decoder, Known, Outline, SpillSums, irregular, listed, specialised, tensor_columns, unlisted,
};

const CAPABILITIES: [(u8, u8); 10] =
    [(7, 0), (7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 7), (11, 0), (12, 0)];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let (major, minor) = CAPABILITIES[usize::from(*first) % CAPABILITIES.len()];
    let decoder = Decoder::new(ComputeCapability::new(major, minor)).expect("listed");
    let code = Code::new(decoder, bytes);
    let inner = [16, u32::from(*first) * 16];
    let known = Known { inner: &inner, jumps: &[(32, &inner)] };
    let analysis = Analysis::new(&code, &known);
    let outline = Outline::new(&code, &known);
    assert_eq!(analysis.instructions.len(), bytes.len() / 16);
    let structure = &analysis.structure;
    let covered: usize = structure.flow.blocks.iter().map(|block| block.end - block.start).sum();
    assert_eq!(covered, code.len(), "every instruction is in a block");
    assert_eq!(outline.flow.blocks.len(), structure.flow.blocks.len(), "both ways see the same blocks");
    let offsets: Vec<u32> = (0..bytes.len() as u32).step_by(48).collect();
    let sums = SpillSums::of(&listed(&code, &outline, &offsets));
    assert!(sums.in_loops_bytes <= sums.store_bytes + sums.load_bytes);
    let _ = (unlisted(&code, &outline, &[], true), tensor_columns(&code, &outline));
    let signs = [irregular(&analysis), specialised(&analysis)].concat();
    assert!(signs.iter().all(|sign| !sign.to_string().is_empty()));
});
