//! Tensor-memory columns over what an SM has.

use crate::explanation::{Explanation, Fix, Inequality};

/// Columns of an SM of 10.x and 11.0. Source: PTX ISA, "Tensor Memory".
const COLUMNS: u64 = 512;

/// A block that asked for `required` columns.
pub(crate) fn over_limit(required: u64, limit: Option<u64>) -> Explanation {
    let allowed = limit.unwrap_or(COLUMNS);
    Explanation {
        code: "tensor_memory",
        says: "a block asks for more tensor-memory columns than an SM has".to_owned(),
        inequality: Some(Inequality { what: "tensor-memory columns of a block".to_owned(), needed: required, allowed, unit: "" }),
        fixes: vec![
            Fix::new(
                format!("{} columns fewer: a smaller N of the tile (BLOCK_N)", required.saturating_sub(allowed)),
                "an accumulator takes a column for each 32-bit column of N; scales of block-scaled formats take columns too",
            ),
            Fix::new("fewer accumulators in flight", "double buffering takes each of them twice"),
        ],
        notes: vec![
            "columns are allocated in powers of two from 32, so that 257 take 512; a kernel that fits can still wait for a \
             neighbour's columns"
                .to_owned(),
            "no present part has more: only a smaller tile helps".to_owned(),
        ],
        ..Explanation::default()
    }
}
