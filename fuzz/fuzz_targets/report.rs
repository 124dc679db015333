//! Nsight Compute reports: any bytes are read or refused, and what can be stripped is a report with the same launches.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_core::strip;
use occupant_core::verdict::{VerdictOptions, verdicts};
use occupant_profile::ncu::{Report, unpack};

fuzz_target!(|bytes: &[u8]| {
    let Ok(unpacked) = unpack(bytes) else { return };
    let Ok(report) = Report::read(&unpacked) else { return };
    let measured = report.measurements();
    assert_eq!(measured.len(), report.launches.len());
    let _ = verdicts("fuzzed", &unpacked, VerdictOptions::default(), &|index, _| index < 4);
    for keep_code in [true, false] {
        let Ok(stripped) = strip(&unpacked, keep_code) else { continue };
        let after = Report::read(&stripped.bytes).expect("what is stripped is a report");
        let metrics = |report: &Report<'_>| {
            report.measurements().into_iter().map(|found| found.instructions.len()).collect::<Vec<_>>()
        };
        assert_eq!(metrics(&after), metrics(&report), "every launch is kept with its metrics");
        let again = strip(&stripped.bytes, keep_code).expect("it can be stripped again");
        assert_eq!(again.bytes, stripped.bytes, "and that changes nothing");
    }
});
