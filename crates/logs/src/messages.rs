//! Messages that stand for themselves: one pattern each, wherever in a text. A message can be broken over lines.
//!
//! Source of the forms: public issues and logs of the projects named beside the patterns.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::fact::{Fact, LaunchError, Located, Resource, TooMuch};
use crate::patterns::{compile, number, text};

/// A pattern and what it states.
struct Message {
    pattern: Regex,
    fact: Reader,
}

/// From what a pattern found, and the whole line of its end, to what it states.
type Reader = fn(&Captures<'_>, &str) -> Option<Fact>;

static MESSAGES: LazyLock<Vec<Message>> = LazyLock::new(|| {
    let all: [(&str, Reader); 32] = [
        // Triton, and Inductor, which puts the kernel's name where Triton has the resource's.
        (r"out of resource:\s*([^\n]*?),?\s*Required:\s*(\d+),?\s*Hardware limit:\s*(\d+)", over_limit),
        // XLA, Pallas.
        (r"Shared memory size limit exceeded: requested (\d+), available: (\d+)", |found, _| {
            let (required, limit) = (number(found, 1)?, number(found, 2));
            let resource = Resource::SharedMemory;
            Some(Fact::OverLimit { resource, required, limit, kernel: None, stages: None, tiled: true })
        }),
        // Warp.
        (r"configure (?:\S+ )?kernel for (\d+) bytes, but maximum available is (\d+)", |found, _| {
            shared(number(found, 1)?, number(found, 2))
        }),
        // CUDA.jl.
        (r"dynamic shared memory exceeds (?:kernel|device) limit \(([\d.]+) (\w+) > ([\d.]+) (\w+)\)", julia_shared),
        (
            r"register count exceeds device limit \((\d+) regs/thread \* (\d+) threads/block = \d+ > (\d+) regs/block\)",
            |found, _| {
                let (registers, threads) = (number(found, 1)?, number(found, 2)?);
                Some(Fact::BlockRegisters { registers, threads, limit: number(found, 3)? })
            },
        ),
        (r"threads per block exceeds kernel limit \((\d+) > (\d+)\)", |found, _| {
            Some(Fact::KernelThreads { threads: number(found, 1)?, limit: number(found, 2)? })
        }),
        (r"Number of ((?:threads|blocks) in [xyz]-dimension) exceeds device limit \((\d+) > (\d+)\)", |found, _| {
            Some(Fact::Dimension { what: text(found, 1)?, asked: number(found, 2)?, limit: number(found, 3)? })
        }),
        // cudaFuncSetAttribute in whatever macro, TileLang, TVM.
        (r"MaxDynamicSharedMemorySize\s*,\s*(\d+)", |found, _| shared(number(found, 1)?, None)),
        (r"set the allowed dynamic shared memory size to (\d+)", |found, _| shared(number(found, 1)?, None)),
        // ptxas and nvlink.
        (
            r"(?:[Ee]ntry function '([^']+)' uses |File uses )?too much (shared data|global constant data|constant data|parameter space|local data) \(0x([0-9a-fA-F]+) bytes(?: \+ 0x[0-9a-fA-F]+ bytes system)?, 0x([0-9a-fA-F]+) max\)",
            too_much,
        ),
        (r"(error\s*: )?Value of threads per SM for entry (\S+) is out of range", |found, _| {
            Some(Fact::MinBlocksIgnored { kernel: text(found, 2)?, refused: found.get(1).is_some() })
        }),
        (r"(?:\(C(\d+)\)\s*)?Potential Performance Loss: 'setmaxnreg' ignored[;\s]*([^\n]*)", |found, _| {
            let reason = text(found, 2)?.trim_end_matches('.').to_owned();
            Some(Fact::RequestsIgnored { code: number(found, 1), reason })
        }),
        (r"instruction 'setmaxnreg\S*': ((?:value|unexpected value) '\d+'[^\n]*)", |found, _| {
            Some(Fact::RequestRefused { says: text(found, 1)? })
        }),
        (r"(setmaxnreg\S* has register count \(\d+\) [^\n]*)", |found, _| {
            Some(Fact::RequestRefused { says: text(found, 1)? })
        }),
        (
            r"(?:\(C(\d+)\)\s*)?Potential Performance Loss: wgmma\.mma_async instructions are serialized due to ([^\n']*?)(?: in (?:the )?function '([^'\n]*)'?)?(?:\n|$)",
            |found, _| {
                let (code, reason) = (number(found, 1), text(found, 2)?);
                Some(Fact::WgmmaSerialized { code, reason, kernel: text(found, 3) })
            },
        ),
        (r"Register allocation failed with register count of '(\d+)'", |found, _| {
            Some(Fact::RegistersTooFew { cap: number(found, 1)?, needed: None, kernel: None })
        }),
        (
            r"Insufficient registers \((\d+)\) to compile instruction at line \d+ in function (\S+?)\.?\s+Try to compile with register target of (\d+)",
            |found, _| {
                let (cap, needed) = (number(found, 1)?, number(found, 3));
                Some(Fact::RegistersTooFew { cap, needed, kernel: text(found, 2) })
            },
        ),
        (
            r"[Ee]ntry function '([^']+)' with max regcount of (\d+) calls function '([^']+)' with regcount of (\d+)",
            |found, _| {
                let (kernel, cap) = (text(found, 1)?, number(found, 2)?);
                Some(Fact::CalleeRegisters { kernel, cap, callee: text(found, 3)?, registers: number(found, 4)? })
            },
        ),
        (r"adjusting per thread register count of (\d+) to lower bound of (\d+)", |found, _| {
            Some(Fact::CapRaised { from: number(found, 1)?, to: number(found, 2)? })
        }),
        (
            r"Registers are spilled to local memory in function '([^']+)'(?:, (\d+) bytes spill stores, (\d+) bytes spill loads)?",
            |found, _| {
                let bytes = number(found, 2).zip(number(found, 3));
                Some(Fact::Spills { kernel: text(found, 1)?, bytes })
            },
        ),
        (r"Local memory used for function '([^']+)', size of stack frame: (\d+) bytes", |found, _| {
            Some(Fact::LocalMemory { kernel: text(found, 1)?, frame: number(found, 2)? })
        }),
        // XLA says what it launched.
        (r"block dimensions: (\d+)x(\d+)x(\d+)", |found, _| {
            let sizes: [u32; 3] = [number(found, 1)?, number(found, 2)?, number(found, 3)?];
            sizes.into_iter().try_fold(1_u32, u32::checked_mul).map(Fact::Block)
        }),
        (
            r"Formal parameter space overflowed \((\d+) bytes required, max (\d+) bytes allowed\)(?: in function (\S+))?",
            |found, _| {
                let (bytes, limit) = (number(found, 1)?, number(found, 2)?);
                Some(Fact::TooMuch { what: TooMuch::Parameters, kernel: text(found, 3), bytes, limit })
            },
        ),
        (r"Overriding maximum register limit \d+ for '([^']+)' with (\d+) of maxrregcount", |found, _| {
            Some(Fact::CapOverridden { kernel: text(found, 1)?, cap: number(found, 2)? })
        }),
        (r"(?i)too many resources requested for launch|LAUNCH_OUT_OF_RESOURCES|LaunchOutOfResources", |_, _| {
            Some(Fact::Launch(LaunchError::OutOfResources))
        }),
        (
            r"(?i)too many blocks in cooperative launch|COOPERATIVE_LAUNCH_TOO_LARGE|CooperativeLaunchTooLarge|specified grid size \([^)]*\) exceeds the limit",
            |_, _| Some(Fact::Launch(LaunchError::CooperativeTooLarge)),
        ),
        (r"(?i)cluster misconfiguration|INVALID_CLUSTER_SIZE|InvalidClusterSize", |_, _| {
            Some(Fact::Launch(LaunchError::ClusterSize))
        }),
        (r"(?i)invalid configuration argument|cudaErrorInvalidConfiguration\b", |_, _| {
            Some(Fact::Launch(LaunchError::InvalidConfiguration))
        }),
        (
            r"CUDA_ERROR_INVALID_VALUE|cudaErrorInvalidValue|Shared memory requested exceeds device resources|insufficient shared memory",
            |_, line| (!is_elsewhere(line)).then_some(Fact::Launch(LaunchError::InvalidValue)),
        ),
        (r"(?i)\binvalid (?:argument|value)\b", |_, line| match (is_elsewhere(line), is_cuda(line)) {
            (true, _) => None,
            (false, true) => Some(Fact::Launch(LaunchError::InvalidValue)),
            (false, false) => Some(Fact::Launch(LaunchError::PerhapsInvalidValue)),
        }),
        (r"(?i)cutlass error: Error Internal|kErrorInternal|cutlass[^\n]*Error: Error Internal", |_, _| {
            Some(Fact::Launch(LaunchError::Cutlass))
        }),
        // By number, where the line is about CUDA: other programs number their errors too.
        (r"(?i)(?:\b(?:error|code|status)\W{0,4}(\d{1,3})\b|\[\s*(\d{3})\s*\]|\(0x([0-9a-f]{1,3})\))", by_number),
    ];
    // Terminals and people break lines inside a phrase.
    let loose = |pattern: &str| compile(&pattern.replace(' ', r"\s+"));
    all.into_iter().map(|(pattern, fact)| Message { pattern: loose(pattern), fact }).collect()
});

static STAGES: LazyLock<Regex> = LazyLock::new(|| compile(r"num_stages['\x22]?\s*[=:]\s*(\d+)"));

/// Whether a line is about CUDA and not about another program.
fn is_cuda(line: &str) -> bool {
    static CUDA: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)cuda|\bcu[A-Z]\w*|triton|cutlass|\bgpu\b|kernel|launch|flashinfer|nvidia"));
    CUDA.is_match(line)
}

