//! How often stack accesses alone give the spill bytes that the compiler's list gives: how far `stack_accesses` is to be
//! trusted where there is no list.

use occupant_binary::{Artifact, Cubin, Function, ImageKind, Source, Spills, Workspace};
use occupant_sass::{Code, Decoder, Known, Outline, SpillSums, listed, unlisted};

use crate::corpus;

/// Functions whose list is not empty, and those of them for which stack accesses give the same sums.
#[derive(Default)]
pub(super) struct Agreement {
    pub(super) spilling: usize,
    pub(super) equal: usize,
}

impl Agreement {
    /// Adds the functions of a cubin.
    pub(super) fn add(&mut self, cubin: &Cubin, image: &dyn Source) -> anyhow::Result<()> {
        let Ok(decoder) = Decoder::new(cubin.architecture.capability) else { return Ok(()) };
        for function in &cubin.functions {
            if let Spills::Annotated(offsets) = &function.spills
                && !offsets.is_empty()
            {
                self.spilling += 1;
                self.equal += usize::from(is_equal(decoder, function, offsets, image)?);
            }
        }
        Ok(())
    }
}

fn is_equal(decoder: Decoder, function: &Function, offsets: &[u32], image: &dyn Source) -> anyhow::Result<bool> {
    let bytes = function.read_code(image)?;
    let code = Code::new(decoder, &bytes);
    let inner: Vec<u32> = function.inner.iter().filter_map(|inner| u32::try_from(inner.offset).ok()).collect();
    let outline = Outline::new(&code, &Known { inner: &inner, jumps: &[] });
    let sums = |sites: &[_]| {
        let sums = SpillSums::of(sites);
        (sums.store_bytes, sums.load_bytes)
    };
    Ok(sums(&listed(&code, &outline, offsets)) == sums(&unlisted(&code, &outline, &[], true)))
}

/// The agreement on a whole library.
pub(super) fn library(path: &std::path::Path) -> anyhow::Result<Agreement> {
    let bytes = corpus::read(path)?;
    let artifact = Artifact::open(&bytes)?;
    let mut workspace = Workspace::default();
    let mut agreement = Agreement::default();
    for entry in artifact.modules.iter().filter(|module| !module.relocatable).flat_map(|module| &module.entries) {
        if !entry.images.iter().any(|image| image.kind == ImageKind::Elf) {
            continue;
        }
        let unpacked = entry.unpack(&bytes, &mut workspace)?;
        for image in entry.images.iter().filter(|image| image.kind == ImageKind::Elf) {
            let window = unpacked.image(image)?;
            agreement.add(&Cubin::parse(&window)?, &window)?;
        }
    }
    Ok(agreement)
}
