//! zstd frames in pure Rust: whatever the C library takes comes out the same, and nothing panics or goes on for ever.
//!
//! The module is taken in by its path: the crate has it only where the C library is turned off.
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/binary/src/zstd_frames.rs"]
mod zstd_frames;

/// What is compared; a few bytes can stand for gigabytes.
const MOST: u64 = 4 << 20;

fuzz_target!(|bytes: &[u8]| {
    let mut ours = Vec::new();
    let read = zstd_frames::Frames::new(bytes).take(MOST).read_to_end(&mut ours);
    let mut theirs = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(bytes).expect("there is memory");
    if decoder.take(MOST).read_to_end(&mut theirs).is_ok() && read.is_ok() {
        assert!(ours == theirs, "{} bytes came out, {} of the C library", ours.len(), theirs.len());
    }
});
