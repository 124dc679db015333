//! Where a fact comes from and how far to trust it. Not for: the facts themselves.

use serde::{Deserialize, Serialize};

/// How a fact is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Observed by running something: a device, a microbenchmark, NVIDIA's own header.
    Measured,
    /// Written down by the vendor.
    Documented,
    /// Derived from a neighbour or from conflicting sources.
    Inferred,
}

/// How far the row of a GPU model can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Vendor text or device output backs at least SM count and memory.
    Documented,
    /// A specification database, with spot checks.
    Secondary,
    /// Recalled, derived or conflicting; the note says which.
    Uncertain,
}

/// The origin of one row of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// How it is known.
    pub basis: Basis,
    /// Document, project or command, citable as it stands.
    pub source: String,
    /// Doubts and conflicts; `None` where there are none.
    pub note: Option<String>,
}
