//! `cargo xtask corpus`: kernels of real libraries against NVIDIA's `cuobjdump --dump-resource-usage`.
//!
//! Libraries and the oracle come from PyPI wheels and stay under `target/xtask`; nothing of them is committed.

mod cuobjdump;
mod made;
mod ours;
mod piecewise;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;

use crate::{sass, wheels};

/// Options of `cargo xtask corpus`.
#[derive(Args)]
pub(crate) struct Options {
    /// Only the two smallest libraries, as in continuous integration
    #[arg(long, conflicts_with = "full")]
    small: bool,
    /// Every library, some 9 GB unpacked, and those that cuobjdump can't read whole
    #[arg(long)]
    full: bool,
    /// Only libraries whose wheel or path contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Machine code against nvdisasm instead of resources against cuobjdump
    #[arg(long)]
    sass: bool,
}

/// A function of an image: capability as a number such as 90, mangled name.
pub(crate) type Key = (u32, String);

/// What both sides tell of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Resources {
    /// `None` for device functions from 9.0 on, for which cuobjdump prints 0.
    pub(crate) registers: Option<u32>,
    /// `None` where not bounded.
    pub(crate) stack: Option<u32>,
    /// As the section has it, with the system's prefix.
    pub(crate) shared: u32,
    pub(crate) local: u32,
}

/// Functions of a file; one name can stand in several images.
pub(crate) type Functions = BTreeMap<Key, Vec<Resources>>;

const CUOBJDUMP: &str = "nvidia-cuda-cuobjdump==13.5.37";

/// A library: its wheel, its path in it, and the kernels it holds.
struct Library {
    wheel: &'static str,
    path: &'static str,
    kernels: usize,
}

const fn library(wheel: &'static str, path: &'static str, kernels: usize) -> Library {
    Library { wheel, path, kernels }
}

const BITSANDBYTES: &str = "bitsandbytes==0.50.2";

const SMALL: &[Library] = &[
    library("torchvision==0.29.2", "torchvision/_C_stable.so", 330),
    library("xformers==0.0.35", "xformers/_C.so", 150),
];

const LARGE: &[Library] = &[
    library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda118.so", 1414),
    library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda124.so", 1414),
    library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda126.so", 1414),
    library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda128.so", 1616),
    library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda130.so", 1414),
    library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda132.so", 1414),
    library("nvidia-curand-cu12==10.3.10.19", "nvidia/curand/lib/libcurand.so.10", 3848),
];

const SGL: &str = "sgl-kernel==0.3.21";

/// Further libraries that cuobjdump reads whole.
const FULL: &[Library] = &[
    library("jax-cuda12-plugin==0.10.2", "jax_cuda12_plugin/_solver.so", 104),
    library("jax-cuda12-plugin==0.10.2", "jax_cuda12_plugin/_linalg.so", 56),
    library("ctranslate2==4.8.5", "ctranslate2.libs/*", 3772),
    library("faiss-gpu-cu12==1.14.1", "faiss_gpu_cu12.libs/libfaiss*", 1504),
    library("warp-lang==1.19.0", "warp/bin/warp.so", 2639),
    library("xgboost==3.2.0", "xgboost/lib/libxgboost.so", 11_900),
    library("nvidia-cusparselt-cu12==0.8.1", "nvidia/cusparselt/lib/libcusparseLt.so.0", 9336),
    library("nvidia-nccl-cu12==2.32.3", "nvidia/nccl/lib/libnccl.so.2", 1566),
    library(SGL, "sgl_kernel/sm90/common_ops.abi3.so", 15_336),
    library(SGL, "sgl_kernel/flash_ops.abi3.so", 14_127),
    library("onnxruntime-gpu==1.31.1", "onnxruntime/capi/libonnxruntime_providers_cuda.so", 74_494),
];

