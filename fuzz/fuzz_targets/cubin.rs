//! A cubin's tables and attributes, without the containers around it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = occupant_binary::Cubin::parse(&bytes);
});
