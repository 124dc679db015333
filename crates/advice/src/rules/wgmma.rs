//! Asynchronous warpgroup multiplies that are done one after another.

use crate::explanation::{Explanation, Fix};

/// The compiler's note that multiplies wait for one another.
pub(crate) fn serialized(code: Option<u32>, reason: &str, kernel: Option<&str>) -> Explanation {
    let number = code.map_or_else(String::new, |code| format!(" (C{code})"));
    let fixes = if reason.contains("insufficient register") {
        vec![
            Fix::new(
                "a smaller tile, or a schedule that shares it",
                "accumulators take m*n/128 registers per thread (pingpong), m*n/256 (cooperative): 128 fit, 256 spill",
            ),
            Fix::new(
                "more registers for the consumers",
                "`occupant budget --warpgroups ... --tile MxN --schedule ...` checks both",
            ),
        ]
    } else if reason.contains("function boundary") || reason.contains("Extern calls") {
        vec![Fix::new("inline what is called between the multiplies", "__forceinline__, no calls to extern functions")]
    } else if reason.contains("non wgmma instructions") {
        vec![Fix::new(
            "leave operand and accumulator registers alone between the first multiply and its wait",
            "copies and conversions go before warpgroup_arrive or after warpgroup_wait",
        )]
    } else {
        vec![Fix::new(
            "straight code between warpgroup_arrive and warpgroup_wait",
            "no branches that only some warps take",
        )]
    };
    Explanation {
        code: "wgmma_serialized",
        kernel: kernel.map(str::to_owned),
        says: format!(
            "the compiler serialises wgmma{number}: {reason}. The kernel is right, and can be many times slower"
        ),
        fixes,
        notes: vec!["occupancy does not make up for it".to_owned()],
        ..Explanation::default()
    }
}
