//! C++ names, demangled: template arguments whose order the project's public source fixes. Not for: plain words; those are
//! [`super::plain`].
//!
//! A kernel's own name, before the first `<` or `(`, tells most families, and costs next to nothing to look at. Only what
//! can stand anywhere in a name is searched for.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2};
use regex::{Captures, Regex};

use super::plain::cutlass2;
use super::{NameShape, digits};

/// The shape that a name states.
pub(super) fn template(demangled: &str) -> Option<NameShape> {
    by_function(demangled).or_else(|| by_main_loop(demangled)).or_else(|| two(demangled))
}

/// Families that the kernel's own name tells.
fn by_function(demangled: &str) -> Option<NameShape> {
    let at = memchr2(b'<', b'(', demangled.as_bytes())?;
    let (path, rest) = demangled.split_at_checked(at)?;
    let function = path.rsplit([':', ' ']).next()?;
    let Some(arguments) = rest.strip_prefix('<') else {
        return match function {
            "gemm_kernel" | "conv_kernel" => cumm(path),
            _ if function.starts_with("fmha_cutlassF") => mem_eff_attention(rest),
            _ => None,
        };
    };
    match function {
        "Kernel" | "Kernel2" if arguments.starts_with("cutlass_") => cutlass2(arguments.split('>').next()?),
        "device_kernel" => fmha_100(arguments),
        "Marlin" => marlin(arguments),
        "run_global" => fused_moe(arguments),
        "gemm_4bit_sm80_m16n8k16" => bitsandbytes::<3>(arguments),
        "gemm_4bit_sm75_m16n8k8" => bitsandbytes::<2>(arguments),
        _ if function.starts_with("attention_kernel_batched") => mem_eff_attention(arguments),
        _ if function.starts_with("flash_") => flash_2(function, arguments),
        _ => None,
    }
}

/// The template arguments up to the first `>`. Those that are read are numbers and types without arguments.
fn arguments(text: &str) -> impl Iterator<Item = &str> {
    let end = memchr(b'>', text.as_bytes()).unwrap_or(text.len());
    text.get(..end).unwrap_or("").split(", ")
}

/// The next `N` arguments as numbers.
fn numbers<'t, const N: usize>(arguments: &mut impl Iterator<Item = &'t str>) -> Option<[u32; N]> {
    let mut found = [0; N];
    for number in &mut found {
        *number = digits(arguments.next()?)?;
    }
    Some(found)
}

fn is_flag(argument: &str) -> bool {
    matches!(argument, "true" | "false")
}

/// `flash_fwd_kernel<…Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, …`: head size, rows of Q, rows of K and V,
/// warps. Source: `csrc/flash_attn/src/kernel_traits.h` of FlashAttention 2. Other projects have traits of these names with
/// other numbers in the fourth place; there a number follows, here flags (forward) or three layouts (backward). A kernel
/// that combines splits has the traits of another.
fn flash_2(function: &str, text: &str) -> Option<NameShape> {
    let (traits, rest) = text.split_once('<')?;
    let forward = match traits.rsplit(':').next()? {
        "Flash_fwd_kernel_traits" if !function.contains("combine") => true,
        "Flash_bwd_kernel_traits" if function.contains("dq_dk_dv") => false,
        _ => return None,
    };
    let mut arguments = arguments(rest);
    let [head, m, n, _warps] = numbers(&mut arguments)?;
    let follows = if forward { is_flag(arguments.next()?) } else { numbers::<3>(&mut arguments).is_some() };
    follows.then(|| NameShape { family: "flash_attention", tile: vec![m, n, head], ..NameShape::default() })
}

/// `attention_kernel_batched_impl<AttentionKernel<float, cutlass::arch::Sm50, false, 32, 128, 1024, …`: types, whether
/// aligned, queries and keys of a block. Source: `kernel_forward.h` of CUTLASS's example 41 and of PyTorch's
/// `mem_eff_attention`.
fn mem_eff_attention(text: &str) -> Option<NameShape> {
    let mut arguments = arguments(text.split_once("AttentionKernel<")?.1).skip(1);
    let aimed = arguments.next()?.starts_with("cutlass::arch::Sm") && is_flag(arguments.next()?);
    let tile = numbers::<2>(&mut arguments).filter(|_| aimed)?.to_vec();
    Some(NameShape { family: "mem_eff_attention", tile, ..NameShape::default() })
}

