//! What the name of a library's kernel says about its shape: tile, stages, cluster, schedule.
//!
//! Only forms whose fields are certain are decoded, each with an example; any other name says nothing. Not for: shapes
//! that a launch or a binary states; those win.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The shape that a name states. `None` and empty where it does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameShape {
    /// Naming scheme: `xmma`, `cutlass3x`, `cublas`, `nvjet`, `cutlass`, `flash_attention`.
    pub family: &'static str,
    /// Tile of a block, M, N and, where named, K.
    pub tile: Vec<u32>,
    /// Stages of the pipeline through shared memory.
    pub stages: Option<u32>,
    /// Blocks of a cluster along x, y and z.
    pub cluster: Vec<u32>,
    /// Schedules: `pingpong`, `cooperative`, `warp_specialized`, `stream_k`, `split_k`, `1sm`, `2sm`.
    pub schedule: Vec<&'static str>,
}

/// Decodes a name; the demangled form is needed for C++ templates only.
#[must_use]
pub fn name_shape(name: &str, demangled: &str) -> Option<NameShape> {
    let plain = if name.starts_with("_Z") { None } else { Some(name) };
    let shape = match plain {
        Some(name) if name.contains("_tilesize") => xmma(name),
        Some(name) if name.starts_with("cutlass3x_") || name.starts_with("cutlass_") => cutlass3x(name),
        Some(name) if name.starts_with("nvjet_") => nvjet(name),
        Some(name) if name.contains("gemm") => cublas(name),
        Some(_) => None,
        None => template(demangled),
    };
    shape.map(|mut shape| {
        shape.schedule.extend(schedules(if plain.is_some() { name } else { demangled }));
        shape.schedule.sort_unstable();
        shape.schedule.dedup();
        shape
    })
}

/// Words of a name that state a schedule.
fn schedules(name: &str) -> impl Iterator<Item = &'static str> {
    const WORDS: [(&str, &str); 12] = [
        ("Pingpong", "pingpong"),
        ("pingpong", "pingpong"),
        ("Cooperative", "cooperative"),
        ("cooperative", "cooperative"),
        ("WarpSpecialized", "warp_specialized"),
        ("warpspecialized", "warp_specialized"),
        ("stream_k", "stream_k"),
        ("StreamK", "stream_k"),
        ("split_k", "split_k"),
        ("_coop", "cooperative"),
        ("_1sm", "1sm"),
        ("_2sm", "2sm"),
    ];
    WORDS.into_iter().filter(|(word, _)| name.contains(word)).map(|(_, schedule)| schedule)
}

fn number(found: &Captures<'_>, group: &str) -> Option<u32> {
    found.name(group)?.as_str().parse().ok()
}

/// `128x128x32` as numbers.
fn numbers(text: &str) -> Vec<u32> {
    text.split('x').filter_map(|part| part.parse().ok()).collect()
}

fn text<'n>(found: &Captures<'n>, group: &str) -> &'n str {
    found.name(group).map_or("", |matched| matched.as_str())
}

/// A pattern of this file; that each compiles is tested.
fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

/// `sm80_xmma_gemm_f16f16_…_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_…`,
/// `sm90_xmma_gemm_…_tilesize64x128x64_cgasize2x1x1_warpgroupsize1x1x1_…`
fn xmma(name: &str) -> Option<NameShape> {
    static TILE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"_tilesize(?<tile>\d+x\d+x\d+)(?:_|$)"));
    static STAGES: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"_stage(?<stages>\d+)(?:_|$)"));
    static CLUSTER: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"_cgasize(?<cluster>\d+x\d+x\d+)(?:_|$)"));
    let find = |regex: &'static LazyLock<Option<Regex>>| regex.as_ref().and_then(|regex| regex.captures(name));
    let tile = find(&TILE)?;
    Some(NameShape {
        family: "xmma",
        tile: numbers(text(&tile, "tile")),
        stages: find(&STAGES).and_then(|found| number(&found, "stages")),
        cluster: find(&CLUSTER).map_or_else(Vec::new, |found| numbers(text(&found, "cluster"))),
        schedule: Vec::new(),
    })
}

