//! Errors of several curves together.

use super::evaluate::Errors;

/// Means over curves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    /// Mean error of bandwidth, each curve with equal weight.
    pub(crate) bandwidth: f64,
    /// Geometric mean factor between predicted and measured needed warps, at 80 % and 90 %; 1 is exact.
    pub(crate) needed: [f64; 2],
}

impl Summary {
    pub(crate) fn of(errors: &[Errors]) -> Self {
        let bandwidth = errors.iter().map(|errors| errors.bandwidth).sum::<f64>() / errors.len() as f64;
        let needed = [0, 1].map(|at| {
            let ratios: Vec<f64> = errors.iter().filter_map(|errors| errors.needed[at]).collect();
            (ratios.iter().map(|ratio| ratio.ln().abs()).sum::<f64>() / ratios.len().max(1) as f64).exp()
        });
        Self { bandwidth, needed }
    }
}
