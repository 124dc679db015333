//! Archives in archives: every file inside has a path of its own and bytes that can be read, and faults are bounded.
//! Not for: what is in those files; that is `file`.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use occupant_binary::visit;

#[path = "../little.rs"]
mod little;

fuzz_target!(|bytes: &[u8]| {
    let mut paths = BTreeSet::new();
    let mut leaves = 0;
    let faults = visit(&bytes, &little::Little, &mut |leaf| {
        leaves += 1;
        // 1,024 bytes and a number for paths that are the same.
        assert!(leaf.path.len() < 1100, "{}", leaf.path);
        assert!(paths.insert(leaf.path.to_owned()), "{} came twice", leaf.path);
        let size = leaf.source.size();
        let whole = leaf.source.fetch(0, usize::try_from(size).expect("what is in memory"));
        assert_eq!(whole.expect("what is there can be read").len() as u64, size);
        assert!(leaf.companion.is_none_or(|json| json.len() <= 4 << 20));
    });
    assert!(leaves > 0 || !faults.is_empty() || is_archive(bytes), "a file that is no archive is its own leaf");
    assert!(faults.len() <= 1001);
    assert!(faults.iter().all(|fault| fault.error.to_string().len() < 4096));
});

/// Whether the start is one of those that archives have; these can hold nothing of use, and then nothing is said.
fn is_archive(bytes: &[u8]) -> bool {
    let starts: [&[u8]; 4] = [b"PK", b"!<arch>\n", &[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    let skippable = bytes.get(1..4) == Some(&[0x2a, 0x4d, 0x18]);
    // A tar has no magic before POSIX.
    skippable || bytes.len() >= 512 || starts.iter().any(|start| bytes.starts_with(start))
}
