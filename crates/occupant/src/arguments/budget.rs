//! Flags of `occupant budget`.

use clap::{Args, ValueEnum};
use occupant_core::{Accumulators, BudgetRequest, LaunchBounds, Schedule};

use super::kernels::KernelFlags;

/// How consumer warpgroups share a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleFlag {
    /// A tile for each warpgroup
    Pingpong,
    /// A tile for two warpgroups
    Cooperative,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant budget --gpu h100-sxm --warpgroups 40,232,232
  occupant budget --gpu b200 --warpgroups keep,168,keep,keep --launch-bounds 512,1
  occupant budget --gpu h100-sxm --warpgroups 24,240,240 --launch-bounds 384
  occupant budget --gpu h100-sxm --warpgroups 40,232,232 --tile 128x256 --schedule pingpong
  occupant budget libfoo.so --gpu h100-sxm --kernel attention

One number a warpgroup (128 threads), `keep` where it makes no request.
Without --launch-bounds, bounds of the block's own threads and --blocks (1) are
assumed. Of a file, kernels that use setmaxnreg are answered; UNDECIDED where
it depends on which warpgroups make which request.

Exit status: 0 LEGAL or UNDECIDED, 1 HANG RISK or IGNORED, 2 the question could
not be answered.")]
pub(crate) struct BudgetOptions {
    #[command(flatten)]
    pub(crate) of: KernelFlags,
    /// Registers per thread that each warpgroup asks for with setmaxnreg
    #[arg(long, value_name = "R,R,...", value_parser = warpgroup, value_delimiter = ',', conflicts_with = "paths")]
    warpgroups: Vec<Warpgroup>,
    /// Launch bounds: threads of the largest block and minimum blocks per SM
    #[arg(long, value_name = "THREADS[,BLOCKS]", value_parser = bounds, conflicts_with = "paths")]
    launch_bounds: Option<LaunchBounds>,
    /// Blocks per SM that shall be resident
    #[arg(long, value_name = "N", conflicts_with = "paths")]
    blocks: Option<u32>,
    /// Registers per thread as compiled, where they are known; else the launch bounds tell
    #[arg(long, visible_alias = "regs", value_name = "N", conflicts_with = "paths")]
    registers: Option<u32>,
    /// The cap of __maxnreg__, which fixes the count at launch too
    #[arg(long, value_name = "N", conflicts_with_all = ["paths", "launch_bounds"])]
    maxnreg: Option<u32>,
    /// Output tile of a consumer, whose 32-bit accumulators have to fit
    #[arg(long, value_name = "MxN", value_parser = tile, requires = "schedule")]
    tile: Option<[u32; 2]>,
    /// How consumer warpgroups share a tile
    #[arg(long, value_enum, requires = "tile")]
    schedule: Option<ScheduleFlag>,
}

/// What one warpgroup asks for; `None` where it keeps what it got.
#[derive(Debug, Clone, Copy)]
struct Warpgroup(Option<u32>);

fn warpgroup(text: &str) -> Result<Warpgroup, String> {
    match text.trim() {
        "keep" | "-" => Ok(Warpgroup(None)),
        number => match number.parse() {
            Ok(registers) => Ok(Warpgroup(Some(registers))),
            Err(_) => Err("write registers per thread such as 40,232,232, or keep".to_owned()),
        },
    }
}

pub(crate) fn bounds(text: &str) -> Result<LaunchBounds, String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([threads]) if *threads > 0 => Ok(LaunchBounds { threads: *threads, min_blocks: None }),
        Ok([threads, blocks]) if *threads > 0 => {
            // CUDA takes a minimum of 0 as none.
            Ok(LaunchBounds { threads: *threads, min_blocks: Some(*blocks).filter(|blocks| *blocks > 0) })
        }
        _ => Err("write threads and minimum blocks such as 384,1, or threads alone".to_owned()),
    }
}

fn tile(text: &str) -> Result<[u32; 2], String> {
    let numbers: Result<Vec<u32>, _> = text.split(['x', 'X']).map(str::parse).collect();
    match numbers.as_deref() {
        Ok([m, n] | [m, n, _]) if *m > 0 && *n > 0 => Ok([*m, *n]),
        _ => Err("write a tile such as 128x256".to_owned()),
    }
}

impl BudgetOptions {
    /// The request that the flags make; `None` where no warpgroups and no tile are given.
    pub(crate) fn request(&self) -> Option<BudgetRequest> {
        (!self.warpgroups.is_empty()).then(|| BudgetRequest {
            warpgroups: self.warpgroups.iter().map(|warpgroup| warpgroup.0).collect(),
            bounds: self.launch_bounds,
            blocks: self.blocks,
            registers: self.registers,
            maxnreg: self.maxnreg,
            tile: self.tile(),
        })
    }

    /// The tile whose accumulators are asked about.
    pub(crate) fn tile(&self) -> Option<Accumulators> {
        let ([m, n], schedule) = (self.tile?, self.schedule?);
        let schedule = match schedule {
            ScheduleFlag::Pingpong => Schedule::Pingpong,
            ScheduleFlag::Cooperative => Schedule::Cooperative,
        };
        Some(Accumulators { m, n, schedule })
    }
}
