//! What the hardware asks of a grid: so many blocks along each dimension, and whole clusters. Not for: how a grid fills a
//! GPU; that is [`crate::launch`].

use occupant_occupancy::LARGEST_GRID;

use crate::calc::CalcRequest;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Blocks of a grid in all.
pub(crate) fn blocks([x, y, z]: [u64; 3]) -> u64 {
    x.saturating_mul(y).saturating_mul(z)
}

/// Why no GPU launches the grid, every reason.
pub(crate) fn refusals(request: &CalcRequest) -> Vec<String> {
    let Some(grid) = request.grid else { return Vec::new() };
    let mut reasons = Vec::new();
    if let Some(cluster) = request.cluster.filter(|cluster| *cluster > 1)
        && !blocks(grid).is_multiple_of(u64::from(cluster))
    {
        reasons.push(format!("a grid of {} blocks is no multiple of the cluster's {cluster}", blocks(grid)));
    }
    for ((axis, blocks), most) in AXES.into_iter().zip(grid).zip(LARGEST_GRID) {
        if blocks > most {
            reasons.push(format!("a grid of {blocks} blocks along {axis}, {most} allowed"));
        }
    }
    // A grid given as one number may have any shape.
    if grid[1] > 1 || grid[2] > 1 {
        for ((axis, blocks), size) in AXES.into_iter().zip(grid).zip(request.cluster_sizes.unwrap_or([1; 3])) {
            if !blocks.is_multiple_of(u64::from(size.max(1))) {
                reasons.push(format!("a grid of {blocks} blocks along {axis} is no multiple of the cluster's {size}"));
            }
        }
    }
    reasons
}