/// `cutlass3x_sm100_tensorop_s128x64x16gemm_f16_f16_f32_f16_f16_128x64x64_0_ntn_align8_2sm_…`, with a cluster
/// `…_128x128x64_2x1x1_0_tnn_align8_warpspecialized_pingpong_…`. Stages of 0 stand for as many as fit.
fn cutlass3x(name: &str) -> Option<NameShape> {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"_(?<tile>\d+x\d+x\d+)(?:_(?<cluster>\d+x\d+x\d+))?_(?<stages>\d+)_[a-z]{3}_align\d+")
    });
    let found = FORM.as_ref()?.captures(name)?;
    Some(NameShape {
        family: "cutlass3x",
        tile: numbers(text(&found, "tile")),
        stages: number(&found, "stages").filter(|stages| *stages > 0),
        cluster: numbers(text(&found, "cluster")),
        schedule: Vec::new(),
    })
}

/// `nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT`: tile M x N, K x stages, cluster.
fn nvjet(name: &str) -> Option<NameShape> {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"^nvjet_(?:sm\d+_)?[a-z0-9]+_(?<tile>\d+x\d+)_(?<k>\d+)x(?<stages>\d+)_(?<cluster>\d+x\d+)_")
    });
    let found = FORM.as_ref()?.captures(name)?;
    let mut tile = numbers(text(&found, "tile"));
    tile.extend(number(&found, "k"));
    let cluster = numbers(text(&found, "cluster"));
    Some(NameShape { family: "nvjet", tile, stages: number(&found, "stages"), cluster, schedule: Vec::new() })
}

/// `ampere_s16816gemm_fp16_256x128_ldg8_stages_32x3_tn`, `volta_sgemm_128x64_nn`: tile M x N, then K x stages.
fn cublas(name: &str) -> Option<NameShape> {
    static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"^(?:maxwell|pascal|volta|turing|ampere)_(?:[a-z0-9]+_)*[a-z0-9]*gemm(?:_[a-z0-9]+)*?_(?<tile>\d+x\d+)_",
        )
    });
    static STAGES: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"_stages_(?<k>\d+)x(?<stages>\d+)(?:_|$)"));
    let found = FORM.as_ref()?.captures(name)?;
    let pipeline = STAGES.as_ref().and_then(|regex| regex.captures(name));
    let mut tile = numbers(text(&found, "tile"));
    tile.extend(pipeline.as_ref().and_then(|found| number(found, "k")));
    let stages = pipeline.and_then(|found| number(&found, "stages"));
    Some(NameShape { family: "cublas", tile, stages, cluster: Vec::new(), schedule: Vec::new() })
}

/// CUTLASS and FlashAttention kernels by the template arguments of their main loop.
fn template(demangled: &str) -> Option<NameShape> {
    // Stages, cluster and tile of a warp-specialised main loop stand in a row.
    static THREE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"(?x)
            (?<loop>MainloopSm\d+\w*|CollectiveMainloopFwdSm90)<(?<stages>\d+),\ (?:\d+,\ )*
            cute::tuple<(?<cluster>cute::C<\d+>,\ cute::C<\d+>,\ cute::C<\d+>)\ ?>
            (?:(?:,\ [\w:]+(?:<[^<>]*>)?)?\ ?>)?,\x20
            cute::tuple<(?<tile>cute::C<\d+>,\ cute::C<\d+>,\ cute::C<\d+>)\ ?>",
        )
    });
    // Warps, then stages, then the tile.
    static FLASH_80: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"CollectiveMainloopFwdSm80<\d+, (?<stages>\d+), (?:true|false), cute::tuple<cute::C<(?<m>\d+)>, cute::C<(?<n>\d+)>, cute::C<(?<k>\d+)>",
        )
    });
    if !demangled.contains("MainloopSm") && !demangled.contains("MainloopFwdSm") {
        return two(demangled);
    }
    if let Some(found) = THREE.as_ref().and_then(|regex| regex.captures(demangled)) {
        let constants = |text: &str| -> Vec<u32> {
            text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
        };
        let family = if text(&found, "loop").starts_with("Collective") { "flash_attention" } else { "cutlass" };
        return Some(NameShape {
            family,
            tile: constants(text(&found, "tile")),
            stages: number(&found, "stages"),
            cluster: constants(text(&found, "cluster")),
            schedule: Vec::new(),
        });
    }
    if let Some(found) = FLASH_80.as_ref().and_then(|regex| regex.captures(demangled)) {
        let tile = ["m", "n", "k"].into_iter().filter_map(|part| number(&found, part)).collect();
        let stages = number(&found, "stages");
        return Some(NameShape { family: "flash_attention", tile, stages, ..NameShape::default() });
    }
    two(demangled)
}

