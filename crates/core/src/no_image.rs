//! Counts, for each GPU asked for, the kernels with and without an image that it runs. Not for: which image that is; that
//! is `inspect`'s.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use occupant_hardware::GpuSelector;

use crate::report::{GpuKernels, GpuName, KernelRecord, NoImage};

/// Collects kernels as they come; GPUs in the order in which they were asked for, which need not be the one in which their
/// first kernels come.
#[derive(Debug, Default)]
pub struct Gpus(Vec<(GpuName, Counts)>);

/// A kernel by its name: file, member and mangled name. A name is there once for each of its images and launches, and once
/// where it has no image.
type Name = (Arc<str>, Option<Arc<str>>, Arc<str>);

#[derive(Debug, Default)]
struct Counts {
    kernels: u64,
    names: HashSet<Name, RandomState>,
    without_image: BTreeMap<String, u64>,
}

impl Gpus {
    /// None counted yet, of the GPUs that were asked for.
    #[must_use]
    pub fn asked(gpus: &[GpuSelector]) -> Self {
        let name = |gpu: &GpuSelector| GpuName { name: gpu.name(), compute_capability: gpu.capability().to_string() };
        Self(gpus.iter().map(|gpu| (name(gpu), Counts::default())).collect())
    }

    /// The counts of kernels that are there, by the GPUs that were asked for.
    #[must_use]
    pub fn of(kernels: &[KernelRecord], asked: &[GpuSelector]) -> Vec<GpuKernels> {
        let mut gpus = Self::asked(asked);
        kernels.iter().for_each(|kernel| gpus.add(kernel));
        gpus.counts()
    }

    /// Counts a kernel; device functions, and kernels that no GPU was asked for, do not count.
    pub fn add(&mut self, kernel: &KernelRecord) {
        let Some(gpu) = kernel.gpu.as_ref().filter(|_| kernel.is_kernel) else { return };
        let at = self.0.iter().position(|(known, _)| known == gpu).unwrap_or_else(|| {
            self.0.push((gpu.clone(), Counts::default()));
            self.0.len() - 1
        });
        let counts = &mut self.0[at].1;
        if kernel.entry.is_some() {
            counts.kernels += 1;
            counts.names.insert((Arc::clone(&kernel.file), kernel.member.clone(), Arc::clone(&kernel.name)));
        } else if let Some(number) = kernel.reason.as_ref().and_then(|reason| counts.without_image.get_mut(reason)) {
            *number += 1;
        } else {
            counts.without_image.insert(kernel.reason.clone().unwrap_or_default(), 1);
        }
    }

    /// The counts of GPUs that kernels were counted for; most frequent reasons first.
    #[must_use]
    pub fn counts(self) -> Vec<GpuKernels> {
        let counted = |(gpu, counts): (GpuName, Counts)| {
            let reasons = counts.without_image.into_iter().map(|(reason, kernels)| NoImage { reason, kernels });
            let mut without_image: Vec<NoImage> = reasons.collect();
            without_image.sort_by_key(|missing| std::cmp::Reverse(missing.kernels));
            let names = counts.names.len() as u64;
            GpuKernels { gpu, kernels: counts.kernels, names, without_image }
        };
        let any = |(_, counts): &(GpuName, Counts)| counts.kernels > 0 || !counts.without_image.is_empty();
        self.0.into_iter().filter(any).map(counted).collect()
    }
}
