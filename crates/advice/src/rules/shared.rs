//! Shared memory over what a block may have: at launch by Triton and others, at compile time where it is static.

use crate::explanation::{Explanation, Fix, Inequality};
use crate::gpus::{divided, on};
use crate::question::{Gpu, Question};

/// Static shared memory that compilers accept, bytes.
const STATIC: u64 = 48 << 10;
/// Shared memory of a workgroup on AMD's CDNA and RDNA, bytes: a limit that Triton prints for them too.
const AMD: u64 = 64 << 10;

fn most(gpu: &Gpu) -> u64 {
    u64::from(gpu.limits.shared_per_block_optin)
}

/// `8.6, 8.9, 12.0`: the capabilities of the candidates with exactly this limit.
fn whose(limit: u64, question: &Question) -> String {
    let mut capabilities: Vec<_> =
        question.candidates.iter().filter(|gpu| most(gpu) == limit).map(|gpu| gpu.limits.capability).collect();
    capabilities.sort();
    capabilities.dedup();
    capabilities.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What is known of a kernel whose compiler chooses tiles and stages.
pub(crate) struct Tile<'f> {
    pub(crate) kernel: Option<&'f str>,
    pub(crate) stages: Option<u32>,
}

/// A launch that asked for `required` bytes.
pub(crate) fn over_limit(
    required: u64,
    limit: Option<u64>,
    tile: Option<Tile<'_>>,
    question: &Question,
) -> Explanation {
    let allowed = limit.or_else(|| question.gpu.as_ref().map(most));
    let (fits_on, fails_on) = divided(question, |gpu| most(gpu) >= required);
    let missing = if allowed.is_none() { vec!["--gpu G: the GPU it happened on".to_owned()] } else { Vec::new() };
    let mut notes = Vec::new();
    if let Some(allowed) = allowed {
        let whose = whose(allowed, question);
        if !whose.is_empty() {
            notes.push(format!(
                "{allowed} B is what a block may have on {whose}, after opting in{}",
                reserve(question, allowed)
            ));
        }
        if allowed == AMD {
            notes.push("an AMD workgroup may have 65536 B too: for those GPUs the lists here mean nothing".to_owned());
        }
        if required <= allowed {
            notes.push(
                "by size it fits: static shared memory counts too, and the attribute must be set on the kernel that is launched"
                    .to_owned(),
            );
        }
    }
    if fits_on.is_empty() && !question.candidates.is_empty() {
        notes.push("no present part gives a block that much".to_owned());
    }
    Explanation {
        code: "shared_memory",
        kernel: tile.as_ref().and_then(|tile| tile.kernel).map(str::to_owned),
        says: match allowed {
            Some(allowed) if required <= allowed => "these numbers fit: something else was refused".to_owned(),
            _ => format!("a block asks for more shared memory than it may have{}", on(question)),
        },
        inequality: allowed.map(|allowed| Inequality {
            what: "shared memory of a block".to_owned(),
            needed: required,
            allowed,
            unit: "B",
        }),
        fixes: match (allowed.filter(|allowed| required > *allowed), tile) {
            (Some(allowed), Some(tile)) => tile_fixes(required, allowed, &tile),
            (Some(allowed), None) => plain_fixes(required, allowed, question),
            (None, _) => Vec::new(),
        },
        fits_on,
        fails_on,
        notes,
        missing,
    }
}

/// What a launch can change: opt in, or take less.
fn plain_fixes(required: u64, allowed: u64, question: &Question) -> Vec<Fix> {
    let opted_in = question.gpu.as_ref().map_or(u64::MAX, most);
    let mut fixes = Vec::new();
    if allowed == STATIC && required <= opted_in {
        fixes.push(Fix::new(
            format!("cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {required}) before the launch"),
            "48 KiB is what a block gets without opting in (shmem and attributes in CUDA.jl, preload in CuPy)",
        ));
    }
    fixes.push(Fix::new(format!("{} B less", required - allowed), ""));
    fixes
}