/// Libraries on which cuobjdump gives up: it is given their cubins one by one.
const PIECEWISE: &[Library] = &[
    library("torchvision==0.8.2@3.7", "torchvision/_C.so", 180),
    library("nvidia-curand-cu11==10.3.0.86", "nvidia/curand/lib/libcurand.so.10", 2664),
    library("xgboost==1.0.2", "xgboost/lib/libxgboost.so", 2934),
    library("spconv-cu120==2.3.6", "spconv/core_cc*", 13_166),
    library("cupy-cuda80==7.8.0@3.6", "cupy/cuda/thrust*", 2144),
    library("nvidia-cufft-cu12==11.4.1.4", "nvidia/cufft/lib/libcufft.so.11", 4619),
];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.sass {
        return sass::run(options.small, options.full, &options.only);
    }
    let large = if options.small { &[][..] } else { LARGE };
    let full = if options.full { FULL } else { &[] };
    let chosen = |library: &&Library| library.wheel.contains(&options.only) || library.path.contains(&options.only);
    let mut failed = Vec::new();
    let mut keep = |result: anyhow::Result<()>| {
        if let Err(error) = result {
            println!("FAILED: {error:#}");
            failed.push(error);
        }
    };
    SMALL.iter().chain(large).chain(full).filter(chosen).for_each(|library| keep(compare(library)));
    if options.full {
        PIECEWISE.iter().filter(chosen).for_each(|library| keep(piecewise::compare(library)));
    }
    if options.full && options.only.is_empty() {
        keep(made::windows());
        keep(made::archives());
    }
    if options.small {
        println!("left out by --small: {} larger libraries and the neighbours of cuda121", LARGE.len());
    } else if options.only.is_empty() {
        keep(neighbours());
    }
    if !options.full && options.only.is_empty() {
        println!("left out without --full: {} libraries", FULL.len() + PIECEWISE.len());
    }
    ensure!(failed.is_empty(), "{} libraries differ", failed.len());
    Ok(())
}

/// Libraries whose machine code is compared with nvdisasm's: every toolkit of bitsandbytes, and with `full` those with
/// tensor memory, TMA and warp groups.
pub(crate) fn disassembled(small: bool, full: bool) -> anyhow::Result<Vec<(String, PathBuf)>> {
    const BY_CUDA_121: Library = library(BITSANDBYTES, "bitsandbytes/libbitsandbytes_cuda121.so", 1414);
    const WITH_FULL: &[Library] = &[BY_CUDA_121, library(SGL, "sgl_kernel/flashmla_ops.abi3.so", 0)];
    let large = if small { &[][..] } else { LARGE };
    let full = if full { WITH_FULL } else { &[] };
    let is_bitsandbytes = |library: &&Library| library.wheel == BITSANDBYTES;
    let chosen = SMALL.iter().chain(large.iter().filter(is_bitsandbytes)).chain(full);
    chosen.map(|library| Ok((library.path.to_owned(), path(library)?))).collect()
}

/// Paths of libraries to measure decoding on.
pub(crate) fn decoded(full: bool) -> anyhow::Result<Vec<PathBuf>> {
    let names: &[&str] =
        if full { &["libbitsandbytes_cuda130.so", "flash_ops.abi3.so"] } else { &["libbitsandbytes_cuda130.so"] };
    let all = LARGE.iter().chain(FULL);
    all.filter(|library| names.iter().any(|name| library.path.ends_with(name))).map(path).collect()
}

/// Paths of libraries to measure scans on: small and packed, raw, large; `full` for those of 300 MB and more.
pub(crate) fn inspected(full: bool) -> anyhow::Result<Vec<PathBuf>> {
    const MEASURED: [&str; 3] = ["libbitsandbytes_cuda130.so", "_C_stable.so", "libcurand.so.10"];
    const MEASURED_FULL: [&str; 3] = ["flash_ops.abi3.so", "libonnxruntime_providers_cuda.so", "libxgboost.so"];
    let measured: Vec<&str> = MEASURED.iter().chain(if full { &MEASURED_FULL[..] } else { &[] }).copied().collect();
    let all = SMALL.iter().chain(LARGE).chain(FULL);
    all.filter(|library| measured.iter().any(|name| library.path.ends_with(name))).map(path).collect()
}

/// NVIDIA's cuobjdump, ready to run.
pub(crate) fn cuobjdump() -> anyhow::Result<PathBuf> {
    wheels::program(&wheels::unpacked(CUOBJDUMP)?, "nvidia/cu13/bin/cuobjdump")
}

