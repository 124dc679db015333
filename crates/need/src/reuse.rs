//! What a warp's accesses bring from memory: distinct sectors, where neighbours overlap as in a stencil. Not for: reuse
//! between warps or over time; that is a hit rate.

use std::collections::{BTreeMap, BTreeSet};

use occupant_sass::{Access, Address, Lanes};

use crate::path::Step;

/// Bytes of a sector, the unit of traffic between L1, L2 and DRAM.
pub(crate) const SECTOR: i64 = 32;
/// Bytes of a line, which L1 serves in one cycle.
const LINE: u64 = 128;
const LANES: i64 = 32;

/// Bytes that a lane is apart from the next.
fn stride(access: &Access, address: Option<Address>) -> i64 {
    let width = i64::from(access.bytes.unwrap_or(4));
    match address.map(|address| address.lanes) {
        Some(Lanes::Stride(stride)) => stride.abs(),
        Some(Lanes::Uniform) => 0,
        // Taken to be side by side; that this was assumed is told.
        _ => width,
    }
}

/// Which accesses touch the same data: those of one root no further apart than a warp reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cluster {
    root: u64,
    at: i64,
}

/// The cluster of an access; `unique` stands in where nothing is known of its address.
pub(crate) fn cluster(access: &Access, address: Option<Address>, unique: u32) -> Cluster {
    let Some(address) = address.filter(|address| !matches!(address.lanes, Lanes::Unknown | Lanes::Loaded(_))) else {
        return Cluster { root: u64::MAX, at: i64::from(unique) };
    };
    let span = stride(access, Some(address)).saturating_mul(LANES).max(SECTOR);
    let at = address.distance.saturating_add(span / 2).div_euclid(span);
    Cluster { root: address.root, at }
}

/// Bytes that a warp's accesses bring or take, each sector of a cluster once. Steps are weighted by their executions.
pub(crate) fn bytes<'a>(steps: impl Iterator<Item = (&'a Step, Access)>) -> f64 {
    let mut sectors: BTreeMap<Cluster, (f64, BTreeSet<i64>)> = BTreeMap::new();
    for (step, access) in steps {
        let width = i64::from(access.bytes.unwrap_or(4));
        let stride = stride(&access, step.address);
        let span = stride.saturating_mul(LANES).max(width).max(SECTOR);
        let span = span.div_euclid(SECTOR).saturating_mul(SECTOR).max(SECTOR);
        let distance = step.address.map_or(0, |address| address.distance);
        let (times, touched) =
            sectors.entry(cluster(&access, step.address, step.instruction.offset)).or_insert((0.0, BTreeSet::new()));
        *times = times.max(step.times);
        for lane in 0..LANES {
            let from = lane.saturating_mul(stride).saturating_add(distance);
            let (first, last) = (from, from.saturating_add(width - 1));
            // What reaches beyond the warp's own span is the neighbour's.
            for sector in first.div_euclid(SECTOR)..=last.div_euclid(SECTOR) {
                touched.insert(sector.rem_euclid(span / SECTOR));
            }
        }
    }
    // Not `sum`, whose start is -0.
    sectors.values().fold(0.0, |bytes, (times, touched)| bytes + times * (touched.len() as i64 * SECTOR) as f64)
}

/// Cycles that one request of a warp takes in L1 or shared memory, at a line a cycle.
pub(crate) fn wavefronts(access: &Access, address: Option<Address>) -> f64 {
    let width = u64::from(access.bytes.unwrap_or(4));
    let ideal = (width * LANES as u64).div_ceil(LINE);
    let reach = (stride(access, address).unsigned_abs() * (LANES as u64 - 1)).saturating_add(width).div_ceil(LINE);
    // Lanes can't touch more lines than there are lanes.
    ideal.max(reach.min(LANES as u64)) as f64
}
