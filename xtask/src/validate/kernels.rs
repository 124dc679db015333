//! Our own kernels, compiled for each architecture when they are needed. Not for: what they are compared with.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, ensure};
use occupant_binary::Cubin;
use occupant_hardware::ComputeCapability;
use occupant_sass::{Analysis, Code, Decoder, Known};

use crate::{fixtures, paths, process};

/// Compiled kernels by source, architecture and name.
#[derive(Default)]
pub(crate) struct Kernels {
    modules: BTreeMap<(String, ComputeCapability), BTreeMap<String, Arc<Analysis>>>,
}

impl Kernels {
    /// A kernel of `fixtures/src/<source>.cu`, compiled for an architecture.
    pub(crate) fn get(&mut self, source: &str, to: ComputeCapability, name: &str) -> anyhow::Result<Arc<Analysis>> {
        let key = (source.to_owned(), to);
        if !self.modules.contains_key(&key) {
            let path = compile(source, to)?;
            let module = read(&path).with_context(|| path.display().to_string())?;
            self.modules.insert(key.clone(), module);
        }
        let module = &self.modules[&key];
        module.get(name).cloned().with_context(|| format!("{source}.cu has no kernel {name}"))
    }
}

/// The oldest architecture of the newest compiler.
const OLDEST: u32 = 75;
/// A compiler that still knows 7.0, and the newest PTX it takes.
const OLD_PTXAS: (&str, &str) = ("ptxas-12.9.86", "8.8");

fn compile(source: &str, to: ComputeCapability) -> anyhow::Result<PathBuf> {
    let sm = u32::from(to.major) * 10 + u32::from(to.minor);
    let folder = paths::cache("validate");
    fs::create_dir_all(&folder)?;
    let (from, cubin) =
        (paths::root().join(format!("fixtures/src/{source}.cu")), folder.join(format!("{source}.sm_{sm}.cubin")));
    let nvcc = fixtures::tool("nvcc-13.5.37")?;
    if sm >= OLDEST {
        process::output(Command::new(nvcc).args(["-cubin", &format!("-arch=sm_{sm}"), "-o"]).arg(&cubin).arg(&from))?;
        return Ok(cubin);
    }
    let ptx = folder.join(format!("{source}.sm_{sm}.ptx"));
    process::output(Command::new(nvcc).args(["-ptx", &format!("-arch=sm_{OLDEST}"), "-o"]).arg(&ptx).arg(&from))?;
    let text = fs::read_to_string(&ptx)?;
    let lowered = text.lines().map(|line| match line.split_whitespace().next() {
        Some(".version") => format!(".version {}\n", OLD_PTXAS.1),
        Some(".target") => format!(".target sm_{sm}\n"),
        _ => format!("{line}\n"),
    });
    fs::write(&ptx, lowered.collect::<String>())?;
    let ptxas = fixtures::tool(OLD_PTXAS.0)?;
    process::output(Command::new(ptxas).args([&format!("-arch=sm_{sm}"), "-o"]).arg(&cubin).arg(&ptx))?;
    Ok(cubin)
}

/// Every kernel of a cubin, taken apart.
pub(crate) fn read(path: &std::path::Path) -> anyhow::Result<BTreeMap<String, Arc<Analysis>>> {
    let bytes = fs::read(path)?;
    let bytes = bytes.as_slice();
    let cubin = Cubin::parse(&bytes)?;
    let decoder = Decoder::new(cubin.architecture.capability)?;
    let mut kernels = BTreeMap::new();
    for function in &cubin.functions {
        let code = function.read_code(&bytes)?;
        let analysis = Analysis::new(&Code::new(decoder, &code), &Known::default());
        kernels.insert(function.name.clone(), Arc::new(analysis));
    }
    ensure!(!kernels.is_empty(), "no kernel");
    Ok(kernels)
}
