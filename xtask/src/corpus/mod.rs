//! `cargo xtask corpus`: kernels of real libraries against NVIDIA's `cuobjdump --dump-resource-usage`.
//!
//! Libraries and the oracle come from PyPI wheels and stay under `target/xtask`; nothing of them is committed.

mod cuobjdump;
mod ours;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;

use crate::wheels;

/// Options of `cargo xtask corpus`.
#[derive(Args)]
pub(crate) struct Options {
    /// Only the two smallest libraries, as in continuous integration
    #[arg(long)]
    small: bool,
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

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let large = if options.small { &[][..] } else { LARGE };
    for library in SMALL.iter().chain(large) {
        compare(library)?;
    }
    if options.small {
        println!("left out by --small: {} larger libraries and the neighbours of cuda121", LARGE.len());
    } else {
        neighbours()?;
    }
    Ok(())
}

/// Paths of libraries to measure scans on: one small and packed, one with raw entries, one large.
pub(crate) fn inspected() -> anyhow::Result<Vec<PathBuf>> {
    let measured = ["libbitsandbytes_cuda130.so", "_C_stable.so", "libcurand.so.10"];
    let all = SMALL.iter().chain(LARGE);
    all.filter(|library| measured.iter().any(|name| library.path.ends_with(name))).map(path).collect()
}

/// NVIDIA's cuobjdump, ready to run.
pub(crate) fn cuobjdump() -> anyhow::Result<PathBuf> {
    cuobjdump::program(&wheels::unpacked(CUOBJDUMP)?)
}

fn path(library: &Library) -> anyhow::Result<PathBuf> {
    Ok(wheels::unpacked(library.wheel)?.join(library.path))
}

fn compare(library: &Library) -> anyhow::Result<()> {
    let path = path(library)?;
    let ours = ours::functions(&path)?;
    let theirs = cuobjdump::functions(&cuobjdump()?, &path)?;
    let differences = differences(&ours.functions, &theirs);
    differences.iter().take(10).for_each(|line| println!("  {line}"));
    println!(
        "{} {}: {} kernels, {} functions compared, {} differences",
        library.wheel,
        library.path,
        ours.kernels,
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
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}