/// Whether a line is about a call that launches nothing, or about another vendor's GPU.
fn is_elsewhere(line: &str) -> bool {
    static ELSEWHERE: LazyLock<Regex> =
        LazyLock::new(|| compile(r"\[HIP\]|hipError|cuda(?:Memcpy|Malloc|Memset|Free|Host|Stream|Event)\w*|cuMem\w+"));
    ELSEWHERE.is_match(line)
}

/// Errors by their number. Old runtimes had 7 for 701.
fn by_number(found: &Captures<'_>, line: &str) -> Option<Fact> {
    if !is_cuda(line) || is_elsewhere(line) {
        return None;
    }
    let decimal = || number::<u32>(found, 1).or_else(|| number(found, 2));
    let code = decimal().or_else(|| u32::from_str_radix(found.get(3)?.as_str(), 16).ok())?;
    Some(Fact::Launch(match code {
        701 => LaunchError::OutOfResources,
        1 => LaunchError::InvalidValue,
        9 => LaunchError::InvalidConfiguration,
        720 => LaunchError::CooperativeTooLarge,
        912 => LaunchError::ClusterSize,
        _ => return None,
    }))
}

fn shared(required: u64, limit: Option<u64>) -> Option<Fact> {
    Some(Fact::OverLimit {
        resource: Resource::SharedMemory,
        required,
        limit,
        kernel: None,
        stages: None,
        tiled: false,
    })
}

