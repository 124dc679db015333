//! Flags of `occupant fit` and `occupant sweep`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use occupant_core::{Axis, FitRequest};

use super::kernels::KernelFlags;
use super::shape::{ShapeFlags, size};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant fit --gpu h100-sxm --registers 90 --block 256
  occupant fit --gpu h100-sxm --registers 90 --block 256 --blocks 4
  occupant fit --gpu 8.6 --block 512 --blocks 4        (launch bounds 512, 4)
  occupant fit --gpu h100-sxm --block 384 --tile-bytes 48K --shared-dynamic 8K
  occupant fit --registers 134 --block 512             (on present parts)
  occupant fit libfoo.so --gpu h100-sxm --kernel attention
  occupant fit libfoo.so --gpu all --kernel attention

With one GPU it answers in full; with none it answers for a set of present
parts, one line each.

Solutions are ranked: fewest amounts first, then the smallest share given up.
Exit status: 0 the blocks can be reached on every GPU named, or on one of the
present parts; without --blocks, 1 block. 1 they can't, 2 the question could
not be answered.")]
pub(crate) struct FitOptions {
    #[command(flatten)]
    pub(crate) of: KernelFlags,
    /// Blocks per SM to reach; one more than now where not given
    #[arg(long, value_name = "N")]
    blocks: Option<u32>,
    /// Shared memory of one pipeline stage: tells how many stages fit beside --shared-dynamic
    #[arg(long, value_name = "SIZE", value_parser = size)]
    tile_bytes: Option<u32>,
    #[command(flatten)]
    pub(crate) shape: ShapeFlags,
}

impl FitOptions {
    /// What is asked about each shape.
    pub(crate) const fn request(&self) -> FitRequest {
        FitRequest { blocks: self.blocks, tile_bytes: self.tile_bytes }
    }
}

/// What is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AxisFlag {
    /// Registers per thread
    Registers,
    /// Threads per block
    Block,
    /// Shared memory per block, static and dynamic
    Shared,
    /// Named barriers per block
    Barriers,
}

impl From<AxisFlag> for Axis {
    fn from(axis: AxisFlag) -> Self {
        match axis {
            AxisFlag::Registers => Self::Registers,
            AxisFlag::Block => Self::Block,
            AxisFlag::Shared => Self::Shared,
            AxisFlag::Barriers => Self::Barriers,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant sweep registers --gpu h100-sxm --block 256 --registers 90
  occupant sweep block --gpu h100-sxm --gpu rtx-4090 --registers 40
  occupant sweep shared --gpu a100 --block 128 --svg shared.svg
  occupant sweep registers libfoo.so --gpu h100-sxm --kernel attention

The other amounts stay as given. A point marks where the shape is now. CSV has
a row a step, from its smallest to its largest amount.")]
pub(crate) struct SweepOptions {
    /// The amount to change
    #[arg(value_enum)]
    pub(crate) axis: AxisFlag,
    #[command(flatten)]
    pub(crate) of: KernelFlags,
    /// Write the plot as an SVG file too, `-` for standard output alone
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shape: ShapeFlags,
}

impl SweepOptions {
    /// Whether the amount on the axis was given, so that the shape is somewhere on it.
    pub(crate) const fn has_current(&self) -> bool {
        match self.axis {
            AxisFlag::Registers => self.shape.registers.is_some(),
            AxisFlag::Block => self.shape.block.is_some(),
            AxisFlag::Shared => self.shape.shared_static.is_some() || self.shape.shared_dynamic.is_some(),
            AxisFlag::Barriers => self.shape.barriers.is_some(),
        }
    }
}