/// What the system takes where it takes any.
fn reserve(question: &Question, allowed: u64) -> &'static str {
    let takes = |gpu: &Gpu| most(gpu) == allowed && gpu.limits.shared_reserved_per_block > 0;
    if question.candidates.iter().any(takes) { "; an SM holds 1 KiB more for the system" } else { "" }
}

/// What people can turn in a tiled kernel: stages, then the tile.
fn tile_fixes(required: u64, allowed: u64, tile: &Tile<'_>) -> Vec<Fix> {
    let Tile { kernel, stages } = *tile;
    let mut fixes = Vec::new();
    // Numbers come from a text, which can hold any.
    let fitting = |stages: u64| stages.saturating_mul(allowed) / required;
    match stages.map(u64::from).filter(|stages| *stages > 0) {
        Some(now) if fitting(now) > 0 => fixes.push(Fix::new(
            format!("num_stages {} instead of {now}", fitting(now)),
            format!("about {} B, where stages take nearly all of it", required / now * fitting(now)),
        )),
        Some(now) => fixes.push(Fix::new(
            format!("fewer stages do not help: one of {now} takes about {} B already", required / now),
            "where stages take nearly all of it",
        )),
        None => {
            let steps: Vec<String> = (2..=8_u64)
                .filter(|now| (1..*now).contains(&fitting(*now)))
                .map(|now| format!("{now} -> {}", fitting(now)))
                .collect();
            if !steps.is_empty() {
                fixes.push(Fix::new(
                    format!("fewer num_stages: {}", steps.join(", ")),
                    "where stages take nearly all of it",
                ));
            }
        }
    }
    let mut halvings = 1_u32;
    while required >> halvings > allowed && halvings < 32 {
        halvings += 1;
    }
    let times = if halvings == 1 { "once".to_owned() } else { format!("{halvings} times") };
    fixes.push(Fix::new(
        format!("halve one dimension of the tile {times}"),
        format!("{} B at best; operands that this dimension does not touch stay", required >> halvings),
    ));
    if kernel.is_some_and(|kernel| kernel.contains("flex_attention")) {
        fixes.push(Fix::new(
            "kernel_options={\"BLOCK_M\": 64, \"BLOCK_N\": 64} for flex_attention",
            "smaller tiles than its defaults, which are made for 163 KiB and more",
        ));
    }
    fixes
}

/// Static shared memory that compiler or linker refuse.
pub(crate) fn static_over(bytes: u64, limit: u64, kernel: Option<&str>, question: &Question) -> Explanation {
    let (fits_on, fails_on) = divided(question, |gpu| most(gpu) >= bytes);
    let mut notes = vec![
        "48 KiB is the limit of static shared memory on every GPU; what a block may have beyond it has to be dynamic"
            .to_owned(),
    ];
    if limit != STATIC {
        notes = vec![format!("the compiler allowed {limit} B here, what a block of that target may have")];
    }
    Explanation {
        code: "static_shared_memory",
        kernel: kernel.map(str::to_owned),
        says: "the kernel declares more static shared memory than the compiler accepts".to_owned(),
        inequality: Some(Inequality {
            what: "static shared memory of a block".to_owned(),
            needed: bytes,
            allowed: limit,
            unit: "B",
        }),
        fixes: static_fixes(bytes, limit, question),
        fits_on,
        fails_on,
        notes: notes
            .into_iter()
            .chain(std::iter::once("the lists of GPUs are for dynamic shared memory of that size".to_owned()))
            .collect(),
        ..Explanation::default()
    }
}

/// Less of it, or dynamic memory where a block may have that much.
fn static_fixes(bytes: u64, limit: u64, question: &Question) -> Vec<Fix> {
    let mut fixes = vec![Fix::new(format!("{} B less", bytes.saturating_sub(limit)), "")];
    if limit == STATIC && question.gpu.as_ref().is_none_or(|gpu| most(gpu) >= bytes) {
        fixes.push(Fix::new(
            "declare it extern __shared__ and pass its size at launch",
            format!("with cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes})"),
        ));
    }
    fixes
}
