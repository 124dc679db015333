//! zstd frames in pure Rust: what the C library packs comes back, and of anything else nothing panics or goes on for ever.
//!
//! The module is taken in by its path: the crate has it only where the C library is turned off.
#![no_main]

use std::io::{Read, Write};

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
        // Not the bytes: what both take is damaged, and each may read damage in its own way where there is no checksum.
        assert_eq!(ours.len(), theirs.len());
    }
    comes_back(bytes);
});

/// What the C library packs, in two frames at a level and with or without a checksum as the first byte says, comes back.
fn comes_back(bytes: &[u8]) {
    let Some((choice, plain)) = bytes.split_first() else { return };
    let mut packed = Vec::new();
    for part in [plain, bytes] {
        let mut encoder = zstd::stream::write::Encoder::new(packed, i32::from(choice / 16)).expect("a level");
        encoder.include_checksum(choice % 2 == 0).expect("a setting");
        encoder.write_all(part).expect("memory takes it");
        packed = encoder.finish().expect("memory takes it");
    }
    let mut unpacked = Vec::new();
    zstd_frames::Frames::new(&packed[..]).read_to_end(&mut unpacked).expect("what is whole is read");
    assert!(unpacked == [plain, bytes].concat(), "other bytes came back");
}
