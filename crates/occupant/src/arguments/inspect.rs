//! Flags of `occupant inspect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use occupant_core::{Architecture, GpuSelector, GroupBy, InspectOptions, Launches, ReadCode, Regex};

use occupant_report::{Detail, Listing};

use super::gpus::{Gpus, gpus};
use super::shape::{SetUp, block, size};

/// Keys to sort by. Kernels without the value, and hypothetical occupancies, come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Demangled name
    Name,
    /// Architecture, then name
    Arch,
    /// Most registers first
    Registers,
    /// Most static and dynamic shared memory first
    Shared,
    /// Largest stack first
    Stack,
    /// Most bytes spilled first
    Spills,
    /// Lowest occupancy first
    Occupancy,
}

/// What the census is grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Tile
    Tile,
    /// Schedule
    Schedule,
    /// Naming scheme
    Family,
}

impl From<By> for GroupBy {
    fn from(by: By) -> Self {
        match by {
            By::Tile => Self::Tile,
            By::Schedule => Self::Schedule,
            By::Family => Self::Family,
        }
    }
}

/// How much machine code is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sass {
    /// The hot loop
    Hot,
    /// Every instruction
    All,
}

impl From<Sass> for Detail {
    fn from(sass: Sass) -> Self {
        match sass {
            Sass::Hot => Self::Hot,
            Sass::All => Self::All,
        }
    }
}

/// The start of a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tile(Vec<u32>);

fn tile(text: &str) -> Result<Tile, String> {
    let numbers: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    numbers.map(Tile).map_err(|_| "write a tile such as 128x256 or 128x256x64".to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant inspect libfoo.so
  occupant inspect libfoo.so --gpu h100-sxm --sort occupancy --top 20
  occupant inspect dist/foo.whl --kernel 'gemm|attention' --format csv
  occupant inspect ~/.triton/cache
  occupant inspect libfoo.so --arch sm_90a --kernel attention --sass
  occupant inspect libcublasLt.so.12 --gpu h100 --summary --by tile
  occupant inspect build/ --launches launches.csv --format jsonl

An occupancy is exact where the launch is known, an upper bound (<=) where only
a maximum block size is known or dynamic shared memory is not, and hypothetical
(~) at an assumed block of 256 threads.

The limit is what binds: warps, blocks, regs (registers), shared (memory),
barriers, or virtual (virtual resources: an SM from 10.0 on has 128, a kernel
takes its share at launch and can give it back while it runs).

Launches are CSV: kernel,block,shared_dynamic. A kernel is named by its mangled
or demangled name, with or without parameters; names with commas need quotes.

Exit status: 0 done (also where kernels can't launch), 2 where something could
not be read.")]
pub(crate) struct InspectFlags {
    /// Libraries, objects, fatbins, cubins, wheels and other archives; a directory stands for those in it, links followed and
    /// each read once, `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Answer for this GPU with the image that it runs; repeat for several, `current` stands for a set of present parts
    #[arg(long, value_name = "GPU")]
    gpu: Vec<Gpus>,
    /// Only images of this architecture; repeat for several
    #[arg(long, value_name = "ARCH")]
    arch: Vec<Architecture>,
    /// Only kernels whose mangled or demangled name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    kernel: Option<Regex>,
    /// Threads per block, or dimensions such as 16x16, where the binary does not require one
    #[arg(long, value_name = "N", value_parser = block, help_heading = "Launch shape")]
    block: Option<u32>,
    /// Dynamic shared memory per block for kernels that may use it
    #[arg(long, alias = "smem-dynamic", value_name = "SIZE", value_parser = size, help_heading = "Launch shape")]
    shared_dynamic: Option<u32>,
    /// Real launch shapes by kernel name: CSV with kernel,block,shared_dynamic, a profiler report or a PyTorch trace; `-` for
    /// standard input
    #[arg(long, value_name = "FILE", help_heading = "Launch shape")]
    pub(crate) launches: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) set_up: SetUp,
    /// Order of the kernels; as in the file where not given
    #[arg(long, value_enum, value_name = "KEY")]
    pub(crate) sort: Option<Sort>,
    /// Only the first N kernels of each GPU after sorting
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// A census instead of the list: registers, occupancy and limits per architecture, and the extremes
    #[arg(long, conflicts_with_all = ["sort", "top"])]
    pub(crate) summary: bool,
    /// Group the census by what names tell, beside the architecture
    #[arg(long, value_enum, value_name = "KEY", requires = "summary")]
    pub(crate) by: Option<By>,
    /// Columns for what names tell: tile, stages, cluster, schedule
    #[arg(long, conflicts_with = "summary")]
    names: bool,
    /// Names whole, in the last column; lines are as long as the names
    #[arg(long, conflicts_with = "summary")]
    full_names: bool,
    /// Only kernels whose name states this tile, such as 128x256 or 128x256x64
    #[arg(long, value_name = "MxN[xK]", value_parser = tile)]
    tile: Option<Tile>,
    /// The machine code: loops, and the hot one's instructions with their control codes; `all` shows every instruction
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, default_missing_value = "hot", require_equals = true, conflicts_with_all = ["summary", "names"])]
    pub(crate) sass: Option<Sass>,
    /// List device functions that are no kernels too
    #[arg(long)]
    pub(crate) functions: bool,
    /// List relocatable copies even where executable ones are there
    #[arg(long)]
    relocatable: bool,
    /// Threads to work on; the machine's where not given
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl InspectFlags {
    /// Whether kernels are filtered by tile.
    pub(crate) fn has_tile(&self) -> bool {
        self.tile.is_some()
    }

    /// Whether images are filtered by architecture.
    pub(crate) fn has_arch(&self) -> bool {
        !self.arch.is_empty()
    }

    /// How kernels are listed.
    pub(crate) fn listing(&self) -> Listing {
        let Self { names, full_names, functions, .. } = *self;
        Listing { names, full_names, functions, files: self.names_files() }
    }

    /// Whether it has to be said which file a kernel comes from.
    pub(crate) fn names_files(&self) -> bool {
        self.paths.len() > 1 || self.paths.iter().any(|path| path.is_dir())
    }

    /// The GPUs asked for, each once.
    pub(crate) fn gpus(&self) -> Vec<GpuSelector> {
        gpus(&self.gpu)
    }

    /// The options that the flags make, with the launches read from their file.
    pub(crate) fn options(&self, launches: Launches) -> InspectOptions {
        InspectOptions {
            gpus: self.gpus(),
            architectures: self.arch.clone(),
            kernel: self.kernel.clone(),
            block: self.block,
            shared_dynamic: self.shared_dynamic,
            launches,
            tile: self.tile.clone().map(|tile| tile.0),
            carveout: self.set_up.carveout(),
            partitioned_caching: self.set_up.partitioned_caching(),
            rules: self.set_up.rules(),
            functions: self.functions,
            relocatable: self.relocatable,
            need: None,
            code: if self.sass.is_some() { ReadCode::All } else { ReadCode::default() },
            threads: self.threads,
        }
    }
}
