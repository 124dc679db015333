//! The smallest changes that let N blocks become resident: of one amount, of two, of as many as it takes.
//!
//! Not for: whether N blocks are worth having; more occupancy is no goal by itself.

use std::collections::BTreeMap;

use occupant_hardware::SmLimits;

use crate::axis::{Axis, BARRIERS_OF_A_BLOCK};
use crate::inverse::largest;
use crate::rules::{Occupancy, occupancy};
use crate::shape::{Carveout, InvalidShape, PartitionedCaching, Shape};

/// One amount, changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// What changes.
    pub axis: Axis,
    /// From this.
    pub from: u32,
    /// To this, the largest value that suffices.
    pub to: u32,
}

/// A choice of the host that costs the kernel nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Leave the carve-out to the driver.
    DefaultCarveout,
    /// Compile without partitioned caching.
    NoPartitionedCaching,
}

/// Changes that together reach the blocks asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Settings to change.
    pub settings: Vec<Setting>,
    /// Amounts to change, in the order of [`Axis::ALL`].
    pub changes: Vec<Change>,
    /// The shape after it.
    pub shape: Shape,
    /// Its occupancy.
    pub occupancy: Occupancy,
    /// The shares of the amounts given up, added: solutions are ranked by it. 0.25 is a quarter of one amount.
    pub given_up: f64,
}

/// Every set of amounts that can be changed for `blocks` blocks to become resident, each with its smallest change: fewest
/// amounts first, then the smallest share given up. One solution without changes where they are resident already; empty
/// where nothing helps (block slots, virtual resources).
///
/// Changes of the block size are to whole warps.
///
/// # Errors
/// [`InvalidShape`], as [`occupancy`].
pub fn fit(limits: &SmLimits, shape: &Shape, blocks: u32) -> Result<Vec<Solution>, InvalidShape> {
    let mut best: BTreeMap<(Vec<Setting>, Vec<Axis>), Solution> = BTreeMap::new();
    for (settings, base) in bases(shape) {
        // Neither shared memory nor barriers depend on the block size.
        let Some(base) = cut(limits, &base, Axis::Shared, blocks)? else { continue };
        let Some(base) = cut(limits, &base, Axis::Barriers, blocks)? else { continue };
        for threads in block_sizes(limits, shape) {
            let Some(solution) = at_block_size(limits, shape, &settings, &base, threads, blocks)? else { continue };
            let key = (settings.clone(), solution.changes.iter().map(|change| change.axis).collect());
            match best.get(&key) {
                Some(known) if known.given_up <= solution.given_up => {}
                _ => _ = best.insert(key, solution),
            }
        }
    }
    let mut solutions: Vec<Solution> = best.into_values().collect();
    solutions.sort_by(|a, b| {
        let rank = |s: &Solution| (s.changes.len(), s.settings.len());
        rank(a).cmp(&rank(b)).then(a.given_up.total_cmp(&b.given_up))
    });
    Ok(without_detours(solutions))
}

/// The shape as it is, and with the settings that hold it back undone.
fn bases(shape: &Shape) -> Vec<(Vec<Setting>, Shape)> {
    let mut bases = vec![(Vec::new(), *shape)];
    if shape.carveout != Carveout::Default {
        bases.push((vec![Setting::DefaultCarveout], Shape { carveout: Carveout::Default, ..*shape }));
    }
    if shape.partitioned_caching != PartitionedCaching::Off {
        for (mut settings, base) in bases.clone() {
            settings.push(Setting::NoPartitionedCaching);
            bases.push((settings, Shape { partitioned_caching: PartitionedCaching::Off, ..base }));
        }
    }
    bases
}

/// The block size as it is, then every smaller one of whole warps.
fn block_sizes(limits: &SmLimits, shape: &Shape) -> Vec<u32> {
    let whole = Axis::Block.unit_ends(limits).into_iter().rev().filter(|threads| *threads < shape.threads_per_block);
    std::iter::once(shape.threads_per_block).chain(whole).collect()
}

/// The shape with as much less of one amount as its own ceiling needs for `blocks`; `None` where nothing suffices.
fn cut(limits: &SmLimits, shape: &Shape, axis: Axis, blocks: u32) -> Result<Option<Shape>, InvalidShape> {
    // NVIDIA's rules have ceilings for barriers that no block can name.
    let unnameable = axis == Axis::Barriers && shape.barriers > BARRIERS_OF_A_BLOCK;
    if axis.ceiling(&occupancy(limits, shape)?.ceilings) >= blocks && !unnameable {
        return Ok(Some(*shape));
    }
    Ok(largest(limits, shape, axis, blocks)?.map(|value| axis.with(shape, value)))
}

/// The solution with this block size, for a base whose other amounts are cut already.
fn at_block_size(
    limits: &SmLimits,
    shape: &Shape,
    settings: &[Setting],
    base: &Shape,
    threads: u32,
    blocks: u32,
) -> Result<Option<Solution>, InvalidShape> {
    let Some(found) = cut(limits, &Axis::Block.with(base, threads), Axis::Registers, blocks)? else { return Ok(None) };
    let occupancy = occupancy(limits, &found)?;
    if occupancy.blocks_per_sm < blocks {
        return Ok(None);
    }
    let change = |axis: Axis| Change { axis, from: axis.value(shape), to: axis.value(&found) };
    let changes: Vec<Change> = Axis::ALL.into_iter().map(change).filter(|change| change.from != change.to).collect();
    let share = |change: &Change| 1.0 - f64::from(change.to) / f64::from(change.from);
    // A sum of nothing is -0.0.
    let given_up = changes.iter().map(share).fold(0.0, |all, one| all + one);
    Ok(Some(Solution { settings: settings.to_vec(), changes, shape: found, occupancy, given_up }))
}

/// Without solutions that change more than another one does and give up no less.
fn without_detours(solutions: Vec<Solution>) -> Vec<Solution> {
    let covers = |less: &Solution, more: &Solution| {
        less.settings.iter().all(|setting| more.settings.contains(setting))
            && less.changes.iter().all(|change| more.changes.iter().any(|other| other.axis == change.axis))
            && less.given_up <= more.given_up
    };
    let mut kept: Vec<Solution> = Vec::new();
    for solution in solutions {
        if !kept.iter().any(|known| covers(known, &solution)) {
            kept.push(solution);
        }
    }
    kept
}
