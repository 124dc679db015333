//! The kernels of `ptxas -v`: a few lines each, told together by their order.
//!
//! Source of the forms: output of ptxas 9 to 13.5, as nvcc, NVRTC, cuLink, MSBuild and build logs of projects show it.

use std::sync::LazyLock;

use regex::Regex;

use crate::fact::Compiled;
use crate::patterns::{compile, number, text};

static ENTRY: LazyLock<Regex> = LazyLock::new(|| compile(r"Compiling entry function '([^']+)' for '(sm_\w+)'"));
static PROPERTIES: LazyLock<Regex> = LazyLock::new(|| compile(r"Function properties for '?([^\s':]+)"));
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"));
static STORES: LazyLock<Regex> = LazyLock::new(|| compile(r"(\d+) bytes spill stores"));
static LOADS: LazyLock<Regex> = LazyLock::new(|| compile(r"(\d+) bytes spill loads"));
static USED: LazyLock<Regex> = LazyLock::new(|| compile(r"(?:\bUsed|info\s*:\s+used)\s+(\d+)\s+registers\b(.*)"));
static BARRIERS: LazyLock<Regex> = LazyLock::new(|| compile(r"used (\d+) barriers"));
static CUMULATIVE: LazyLock<Regex> = LazyLock::new(|| compile(r"(\d+) bytes cumulative stack size"));
// sm_1x printed `48+16 bytes smem`: asked for and the system's.
static SHARED: LazyLock<Regex> = LazyLock::new(|| compile(r"(\d+)(?:\+\d+)? bytes smem"));
static CONSTANT: LazyLock<Regex> = LazyLock::new(|| compile(r"(\d+)(?:\+\d+)? bytes cmem\[\d+\]"));
static LOCAL: LazyLock<Regex> = LazyLock::new(|| compile(r"(\d+)(?:\+\d+)? bytes lmem"));

/// Stack and spills of one function.
#[derive(Default)]
struct Frame {
    function: String,
    stack: Option<u32>,
    stores: Option<u32>,
    loads: Option<u32>,
}

/// Every kernel with a line of registers, in order. Functions without one (callees) are no kernels.
pub(crate) fn kernels(text_of_log: &str) -> Vec<Compiled> {
    let mut kernels = Vec::new();
    let mut entry: Option<(String, String)> = None;
    let mut frames: Vec<Frame> = Vec::new();
    for (line, number_of_line) in text_of_log.lines().zip(1_u32..) {
        if let Some(found) = ENTRY.captures(line) {
            entry = text(&found, 1).zip(text(&found, 2));
            frames.clear();
        } else if let Some(found) = PROPERTIES.captures(line) {
            frames.push(Frame { function: text(&found, 1).unwrap_or_default(), ..Frame::default() });
        } else if let Some(found) = FRAME.captures(line) {
            if frames.is_empty() {
                frames.push(Frame::default());
            }
            if let Some(frame) = frames.last_mut() {
                (frame.stack, frame.stores, frame.loads) = (number(&found, 1), number(&found, 2), number(&found, 3));
            }
        }
        // The linker prints both in one line.
        if let Some(found) = USED.captures(line) {
            let Some(registers) = number(&found, 1) else { continue };
            let rest = text(&found, 2).unwrap_or_default();
            kernels.push(kernel(number_of_line, registers, &rest, entry.take(), &frames));
            frames.clear();
        }
    }
    kernels
}

fn kernel(line: u32, registers: u32, rest: &str, entry: Option<(String, String)>, frames: &[Frame]) -> Compiled {
    let field = |pattern: &Regex| pattern.captures(rest).and_then(|found| number::<u32>(&found, 1));
    let constants = CONSTANT.captures_iter(rest).filter_map(|found| number::<u32>(&found, 1));
    let (name, arch) = entry.map_or((None, None), |(name, arch)| (Some(name), Some(arch)));
    // The kernel's own frame comes among those of functions it calls.
    let frame = match &name {
        Some(name) => frames.iter().find(|frame| frame.function == *name).or(frames.first()),
        None => frames.last(),
    };
    Compiled {
        line,
        name: name.or_else(|| frame.map(|frame| frame.function.clone())).unwrap_or_default(),
        arch,
        registers,
        barriers: field(&BARRIERS),
        stack: frame.and_then(|frame| frame.stack),
        cumulative_stack: field(&CUMULATIVE),
        // People write both lines as one.
        spill_stores: frame.and_then(|frame| frame.stores).or_else(|| field(&STORES)),
        spill_loads: frame.and_then(|frame| frame.loads).or_else(|| field(&LOADS)),
        shared: field(&SHARED).unwrap_or(0),
        constant: constants.fold(0, u32::saturating_add),
        local: field(&LOCAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_many_builds() {
        let log = "\
1>  ptxas info    : Compiling entry function '_Z1ajj' for 'sm_50'
1>  ptxas info    : Function properties for _Z1ajj
1>      296 bytes stack frame, 176 bytes spill stores, 312 bytes spill loads
1>  ptxas info    : Used 255 registers, 312 bytes cumulative stack size, 8192 bytes smem, 324 bytes cmem[0], 4 bytes cmem[2]
1>  ptxas info    : Function properties for cudaMalloc
1>      8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
      ptxas info    : Compiling entry function 'flash' for 'sm_90a'
      ptxas info    : Function properties for flash
          72 bytes stack frame, 144 bytes spill stores, 160 bytes spill loads
      ptxas info    : Used 168 registers, used 9 barriers, 72 bytes cumulative stack size
      ptxas info    : Compile time = 613.654 ms
ptxas info    : Compiling entry function 'bcht' for 'sm_70'
ptxas info    : Function properties for bcht
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, 412 bytes cmem[0]
ptxas info    : Used 63 registers, 340 bytes cmem[0], 4 bytes cmem[2], 40 bytes lmem, 1 textures
info    : Function properties for 'linked':
info    : used 30 registers, 0 stack, 12 bytes smem, 412 bytes cmem[0], 0 bytes lmem
";
        let found = kernels(log);
        let names: Vec<(&str, u32, Option<u32>)> =
            found.iter().map(|kernel| (kernel.name.as_str(), kernel.registers, kernel.barriers)).collect();
        assert_eq!(
            names,
            [("_Z1ajj", 255, None), ("flash", 168, Some(9)), ("bcht", 28, None), ("", 63, None), ("linked", 30, None)]
        );
        assert_eq!((found[0].spill_stores, found[0].spill_loads, found[0].stack), (Some(176), Some(312), Some(296)));
        assert_eq!((found[0].shared, found[0].constant, found[0].cumulative_stack), (8192, 328, Some(312)));
        assert_eq!((found[1].arch.as_deref(), found[1].line), (Some("sm_90a"), 10));
        assert_eq!((found[3].local, found[3].spill_stores), (Some(40), None));
        assert_eq!(found[4].shared, 12);
    }

    #[test]
    fn a_callee_s_frame_is_not_the_kernel_s() {
        let log = "\
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for callee
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers
";
        let found = kernels(log);
        assert_eq!((found.len(), found[0].stack, found[0].spill_stores), (1, Some(0), Some(0)));
    }

    #[test]
    fn spills_in_the_line_of_the_registers() {
        let found = kernels(
            "ptxas info : Used 255 registers, 400 bytes spill stores, 416 bytes spill loads\nUsed 32 registers\n",
        );
        assert_eq!((found[0].spill_stores, found[0].spill_loads), (Some(400), Some(416)));
        assert_eq!((found[1].spill_stores, found[1].spill_loads), (None, None));
    }
}