/// The library's file; a `*` at the end of its path stands for the largest file whose name begins so.
fn path(library: &Library) -> anyhow::Result<PathBuf> {
    let folder = wheels::unpacked(library.wheel)?;
    let Some(start) = library.path.strip_suffix('*') else { return Ok(folder.join(library.path)) };
    let (parent, name) = start.rsplit_once('/').context("a folder and the start of a name")?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.join(parent)).with_context(|| folder.join(parent).display().to_string())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(name) && entry.metadata()?.is_file() {
            found.push((entry.metadata()?.len(), entry.path()));
        }
    }
    found.sort();
    found.pop().map(|(_, path)| path).with_context(|| format!("no {}", library.path))
}

fn compare(library: &Library) -> anyhow::Result<()> {
    let path = path(library)?;
    let ours = ours::functions(&path)?;
    let theirs = cuobjdump::functions(&cuobjdump()?, &path)?;
    let differences = differences(&ours.functions, &theirs);
    differences.iter().take(10).for_each(|line| println!("  {line}"));
    println!(
        "{} {}: {} kernels{}, {} functions compared, {} differences",
        library.wheel,
        library.path,
        ours.kernels,
        if ours.elsewhere > 0 {
            format!(" and {} outside the named sections, where cuobjdump does not look", ours.elsewhere)
        } else {
            String::new()
        },
        theirs.values().map(Vec::len).sum::<usize>(),
        differences.len()
    );
    ensure!(differences.is_empty(), "{} differs from cuobjdump", library.path);
    ensure!(ours.kernels == library.kernels, "{} has {} kernels, not {}", library.path, ours.kernels, library.kernels);
    Ok(())
}

/// Functions that only one side has, or of which the two tell different things.
fn differences(ours: &Functions, theirs: &Functions) -> Vec<String> {
    let mut lines = Vec::new();
    for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
        let (mine, other) = (ours.get(key), theirs.get(key));
        if mine != other {
            lines.push(format!("sm_{} {}: here {mine:?}, cuobjdump {other:?}", key.0, key.1));
        }
    }
    lines
}

/// cuobjdump can't read the cuda121 build of bitsandbytes. The check is the same source built by the toolkits before and
/// after it: the same kernels, the same shared memory, and where both neighbours agree, mostly the same in all.
fn neighbours() -> anyhow::Result<()> {
    let build = |toolkit: &str| -> anyhow::Result<BTreeMap<Key, Resources>> {
        let path = wheels::unpacked(BITSANDBYTES)?.join(format!("bitsandbytes/libbitsandbytes_cuda{toolkit}.so"));
        let file = ours::functions(&path)?;
        let kernels = file.functions.into_iter().filter(|(key, _)| file.kernel_names.contains(key));
        Ok(kernels.map(|((sm, name), all)| ((sm, without_cub_version(&name)), all[0].clone())).collect())
    };
    let (before, middle, after) = (build("118")?, build("121")?, build("124")?);
    ensure!(middle.len() == 1414, "cuda121 has {} kernels", middle.len());
    ensure!(middle.keys().eq(before.keys()), "cuda121 and cuda118 hold different kernels");
    ensure!(middle.keys().eq(after.keys()), "cuda121 and cuda124 hold different kernels");
    let (mut agreed, mut equal) = (0, 0);
    for ((key, found), (earlier, later)) in middle.iter().zip(before.values().zip(after.values())) {
        ensure!(found.shared == earlier.shared || found.shared == later.shared, "{key:?}: shared memory of its own");
        if earlier == later {
            agreed += 1;
            equal += usize::from(found == earlier);
        }
    }
    println!(
        "bitsandbytes cuda121: 1414 kernels, as in cuda118 and cuda124; where those agree ({agreed}), {equal} equal"
    );
    ensure!(equal * 100 >= agreed * 95, "cuda121 differs from both of its neighbours too often");
    Ok(())
}

/// Newer versions of CUB put their version and architectures into a namespace, `41CUB_200302_600_…_NS`.
fn without_cub_version(name: &str) -> String {
    match (name.find("CUB_"), name.find("_NS")) {
        (Some(start), Some(end)) if start < end => {
            let head = name[..start].trim_end_matches(|digit: char| digit.is_ascii_digit());
            // The length of `cub` itself is kept: `3cub` comes before the number that was cut.
            format!("{head}{}", &name[end + "_NS".len()..])
        }
        _ => name.to_owned(),
    }
}

/// Reads a file whole.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}
