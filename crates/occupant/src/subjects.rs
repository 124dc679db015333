//! What a command is asked about: the shape that flags give, or the kernels of files, on each GPU.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::bail;
use occupant_core::report::{Diagnostic, KernelRecord, Severity};
use occupant_core::{GpuSelector, Subject, Target, WithoutShape};

use crate::arguments::{KernelFlags, ShapeFlags};
use crate::file::{Input, launches};
use crate::output;
use crate::scan::kernels;

/// The kernels of files, read for some GPUs.
pub(crate) struct Read {
    /// Kernels, without device functions.
    pub(crate) kernels: Vec<KernelRecord>,
    /// Something could not be read.
    pub(crate) failed: bool,
}

/// Reads the kernels that flags name, for `gpus`, each image's own architecture where there are none. What could not be
/// read is told.
pub(crate) fn read(of: &KernelFlags, shape: &ShapeFlags, gpus: &[GpuSelector]) -> anyhow::Result<Read> {
    read_opened(of, None, shape, gpus)
}

/// The same, where the first path is open already.
fn read_opened(
    of: &KernelFlags,
    opened: Option<Input>,
    shape: &ShapeFlags,
    gpus: &[GpuSelector],
) -> anyhow::Result<Read> {
    if let Some(flag) = shape.of_a_file() {
        bail!("{flag} comes from the kernel: leave the flag or the path away");
    }
    for gpu in gpus {
        Target::named(gpu, shape.set_up.rules())?;
    }
    let launches = launches(of.launches.as_deref())?;
    let (mut kernels, diagnostics) = kernels(&of.paths, opened, &of.options(gpus.to_vec(), shape, launches))?;
    // Where a kernel has no image for one of several GPUs, its record says so.
    let told = |diagnostic: &&Diagnostic| diagnostic.severity != Severity::Note;
    diagnostics.iter().filter(told).for_each(output::diagnostic);
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    kernels.retain(|kernel| kernel.is_kernel);
    if kernels.is_empty() && !failed {
        bail!("no kernel matches: `occupant inspect` lists those of a file");
    }
    Ok(Read { kernels, failed })
}

/// Shapes to answer for.
pub(crate) struct Subjects {
    /// Shape and GPU, or why there is no shape, in order.
    pub(crate) all: Vec<Result<Subject, WithoutShape>>,
    /// Something could not be read.
    pub(crate) failed: bool,
}

/// Everything that flags ask about, on `gpus`.
pub(crate) fn subjects(of: &KernelFlags, shape: &ShapeFlags, gpus: &[GpuSelector]) -> anyhow::Result<Subjects> {
    subjects_opened(of, None, shape, gpus)
}

/// The same, where the first path is open already.
pub(crate) fn subjects_opened(
    of: &KernelFlags,
    opened: Option<Input>,
    shape: &ShapeFlags,
    gpus: &[GpuSelector],
) -> anyhow::Result<Subjects> {
    let request = shape.request();
    if of.paths.is_empty() {
        let all = gpus.iter().map(|gpu| Ok(Subject::by_numbers(gpu.clone(), request))).collect();
        return Ok(Subjects { all, failed: false });
    }
    let read = read_opened(of, opened, shape, gpus)?;
    let kernels = in_order(read.kernels, gpus);
    let all = kernels.into_iter().map(|kernel| Subject::of_kernel(kernel, &request)).collect();
    Ok(Subjects { all, failed: read.failed })
}

/// Kernels as the file has them, each on the GPUs as they were named: those without an image come last from a scan.
fn in_order(mut kernels: Vec<KernelRecord>, gpus: &[GpuSelector]) -> Vec<KernelRecord> {
    let mut first: HashMap<Arc<str>, usize> = HashMap::new();
    for (place, kernel) in kernels.iter().enumerate() {
        first.entry(Arc::clone(&kernel.name)).or_insert(place);
    }
    let names: Vec<String> = gpus.iter().map(GpuSelector::name).collect();
    let gpu_of = |kernel: &KernelRecord| {
        let name = &kernel.gpu.as_ref()?.name;
        names.iter().position(|gpu| gpu == name)
    };
    kernels.sort_by_cached_key(|kernel| (first.get(&kernel.name).copied(), gpu_of(kernel)));
    kernels
}
