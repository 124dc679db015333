//! The physical limit of a scan: only reading and unpacking the same entries, with the same codecs on the same cores.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use occupant_binary::{Artifact, Codec, Entry, ImageKind, Source, Workspace};

use super::seconds;

/// A file read by position, as the program reads it.
pub(super) struct Positioned {
    file: File,
    size: u64,
}

impl Positioned {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }
}

impl Source for Positioned {
    fn size(&self) -> u64 {
        self.size
    }

    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, offset)?;
        Ok(Cow::Owned(buffer))
    }

    fn fetch_in<'r>(&'r self, offset: u64, length: usize, room: &'r mut Vec<u8>) -> io::Result<&'r [u8]> {
        room.resize(room.len().max(length), 0);
        self.file.read_exact_at(&mut room[..length], offset)?;
        Ok(&room[..length])
    }
}

/// Seconds to find every entry with executable cubins, and to read and unpack it. Raw entries are read whole, once, though
/// `inspect` reads of them only tables and the code of kernels that may spill.
pub(super) fn read_and_unpack(path: &Path) -> anyhow::Result<f64> {
    let threads = std::thread::available_parallelism()?.get();
    let (spent, ()) = seconds(|| {
        let source = Positioned::open(path)?;
        let artifact = Artifact::open(&source)?;
        let has_cubin = |entry: &&Entry| entry.images.iter().any(|image| image.kind == ImageKind::Elf);
        let executable = artifact.modules.iter().filter(|module| !module.relocatable);
        let entries: Vec<&Entry> = executable.flat_map(|module| &module.entries).filter(has_cubin).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let work = || -> anyhow::Result<()> {
                let mut workspace = Workspace::default();
                let mut buffer = Vec::new();
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if entry.payload.codec == Codec::Raw {
                        read_raw(&source, entry, &mut buffer)?;
                    } else {
                        entry.unpack(&source, &mut workspace)?;
                    }
                }
                Ok(())
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().ok().context("a worker panicked")?)
        })
    })?;
    Ok(spent)
}

fn read_raw(source: &Positioned, entry: &Entry, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    const PIECE: u64 = 1 << 20;
    let (mut at, end) = (entry.payload.offset, entry.payload.offset + entry.payload.stored);
    while at < end {
        buffer.resize(PIECE.min(end - at) as usize, 0);
        source.file.read_exact_at(buffer, at)?;
        at += PIECE;
    }
    Ok(())
}
