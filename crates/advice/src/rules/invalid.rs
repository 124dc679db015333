//! Errors that say only that something was invalid: the shape decides what.

use occupant_logs::TooMuch;
use occupant_occupancy::LARGEST_GRID;

use crate::explanation::{Explanation, Fix, Inequality};
use crate::gpus::{divided, gpu, on};
use crate::limits::{fixes, inequalities};
use crate::question::{Gpu, Question};

/// "invalid argument", of a launch or of setting an attribute.
pub(crate) fn value(question: &Question) -> Explanation {
    let base = Explanation {
        code: "invalid_value",
        says: "an argument of the launch is outside what the kernel or GPU allows: most often shared memory, which was not opted \
               in to or is over the limit"
            .to_owned(),
        ..Explanation::default()
    };
    let missing = missing(question);
    match (question.shared(), gpu(question)) {
        (Some(shared), Some(gpu)) => Explanation { missing, ..by_shared(u64::from(shared), gpu, question, base) },
        _ => Explanation {
            missing,
            notes: vec![
                "static shared memory counts too: 48 KiB of dynamic and any static memory need the opt-in".to_owned(),
                "`occupant inspect FILE --gpu G` tells what a kernel takes and what the host must set".to_owned(),
            ],
            ..base
        },
    }
}

fn missing(question: &Question) -> Vec<String> {
    let mut missing = Vec::new();
    if question.shared().is_none() {
        missing.push("--shared-dynamic SIZE, and --shared-static SIZE: what a block of the launch takes".to_owned());
    }
    if question.gpu.is_none() {
        missing.push("--gpu G: the GPU it happened on".to_owned());
    }
    missing
}

fn by_shared(shared: u64, gpu: &Gpu, question: &Question, base: Explanation) -> Explanation {
    let most = u64::from(gpu.limits.shared_per_block_optin);
    let default = u64::from(gpu.limits.shared_per_block);
    let dynamic = question.shared_dynamic.unwrap_or(0);
    let (fits_on, fails_on) = divided(question, |gpu| u64::from(gpu.limits.shared_per_block_optin) >= shared);
    let what = format!("shared memory of a block{}", on(question));
    let inequality = |what: String, allowed| Some(Inequality { what, needed: shared, allowed, unit: "B" });
    if shared > most {
        return Explanation {
            says: "a block asks for more shared memory than it may have, even opted in".to_owned(),
            inequality: inequality(what, most),
            fixes: fixes(gpu, &question.shape()),
            fits_on,
            fails_on,
            ..base
        };
    }
    if shared > default && dynamic > 0 {
        return Explanation {
            says: "the launch takes more shared memory than a block gets without asking; the host has to opt in"
                .to_owned(),
            inequality: inequality(format!("{what} without opt-in"), default),
            fixes: vec![Fix::new(
                format!(
                    "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {dynamic}) before the launch"
                ),
                format!("static and dynamic together may then be {most} B"),
            )],
            fits_on,
            fails_on,
            ..base
        };
    }
    let others = inequalities(gpu, &question.shape());
    Explanation {
        says: match others.first() {
            Some(_) => "the launch asks for more than a block may have".to_owned(),
            None => format!("shared memory is not it: {shared} B need no opt-in{}", on(question)),
        },
        inequality: others.into_iter().next(),
        fits_on,
        fails_on,
        ..base
    }
}

/// CUTLASS' status for whatever its launch returned.
pub(crate) fn cutlass(question: &Question) -> Explanation {
    let found = value(question);
    Explanation {
        code: "cutlass_internal",
        says: format!("CUTLASS could not set up or launch a kernel; {}", found.says),
        notes: found
            .notes
            .into_iter()
            .chain(std::iter::once(
                "tactics whose tiles are made for 227 KiB do not fit parts with 99 KiB (8.6, 8.9, 12.x)".to_owned(),
            ))
            .collect(),
        ..found
    }
}

/// "invalid configuration argument": grid or block.
pub(crate) fn configuration(question: &Question) -> Explanation {
    let threads = question.block.map(|threads| Inequality {
        what: "threads of a block".to_owned(),
        needed: u64::from(threads),
        allowed: 1024,
        unit: "",
    });
    let mut missing = Vec::new();
    if question.block.is_none() {
        missing.push("--block N: the threads of the block, such as 512 or 8x8x8".to_owned());
    }
    let along = ["x", "y", "z"].into_iter().zip(question.grid.unwrap_or_default()).zip(LARGEST_GRID);
    if let Some(((axis, blocks), most)) = along.into_iter().find(|((_, blocks), most)| blocks > most) {
        return dimension(&format!("blocks along {axis}"), blocks, most);
    }
    Explanation {
        code: "invalid_configuration",
        says: "a dimension of grid or block is 0 or too large: blocks have 1 to 1024 threads (64 at most along z), grids at least \
               1 block, 2147483647 at most along x and 65535 along y and z"
            .to_owned(),
        fixes: match &threads {
            Some(threads) if threads.over() > 0 => vec![Fix::new("blocks of 1024 threads or fewer", "")],
            _ => vec![Fix::new("return early where there is nothing to do", "a grid of 0 blocks is the usual cause with empty inputs")],
        },
        inequality: threads.filter(|threads| threads.over() > 0),
        missing,
        ..Explanation::default()
    }
}

/// A dimension with its limit.
pub(crate) fn dimension(what: &str, asked: u64, limit: u64) -> Explanation {
    Explanation {
        code: "invalid_configuration",
        says: format!("too many {what}"),
        inequality: Some(Inequality { what: what.to_owned(), needed: asked, allowed: limit, unit: "" }),
        fixes: vec![match asked > LARGEST_GRID[0] {
            true => Fix::new(
                "loop inside the kernel, or split the launch: no dimension takes more than 2^31 - 1 blocks",
                "",
            ),
            false => Fix::new(
                "put the largest dimension along x, which takes 2^31 - 1 blocks, or loop inside the kernel",
                "",
            ),
        }],
        ..Explanation::default()
    }
}

/// Constant memory, parameters, local memory at compile time.
pub(crate) fn too_much(what: TooMuch, kernel: Option<&str>, bytes: u64, limit: u64) -> Explanation {
    let (name, fix) = match what {
        TooMuch::Constant => ("constant memory", "put tables in global memory, read with __ldg or const __restrict__"),
        TooMuch::Parameters => ("kernel parameters", "pass a pointer; CUDA 12.1 and later take 32764 B from 7.0 on"),
        TooMuch::Local => ("local memory of a thread", "smaller local arrays"),
        TooMuch::Shared => ("static shared memory", "make it dynamic"),
    };
    Explanation {
        code: "too_much_at_compile_time",
        kernel: kernel.map(str::to_owned),
        says: format!("too much {name}"),
        inequality: Some(Inequality { what: name.to_owned(), needed: bytes, allowed: limit, unit: "B" }),
        fixes: vec![Fix::new(fix, "")],
        ..Explanation::default()
    }
}