fn over_limit(found: &Captures<'_>, line: &str) -> Option<Fact> {
    let named = text(found, 1).unwrap_or_default();
    let (resource, kernel) = match named.as_str() {
        "shared memory" => (Resource::SharedMemory, None),
        "tensor memory" => (Resource::TensorMemory, None),
        "threads" => (Resource::Threads, None),
        // Inductor's messages are about shared memory, and name the kernel.
        name if name.starts_with("triton_") => (Resource::SharedMemory, Some(named.clone())),
        _ if line.to_ascii_lowercase().contains("triton") || line.contains("OutOfResources") => {
            (Resource::Other(named.clone()), None)
        }
        _ => return None,
    };
    let stages = STAGES.captures(line).and_then(|found| number(&found, 1));
    Some(Fact::OverLimit {
        resource,
        required: number(found, 2)?,
        limit: number(found, 3),
        kernel,
        stages,
        tiled: true,
    })
}

/// `96.000 KiB`.
fn julia_shared(found: &Captures<'_>, _: &str) -> Option<Fact> {
    let bytes = |value: usize, unit: usize| {
        let factor = match found.get(unit)?.as_str() {
            "B" | "bytes" | "byte" => 1.0,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            _ => return None,
        };
        let value: f64 = number(found, value)?;
        // Sizes that fit a GPU are exact in a float.
        Some((value * factor).round() as u64)
    };
    shared(bytes(1, 2)?, bytes(3, 4))
}

