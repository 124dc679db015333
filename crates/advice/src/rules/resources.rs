//! 701, "too many resources requested for launch": almost always the registers of a block.

use occupant_occupancy::{Shape, occupancy, register_cap};

use crate::explanation::{Explanation, Fix, Inequality};
use crate::gpus::{divided, gpu, on};
use crate::limits::{fixes, inequalities};
use crate::question::{Gpu, Question};

const CODE: &str = "too_many_resources";

fn fits(gpu: &Gpu, shape: &Shape) -> bool {
    occupancy(gpu.limits, shape).is_ok_and(|found| found.blocks_per_sm > 0) && inequalities(gpu, shape).is_empty()
}

/// The launch error that names nothing.
pub(crate) fn out_of_resources(question: &Question) -> Explanation {
    let mut missing = Vec::new();
    if question.registers.is_none() {
        missing.push(
            "--registers N: as ptxas -v prints them, or as `occupant inspect` reads them from the binary that ran"
                .to_owned(),
        );
    }
    if question.block.is_none() {
        missing.push("--block N: the threads of the block, such as 512 or 8x8x8".to_owned());
    }
    if question.gpu.is_none() {
        missing.push("--gpu G: the GPU it happened on".to_owned());
    }
    let known = question.registers.is_some() && question.block.is_some();
    let (Some(gpu), true) = (gpu(question), known) else {
        return Explanation {
            code: CODE,
            says: "a block asks for more than an SM can give: almost always registers per thread x threads of the block, with \
                   both rounded up, over 65536"
                .to_owned(),
            fixes: vec![
                Fix::new("smaller blocks", "blocks of 256 threads can't fail for registers: 256 x 255 <= 65536"),
                Fix::new("__launch_bounds__(threads of the largest block)", "the compiler then keeps registers low enough"),
            ],
            missing,
            ..Explanation::default()
        };
    };
    let mut explanation = by_shape(gpu, &question.shape(), question);
    explanation.missing = missing;
    explanation
}

fn by_shape(gpu: &Gpu, shape: &Shape, question: &Question) -> Explanation {
    let (fits_on, fails_on) = divided(question, |gpu| fits(gpu, shape));
    let failed = inequalities(gpu, shape);
    let threads = shape.threads_per_block;
    let Some(first) = failed.first().cloned() else {
        let blocks = occupancy(gpu.limits, shape).map_or(0, |found| found.blocks_per_sm);
        return Explanation {
            code: CODE,
            says: format!("by these numbers the launch fits{}, {blocks} blocks per SM: something else was launched", on(question)),
            fits_on,
            fails_on,
            notes: vec![
                "the image that ran can have other registers: another architecture of the same file, PTX compiled by the driver, a \
                 debug build (-G), a callee that the loader linked; `occupant inspect FILE --gpu G` tells them"
                    .to_owned(),
            ],
            ..Explanation::default()
        };
    };
    let mut notes = Vec::new();
    if first.what.starts_with("registers of a block") {
        notes.push(
            "the compiler fixed the registers without knowing the block size: it spills only where launch bounds or \
             --maxrregcount cap them, never at launch"
                .to_owned(),
        );
        if threads > 256 {
            notes.push("blocks of 256 threads can't fail for registers: 256 x 255 <= 65536".to_owned());
        }
        if let Some(cap) = register_cap(gpu.limits, threads, 1) {
            notes.push(format!("__launch_bounds__({threads}) caps registers at {cap}"));
        }
    }
    notes.extend(failed.iter().skip(1).map(|also| format!("also over: {also}")));
    Explanation {
        code: CODE,
        says: format!("a block of {threads} threads asks for more than an SM can give{}", on(question)),
        inequality: Some(first),
        fixes: fixes(gpu, shape),
        fits_on,
        fails_on,
        notes,
        ..Explanation::default()
    }
}

/// CUDA.jl checks before it launches, and prints what failed.
pub(crate) fn block_registers(registers: u32, threads: u32, limit: u32, question: &Question) -> Explanation {
    let shape = Shape { registers_per_thread: registers, threads_per_block: threads, ..Shape::default() };
    match gpu(question) {
        Some(gpu) if !inequalities(gpu, &shape).is_empty() => by_shape(gpu, &shape, question),
        _ => Explanation {
            code: CODE,
            says: format!("a block of {threads} threads asks for more registers than an SM has"),
            inequality: Some(Inequality {
                what: format!("registers of a block ({registers} per thread x {threads} threads)"),
                needed: u64::from(registers) * u64::from(threads),
                allowed: u64::from(limit),
                unit: "",
            }),
            ..Explanation::default()
        },
    }
}

/// The compiled kernel takes only so many threads.
pub(crate) fn kernel_threads(threads: u32, limit: u32, question: &Question) -> Explanation {
    let cap = gpu(question).and_then(|gpu| register_cap(gpu.limits, threads, 1));
    let then = cap.map_or_else(String::new, |cap| format!("registers are then capped at {cap}"));
    Explanation {
        code: "kernel_threads",
        says: format!(
            "the compiled kernel can be launched with {limit} threads at most: its registers, or its launch bounds, allow no more"
        ),
        inequality: Some(Inequality {
            what: "threads of a block".to_owned(),
            needed: u64::from(threads),
            allowed: u64::from(limit),
            unit: "",
        }),
        fixes: vec![
            Fix::new(format!("blocks of {limit} threads"), ""),
            Fix::new(
                format!("compile for {threads} threads: __launch_bounds__({threads}), maxthreads={threads} in CUDA.jl"),
                then,
            ),
        ],
        ..Explanation::default()
    }
}

/// Triton's check of threads.
pub(crate) fn threads(required: u64, limit: Option<u64>) -> Explanation {
    let inequality =
        limit.map(|allowed| Inequality { what: "threads of a block".to_owned(), needed: required, allowed, unit: "" });
    let fix = limit
        .filter(|limit| *limit >= 32)
        .map(|limit| Fix::new(format!("num_warps={}", limit / 32), format!("{} threads", limit / 32 * 32)));
    Explanation {
        code: "kernel_threads",
        says: "the kernel was compiled with more warps than its registers let a block have".to_owned(),
        inequality,
        fixes: fix.into_iter().collect(),
        notes: vec!["the limit is what the driver gives for this kernel's registers, not the GPU's 1024".to_owned()],
        ..Explanation::default()
    }
}