/// `device_kernel<cutlass::fmha::kernel::Sm100Fmha…<…cute::tuple<cute::C<256>, cute::C<128>, …`: rows of Q, rows of K and V,
/// and where it is one number the head size. Source: CUTLASS's example 77 and FlashMLA. Latent attention has a head in two
/// parts, which are steps of one multiplication and not of the other, so its depth is left out.
fn fmha_100(text: &str) -> Option<NameShape> {
    let (kernel, arguments) = text.strip_prefix("cutlass::fmha::kernel::")?.split_once('<')?;
    let (tile, schedule) = match kernel {
        // The shape of the problem, whose sizes are no constants, two types, the tile with the head sizes of K and of V.
        "Sm100FmhaBwdKernelTmaWarpSpecialized" | "Sm100FmhaBwdMlaKernelTmaWarpSpecialized" => {
            let (_, tile) = arguments.split_once("cute::tuple<cute::C<")?;
            let ([m, n, head, _], rest) = constants(tile)?;
            rest.starts_with('>').then_some((vec![m, n, head], vec![]))?
        }
        "Sm100FmhaFwdKernelTmaWarpspecialized" => {
            let (_, main_loop) = arguments.split_once("FwdMainloopTmaWarpspecialized<")?;
            let (types, tile) = main_loop.split_once("cute::tuple<cute::C<")?;
            let (tile, rest) = tile_by_heads(tile).filter(|_| !types.contains('<'))?;
            // A stride of Q. There is a copy of this class that has the tiles of both multiplications, of part of the block.
            let is_stride = ["int", "long"].iter().any(|size| rest.starts_with(&format!(", cute::tuple<{size}, ")));
            is_stride.then_some((tile, vec![]))?
        }
        // Heads take the place of rows of Q. There is no other mode than a tile over two blocks that multiply as one.
        "Sm100FmhaMlaKernelTmaWarpspecialized" => {
            (tile_by_heads(arguments.strip_prefix("cute::tuple<cute::C<")?)?.0, vec!["2sm"])
        }
        _ => return None,
    };
    Some(NameShape { family: "cutlass", tile, schedule, ..NameShape::default() })
}

/// A tile of three constants, or of two and a head of two parts; and what follows it. Begins inside the first.
fn tile_by_heads(text: &str) -> Option<(Vec<u32>, &str)> {
    if let Some((tile, rest)) = constants::<3>(text) {
        return Some((tile.to_vec(), rest.strip_prefix('>')?));
    }
    let (tile, rest) = constants::<2>(text)?;
    let (_, rest) = constants::<2>(rest.strip_prefix(", cute::tuple<cute::C<")?)?;
    Some((tile.to_vec(), rest.strip_prefix("> >")?))
}

/// `128>, cute::C<64> …`: `N` constants in a row, and what follows without the blank before it.
fn constants<const N: usize>(mut text: &str) -> Option<([u32; N], &str)> {
    let mut found = [0; N];
    for (at, constant) in found.iter_mut().enumerate() {
        if at > 0 {
            text = text.strip_prefix(", cute::C<")?;
        }
        let (number, rest) = text.split_once('>')?;
        (*constant, text) = (digits(number)?, rest);
    }
    Some((found, text.trim_start_matches(' ')))
}

/// `Marlin<__nv_bfloat16, (long)1125899906843648, 128, 4, 4, 8, false, 4, 4, true>`: threads, tiles of 16 along M, N and K,
/// whether M is 8 instead, stages, tiles of a group, kind of zero point. Source: `marlin_template.h` of vLLM since 2025;
/// earlier ones have more flags and are not read.
fn marlin(text: &str) -> Option<NameShape> {
    const UNIT: u32 = 16;
    let mut arguments = arguments(text).skip_while(|argument| digits(argument).is_none());
    let [_threads, m, n, k] = numbers(&mut arguments)?;
    let half = arguments.next()?;
    let [stages, _group] =
        [arguments.next().and_then(digits)?, arguments.next()?.trim_start_matches('-').parse().ok()?];
    if !is_flag(half) || !is_flag(arguments.next()?) || arguments.next().is_some() {
        return None;
    }
    let m = if half == "true" { m.saturating_mul(UNIT / 2) } else { m.saturating_mul(UNIT) };
    let tile = vec![m, n.saturating_mul(UNIT), k.saturating_mul(UNIT)];
    Some(NameShape { family: "marlin", tile, stages: Some(stages), ..NameShape::default() })
}

/// `run_global<fused_moe::Fused_Moe_Kernel_sm80<half_t, half_t, half_t, 128, 128, 64, 4, …`: largest tile along M, tile
/// along N and K, stages. Source: `fused_moe_kernel.cuh` of TensorRT-LLM.
fn fused_moe(text: &str) -> Option<NameShape> {
    let rest = text.strip_prefix("fused_moe::Fused_Moe_Kernel_sm80<")?;
    let [m, n, k, stages] = numbers(&mut arguments(rest).skip(3))?;
    Some(NameShape { family: "fused_moe", tile: vec![m, n, k], stages: Some(stages), ..NameShape::default() })
}

/// `gemm_4bit_sm80_m16n8k16<__half, 64, 64, 128>`: tile M, N and K, `gemm_4bit_sm75_m16n8k8<__half, 64, 128>`: M and N.
/// Source: the comments on both kernels in bitsandbytes.
fn bitsandbytes<const N: usize>(text: &str) -> Option<NameShape> {
    let tile = numbers::<N>(&mut arguments(text).skip(1))?.to_vec();
    Some(NameShape { family: "bitsandbytes", tile, ..NameShape::default() })
}