fn too_much(found: &Captures<'_>, _: &str) -> Option<Fact> {
    let what = match found.get(2)?.as_str() {
        "shared data" => TooMuch::Shared,
        "parameter space" => TooMuch::Parameters,
        "local data" => TooMuch::Local,
        _ => TooMuch::Constant,
    };
    let hexadecimal = |group: usize| u64::from_str_radix(found.get(group)?.as_str(), 16).ok();
    Some(Fact::TooMuch { what, kernel: text(found, 1), bytes: hexadecimal(3)?, limit: hexadecimal(4)? })
}

/// Every message, by line; those that state the same fact once.
pub(crate) fn find(log: &str) -> Vec<Located> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(log.match_indices('\n').map(|(at, _)| at.saturating_add(1))).collect();
    let line_of = |offset: usize| starts.partition_point(|start| *start <= offset);
    let text_of = |line: usize| {
        let start = starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let end = starts.get(line).copied().unwrap_or(log.len());
        log.get(start..end).unwrap_or("")
    };
    let mut facts: Vec<Located> = Vec::new();
    let mut known: HashMap<Fact, usize> = HashMap::new();
    for message in MESSAGES.iter() {
        for found in message.pattern.captures_iter(log) {
            let Some(whole) = found.get(0) else { continue };
            let last = line_of(whole.end().saturating_sub(1));
            let Some(fact) = (message.fact)(&found, text_of(last)) else { continue };
            let line = u32::try_from(line_of(whole.start())).unwrap_or(u32::MAX);
            match known.get(&fact).and_then(|at| facts.get_mut(*at)) {
                // Name and text of an error often stand in one line.
                Some(known) if known.last == line => {}
                Some(known) => {
                    known.last = line;
                    known.times = known.times.saturating_add(1);
                    known.line = known.line.min(line);
                }
                None => {
                    known.insert(fact.clone(), facts.len());
                    facts.push(Located { line, last: line, times: 1, fact });
                }
            }
        }
    }
    facts.sort_by_key(|located| located.line);
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(log: &str) -> Fact {
        let facts = find(log);
        assert_eq!(facts.len(), 1, "{facts:?}");
        facts[0].fact.clone()
    }

    fn over(resource: Resource, required: u64, limit: u64, kernel: Option<&str>, stages: Option<u32>) -> Fact {
        Fact::OverLimit {
            resource,
            required,
            limit: Some(limit),
            kernel: kernel.map(str::to_owned),
            stages,
            tiled: true,
        }
    }

    #[test]
    fn forms_of_triton_and_inductor() {
        let shared = Resource::SharedMemory;
        let known = [
            (
                "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 139776, Hardware limit: \
                 101376. Reducing block sizes or `num_stages` may help.",
                over(shared.clone(), 139_776, 101_376, None, None),
            ),
            (
                "OutOfMemoryError: out of resource: triton_mm Required: 294912 Hardware limit:232448 Reducing block sizes or \
                 `num_stages` may help. for benchmark choice TritonTemplateCaller(BLOCK_M=128, num_stages=4, num_warps=4)",
                over(shared.clone(), 294_912, 232_448, Some("triton_mm"), Some(4)),
            ),
            (
                "OutOfMemoryError: out of resource: triton_per_fused_7\nRequired: 327768 Hardware limit:232448 Reducing",
                over(shared.clone(), 327_768, 232_448, Some("triton_per_fused_7"), None),
            ),
            (
                "out of resource: shared memoryRequired: 65536Hardware limit: 49152",
                over(shared, 65536, 49152, None, None),
            ),
            (
                "out of resource: tensor memory, Required: 576, Hardware limit: 512.",
                over(Resource::TensorMemory, 576, 512, None, None),
            ),
            (
                "out of resource: threads, Required: 384, Hardware limit: 256.",
                over(Resource::Threads, 384, 256, None, None),
            ),
        ];
        for (log, fact) in known {
            assert_eq!(only(log), fact, "{log}");
        }
    }

    #[test]
    fn forms_of_compilers() {
        let refused =
            only("[ 27%] ptxas error   : Entry function '_Z1a' uses too much shared data (0xc400 bytes, 0xc000 max)");
        let kernel = Some("_Z1a".to_owned());
        assert_eq!(refused, Fact::TooMuch { what: TooMuch::Shared, kernel, bytes: 0xc400, limit: 0xc000 });
        let dropped = only(
            "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.",
        );
        let reason = "unable to determine register count at entry".to_owned();
        assert_eq!(dropped, Fact::RequestsIgnored { code: Some(7508), reason });
        let serial = only(
            "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
             insufficient register resources for the wgmma pipeline in the function '_ZN7cutlass'",
        );
        let reason = "insufficient register resources for the wgmma pipeline".to_owned();
        assert_eq!(serial, Fact::WgmmaSerialized { code: Some(7511), reason, kernel: Some("_ZN7cutlass".to_owned()) });
        let few = only(
            "ptxas fatal   : (C7602) Insufficient registers (128) to compile instruction at line 1582 in function k_0. Try to \
             compile with register target of 154 or higher.",
        );
        assert_eq!(few, Fact::RegistersTooFew { cap: 128, needed: Some(154), kernel: Some("k_0".to_owned()) });
        let ignored = only(
            "CUDACOMPILE : ptxas warning : Value of threads per SM for entry _Z9k is out of range. .minnctapersm will be ignored",
        );
        assert_eq!(ignored, Fact::MinBlocksIgnored { kernel: "_Z9k".to_owned(), refused: false });
        let refused =
            only("ptxas error   : Value of threads per SM for entry k is out of range. .minnctapersm will be ignored");
        assert_eq!(refused, Fact::MinBlocksIgnored { kernel: "k".to_owned(), refused: true });
    }

    #[test]
    fn launch_errors_in_many_wrappers() {
        use LaunchError::{ClusterSize, CooperativeTooLarge, InvalidConfiguration, InvalidValue, OutOfResources};
        let known = [
            ("RuntimeError: CUDA error: too many resources requested for launch", OutOfResources),
            (
                "CudaAPIError: [701] Call to cuLaunchKernel results in CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                OutOfResources,
            ),
            ("ERROR: CUDA error: trop de ressources (code #701, ERROR_LAUNCH_OUT_OF_RESOURCES)", OutOfResources),
            ("cudaLaunchKernel returned (0x2bd)", OutOfResources),
            ("what():  CUDA error 9 at kMeansCuda.cu:604", InvalidConfiguration),
            ("CUDA error: too many resources\nrequested  for launch", OutOfResources),
            ("CUDA_ERROR_INVALID_VALUE: invalid argument", InvalidValue),
            ("CUDA error 9 at ggml-cuda.cu:6862: invalid configuration argument", InvalidConfiguration),
            ("CUDA error: too many blocks in cooperative launch(72)", CooperativeTooLarge),
            (
                "CUDA_ERROR_INVALID_CLUSTER_SIZE: a kernel launch error has occurred due to cluster misconfiguration",
                ClusterSize,
            ),
        ];
        for (log, error) in known {
            assert_eq!(only(log), Fact::Launch(error), "{log}");
        }
        let twice = find("invalid argument\nfoo\ninvalid argument");
        assert_eq!((twice.len(), twice[0].line, twice[0].times), (1, 1, 2));
    }

    #[test]
    fn forms_of_julia() {
        let registers = only(
            "Block register count exceeds device limit (255 regs/thread * 258 threads/block = 65790 > 65536 regs/block).",
        );
        assert_eq!(registers, Fact::BlockRegisters { registers: 255, threads: 258, limit: 65536 });
        assert_eq!(
            only("Number of threads per block exceeds kernel limit (896 > 768)."),
            Fact::KernelThreads { threads: 896, limit: 768 }
        );
        assert_eq!(
            only("Amount of dynamic shared memory exceeds kernel limit (96.000 KiB > 48.000 KiB)."),
            shared(98304, Some(49152)).unwrap()
        );
    }

    #[test]
    fn other_text_states_nothing() {
        let others = [
            "",
            "\n\n",
            "Fehler: zu viele Ressourcen angefordert",
            "701 kernels, 9 warnings, code 7010",
            "\u{0}\u{1}",
            "HTTP error 701",
            "make: *** [Makefile:701: all] Error 701",
            "java: out of resource: heap, Required: 100, Hardware limit: 50",
            "cudaMemcpy failed: invalid argument",
            "Triton Error [HIP]: Code: 1, Messsage: invalid argument",
        ];
        for log in others {
            assert_eq!(find(log), [], "{log}");
        }
        for log in
            ["mkdir: invalid argument", "OSError: [Errno 22] Invalid argument", "error: invalid value 'x' for '--bar'"]
        {
            assert_eq!(only(log), Fact::Launch(LaunchError::PerhapsInvalidValue), "{log}");
        }
    }
}
