//! How many kernels of real libraries get a number, a range or a refusal, and why. Not for: whether the numbers are right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{paths, process, wheels};

/// GPUs that are asked about, one of each generation that the libraries are built for.
const GPUS: [&str; 5] = ["a100-sxm4-80gb", "l40", "h100-sxm", "b200-sxm", "rtx-5090"];

/// Asks the program about each library and prints a table as in docs/accuracy.md.
pub(crate) fn run() -> Result<()> {
    let program = paths::program()?;
    let sgl = wheels::unpacked("sgl-kernel==0.3.21")?.join("sgl_kernel");
    let mut asked = vec![("flash_ops (sgl-kernel 0.3.21)".to_owned(), sgl.join("flash_ops.abi3.so"))];
    asked.extend(common_ops(&sgl)?.into_iter().map(|path| {
        let build = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        (format!("common_ops, {build} (sgl-kernel 0.3.21)"), path)
    }));
    asked.push(("Triton 3.9.0: matmul, softmax, row sum".to_owned(), triton()?));
    println!("| library | GPU | kernels | measured | range | refused | why refused |\n|---|---|---|---|---|---|---|");
    for (name, path) in asked {
        for gpu in GPUS {
            let output =
                process::output(Command::new(&program).args(["need", "--format", "jsonl", "--gpu", gpu]).arg(&path));
            let counts = count(&output?.stdout)?;
            if counts.kernels > 0 {
                println!("| {name} | {gpu} | {}", counts.line());
            }
        }
    }
    Ok(())
}

/// The libraries of that name: one for each generation they are built for.
fn common_ops(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let is_library = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("common_ops"));
            match path.is_dir() {
                true => folders.push(path),
                false if is_library && path.extension().is_some_and(|extension| extension == "so") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A folder of compiled Triton kernels.
fn triton() -> Result<PathBuf> {
    let cache = paths::cache("triton");
    if !cache.is_dir() {
        let wheel = wheels::unpacked("triton==3.9.0")?;
        let bin = wheel.join("triton/backends/nvidia/bin");
        process::output(Command::new("chmod").args(["-R", "+x"]).arg(&bin))?;
        let source = paths::root().join("xtask/data/triton/kernels.py");
        process::output(Command::new("python3").env("PYTHONPATH", &wheel).arg(&source).arg(&cache))
            .context("compiling Triton kernels")?;
    }
    Ok(cache)
}

#[derive(Default)]
struct Counts {
    kernels: usize,
    measured: usize,
    ranges: usize,
    refused: BTreeMap<String, usize>,
}

fn count(lines: &[u8]) -> Result<Counts> {
    let mut counts = Counts::default();
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line)?;
        // Without an image for the GPU there is nothing to model.
        let Some(need) = record.get("need").filter(|need| !need.is_null()) else { continue };
        counts.kernels += 1;
        match need["validation"].as_str() {
            Some("measured") => counts.measured += 1,
            Some(_) => counts.ranges += 1,
            None => {
                let reason = need["reason_code"].as_str().context("a refusal without a reason")?;
                *counts.refused.entry(reason.to_owned()).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

impl Counts {
    fn line(&self) -> String {
        let mut reasons: Vec<(&String, &usize)> = self.refused.iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let reasons: Vec<String> =
            reasons.iter().map(|(reason, number)| format!("{} {number}", reason.replace('_', " "))).collect();
        let refused: usize = self.refused.values().sum();
        format!("{} | {} | {} | {refused} | {} |", self.kernels, self.measured, self.ranges, reasons.join(", "))
    }
}
