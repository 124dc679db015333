//! How often each way between blocks was taken, from how often each block was executed. Not for: in which order.

use occupant_sass::{Analysis, Class};

/// A way out of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edge {
    /// The next block; `None` where the warp ends.
    pub(super) to: Option<usize>,
    /// Times that a warp takes it, on average.
    pub(super) times: f64,
}

/// Rounds of the fit; counts that fit together need few.
const ROUNDS: usize = 60;

/// The ways out of each block, by iterative proportional fitting to the blocks' counts.
pub(super) fn balance(analysis: &Analysis, counts: &[f64]) -> Vec<Vec<Edge>> {
    let flow = &analysis.structure.flow;
    let executed: Vec<f64> = flow.blocks.iter().map(|block| counts.get(block.start).copied().unwrap_or(0.0)).collect();
    let of = |block: usize| executed.get(block).copied().unwrap_or(0.0);
    let mut out: Vec<Vec<Edge>> = (0..flow.blocks.len())
        .map(|block| {
            let ways = flow.successors(block).iter().filter(|to| of(**to) > 0.0);
            let mut edges: Vec<Edge> = ways.map(|to| Edge { to: Some(*to), times: 1.0 }).collect();
            let ends = analysis.block(block).last().is_some_and(|last| last.class() == Some(Class::Exit));
            if ends || edges.is_empty() {
                edges.push(Edge { to: None, times: 1.0 });
            }
            edges
        })
        .collect();
    for _ in 0..ROUNDS {
        for (block, edges) in out.iter_mut().enumerate() {
            scale(edges, of(block));
        }
        let mut arrived = vec![0.0; executed.len()];
        for edge in out.iter().flatten() {
            if let Some(place) = edge.to.and_then(|to| arrived.get_mut(to)) {
                *place += edge.times;
            }
        }
        for edge in out.iter_mut().flatten() {
            let Some(to) = edge.to else { continue };
            // A warp comes to the first block once from outside.
            let wanted = if to == 0 { (of(to) - 1.0).max(0.0) } else { of(to) };
            let came = arrived.get(to).copied().unwrap_or(0.0);
            if came > 0.0 {
                edge.times *= wanted / came;
            }
        }
    }
    out
}

fn scale(edges: &mut [Edge], wanted: f64) {
    let all: f64 = edges.iter().map(|edge| edge.times).sum();
    if all > 0.0 {
        edges.iter_mut().for_each(|edge| edge.times *= wanted / all);
    }
}
