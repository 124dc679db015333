//! Flags of `occupant calc`.

use std::path::PathBuf;

use clap::Args;
use occupant_core::{CalcRequest, GpuSelector, Shape, parse_block};

use super::shape::{SetUp, size};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant calc --gpu h100-sxm --registers 128 --block 256 --shared-dynamic 48K
  occupant calc --gpu h100 --gpu rtx-4090 --regs 40 --block 1024 --by-hand
  occupant calc --batch shapes.csv --gpu a100 > answers.csv

Exit status: 0 the shape can launch, 1 it can't (on any of the GPUs),
2 the question could not be answered.

A batch is CSV. Its header names any of: cc, gpu, registers, block,
shared_static, shared_dynamic, barriers, virtual_resources, carveout; kernel
and label are carried along. It ends with 0 where every line could be read.")]
pub(crate) struct CalcOptions {
    /// GPU model, family such as h100, generation such as hopper, architecture or compute capability; repeat for a matrix
    #[arg(long, value_name = "GPU")]
    pub(crate) gpu: Vec<GpuSelector>,
    /// Many shapes from a CSV file, `-` for standard input; answers are CSV
    #[arg(long, value_name = "FILE", conflicts_with_all = ["by_hand", "cluster", "grid", "tensor_columns"])]
    pub(crate) batch: Option<PathBuf>,
    /// Registers per thread, as ptxas prints them
    #[arg(long, visible_alias = "regs", value_name = "N", default_value_t = 0, help_heading = "Launch shape",
        value_parser = clap::value_parser!(u32).range(..=65536))]
    registers: u32,
    /// Threads per block, or dimensions such as 16x16
    #[arg(long, value_name = "N", default_value = "256", value_parser = parse_block, help_heading = "Launch shape")]
    block: u32,
    /// Static shared memory per block
    #[arg(long, alias = "smem-static", value_name = "SIZE", default_value = "0", value_parser = size, help_heading = "Launch shape")]
    shared_static: u32,
    /// Dynamic shared memory per block
    #[arg(long, alias = "smem-dynamic", value_name = "SIZE", default_value = "0", value_parser = size, help_heading = "Launch shape")]
    shared_dynamic: u32,
    /// Named barriers per block
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Launch shape")]
    barriers: u32,
    /// Virtual resources per block (10.0 and later)
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Launch shape")]
    virtual_resources: u32,
    /// Tensor-memory columns per block in all (10.0 and later)
    #[arg(long, value_name = "N", help_heading = "Launch shape")]
    tensor_columns: Option<u32>,
    /// Blocks per cluster
    #[arg(long, value_name = "N", help_heading = "Launch shape")]
    cluster: Option<u32>,
    /// Blocks of the grid: has to be a multiple of the cluster, and is told whether it fills the GPU
    #[arg(long, value_name = "N", help_heading = "Launch shape")]
    grid: Option<u32>,
    #[command(flatten)]
    pub(crate) set_up: SetUp,
    /// Show the textbook formula beside the exact answer, and which rounding makes them differ
    #[arg(long)]
    by_hand: bool,
}

impl CalcOptions {
    /// The request that the flags make.
    pub(crate) fn request(&self) -> CalcRequest {
        CalcRequest {
            shape: Shape {
                registers_per_thread: self.registers,
                threads_per_block: self.block,
                shared_static: self.shared_static,
                shared_dynamic: self.shared_dynamic,
                barriers: self.barriers,
                virtual_resources: self.virtual_resources,
                tensor_columns: self.tensor_columns.unwrap_or(0),
                carveout: self.set_up.carveout(),
                partitioned_caching: self.set_up.partitioned_caching(),
                shared_opt_in: true,
            },
            cluster: self.cluster,
            grid: self.grid,
            rules: self.set_up.rules(),
            by_hand: self.by_hand,
        }
    }
}
