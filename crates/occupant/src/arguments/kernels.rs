//! Flags of commands that answer for a shape given by numbers or for kernels of files.

use std::path::PathBuf;

use clap::Args;
use occupant_core::{Architecture, GpuSelector, InspectOptions, Launches, Regex};

use super::gpus::{Gpus, gpus};
use super::shape::ShapeFlags;

#[derive(Debug, Clone, Args)]
pub(crate) struct KernelFlags {
    /// Files whose kernels are asked about; without, the flags of the launch shape say it
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// GPU model, family, architecture or compute capability; repeat for several, `current` stands for a set of present
    /// parts, `all` for every model
    #[arg(long, value_name = "GPU")]
    gpu: Vec<Gpus>,
    /// Only kernels whose mangled or demangled name matches this regular expression
    #[arg(long, value_name = "REGEX", requires = "paths", help_heading = "Kernels of a file")]
    kernel: Option<Regex>,
    /// Only images of this architecture; repeat for several
    #[arg(long, value_name = "ARCH", requires = "paths", help_heading = "Kernels of a file")]
    arch: Vec<Architecture>,
    /// Real launch shapes by kernel name: CSV with kernel,block,shared_dynamic, a profiler report or a PyTorch trace; `-` for
    /// standard input
    #[arg(long, value_name = "FILE", requires = "paths", help_heading = "Kernels of a file")]
    pub(crate) launches: Option<PathBuf>,
}

impl KernelFlags {
    /// What a command that takes one path and GPU was given.
    pub(super) const fn new(paths: Vec<PathBuf>, gpu: Vec<Gpus>, kernel: Option<Regex>) -> Self {
        Self { paths, gpu, kernel, arch: Vec::new(), launches: None }
    }

    /// The GPUs asked for, each once.
    pub(crate) fn gpus(&self) -> Vec<GpuSelector> {
        gpus(&self.gpu)
    }

    /// Only some kernels are asked about.
    pub(crate) const fn has_filter(&self) -> bool {
        self.kernel.is_some() || !self.arch.is_empty()
    }

    /// How files are inspected, for these GPUs.
    pub(crate) fn options(&self, gpus: Vec<GpuSelector>, shape: &ShapeFlags, launches: Launches) -> InspectOptions {
        InspectOptions {
            gpus,
            architectures: self.arch.clone(),
            kernel: self.kernel.clone(),
            block: shape.block,
            shared_dynamic: shape.shared_dynamic,
            launches,
            carveout: shape.set_up.carveout(),
            partitioned_caching: shape.set_up.partitioned_caching(),
            rules: shape.set_up.rules(),
            ..InspectOptions::default()
        }
    }
}
