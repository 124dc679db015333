//! Flags of `occupant launch`.

use clap::Args;
use occupant_core::{GpuSelector, LaunchRequest, Tile};

use super::gpus::{Gpus, gpus};
use super::shape::ShapeFlags;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant launch --gpu h100-sxm --grid 608 --registers 128 --block 256
  occupant launch --gpu rtx-5080 --grid 170 --blocks-per-sm 1
  occupant launch --gpu h100-sxm --grid 16x38 --blocks-per-sm 1 --cluster 4x2
  occupant launch --gpu p100 --grid 128 --block 1024 --registers 32 --cooperative
  occupant launch --gpu h100-sxm --problem 4096x4096 --tile 128x128@2 --tile 128x256@1

Exit status: 0 the launch works, 1 it can't, 2 the question could not be
answered.")]
pub(crate) struct LaunchOptions {
    /// GPU model or family; repeat for several. Of a family whose models differ in SMs, each model is answered for
    #[arg(long, value_name = "GPU", required = true)]
    gpu: Vec<Gpus>,
    /// Blocks of the grid, or dimensions such as 16x38
    #[arg(long, value_name = "N", value_parser = grid)]
    grid: Option<Grid>,
    /// Resident blocks per SM, where they are known; else the launch shape tells
    #[arg(long, value_name = "N")]
    blocks_per_sm: Option<u32>,
    /// SMs to use, where it is not all that the GPU has (MIG, green contexts)
    #[arg(long, value_name = "N")]
    sms: Option<u32>,
    /// A cooperative launch: all blocks have to be resident at once
    #[arg(long)]
    cooperative: bool,
    /// Rows, columns and, where there are several, the number of problems
    #[arg(long, value_name = "MxN[xBATCH]", value_parser = problem, requires = "tile")]
    problem: Option<[u64; 3]>,
    /// A tile of the problem to compare, with its own blocks per SM where they differ; repeat for several
    #[arg(long, value_name = "MxN[@BLOCKS]", value_parser = tile, requires = "problem")]
    tile: Vec<Tile>,
    #[command(flatten)]
    shape: ShapeFlags,
}

/// Up to three dimensions; those that are not given are 1.
fn dimensions(text: &str) -> Option<[u64; 3]> {
    let numbers: Option<Vec<u64>> = text.split(['x', 'X']).map(|number| number.trim().parse().ok()).collect();
    match numbers?.as_slice() {
        [x] => Some([*x, 1, 1]),
        [x, y] => Some([*x, *y, 1]),
        [x, y, z] => Some([*x, *y, *z]),
        _ => None,
    }
}

/// Blocks of a grid along each dimension.
pub(crate) fn grid(text: &str) -> Result<Grid, String> {
    match dimensions(text) {
        Some(sizes) if sizes.contains(&0) => Err("a grid has at least 1 block".to_owned()),
        // A product beyond this is no grid of any GPU.
        Some([x, y, z]) if x.checked_mul(y).and_then(|xy| xy.checked_mul(z)).is_some() => Ok(Grid([x, y, z])),
        _ => Err("write blocks such as 608, or dimensions such as 16x38".to_owned()),
    }
}

/// Blocks of a grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid([u64; 3]);

impl Grid {
    /// Blocks along x, y, z.
    pub(crate) const fn sizes(self) -> [u64; 3] {
        self.0
    }
}

fn problem(text: &str) -> Result<[u64; 3], String> {
    let numbers: Result<Vec<u64>, _> = text.split(['x', 'X']).map(str::parse).collect();
    match numbers.as_deref() {
        Ok([m, n]) if *m > 0 && *n > 0 => Ok([*m, *n, 1]),
        Ok([m, n, batch]) if *m > 0 && *n > 0 && *batch > 0 => Ok([*m, *n, *batch]),
        _ => Err("write rows and columns such as 4096x4096, or 4096x4096x8 for 8 of them".to_owned()),
    }
}

fn tile(text: &str) -> Result<Tile, String> {
    let error = || "write a tile such as 128x256, or 128x256@2 for 2 blocks per SM".to_owned();
    let (size, blocks) = text.split_once('@').map_or((text, None), |(size, blocks)| (size, Some(blocks)));
    let numbers: Result<Vec<u32>, _> = size.split(['x', 'X']).map(str::parse).collect();
    let blocks_per_sm = blocks.map(str::parse).transpose().map_err(|_| error())?;
    match numbers.as_deref() {
        Ok([m, n]) if *m > 0 && *n > 0 && blocks_per_sm != Some(0) => Ok(Tile { m: *m, n: *n, blocks_per_sm }),
        _ => Err(error()),
    }
}

impl LaunchOptions {
    /// The GPUs asked for, each once.
    pub(crate) fn gpus(&self) -> Vec<GpuSelector> {
        gpus(&self.gpu)
    }

    /// What is asked about the grid.
    pub(crate) fn request(&self) -> LaunchRequest {
        LaunchRequest {
            grid: self.grid.map(|grid| grid.0),
            blocks_per_sm: self.blocks_per_sm,
            sms: self.sms,
            cooperative: self.cooperative,
            problem: self.problem,
            tiles: self.tile.clone(),
        }
    }

    /// The launch shape.
    pub(crate) const fn shape(&self) -> &ShapeFlags {
        &self.shape
    }
}
