//! The GPU that answers where nobody named one.

use crate::question::{Gpu, Question};

/// The GPU of the question, else the first candidate of 9.0, else any: what holds on most parts.
pub(crate) fn gpu(question: &Question) -> Option<&Gpu> {
    let common = |gpu: &&Gpu| gpu.limits.capability.major == 9;
    question.gpu.as_ref().or_else(|| question.candidates.iter().find(common)).or(question.candidates.first())
}

/// ` on h100-sxm`, ` on most parts` where none was named.
pub(crate) fn on(question: &Question) -> String {
    match &question.gpu {
        Some(gpu) if gpu.name.starts_with("sm_") => format!(" on {}", gpu.limits.capability),
        Some(gpu) => format!(" on {} ({})", gpu.name, gpu.limits.capability),
        None => String::new(),
    }
}

/// The candidates in two lists: those for which `fits` holds, and the others.
pub(crate) fn divided(question: &Question, fits: impl Fn(&Gpu) -> bool) -> (Vec<String>, Vec<String>) {
    let (yes, no): (Vec<&Gpu>, Vec<&Gpu>) = question.candidates.iter().partition(|gpu| fits(gpu));
    let names = |gpus: Vec<&Gpu>| gpus.into_iter().map(|gpu| gpu.name.clone()).collect();
    (names(yes), names(no))
}