/// The first shape of a kernel of CUTLASS 2 is the block's; warps and instructions follow.
fn two(demangled: &str) -> Option<NameShape> {
    let after = demangled.split_once("cutlass::gemm::GemmShape<")?.1;
    let tile: Vec<u32> = after.split('>').next()?.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    (tile.len() == 3).then(|| NameShape { family: "cutlass", tile, ..NameShape::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(name: &str) -> NameShape {
        let demangled = crate::demangle(name);
        name_shape(name, &demangled).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn names_of_cublas() {
        let xmma =
            shape("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel");
        assert_eq!((xmma.tile, xmma.stages, xmma.cluster.len()), (vec![128, 128, 32], Some(4), 0));
        let hopper = shape(
            "sm90_xmma_gemm_f16f16_f16f32_f32_nt_n_tilesize64x128x64_cgasize2x1x1_warpgroupsize1x1x1_aux_f16_execute_split_k_kernel__5x_cublas",
        );
        assert_eq!((hopper.tile, hopper.stages), (vec![64, 128, 64], None));
        assert_eq!((hopper.cluster, hopper.schedule), (vec![2, 1, 1], vec!["split_k"]));
        let classic = shape("ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_tn");
        assert_eq!((classic.tile, classic.stages), (vec![256, 128, 32], Some(3)));
        assert_eq!(shape("volta_sgemm_int8_128x64_lower_nt").tile, [128, 64]);
        assert_eq!(shape("ampere_s1688gemm_bf16_64x64_sliced1x4_ldg8_relu_f2f_tt").tile, [64, 64]);
        let jet = shape("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT");
        assert_eq!((jet.tile, jet.stages, jet.cluster), (vec![128, 256, 64], Some(4), vec![2, 1]));
        assert_eq!(jet.schedule, ["cooperative"]);
    }

    #[test]
    fn names_of_cutlass() {
        let blackwell = shape(
            "cutlass3x_sm100_tensorop_s128x64x16gemm_f16_f16_f32_f16_f16_128x64x64_0_ntn_align8_2sm_epi_tma_bias_f16_stream_k",
        );
        assert_eq!((blackwell.tile, blackwell.stages), (vec![128, 64, 64], None));
        assert_eq!(blackwell.schedule, ["2sm", "stream_k"]);
        let pingpong = shape(
            "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_64x128x64_2x1x1_0_tnn_align8_warpspecialized_pingpong_epi_tma",
        );
        assert_eq!((pingpong.tile, pingpong.cluster), (vec![64, 128, 64], vec![2, 1, 1]));
        assert_eq!(pingpong.schedule, ["pingpong", "warp_specialized"]);
        let two = name_shape(
            "_Z",
            "void cutlass::Kernel2<cutlass::gemm::kernel::DefaultGemm<cutlass::gemm::GemmShape<128, 128, 64>, cutlass::gemm::GemmShape<64, 32, 64> > >(int)",
        );
        assert_eq!(two.unwrap().tile, [128, 128, 64]);
        let three = name_shape(
            "_Z",
            "void k<cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, cutlass::gemm::KernelTmaWarpSpecializedPingpong>, cute::tuple<cute::C<64>, cute::C<128>, cute::C<64> >, float> >()",
        );
        let three = three.unwrap();
        assert_eq!((three.tile, three.stages, three.cluster), (vec![64, 128, 64], Some(4), vec![2, 1, 1]));
        let blackwell = name_shape(
            "_Z",
            "k<MainloopSm100TmaUmmaWarpSpecialized<17, 2, 4, cute::tuple<cute::C<2>, cute::C<2>, cute::C<1> > >, cute::tuple<cute::C<256>, cute::C<128>, cute::C<64> >, cutlass::float_e4m3_t>",
        );
        let blackwell = blackwell.unwrap();
        assert_eq!(
            (blackwell.tile, blackwell.stages, blackwell.cluster),
            (vec![256, 128, 64], Some(17), vec![2, 2, 1])
        );
        let flash = name_shape(
            "_Z",
            "k<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<80>, cute::C<256> >, 256>",
        );
        let flash = flash.unwrap();
        assert_eq!((flash.family, flash.tile, flash.stages), ("flash_attention", vec![128, 80, 256], Some(2)));
        let flash = name_shape(
            "_Z",
            "k<flash::CollectiveMainloopFwdSm80<8, 1, true, cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, 128>",
        );
        assert_eq!(flash.unwrap().stages, Some(1));
    }

    #[test]
    fn other_names_say_nothing() {
        for name in ["saxpy", "_Z6kernelPf", "my_gemm_kernel", "nvjet_hsh", "cutlass3x_sm90", "_tilesize", ""] {
            assert_eq!(name_shape(name, &crate::demangle(name)), None, "{name}");
        }
    }
}
