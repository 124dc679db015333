//! Any file: archives, host binaries, fatbins, cubins, down to occupancy, on its own architecture and for a GPU.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_core::{File, InspectOptions, inspect};

#[path = "../little.rs"]
mod little;

fuzz_target!(|bytes: &[u8]| {
    let file = File { name: "fuzzed", source: &bytes, companion: None };
    let own = InspectOptions { threads: Some(1), functions: true, relocatable: true, ..InspectOptions::default() };
    let h100 =
        InspectOptions { gpus: vec!["h100".parse().expect("listed")], threads: Some(1), ..InspectOptions::default() };
    for options in [own, h100] {
        let totals = inspect(&file, &little::Little, &options, &std::convert::identity, &mut |_| {}).totals;
        let parts =
            totals.read + totals.not_selected + totals.relocatable + totals.ptx + totals.lto_ir + totals.unknown;
        assert_eq!(totals.images, parts + totals.failed, "totals add up");
    }
});
