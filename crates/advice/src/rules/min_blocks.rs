//! Launch bounds whose minimum of blocks the compiler ignores.

use occupant_occupancy::{most_min_blocks, register_cap};

use crate::explanation::{Explanation, Fix, Inequality};
use crate::gpus::{divided, on};
use crate::question::{Gpu, LaunchBounds, Question};

fn obeyed(gpu: &Gpu, threads: u32, min_blocks: u32) -> bool {
    min_blocks <= most_min_blocks(gpu.limits, threads)
}

/// The warning does not say the numbers; the person does.
pub(crate) fn ignored(kernel: &str, refused: bool, question: &Question) -> Explanation {
    let then = if refused {
        "this compiler takes it as an error, and stops"
    } else {
        "the kernel works, with as many registers as the compiler likes"
    };
    let base = Explanation {
        code: "min_blocks_ignored",
        kernel: Some(kernel.to_owned()),
        says: "threads x minimum blocks of the launch bounds are more than an SM holds: the compiler drops the \
               minimum, and with it the register cap"
            .to_owned(),
        notes: vec![format!(
            "{then}; one source for several architectures meets this where SMs hold 1536 or 1024 threads instead of 2048"
        )],
        ..Explanation::default()
    };
    let (Some(LaunchBounds { threads, min_blocks: Some(min_blocks) }), Some(gpu)) = (question.bounds, &question.gpu)
    else {
        return Explanation { missing: missing(question), ..base };
    };
    let most = most_min_blocks(gpu.limits, threads);
    let (fits_on, fails_on) = divided(question, |gpu| obeyed(gpu, threads, min_blocks));
    if min_blocks <= most {
        return Explanation {
            says: format!(
                "({threads}, {min_blocks}) is obeyed{}: the message is about other bounds or another architecture",
                on(question)
            ),
            fits_on,
            fails_on,
            ..base
        };
    }
    let fixes = register_cap(gpu.limits, threads, most).map(|cap| {
        Fix::new(
            format!("__launch_bounds__({threads}, {most}), the largest minimum that counts there"),
            format!("caps registers at {cap}"),
        )
    });
    Explanation {
        inequality: Some(exceeded(gpu, threads, min_blocks, &on(question))),
        fixes: fixes.into_iter().collect(),
        fits_on,
        fails_on,
        ..base
    }
}

/// The flags without which nothing can be compared.
fn missing(question: &Question) -> Vec<String> {
    let mut missing = Vec::new();
    if question.bounds.and_then(|bounds| bounds.min_blocks).is_none() {
        missing.push("--launch-bounds THREADS,BLOCKS: as in the source".to_owned());
    }
    if question.gpu.is_none() {
        missing.push("--gpu G: the architecture that was compiled for".to_owned());
    }
    missing
}

/// What an SM has too little of: threads, or where these suffice block slots.
fn exceeded(gpu: &Gpu, threads: u32, min_blocks: u32, on: &str) -> Inequality {
    let needed = u64::from(threads) * u64::from(min_blocks);
    let allowed = u64::from(gpu.limits.max_threads_per_sm);
    if needed > allowed {
        return Inequality {
            what: format!("threads of an SM ({threads} x {min_blocks}){on}"),
            needed,
            allowed,
            unit: "",
        };
    }
    Inequality {
        what: format!("blocks of an SM{on}"),
        needed: u64::from(min_blocks),
        allowed: u64::from(gpu.limits.max_blocks_per_sm),
        unit: "",
    }
}
