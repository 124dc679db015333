//! How fast machine code is read: decoding alone, and with blocks and loops, on one core.

use std::hint::black_box;
use std::path::Path;

use anyhow::ensure;
use occupant_binary::{Artifact, Cubin, ImageKind, Workspace};
use occupant_core::report::KernelRecord;
use occupant_core::{Event, File, InspectOptions, Memory, ReadCode, inspect};
use occupant_sass::{Analysis, Code, Decoder, Known};

use super::limit::Positioned;
use super::{median, seconds};
use crate::corpus;

/// The code of one function.
struct Section {
    decoder: Decoder,
    bytes: Vec<u8>,
    inner: Vec<u32>,
}

/// Code is gathered up to this, so that the largest library fits the memory.
const ENOUGH: usize = 200 << 20;

pub(super) fn run(rounds: usize, full: bool) -> anyhow::Result<()> {
    for path in corpus::decoded(full)? {
        let code = gather(&path)?;
        let megabytes = code.iter().map(|code| code.bytes.len()).sum::<usize>() as f64 / 1e6;
        ensure!(megabytes > 0.0, "{} has no code", path.display());
        let (mut decoding, mut structure) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            decoding.push(seconds(|| Ok(black_box(code.iter().map(decode).sum::<u64>())))?.0);
            structure.push(seconds(|| Ok(black_box(code.iter().map(take_apart).sum::<usize>())))?.0);
        }
        println!(
            "{} ({megabytes:.0} MB of code, {} functions): decoded at {:.0} MB/s, with blocks and loops {:.0} MB/s, one core",
            path.file_name().unwrap_or_default().display(),
            code.len(),
            megabytes / median(decoding),
            megabytes / median(structure)
        );
    }
    for path in corpus::inspected(full)? {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            with.push(scan(&path, ReadCode::WhereItTells)?);
            without.push(scan(&path, ReadCode::Nothing)?);
        }
        let (with, without) = (median(with), median(without));
        let name = path.file_name().unwrap_or_default().display();
        println!("{name}: list with spills {with:.3} s, without {without:.3} s: {:.2} times", with / without);
    }
    Ok(())
}

/// Seconds for a list of all kernels, JSON included.
fn scan(path: &Path, code: ReadCode) -> anyhow::Result<f64> {
    let source = Positioned::open(path)?;
    let options = InspectOptions { code, ..InspectOptions::default() };
    let file = File { name: "scanned", source: &source, companion: None };
    let make = |kernels: Vec<KernelRecord>| serde_json::to_vec(&kernels).map_or(0, |json| json.len());
    let mut size = 0;
    let (spent, _) = seconds(|| {
        Ok(inspect(&file, &Memory, &options, &make, &mut |event| {
            if let Event::Kernels(bytes) = event {
                size += bytes;
            }
        }))
    })?;
    ensure!(size > 0, "{} has no kernels", path.display());
    Ok(spent)
}

/// Everything that is certain of every instruction.
fn decode(code: &Section) -> u64 {
    let one = |instruction: occupant_sass::Instruction| {
        let control = instruction.control();
        let bytes = instruction.access().and_then(|access| access.bytes).unwrap_or(0);
        let class = instruction.class().map_or(0, |class| class as u64);
        let target = u64::from(instruction.target().is_some());
        u64::from(control.stall) + u64::from(control.wait) + u64::from(bytes) + class + target
    };
    code.decoder.instructions(&code.bytes).map(one).sum()
}

fn take_apart(code: &Section) -> usize {
    let analysis = Analysis::new(&Code::new(code.decoder, &code.bytes), &Known { inner: &code.inner, jumps: &[] });
    analysis.structure.flow.blocks.len() + analysis.contents.len()
}

fn gather(path: &Path) -> anyhow::Result<Vec<Section>> {
    let bytes = corpus::read(path)?;
    let artifact = Artifact::open(&bytes)?;
    let mut workspace = Workspace::default();
    let (mut all, mut size) = (Vec::new(), 0);
    let executable = artifact.modules.iter().filter(|module| !module.relocatable);
    for entry in executable.flat_map(|module| &module.entries) {
        if !entry.images.iter().any(|image| image.kind == ImageKind::Elf) || size > ENOUGH {
            continue;
        }
        let unpacked = entry.unpack(&bytes, &mut workspace)?;
        for image in entry.images.iter().filter(|image| image.kind == ImageKind::Elf) {
            let window = unpacked.image(image)?;
            let cubin = Cubin::parse(&window)?;
            let Ok(decoder) = Decoder::new(cubin.architecture.capability) else { continue };
            for function in &cubin.functions {
                let inner = function.inner.iter().filter_map(|inner| u32::try_from(inner.offset).ok()).collect();
                let bytes = function.read_code(&window)?.into_owned();
                size += bytes.len();
                all.push(Section { decoder, bytes, inner });
            }
        }
    }
    Ok(all)
}
