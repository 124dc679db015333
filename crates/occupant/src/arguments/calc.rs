//! Flags of `occupant calc`.

use std::path::PathBuf;

use clap::Args;
use occupant_core::{CalcRequest, GpuSelector};

use super::gpus::{Gpus, gpus};
use super::launch::{Grid, grid as parse_grid};
use super::shape::ShapeFlags;

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
    /// GPU model, family such as h100, generation such as hopper, architecture or compute capability; repeat for a
    /// matrix, `current` stands for a set of present parts
    #[arg(long, value_name = "GPU")]
    gpu: Vec<Gpus>,
    /// Many shapes from a CSV file, `-` for standard input; answers are CSV
    #[arg(long, value_name = "FILE", conflicts_with_all = ["by_hand", "cluster", "grid", "tensor_columns"])]
    pub(crate) batch: Option<PathBuf>,
    #[command(flatten)]
    shape: ShapeFlags,
    /// Blocks of the grid, or dimensions such as 16x38: has to be a multiple of the cluster, and is told whether it fills the GPU
    #[arg(long, value_name = "N", value_parser = parse_grid, help_heading = "Launch shape")]
    grid: Option<Grid>,
    /// Show the textbook formula beside the exact answer, and which rounding makes them differ
    #[arg(long)]
    by_hand: bool,
}

impl CalcOptions {
    /// The GPUs asked for, each once.
    pub(crate) fn gpus(&self) -> Vec<GpuSelector> {
        gpus(&self.gpu)
    }

    /// The request that the flags make.
    pub(crate) fn request(&self) -> CalcRequest {
        CalcRequest { grid: self.grid.map(Grid::sizes), by_hand: self.by_hand, ..self.shape.request() }
    }
}
