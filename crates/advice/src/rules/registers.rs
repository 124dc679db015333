//! Registers at compile time: too few, spilled, raised.

use occupant_hardware::{ComputeCapability, SmLimits, limits};
use occupant_occupancy::register_cap;

use crate::explanation::{Explanation, Fix, Inequality};
use crate::gpus::gpu;
use crate::question::Question;

/// Compilation needs more registers than it may use.
pub(crate) fn too_few(cap: u32, needed: Option<u32>, kernel: Option<&str>, question: &Question) -> Explanation {
    let limits = gpu(question).map(|gpu| gpu.limits).or_else(|| limits(ComputeCapability::new(9, 0)).ok());
    let block = needed.zip(limits).and_then(|(needed, limits)| largest_block(limits, needed));
    let mut fixes = Vec::new();
    if let (Some((threads, cap)), Some(needed)) = (block, needed) {
        fixes.push(Fix::new(
            format!("blocks of {threads} threads at most ({} warpgroups), in the launch bounds too", threads / 128),
            format!("caps registers at {cap}, and {needed} are needed"),
        ));
    }
    fixes.push(Fix::new("a higher cap: fewer minimum blocks, a larger --maxrregcount or __maxnreg__", ""));
    fixes.push(Fix::new("a smaller tile", "one instruction's operands have to be in registers together"));
    Explanation {
        code: "registers_too_few",
        kernel: kernel.map(str::to_owned),
        says: "one instruction or function needs more registers than the compiler may use at launch; later raises with setmaxnreg \
               do not count here"
            .to_owned(),
        inequality: needed.map(|needed| Inequality {
            what: "registers of a thread".to_owned(),
            needed: u64::from(needed),
            allowed: u64::from(cap),
            unit: "",
        }),
        fixes,
        notes: vec![format!("{cap} is the cap in force")],
        ..Explanation::default()
    }
}

/// The largest block whose cap is `needed` or more, and that cap.
fn largest_block(limits: &SmLimits, needed: u32) -> Option<(u32, u32)> {
    let sizes = (1..=limits.max_threads_per_block / 128).rev().map(|warpgroups| warpgroups * 128);
    sizes.filter_map(|threads| Some((threads, register_cap(limits, threads, 1)?))).find(|(_, cap)| *cap >= needed)
}

/// A callee that needs more than its caller may use.
pub(crate) fn callee(kernel: &str, cap: u32, callee: &str, registers: u32) -> Explanation {
    Explanation {
        code: "callee_registers",
        kernel: Some(kernel.to_owned()),
        says: format!("{callee} takes more registers than the kernel that calls it may use"),
        inequality: Some(Inequality {
            what: "registers of a thread".to_owned(),
            needed: u64::from(registers),
            allowed: u64::from(cap),
            unit: "",
        }),
        fixes: vec![
            Fix::new(format!("compile the callee under the same cap (--maxrregcount {cap})"), "it may spill"),
            Fix::new("inline it, or link with -dlto", "the compiler then sees both"),
            Fix::new("a smaller block or fewer minimum blocks in the kernel's launch bounds", "a higher cap"),
        ],
        ..Explanation::default()
    }
}

/// A cap under the least that the compiler takes.
pub(crate) fn cap_raised(from: u32, to: u32) -> Explanation {
    Explanation {
        code: "cap_raised",
        says: format!("a register cap of {from} is under the least that the compiler takes: {to} is used"),
        ..Explanation::default()
    }
}

/// The option that goes over the launch bounds.
pub(crate) fn cap_overridden(kernel: &str, cap: u32) -> Explanation {
    Explanation {
        code: "cap_overridden",
        kernel: Some(kernel.to_owned()),
        says: format!("--maxrregcount caps its registers at {cap}, whatever its launch bounds would allow"),
        fixes: vec![Fix::new("__launch_bounds__ for each kernel instead of one cap for all", "")],
        ..Explanation::default()
    }
}

/// The warning about spills.
pub(crate) fn spills(kernel: &str, bytes: Option<(u32, u32)>) -> Explanation {
    let how_much = bytes.map_or_else(String::new, |(stores, loads)| {
        format!(": a thread stores {stores} B and loads {loads} B of spilled registers")
    });
    Explanation {
        code: "spills",
        kernel: Some(kernel.to_owned()),
        says: format!("registers did not suffice{how_much}"),
        notes: vec![
            "spills are not bad by themselves: outside loops, or in L1, they can cost nothing; `occupant inspect FILE` says how \
             many bytes are in loops"
                .to_owned(),
        ],
        ..Explanation::default()
    }
}

/// The warning about a stack.
pub(crate) fn local_memory(kernel: &str, frame: u32) -> Explanation {
    Explanation {
        code: "local_memory",
        kernel: Some(kernel.to_owned()),
        says: format!("the kernel has a stack frame of {frame} B: local arrays with computed indices, or calls"),
        notes: vec!["a stack is no spill: ptxas -v counts spills apart".to_owned()],
        ..Explanation::default()
    }
}
