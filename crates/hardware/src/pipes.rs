//! How often a unit of an SM takes an instruction of a warp, and how long its result takes: one row a unit and set of
//! compute capabilities in `data/pipes.csv`. Not for: memory beyond shared memory; that is [`crate::latency`].

use std::sync::LazyLock;

use serde::Deserialize;

use crate::ComputeCapability;
use crate::provenance::{Basis, Provenance};
use crate::table::{rows, words};

/// A unit that executes instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// FP32 and integer multiply-add.
    Fma,
    /// Integer multiply-add, on that unit or a half of it.
    Imad,
    /// Integer, logic, comparison.
    Alu,
    /// Packed FP16.
    Half,
    /// FP64.
    Fp64,
    /// Transcendental functions and conversions.
    Xu,
    /// Shared memory, 128 bytes.
    Shared,
    /// Constant cache.
    Constant,
    /// Special registers.
    Special,
    /// Exchange between lanes.
    Shuffle,
    /// Barriers of a block.
    Barrier,
    /// Tensor cores; only the latency counts.
    Tensor,
    /// Branches; the latency is of one that is taken.
    Branch,
}

/// Timing of one unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipe {
    /// The unit.
    pub unit: Unit,
    /// Compute capabilities that it holds for.
    pub capabilities: Vec<ComputeCapability>,
    /// Cycles between two instructions of warps of one sub-partition; of the whole SM for shared memory and shuffles.
    pub interval: f64,
    /// Cycles from issue to a result that can be used.
    pub latency: f64,
    /// Where the row comes from.
    pub provenance: Provenance,
}

#[derive(Deserialize)]
struct Row {
    unit: Unit,
    #[serde(deserialize_with = "words")]
    capabilities: Vec<String>,
    interval: f64,
    latency: f64,
    basis: Basis,
    source: String,
    note: Option<String>,
}

impl From<Row> for Pipe {
    fn from(row: Row) -> Self {
        let capability = |text: &String| {
            let architecture: crate::Architecture = text.parse().expect("a capability such as 9.0");
            architecture.capability
        };
        Self {
            unit: row.unit,
            capabilities: row.capabilities.iter().map(capability).collect(),
            interval: row.interval,
            latency: row.latency,
            provenance: Provenance { basis: row.basis, source: row.source, note: row.note },
        }
    }
}

/// The timing of a unit; `None` where none is known for the capability (all before 7.0).
#[must_use]
pub fn pipe(unit: Unit, capability: ComputeCapability) -> Option<&'static Pipe> {
    table().iter().find(|pipe| pipe.unit == unit && pipe.capabilities.contains(&capability))
}

fn table() -> &'static [Pipe] {
    static TABLE: LazyLock<Vec<Pipe>> = LazyLock::new(|| {
        rows::<Row>("pipes.csv", include_str!("../data/pipes.csv")).into_iter().map(Pipe::from).collect()
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rules, limit_rows};

    #[test]
    fn every_unit_has_one_row_for_every_capability_from_7_0_on() {
        let units = [
            Unit::Fma,
            Unit::Imad,
            Unit::Alu,
            Unit::Half,
            Unit::Fp64,
            Unit::Xu,
            Unit::Shared,
            Unit::Constant,
            Unit::Special,
            Unit::Shuffle,
            Unit::Barrier,
            Unit::Tensor,
            Unit::Branch,
        ];
        for row in limit_rows(Rules::default()).iter().filter(|row| row.capability.major >= 7) {
            for unit in units {
                let rows = table().iter().filter(|p| p.unit == unit && p.capabilities.contains(&row.capability));
                assert_eq!(rows.count(), 1, "{unit:?} of {}", row.capability);
            }
        }
    }

    #[test]
    fn rates_are_those_of_the_programming_guide() {
        let interval = |unit, major, minor| pipe(unit, ComputeCapability::new(major, minor)).unwrap().interval;
        assert_eq!([interval(Unit::Fma, 8, 0), interval(Unit::Fma, 8, 6)], [2.0, 1.0]);
        let fp64 = [(7, 0), (8, 0), (8, 9), (9, 0)].map(|(major, minor)| interval(Unit::Fp64, major, minor));
        assert_eq!(fp64, [4.0, 4.0, 64.0, 2.0]);
        assert_eq!(pipe(Unit::Fma, ComputeCapability::new(6, 1)), None);
    }
}
