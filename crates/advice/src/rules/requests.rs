//! `setmaxnreg` requests that the compiler drops or refuses.

use crate::explanation::{Explanation, Fix};
use crate::question::Question;

/// Requests that have no effect.
pub(crate) fn ignored(code: Option<u32>, reason: &str, question: &Question) -> Explanation {
    let threads = question.bounds.map(|bounds| bounds.threads).or(question.block);
    let threads = threads.map_or_else(|| "threads".to_owned(), |threads| threads.to_string());
    let fixes = if reason.contains("register count at entry") {
        vec![
            Fix::new(
                format!("__launch_bounds__({threads}, 1); min_blocks_per_mp=1 in CuTe DSL"),
                "a minimum of blocks fixes the count at launch; its machine code then has USETMAXREG",
            ),
            Fix::new("__maxnreg__(N) instead of launch bounds", "fixes it as well"),
        ]
    } else if reason.contains("compilation units") || reason.contains("extern") {
        vec![Fix::new("compile the whole kernel in one unit, without -rdc=true and calls to extern functions", "")]
    } else if reason.contains("debugging") {
        vec![Fix::new("compile without -G", "")]
    } else if reason.contains("minimum register") {
        vec![Fix::new(
            "ask for more registers in the warpgroups that give some back",
            "the code there needs more than was asked",
        )]
    } else {
        Vec::new()
    };
    let number = code.map_or_else(String::new, |code| format!(" (C{code})"));
    Explanation {
        code: "requests_ignored",
        says: format!(
            "setmaxnreg has no effect{number}, the compiler drops it: {reason}. All warps keep the count that they got at launch"
        ),
        fixes,
        notes: vec![
            "a kernel can work only because its requests were dropped: check the budget before they count, with `occupant budget \
             --gpu G --warpgroups ...`"
                .to_owned(),
            "it is a note of ptxas, so build systems and Python front ends may hide it; `occupant budget FILE` tells from the \
             machine code"
                .to_owned(),
        ],
        ..Explanation::default()
    }
}

/// Requests that do not compile.
pub(crate) fn refused(says: &str) -> Explanation {
    Explanation {
        code: "request_refused",
        says: format!(
            "setmaxnreg takes 24 to 256 registers in steps of 8, and a decrease must not be above what the kernel has: {says}"
        ),
        fixes: vec![Fix::new("a legal number", "`occupant budget --gpu G --warpgroups ...` lists those that hold")],
        ..Explanation::default()
    }
}
