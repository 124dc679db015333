//! A launch that the rules refuse, as an inequality and the changes that make it fit.

use occupant_occupancy::{Axis, BARRIERS_OF_A_BLOCK, Change, Refusal, Shape, Solution, fit, refusals};

use crate::explanation::{Fix, Inequality};
use crate::question::Gpu;

/// Every check that fails, as inequalities.
pub(crate) fn inequalities(gpu: &Gpu, shape: &Shape) -> Vec<Inequality> {
    refusals(gpu.limits, shape).iter().filter_map(inequality).collect()
}

fn inequality(refusal: &Refusal) -> Option<Inequality> {
    let of = |what: &str, needed: u64, allowed: u32, unit| {
        Some(Inequality { what: what.to_owned(), needed, allowed: u64::from(allowed), unit })
    };
    match *refusal {
        Refusal::ThreadsPerBlock { asked, allowed } => of("threads of a block", u64::from(asked), allowed, ""),
        Refusal::RegistersPerThread { asked, allowed } => of("registers of a thread", u64::from(asked), allowed, ""),
        Refusal::RegistersPerBlock { per_thread, warps, needed, allowed } => {
            let what =
                format!("registers of a block ({per_thread} per thread x 32 x {warps} warps, as the hardware rounds)");
            Some(Inequality { what, needed, allowed: u64::from(allowed), unit: "" })
        }
        Refusal::SharedPerBlock { needed, allowed, reserved } => {
            let reserve = u64::from(reserved);
            of("shared memory of a block", needed.saturating_sub(reserve), allowed.saturating_sub(reserved), "B")
        }
        Refusal::SharedWithoutOptIn { asked, allowed } => {
            of("shared memory of a block without opt-in", asked, allowed, "B")
        }
        Refusal::BarriersPerBlock { asked } => {
            of("named barriers of a block", u64::from(asked), BARRIERS_OF_A_BLOCK, "")
        }
        Refusal::Barriers { asked, allowed } => of("named barriers of an SM", u64::from(asked), allowed, ""),
        Refusal::TensorMemory { asked, allowed } => of("tensor-memory columns", u64::from(asked), allowed, ""),
        Refusal::VirtualResources { asked, allowed } => of("virtual resources of an SM", u64::from(asked), allowed, ""),
        _ => None,
    }
}

/// The changes that let one block fit, the smallest first.
pub(crate) fn fixes(gpu: &Gpu, shape: &Shape) -> Vec<Fix> {
    let solutions = fit(gpu.limits, shape, 1).unwrap_or_default();
    solutions.iter().filter(|solution| !solution.changes.is_empty()).take(4).map(|one| fix(shape, one)).collect()
}

fn fix(shape: &Shape, solution: &Solution) -> Fix {
    let words: Vec<String> = solution.changes.iter().map(|change| change_words(shape, change)).collect();
    let threads = solution.shape.threads_per_block;
    let caps = solution.changes.iter().any(|change| change.axis == Axis::Registers);
    let then = if caps {
        format!(
            "compile with __launch_bounds__({threads}), so that the compiler stays under it; look at the spills then"
        )
    } else {
        String::new()
    };
    Fix::new(words.join(" and "), then)
}

fn change_words(shape: &Shape, change: &Change) -> String {
    let Change { from, to, .. } = *change;
    let fewer = from.saturating_sub(to);
    match change.axis {
        Axis::Registers => format!("{to} registers per thread ({fewer} fewer)"),
        Axis::Block => format!("blocks of {to} threads ({fewer} fewer)"),
        Axis::Shared if to < shape.shared_static => {
            format!("{to} B of static shared memory and no dynamic ({fewer} B less)")
        }
        Axis::Shared => format!("{} B of dynamic shared memory ({fewer} B less)", to - shape.shared_static),
        Axis::Barriers => format!("{to} named barriers ({fewer} fewer)"),
    }
}
