//! What is to be read of a file: which images, and for whom each.

use std::collections::BTreeSet;

use occupant_binary::{Artifact, Choice, Entry, Image, ImageKind, Module, choose};
use occupant_hardware::{Architecture, GpuSelector, Variant};

use super::InspectOptions;
use crate::report::Totals;

/// Who wants an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Its own architecture.
    Own,
    /// A GPU asked for, by its number.
    Gpu(usize),
    /// Nobody; its kernels are named as those for which this GPU has no image.
    Missing(usize),
}

/// One entry to unpack, with the images of it that are wanted.
pub(super) struct Job<'a> {
    pub(super) module: &'a Module,
    pub(super) entry: &'a Entry,
    pub(super) images: Vec<(&'a Image, Vec<Wanted>)>,
}

/// The jobs of a file in its order, and the counts of images that none of them reads.
pub(super) fn plan<'a>(artifact: &'a Artifact, options: &InspectOptions) -> (Vec<Job<'a>>, Totals) {
    let mut totals = Totals::default();
    let mut jobs = Vec::new();
    let mut architectures = BTreeSet::new();
    let is_elf = |image: &Image| image.kind == ImageKind::Elf;
    let has_executable = |module: &Module| !module.relocatable && elf_images(module).next().is_some();
    let executable = artifact.modules.iter().any(has_executable);
    for module in &artifact.modules {
        let listed = !module.relocatable || !executable || options.relocatable;
        let wanted = if listed { wanted(module, options) } else { Vec::new() };
        let mut wanted = wanted.into_iter();
        for entry in &module.entries {
            let mut job = Job { module, entry, images: Vec::new() };
            for image in &entry.images {
                let for_whom = wanted.next().unwrap_or_default();
                totals.images += 1;
                if is_elf(image) {
                    architectures.insert(image.architecture);
                }
                let read = for_whom.iter().any(|who| !matches!(who, Wanted::Missing(_)));
                match image.kind {
                    ImageKind::Ptx => totals.ptx += 1,
                    ImageKind::LtoIr => totals.lto_ir += 1,
                    ImageKind::Unknown(_) => totals.unknown += 1,
                    ImageKind::Elf if !listed => totals.relocatable += 1,
                    ImageKind::Elf if !read => totals.not_selected += 1,
                    ImageKind::Elf => {}
                }
                if is_elf(image) && !for_whom.is_empty() {
                    job.images.push((image, for_whom));
                }
            }
            if !job.images.is_empty() {
                jobs.push(job);
            }
        }
    }
    totals.architectures = architectures.iter().map(ToString::to_string).collect();
    (jobs, totals)
}

/// Who wants each image of a module, in their order.
fn wanted(module: &Module, options: &InspectOptions) -> Vec<Vec<Wanted>> {
    let images: Vec<&Image> = images(module).collect();
    let elf = || images.iter().enumerate().filter(|(_, image)| image.kind == ImageKind::Elf).map(|(number, _)| number);
    let by_arch = |image: usize| {
        let architecture = images[image].architecture;
        options.architectures.is_empty() || options.architectures.iter().any(|asked| covers(*asked, architecture))
    };
    let mut wanted = vec![Vec::new(); images.len()];
    if options.gpus.is_empty() {
        elf().filter(|image| by_arch(*image)).for_each(|image| wanted[image].push(Wanted::Own));
        return wanted;
    }
    for (number, gpu) in options.gpus.iter().enumerate() {
        match choose(images.iter().map(|image| (image.kind, image.architecture)), gpu.capability()) {
            Choice::Image(chosen) if by_arch(chosen) => wanted[chosen].push(Wanted::Gpu(number)),
            Choice::Image(_) => {}
            Choice::Ptx(_) | Choice::Nothing => elf().for_each(|image| wanted[image].push(Wanted::Missing(number))),
        }
    }
    wanted
}

/// Why a GPU has no image of a module.
pub(super) fn no_image_reason(module: &Module, gpu: &GpuSelector) -> String {
    let targets: Vec<(ImageKind, Architecture)> =
        images(module).map(|image| (image.kind, image.architecture)).collect();
    let cubins: BTreeSet<Architecture> =
        targets.iter().filter(|(kind, _)| *kind == ImageKind::Elf).map(|(_, architecture)| *architecture).collect();
    let cubins: Vec<String> = cubins.iter().map(ToString::to_string).collect();
    let has = format!("no image runs on {}: compiled for {}", gpu.capability(), cubins.join(", "));
    match choose(targets.iter().copied(), gpu.capability()) {
        Choice::Ptx(index) => {
            let ptx =
                targets.get(index).map_or_else(String::new, |(_, ptx)| ptx.to_string().replace("sm_", "compute_"));
            format!("{has}; its {ptx} PTX is compiled at load, and registers are known only then")
        }
        Choice::Image(_) | Choice::Nothing => has,
    }
}

fn images(module: &Module) -> impl Iterator<Item = &Image> {
    module.entries.iter().flat_map(|entry| &entry.images)
}

/// The cubins of a module.
pub(super) fn elf_images(module: &Module) -> impl Iterator<Item = &Image> {
    images(module).filter(|image| image.kind == ImageKind::Elf)
}

/// `sm_90` stands for `sm_90a` and `sm_90f` too.
pub(super) fn covers(asked: Architecture, found: Architecture) -> bool {
    asked == found || (asked.variant == Variant::Base && asked.capability == found.capability)
}

/// The place of an image in its file.
pub(super) fn place(prefix: &str, module: &Module, image: &Image) -> String {
    let image_name = format!("{}.cubin", image.architecture);
    let alone = module.entries.len() == 1 && module.entries[0].images.len() == 1;
    let inside = match module.place.as_str() {
        "" if alone => image_name,
        "" => format!("{}/{image_name}", image.number),
        section => format!("{section}/{}/{image_name}", image.number),
    };
    if prefix.is_empty() { inside } else { format!("{prefix}/{inside}") }
}
