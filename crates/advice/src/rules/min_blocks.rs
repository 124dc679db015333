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
        says: "threads x minimum blocks of the launch bounds are more than an SM holds: the compiler drops the minimum, and with \
               it the register cap"
            .to_owned(),        notes: vec![format!(
            "{then}; one source for several architectures meets this where SMs hold 1536 or 1024 threads instead of 2048"
        )],

        ..Explanation::default()
    };
    let (Some(LaunchBounds { threads, min_blocks: Some(min_blocks) }), Some(gpu)) = (question.bounds, &question.gpu)
    else {
        let mut missing = Vec::new();
        if question.bounds.and_then(|bounds| bounds.min_blocks).is_none() {
            missing.push("--launch-bounds THREADS,BLOCKS: as in the source".to_owned());
        }
        if question.gpu.is_none() {
            missing.push("--gpu G: the architecture that was compiled for".to_owned());
        }
        return Explanation { missing, ..base };
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
    let by_threads = u64::from(threads) * u64::from(min_blocks) > u64::from(gpu.limits.max_threads_per_sm);
    let inequality = if by_threads {
        Inequality {
            what: format!("threads of an SM ({threads} x {min_blocks}){}", on(question)),
            needed: u64::from(threads) * u64::from(min_blocks),
            allowed: u64::from(gpu.limits.max_threads_per_sm),
            unit: "",
        }
    } else {
        Inequality {
            what: format!("blocks of an SM{}", on(question)),
            needed: u64::from(min_blocks),
            allowed: u64::from(gpu.limits.max_blocks_per_sm),
            unit: "",
        }
    };
    let fixes = register_cap(gpu.limits, threads, most).map(|cap| {
        Fix::new(
            format!("__launch_bounds__({threads}, {most}), the largest minimum that counts there"),
            format!("caps registers at {cap}"),
        )
    });
    Explanation { inequality: Some(inequality), fixes: fixes.into_iter().collect(), fits_on, fails_on, ..base }
}
