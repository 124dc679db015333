//! What profilers print, and traces: any text is read or refused, and verdicts can be given on what is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_core::verdict::{VerdictOptions, verdicts};

fuzz_target!(|bytes: &[u8]| {
    let Ok(read) = occupant_profile::read(bytes) else { return };
    assert!(read.measurements.iter().all(|measured| measured.launches >= 1));
    if let Ok((records, _)) = verdicts("fuzzed", bytes, VerdictOptions::default(), &|index, _| index < 8) {
        assert!(records.iter().all(|record| !record.says.is_empty()));
    }
});
