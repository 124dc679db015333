//! What our reader tells of a file's functions.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, ensure};
use occupant_binary::{Artifact, Cubin, ImageKind, Workspace};

use super::{Functions, Key, Resources, read};

/// The executable cubins of a file.
#[derive(Default)]
pub(super) struct File {
    pub(super) functions: Functions,
    pub(super) kernel_names: BTreeSet<Key>,
    pub(super) kernels: usize,
    /// Kernels in fatbins outside the named sections, which cuobjdump does not see; they are not in `functions`.
    pub(super) elsewhere: usize,
}

/// Every function of every executable cubin; a fault anywhere is an error here.
pub(super) fn functions(path: &Path) -> anyhow::Result<File> {
    let bytes = read(path)?;
    let artifact = Artifact::open(&bytes).with_context(|| path.display().to_string())?;
    ensure!(artifact.faults.is_empty(), "{}: {:?}", path.display(), artifact.faults);
    let mut file = File::default();
    let mut workspace = Workspace::default();
    let executable = artifact.modules.iter().filter(|module| !module.relocatable);
    let entries = executable.flat_map(|module| module.entries.iter().map(move |entry| (module, entry)));
    for (module, entry) in entries {
        if !entry.images.iter().any(|image| image.kind == ImageKind::Elf) {
            continue;
        }
        let unpacked = entry.unpack(&bytes, &mut workspace)?;
        for image in entry.images.iter().filter(|image| image.kind == ImageKind::Elf) {
            let cubin = Cubin::parse(&unpacked.image(image)?)?;
            ensure!(cubin.faults.is_empty(), "{}: {:?}", path.display(), cubin.faults);
            if module.place.starts_with("offset") {
                file.elsewhere += cubin.functions.iter().filter(|function| function.is_kernel).count();
            } else {
                add(&mut file, &cubin);
            }
        }
    }
    file.functions.values_mut().for_each(|all| all.sort());
    Ok(file)
}

/// The functions of a file, those of one name in an order that both sides share.
pub(super) fn sorted(file: File) -> Functions {
    let mut functions = file.functions;
    functions.values_mut().for_each(|all| all.sort());
    functions
}

/// Adds the functions of a cubin.
pub(super) fn add(file: &mut File, cubin: &Cubin) {
    let capability = cubin.architecture.capability;
    let number = u32::from(capability.major) * 10 + u32::from(capability.minor);
    for function in &cubin.functions {
        let key = (number, function.name.clone());
        if function.is_kernel {
            file.kernels += 1;
            file.kernel_names.insert(key.clone());
        }
        let registers = function.registers.filter(|_| function.is_kernel || number < 90);
        let (stack, shared, local) = (function.stack, function.shared_section, function.local);
        file.functions.entry(key).or_default().push(Resources { registers, stack, shared, local });
    }
}
