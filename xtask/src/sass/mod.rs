//! `cargo xtask corpus --sass`: our decoding of machine code against NVIDIA's nvdisasm, instruction by instruction.
//!
//! Two questions: every instruction of published libraries, and random encodings of every opcode number. Libraries and
//! the oracle come from PyPI wheels; nothing of them is committed.

mod compare;
mod fallback;
mod graph;
mod listing;
mod pressure;
mod probe;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, ensure};
use occupant_binary::{Artifact, Cubin, ImageKind, Source, Workspace};
use occupant_hardware::ComputeCapability;
use occupant_sass::{Code, Decoder, Flow, Known};

use crate::{corpus, paths, wheels};
use compare::Tally;

/// Reads every architecture from 7.5 on.
const NVDISASM: &str = "nvidia-cuda-nvdisasm==13.5.37";
/// The last that reads 7.0 and 7.2: 12.8, in this wheel.
const NVDISASM_OLD: &str = "triton==3.5.1";

/// NVIDIA's nvdisasm for a capability, ready to run.
fn nvdisasm(capability: ComputeCapability) -> anyhow::Result<PathBuf> {
    let old = (capability.major, capability.minor) < (7, 5);
    let (wheel, path) = if old {
        (NVDISASM_OLD, "triton/backends/nvidia/bin/nvdisasm")
    } else {
        (NVDISASM, "nvidia/cu13/bin/nvdisasm")
    };
    wheels::program(&wheels::unpacked(wheel)?, path)
}

/// A cubin as a file for the oracle, with what it is.
struct Task {
    bytes: Vec<u8>,
    cubin: Cubin,
}

pub(crate) fn run(small: bool, full: bool, only: &str) -> anyhow::Result<()> {
    let mut failed = 0;
    for (name, path) in corpus::disassembled(small, full)? {
        if !name.contains(only) {
            continue;
        }
        let tally = library(&path)?;
        println!("{name}: {tally}");
        tally.faults.iter().take(10).for_each(|fault| println!("  {fault}"));
        failed += usize::from(!tally.is_clean());
    }
    let fixtures = fixtures()?;
    println!("fixtures: {fixtures}");
    fixtures.faults.iter().take(10).for_each(|fault| println!("  {fault}"));
    failed += usize::from(!fixtures.is_clean());
    for capability in probe::capabilities(small) {
        let tally = probe::random(capability)?;
        println!("random encodings for {capability}: {tally}");
        tally.faults.iter().take(10).for_each(|fault| println!("  {fault}"));
        failed += usize::from(!tally.is_clean());
    }
    if full && only.is_empty() {
        for path in corpus::decoded(true)? {
            let found = fallback::library(&path)?;
            let name = path.file_name().unwrap_or_default().display();
            println!(
                "{name}: {} functions whose spills are listed; stack accesses alone give the same bytes for {}",
                found.spilling, found.equal
            );
        }
    }
    if only.is_empty() {
        pressure::run(small)?;
    }
    ensure!(failed == 0, "{failed} of the above differ from nvdisasm");
    Ok(())
}

/// Every cubin of a library, two at a time.
fn library(path: &Path) -> anyhow::Result<Tally> {
    let bytes = corpus::read(path)?;
    let artifact = Artifact::open(&bytes).with_context(|| path.display().to_string())?;
    let executable = artifact.modules.iter().filter(|module| !module.relocatable);
    let entries: Vec<_> = executable.flat_map(|module| &module.entries).collect();
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Tally::default());
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let work = |number: usize| {
            let (next, total, entries, bytes) = (&next, &total, &entries, &bytes);
            move || -> anyhow::Result<()> {
                let mut workspace = Workspace::default();
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !entry.images.iter().any(|image| image.kind == ImageKind::Elf) {
                        continue;
                    }
                    let unpacked = entry.unpack(bytes, &mut workspace)?;
                    for image in entry.images.iter().filter(|image| image.kind == ImageKind::Elf) {
                        let window = unpacked.image(image)?;
                        let cubin = Cubin::parse(&window)?;
                        let size = usize::try_from(window.size())?;
                        let task = Task { bytes: window.fetch(0, size)?.into_owned(), cubin };
                        let tally = cubin_against_oracle(&task, number)?;
                        total.lock().map_err(|_| anyhow::anyhow!("a worker panicked"))?.add(tally);
                    }
                }
                Ok(())
            }
        };
        let workers: Vec<_> = (0..2).map(|number| scope.spawn(work(number))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().ok().context("a worker panicked")?)
    })?;
    Ok(total.into_inner()?)
}

fn fixtures() -> anyhow::Result<Tally> {
    let mut total = Tally::default();
    for entry in std::fs::read_dir(paths::root().join("fixtures/bin"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cubin") {
            total.add(library(&path)?);
        }
    }
    Ok(total)
}

/// One cubin; code before 7.0 is counted and left out.
fn cubin_against_oracle(task: &Task, worker: usize) -> anyhow::Result<Tally> {
    let capability = task.cubin.architecture.capability;
    let mut tally = Tally::default();
    if capability.major < 7 {
        tally.too_old += task.cubin.functions.len();
        return Ok(tally);
    }
    let folder = paths::cache("sass");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{worker}.cubin"));
    std::fs::write(&file, &task.bytes)?;
    let decoder = Decoder::new(capability)?;
    listing::sections(&nvdisasm(capability)?, &file, &mut |section| {
        let ours = task.cubin.functions.iter().filter(|function| function.name == section.name);
        let same = |code: &[u8]| section.is_of(code);
        let mut found = false;
        for function in ours {
            found |= same(&function.read_code(&task.bytes)?);
        }
        ensure!(found, "no code section of {} has the bytes that nvdisasm prints", section.name);
        compare::section(&decoder, section, &mut tally);
        Ok(())
    })?;
    flows(task, &file, &decoder, &mut tally)?;
    Ok(tally)
}

/// The ways between the instructions of a cubin against the oracle's drawing.
fn flows(task: &Task, file: &Path, decoder: &Decoder, tally: &mut Tally) -> anyhow::Result<()> {
    // Each release draws the files of its own toolkits; 13.5 refuses older ones.
    let programs = [nvdisasm(task.cubin.architecture.capability)?, nvdisasm(ComputeCapability::new(7, 0))?];
    let Some(graphs) = programs.iter().find_map(|program| graph::of(program, file).transpose()).transpose()? else {
        tally.not_drawn += task.cubin.functions.len();
        return Ok(());
    };
    for function in &task.cubin.functions {
        let Some(theirs) = graphs.get(&function.name) else { continue };
        let bytes = function.read_code(&task.bytes)?;
        let inner: Vec<u32> = function.inner.iter().filter_map(|inner| u32::try_from(inner.offset).ok()).collect();
        let mut jumps: Vec<(u32, &[u32])> = function.jumps.iter().map(|jump| (jump.from, jump.to.as_slice())).collect();
        jumps.sort_by_key(|(from, _)| *from);
        let code = Code::new(*decoder, &bytes);
        let flow = Flow::new(&code, &Known { inner: &inner, jumps: &jumps });
        let (equal, faults) = graph::compare(&code, &flow, theirs);
        tally.ways += equal;
        tally.drawn += 1;
        tally.differing += faults.len();
        tally.faults.extend(faults.into_iter().map(|fault| format!("{}: {fault}", function.name)));
    }
    Ok(())
}
