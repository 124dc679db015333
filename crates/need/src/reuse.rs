//! What a warp's accesses bring from memory: distinct sectors, where neighbours overlap as in a stencil. Not for: reuse
//! between warps or over time; that is a hit rate.

use std::collections::{BTreeMap, BTreeSet};

use occupant_sass::{Access, AccessKind, Address, Lanes, Space};

use crate::path::Step;

/// Bytes of a sector, the unit of traffic between L1, L2 and DRAM.
const SECTOR: i64 = 32;
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

/// Accesses that touch the same data have one number: those of one root, no further from the first of them than a warp
/// reaches.
pub(crate) type Cluster = u32;

/// The cluster of each global access of a path; `None` for everything else.
pub(crate) fn clusters(steps: &[Step]) -> Vec<Option<Cluster>> {
    let mut found = vec![None; steps.len()];
    let mut roots: BTreeMap<u64, Vec<(i64, i64, usize)>> = BTreeMap::new();
    let mut next = 0;
    for (number, step) in steps.iter().enumerate() {
        let Some(access) = step.instruction.access().filter(is_global) else { continue };
        let known = step.address.filter(|address| !matches!(address.lanes, Lanes::Unknown | Lanes::Loaded(_)));
        match known {
            Some(address) => {
                let span = stride(&access, Some(address)).saturating_mul(LANES).max(SECTOR);
                roots.entry(address.root).or_default().push((address.distance, span, number));
            }
            // Nothing is known of its neighbours.
            None => {
                found[number] = Some(next);
                next += 1;
            }
        }
    }
    for mut accesses in roots.into_values() {
        accesses.sort_unstable();
        let mut first: Option<i64> = None;
        for (distance, span, number) in accesses {
            if first.is_none_or(|first| distance.saturating_sub(first) >= span) {
                first = Some(distance);
                next += 1;
            }
            found[number] = Some(next);
        }
        next += 1;
    }
    found
}

fn is_global(access: &Access) -> bool {
    matches!(access.space, Space::Global | Space::Generic)
}

/// Bytes that each access of a path brings or takes beyond those before it: whole sectors, of data that several accesses
/// touch each once. `wanted` chooses reads or writes; 0 for everything else.
pub(crate) fn fresh(steps: &[Step], wanted: fn(AccessKind) -> bool) -> Vec<f64> {
    let mut touched: BTreeMap<Cluster, BTreeSet<i64>> = BTreeMap::new();
    let of = |step: &Step| {
        let access = step.instruction.access().filter(|access| wanted(access.kind) && step.times > 0.0)?;
        let before = touched.entry(step.cluster?).or_default();
        let already = before.len();
        before.extend(sectors(&access, step.address));
        Some((before.len() - already) as f64 * SECTOR as f64)
    };
    steps.iter().map(of).map(Option::unwrap_or_default).collect()
}

/// Sectors of one access within the stretch that the warp covers; what reaches beyond is the neighbour's.
fn sectors(access: &Access, address: Option<Address>) -> impl Iterator<Item = i64> + use<> {
    let width = i64::from(access.bytes.unwrap_or(4));
    let stride = stride(access, address);
    let span = stride.saturating_mul(LANES).max(width).max(SECTOR).div_euclid(SECTOR);
    let distance = address.map_or(0, |address| address.distance);
    (0..LANES).flat_map(move |lane| {
        let from = lane.saturating_mul(stride).saturating_add(distance);
        let last = from.saturating_add(width - 1);
        (from.div_euclid(SECTOR)..=last.div_euclid(SECTOR)).map(move |sector| sector.rem_euclid(span))
    })
}

/// Whether an access touches at least twice the sectors that its data fill.
pub(crate) fn is_scattered(access: &Access, address: Option<Address>) -> bool {
    let width = i64::from(access.bytes.unwrap_or(4));
    stride(access, address) >= width.saturating_mul(2)
}

/// Cycles that one request of a warp takes in L1 or shared memory, at a line a cycle.
pub(crate) fn wavefronts(access: &Access, address: Option<Address>) -> f64 {
    let width = u64::from(access.bytes.unwrap_or(4));
    let ideal = (width * LANES as u64).div_ceil(LINE);
    let reach = (stride(access, address).unsigned_abs() * (LANES as u64 - 1)).saturating_add(width).div_ceil(LINE);
    // Lanes can't touch more lines than there are lanes.
    ideal.max(reach.min(LANES as u64)) as f64
}