/// `cumm::gemm::main::Volta_f16f16f16f16f16ttt_m128n256k32m64n64k32A1T884_200_S1::gemm_kernel`, of spconv: tile of a block,
/// tile of a warp, then stages and two flags in one word. Source: `get_algo_name` in `cumm/gemm/main.py` of cumm.
fn cumm(path: &str) -> Option<NameShape> {
    let mut names = path.rsplit("::").skip(1);
    let name = names.next()?;
    names.any(|name| name == "cumm").then_some(())?;
    let mut words = name.split('_').skip(2);
    let (block, _warp) = words.next()?.strip_prefix('m')?.split_once('m')?;
    let (m, rest) = block.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let tile = vec![digits(m)?, digits(n)?, digits(k)?];
    let stages = words.next().and_then(|word| digits(word.get(..word.len().checked_sub(2)?)?));
    Some(NameShape { family: "cumm", tile, stages, ..NameShape::default() })
}

/// A pattern of this file; that each compiles is tested.
fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

fn number(found: &Captures<'_>, group: &str) -> Option<u32> {
    found.name(group)?.as_str().parse().ok()
}

fn text<'n>(found: &Captures<'n>, group: &str) -> &'n str {
    found.name(group).map_or("", |matched| matched.as_str())
}

/// CUTLASS 3 and FlashAttention 3 kernels by the template arguments of their main loop.
fn by_main_loop(demangled: &str) -> Option<NameShape> {
    static MAIN_LOOP: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Mainloop"));
    /// What stands before it in the name of one of them.
    const COLLECTIVE: usize = "Collective".len();
    // Letters and digits are named one by one: those of all languages cost milliseconds to compile.
    //
    // Stages, cluster and tile of a warp-specialised main loop stand in a row.
    static THREE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"(?x)
            (?<loop>MainloopSm[0-9]+[0-9A-Za-z_]*|CollectiveMainloopFwdSm90)<(?<stages>[0-9]+),\ (?:[0-9]+,\ )*
            cute::tuple<(?<cluster>cute::C<[0-9]+>,\ cute::C<[0-9]+>,\ cute::C<[0-9]+>)\ ?>
            (?:(?:,\ [0-9A-Za-z_:]+(?:<[^<>]*>)?)?\ ?>)?,\x20
            cute::tuple<(?<tile>cute::C<[0-9]+>,\ cute::C<[0-9]+>,\ cute::C<[0-9]+>)\ ?>",
        )
    });
    // Warps, then stages, then the tile.
    static FLASH_80: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"CollectiveMainloopFwdSm80<[0-9]+, (?<stages>[0-9]+), (?:true|false), cute::tuple<cute::C<(?<m>[0-9]+)>, cute::C<(?<n>[0-9]+)>, cute::C<(?<k>[0-9]+)>",
        )
    });
    let at = MAIN_LOOP.find(demangled.as_bytes())?;
    let rest = demangled.get(at.saturating_sub(COLLECTIVE)..).unwrap_or(demangled);
    let can_be = |words: &[&str]| words.iter().any(|word| rest.contains(word));
    let three = || THREE.as_ref()?.captures(rest);
    if let Some(found) = can_be(&["MainloopSm", "MainloopFwdSm90<"]).then(three).flatten() {
        let constants = |group| -> Option<Vec<u32>> {
            let parts = text(&found, group).split(|c: char| !c.is_ascii_digit());
            parts.filter(|part| !part.is_empty()).map(digits).collect()
        };
        let family = if text(&found, "loop").starts_with("Collective") { "flash_attention" } else { "cutlass" };
        return Some(NameShape {
            family,
            tile: constants("tile")?,
            stages: number(&found, "stages"),
            cluster: constants("cluster")?,
            schedule: Vec::new(),
        });
    }
    let flash_80 = || FLASH_80.as_ref()?.captures(rest);
    let found = can_be(&["MainloopFwdSm80<"]).then(flash_80).flatten()?;
    let tile = ["m", "n", "k"].into_iter().map(|part| number(&found, part)).collect::<Option<_>>()?;
    Some(NameShape { family: "flash_attention", tile, stages: number(&found, "stages"), ..NameShape::default() })
}

/// The first shape of a kernel of CUTLASS 2 is the block's; warps and instructions follow.
fn two(demangled: &str) -> Option<NameShape> {
    const SHAPE: &str = "cutlass::gemm::GemmShape<";
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(SHAPE));
    let after = demangled.get(FINDER.find(demangled.as_bytes())?..)?.strip_prefix(SHAPE)?;
    let tile: Vec<u32> = after.split('>').next()?.split(',').map(|part| digits(part.trim())).collect::<Option<_>>()?;
    (tile.len() == 3).then(|| NameShape { family: "cutlass", tile, ..NameShape::default() })
}
