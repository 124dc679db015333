//! Flags of `occupant explain`.

use clap::Args;
use occupant_core::{ExplainRequest, GpuSelector, LaunchBounds};

use super::budget::bounds;
use super::launch::{Grid, grid};
use super::shape::{Cluster, ShapeFlags};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant explain 'too many resources requested for launch' --gpu rtx-5090 --registers 134 --block 8x8x8
  nvcc -Xptxas -v -arch=sm_90a kernel.cu 2>&1 | occupant explain --block 384
  occupant explain build.log
  occupant explain 'out of resource: shared memory, Required: 139776, Hardware limit: 101376'
  occupant explain warnings.txt --gpu 8.6 --launch-bounds 512,4

It knows ptxas -v, warnings and errors of ptxas and nvlink, and launch errors as
CUDA, PyTorch, Triton, Inductor, XLA, Numba, CuPy, CUDA.jl, CUTLASS, TileLang and
Warp print them. Many name no number: the flags of the launch shape add them.

Exit status: 0 understood, 2 nothing in the text is known.")]
pub(crate) struct ExplainOptions {
    /// The message, or a file that holds it; `-`, or nothing, for standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The GPU it happened on
    #[arg(long, value_name = "GPU")]
    pub(crate) gpu: Option<GpuSelector>,
    /// Blocks of the grid, or dimensions such as 16x38
    #[arg(long, value_name = "N", value_parser = grid, help_heading = "Launch shape")]
    grid: Option<Grid>,
    /// Launch bounds: threads of the largest block and minimum blocks per SM
    #[arg(long, value_name = "THREADS[,BLOCKS]", value_parser = bounds, help_heading = "Launch shape")]
    launch_bounds: Option<LaunchBounds>,
    #[command(flatten)]
    pub(crate) shape: ShapeFlags,
}

impl ExplainOptions {
    /// What the flags add to the text.
    pub(crate) fn request(&self) -> ExplainRequest {
        let shape = &self.shape;
        ExplainRequest {
            gpu: self.gpu.clone(),
            registers: shape.registers,
            block: shape.block,
            shared_static: shape.shared_static,
            shared_dynamic: shape.shared_dynamic,
            barriers: shape.barriers,
            tensor_columns: shape.tensor_columns,
            cluster: shape.cluster.map(Cluster::blocks),
            grid: self.grid.map(Grid::sizes),
            bounds: self.launch_bounds,
            rules: shape.set_up.rules(),
        }
    }
}
