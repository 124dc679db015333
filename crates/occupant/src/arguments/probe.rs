//! Flags of `occupant probe`.

use std::path::PathBuf;

use clap::Args;
use occupant_core::{GpuSelector, Regex};

use super::gpus::{Gpus, gpus};
use super::kernels::KernelFlags;
use super::shape::ShapeFlags;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant probe app --kernel ^saxpy$ --gpu h100-sxm --block 256
  occupant probe --gpu h100-sxm --registers 64 --block 256 --shared-static 1K
  occupant probe report.ncu-rep --launch 3
  occupant probe --reports probe-*.ncu-rep --kernel saxpy
  occupant probe --timings times.csv

Dynamic shared memory that a kernel does not use lowers its occupancy without a
change of code. Where the time then stays flat, occupancy is not the lever.

Timings are CSV with a column time (0.8 is ms; or 310us, 1.2ms) and one of
blocks_per_sm, percent and shared_dynamic; the last one needs the launch, as for
a plan. Rows of the same occupancy are repeats.

Exit status: 0 answered, 2 it can't be.")]
pub(crate) struct ProbeFlags {
    /// A file with the kernel, or a profiler report of a launch, told by its content; `-` is standard input. Without, the
    /// flags of the launch shape say it
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Reports of the same kernel at different dynamic shared memory: says what they show
    #[arg(long, value_name = "REPORT", num_args = 1.., conflicts_with_all = ["path", "timings", "gpu"])]
    pub(crate) reports: Vec<PathBuf>,
    /// Times of one's own, as CSV: says what they show; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) timings: Option<PathBuf>,
    /// GPU model, family, architecture or compute capability
    #[arg(long, value_name = "GPU")]
    gpu: Option<Gpus>,
    /// Only kernels whose mangled or demangled name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub(crate) kernel: Option<Regex>,
    /// Only these launches of each report, counted from 0; may be repeated
    #[arg(long, value_name = "N")]
    pub(crate) launch: Vec<usize>,
    #[command(flatten)]
    pub(crate) shape: ShapeFlags,
}

impl ProbeFlags {
    /// The GPUs that `--gpu` stands for.
    pub(crate) fn gpus(&self) -> Vec<GpuSelector> {
        self.gpu.as_ref().map_or_else(Vec::new, |gpu| gpus(std::slice::from_ref(gpu)))
    }

    /// The file's kernels, as the commands that take several ask for them.
    pub(crate) fn of(&self) -> KernelFlags {
        let gpu = self.gpu.iter().cloned().collect();
        KernelFlags::new(self.path.iter().cloned().collect(), gpu, self.kernel.clone())
    }

    /// A flag given of the launch shape, but for the SM's set-up.
    pub(crate) fn has_shape(&self) -> bool {
        self.shape.of_a_file().is_some() || self.shape.block.is_some() || self.shape.shared_dynamic.is_some()
    }
}
