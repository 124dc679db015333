//! The metadata beside a Triton kernel: any JSON is taken, passed over or told as a fault, and the kernel still comes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_core::{File, InspectOptions, Memory, inspect};

const CUBIN: &[u8] = include_bytes!("../../fixtures/triton/sm_90/matmul.cubin");

fuzz_target!(|json: &[u8]| {
    let file = File { name: "matmul.cubin", source: &CUBIN, companion: Some(json) };
    let options = InspectOptions { threads: Some(1), ..InspectOptions::default() };
    let mut kernels = 0;
    inspect(&file, &Memory, &options, &|records| records, &mut |event| {
        if let occupant_core::Event::Kernels(records) = event {
            kernels += records.len();
        }
    });
    assert_eq!(kernels, 1);
});
