//! What a stream of reads, writes or both reaches of a memory's bandwidth: one row a GPU, a memory kind or all of them
//! in `data/ceilings.csv`, which `cargo xtask validate --fit` writes from published measurements. Not for: rated
//! bandwidths; those stand with the models.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::gpus::gpus;
use crate::provenance::{Basis, Provenance};
use crate::table::rows;

/// A level of memory with a bandwidth of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Device memory.
    Dram,
    /// L2 cache.
    L2,
}

/// What a stream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Only reads.
    Read,
    /// Reads and writes.
    Mixed,
    /// Only writes.
    Write,
}

impl StreamKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Mixed, Self::Write];

    /// Its name in the data file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Mixed => "mixed",
            Self::Write => "write",
        }
    }
}

/// What a stream reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// A GPU model, a memory kind such as `HBM3`, a technology such as `HBM`, or `*` for all others.
    pub scope: String,
    /// Level of memory.
    pub level: Level,
    /// Kind of stream.
    pub stream: StreamKind,
    /// Of DRAM the share of the rated bandwidth; of L2 bytes per cycle and SM.
    pub value: f64,
    /// Where the row comes from.
    pub provenance: Provenance,
}

#[derive(Deserialize)]
struct Row {
    scope: String,
    level: Level,
    stream: StreamKind,
    value: f64,
    basis: Basis,
    source: String,
    note: Option<String>,
}

impl From<Row> for Ceiling {
    fn from(row: Row) -> Self {
        Self {
            scope: row.scope,
            level: row.level,
            stream: row.stream,
            value: row.value,
            provenance: Provenance { basis: row.basis, source: row.source, note: row.note },
        }
    }
}

/// The row for a GPU: its own, else that of its memory kind and then technology (DRAM) or of its generation (L2), else
/// that for all others.
///
/// # Panics
/// Never: a test holds that every level and stream has a row for all others.
#[must_use]
pub fn ceiling(gpu: &str, level: Level, stream: StreamKind) -> &'static Ceiling {
    let model = gpus().iter().find(|model| model.id == gpu);
    let kind = model.map(|model| match level {
        Level::Dram => model.memory_type.as_str(),
        Level::L2 => model.generation.as_str(),
    });
    let fits =
        |scope: &str| ceilings().iter().find(|row| row.level == level && row.stream == stream && row.scope == scope);
    let technology =
        || TECHNOLOGIES.into_iter().find(|technology| kind.is_some_and(|kind| kind.starts_with(technology)));
    let by_kind = || fits(kind?).or_else(|| fits(technology()?));
    fits(gpu).or_else(by_kind).or_else(|| fits("*")).expect("a row for all others")
}

/// Technologies of memory whose kinds begin with their name.
pub const TECHNOLOGIES: [&str; 2] = ["HBM", "GDDR"];

/// Every row, in file order.
#[must_use]
pub fn ceilings() -> &'static [Ceiling] {
    static TABLE: LazyLock<Vec<Ceiling>> = LazyLock::new(|| {
        rows::<Row>("ceilings.csv", include_str!("../data/ceilings.csv")).into_iter().map(Ceiling::from).collect()
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_and_stream_has_a_row_for_all_others() {
        for level in [Level::Dram, Level::L2] {
            for stream in StreamKind::ALL {
                assert_eq!(ceiling("no such part", level, stream).scope, "*");
            }
        }
    }

    #[test]
    fn shares_are_shares_and_scopes_exist() {
        for row in ceilings() {
            let known = row.scope == "*"
                || TECHNOLOGIES.contains(&row.scope.as_str())
                || gpus()
                    .iter()
                    .any(|gpu| gpu.id == row.scope || gpu.memory_type == row.scope || gpu.generation == row.scope);
            assert!(known, "{}", row.scope);
            let range = if row.level == Level::Dram { 0.5..=1.0 } else { 4.0..=64.0 };
            assert!(range.contains(&row.value), "{} {:?}: {}", row.scope, row.stream, row.value);
        }
    }
}
