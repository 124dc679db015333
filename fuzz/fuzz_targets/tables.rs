//! What people write: batches of shapes and tables of launches.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_core::{BatchColumns, GpuSelector, Launches, Rules, Shape};

fuzz_target!(|text: &[u8]| {
    let gpu: GpuSelector = "h100".parse().expect("listed");
    let _ = BatchColumns::work(text, Vec::new(), Some(&gpu), Shape::default(), Rules::default(), &mut |_, _| {});
    let _ = Launches::read(text);
});
