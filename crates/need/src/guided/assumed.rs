//! Executions by instruction where only their sum was measured: the likely way through the code, its hot loop as often as
//! the sum asks for. Not for: launches whose executions were counted.

use occupant_sass::Analysis;

use crate::path::{Guarded, Path};

/// Executions of a warp for each instruction that add up to `executed`, the measured number of instructions of a warp.
/// `None` where the likely way has more of them than that, or where nothing repeats and it has far fewer.
#[must_use]
pub fn assumed_counts(analysis: &Analysis, executed: f64) -> Option<Vec<f64>> {
    let mut counts = vec![0.0; analysis.instructions.len()];
    let mut add = |path: &Path, times: f64| {
        for step in &path.steps {
            let number = step.instruction.offset as usize / occupant_sass::INSTRUCTION_BYTES;
            if let Some(place) = counts.get_mut(number) {
                *place += times;
            }
        }
    };
    let once = Path::flat(analysis, Guarded::Executed);
    let left = executed - once.steps.len() as f64;
    add(&once, 1.0);
    let pass = analysis.hot.map(|hot| Path::of_loop(analysis, hot.number, Guarded::Executed));
    match pass {
        // Some warps end early: the way is shorter than it looks.
        _ if left < -0.5 * executed => None,
        Some(pass) if left > 0.0 && !pass.steps.is_empty() => {
            add(&pass, left / pass.steps.len() as f64);
            Some(counts)
        }
        _ if left.abs() <= 0.5 * executed => Some(counts),
        _ => None,
    }
}
