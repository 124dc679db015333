//! Compiler logs and launch errors: any text is explained or passed over, with numbers that hold together.
#![no_main]

use libfuzzer_sys::fuzz_target;
use occupant_core::{ExplainRequest, explain};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for block in [None, Some(0), Some(384), Some(u32::MAX)] {
        let request = ExplainRequest { block, registers: block, shared_dynamic: block, ..ExplainRequest::default() };
        let report = explain(&text, &request);
        for finding in &report.findings {
            assert!(finding.line >= 1 && finding.line <= report.lines.max(1));
            if let Some(sides) = &finding.inequality {
                assert_eq!(sides.over, sides.needed.saturating_sub(sides.allowed));
            }
        }
    }
});
