//! Names without C++: words with `_` between them. Not for: names that the compiler mangled; those are
//! [`super::template`].

use super::{NameShape, digits, sizes};

/// The shape that a name states.
pub(super) fn plain(name: &str) -> Option<NameShape> {
    if name.contains("_tilesize") {
        xmma(name)
    } else if name.starts_with("cutlass3x_") {
        cutlass3x(name)
    } else if name.starts_with("cutlass_") {
        cutlass2(name).or_else(|| cutlass3x(name))
    } else if name.starts_with("nvjet_") {
        nvjet(name)
    } else if name.contains("gemm") {
        cublas(name)
    } else {
        None
    }
}

/// `sm80_xmma_gemm_f16f16_…_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_…`,
/// `sm90_xmma_gemm_…_tilesize64x128x64_cgasize2x1x1_warpgroupsize1x1x1_…`
fn xmma(name: &str) -> Option<NameShape> {
    let mut shape = NameShape { family: "xmma", ..NameShape::default() };
    for word in name.split('_').skip(1) {
        let of = |what: &str| word.strip_prefix(what);
        if let Some(tile) = of("tilesize").and_then(sizes::<3>).filter(|_| shape.tile.is_empty()) {
            shape.tile = tile.to_vec();
        } else if let Some(cluster) = of("cgasize").and_then(sizes::<3>).filter(|_| shape.cluster.is_empty()) {
            shape.cluster = cluster.to_vec();
        } else if let Some(stages) = of("stage").and_then(digits).filter(|_| shape.stages.is_none()) {
            shape.stages = Some(stages);
        }
    }
    (!shape.tile.is_empty()).then_some(shape)
}

/// `cutlass3x_sm100_tensorop_s128x64x16gemm_f16_f16_f32_f16_f16_128x64x64_0_ntn_align8_2sm_…`, with a cluster
/// `…_128x128x64_2x1x1_0_tnn_align8_warpspecialized_pingpong_…`, without stages `…_256x256x16_ttn_align8_2sm`. Stages of 0
/// stand for as many as fit.
fn cutlass3x(name: &str) -> Option<NameShape> {
    let words: Vec<&str> = name.split('_').collect();
    words.iter().enumerate().skip(1).find_map(|(at, word)| {
        let tile = sizes::<3>(word)?;
        let mut rest = words.iter().skip(at.saturating_add(1)).peekable();
        let cluster = rest.next_if(|word| sizes::<3>(word).is_some()).and_then(|word| sizes::<3>(word));
        let stages = rest.next_if(|word| digits(word).is_some()).and_then(|word| digits(word));
        is_layout(rest.next()?, 3).then_some(())?;
        is_alignment(rest.next()?).then_some(())?;
        Some(NameShape {
            family: "cutlass3x",
            tile: tile.to_vec(),
            stages: stages.filter(|stages| *stages > 0),
            cluster: cluster.map_or_else(Vec::new, Into::into),
            schedule: Vec::new(),
        })
    })
}

/// `cutlass_80_tensorop_bf16_s16816gemm_bf16_grouped_128x64_64x3_align8`,
/// `cutlass_80_simt_sgemm_forwardCompat_128x256_8x4_tt_align1`: tile M x N, then K x stages, layouts, alignment. Source:
/// `procedural_name` of `TileDescription` and of `GemmOperation` in CUTLASS's `python/cutlass_library`.
pub(super) fn cutlass2(name: &str) -> Option<NameShape> {
    let words: Vec<&str> = name.split('_').collect();
    words.iter().enumerate().skip(2).find_map(|(at, word)| {
        let [m, n] = sizes(word)?;
        let mut rest = words.iter().skip(at.saturating_add(1));
        let [k, stages] = sizes(rest.next()?)?;
        let mut next = rest.next()?;
        if is_layout(next, 2) {
            next = rest.next()?;
        }
        is_alignment(next).then(|| NameShape {
            family: "cutlass",
            tile: vec![m, n, k],
            stages: Some(stages),
            ..NameShape::default()
        })
    })
}

/// One letter for the layout of each matrix.
fn is_layout(word: &str, matrices: usize) -> bool {
    word.len() == matrices && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// `align8`
fn is_alignment(word: &str) -> bool {
    word.strip_prefix("align").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT`: tile M x N, K x stages, cluster.
fn nvjet(name: &str) -> Option<NameShape> {
    let words: Vec<&str> = name.split('_').collect();
    let form = |at: usize| -> Option<NameShape> {
        let [tile, pipeline, cluster, _, ..] = words.get(at..)? else { return None };
        let ([m, n], [k, stages]) = (sizes(tile)?, sizes(pipeline)?);
        Some(NameShape {
            family: "nvjet",
            tile: vec![m, n, k],
            stages: Some(stages),
            cluster: sizes::<2>(cluster)?.to_vec(),
            schedule: Vec::new(),
        })
    };
    // The architecture stands before the types in some.
    let types = |at: usize| words.get(at).is_some_and(|word| is_lower(word));
    let architecture = words.get(1).and_then(|word| digits(word.strip_prefix("sm")?));
    let behind = architecture.filter(|_| types(2)).and_then(|_| form(3));
    behind.or_else(|| form(2).filter(|_| types(1)))
}

/// Lower-case letters and digits only.
fn is_lower(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// `ampere_s16816gemm_fp16_256x128_ldg8_stages_32x3_tn`, `volta_sgemm_128x64_nn`,
/// `maxwell_sgemmBatched_128x128_raggedMn_nn`: tile M x N, then K x stages.
fn cublas(name: &str) -> Option<NameShape> {
    let words: Vec<&str> = name.split('_').collect();
    let (architecture, rest) = words.split_first()?;
    ["maxwell", "pascal", "volta", "turing", "ampere"].contains(architecture).then_some(())?;
    let is_gemm = |word: &str| {
        let word = word.strip_suffix("Batched").unwrap_or(word);
        word.ends_with("gemm") && is_lower(word)
    };
    let readable = rest.iter().take_while(|word| is_lower(word) || is_gemm(word)).count();
    // Something has to follow a tile, so the last word is none.
    let last = readable.min(rest.len().saturating_sub(1));
    // Of the words that end with `gemm` the last that has a tile behind it, in one pass: a file can make names of millions.
    let mut behind = None;
    let tile = (0..readable).rev().find_map(|at| {
        let word = rest.get(at)?;
        behind = sizes::<2>(word).filter(|_| at < last).or(behind);
        behind.filter(|_| is_gemm(word))
    })?;
    let pipeline = words.iter().skip(1).zip(words.iter().skip(2)).find_map(|(word, next)| {
        let pipeline = sizes::<2>(next)?;
        (*word == "stages").then_some(pipeline)
    });
    let tile = tile.into_iter().chain(pipeline.map(|[k, _]| k)).collect();
    Some(NameShape { family: "cublas", tile, stages: pipeline.map(|[_, stages]| stages), ..NameShape::default() })
}
