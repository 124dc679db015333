//! Libraries that cuobjdump can't read whole: it is given every cubin alone, and those that it refuses are counted.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use occupant_binary::{Artifact, Cubin, ImageKind, Source, Workspace};

use super::{Library, cuobjdump, differences, ours, path, read};
use crate::paths;

pub(super) fn compare(library: &Library) -> anyhow::Result<()> {
    let path = path(library)?;
    let ours = ours::functions(&path)?;
    let kernels = ours.kernels + ours.elsewhere;
    ensure!(kernels == library.kernels, "{} has {kernels} kernels, not {}", library.path, library.kernels);
    let program = super::cuobjdump()?;
    let folder = paths::cache("piecewise");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let (mut compared, mut refused, mut differing) = (0, 0, 0);
    for_each_cubin(&path, &mut |bytes, cubin| {
        let file = folder.join("one.cubin");
        fs::write(&file, bytes)?;
        let Ok(theirs) = cuobjdump::functions(&program, &file) else {
            refused += 1;
            return Ok(());
        };
        // For a cubin alone it prints no architecture.
        let capability = cubin.architecture.capability;
        let number = u32::from(capability.major) * 10 + u32::from(capability.minor);
        let theirs = theirs.into_iter().map(|((_, name), all)| ((number, name), all)).collect();
        let mut alone = ours::File::default();
        ours::add(&mut alone, cubin);
        let differences = differences(&ours::sorted(alone), &theirs);
        differences.iter().take(3).for_each(|line| println!("  {line}"));
        compared += theirs.values().map(Vec::len).sum::<usize>();
        differing += differences.len();
        Ok(())
    })?;
    println!(
        "{} {}: {kernels} kernels; of its cubins one by one {compared} functions compared, {differing} differences, \
         {refused} cubins that cuobjdump refuses",
        library.wheel, library.path
    );
    ensure!(differing == 0, "{} differs from cuobjdump", library.path);
    ensure!(compared > 0, "cuobjdump reads no cubin of {}", library.path);
    Ok(())
}

/// Hands out the bytes of every executable cubin.
fn for_each_cubin(path: &Path, each: &mut dyn FnMut(&[u8], &Cubin) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let bytes = read(path)?;
    let artifact = Artifact::open(&bytes)?;
    let mut workspace = Workspace::default();
    for entry in artifact.modules.iter().filter(|module| !module.relocatable).flat_map(|module| &module.entries) {
        if !entry.images.iter().any(|image| image.kind == ImageKind::Elf) {
            continue;
        }
        let unpacked = entry.unpack(&bytes, &mut workspace)?;
        for image in entry.images.iter().filter(|image| image.kind == ImageKind::Elf) {
            let window = unpacked.image(image)?;
            let size = usize::try_from(window.size()).context("a cubin that fits the memory")?;
            each(&window.fetch(0, size)?, &Cubin::parse(&window)?)?;
        }
    }
    Ok(())
}
