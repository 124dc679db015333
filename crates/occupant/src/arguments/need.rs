//! Flags of `occupant need`.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use occupant_core::{InspectOptions, Launches, NeedMemory, NeedOptions, NumbersRequest, Operation};

use super::kernels::KernelFlags;
use super::shape::{SetUp, ShapeFlags, block, size};

/// Memory that global accesses are served from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryFlag {
    /// Device memory
    Dram,
    /// The L2 cache
    L2,
}

/// An operation of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperationFlag {
    /// FP32 multiply-add
    Ffma,
    /// FP64 multiply-add
    Dfma,
    /// Special function
    Mufu,
    /// Tensor-core multiply 16x8x16
    Hmma,
    /// Shared load of 4 bytes
    Lds,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  occupant need libfoo.so --gpu h100-sxm
  occupant need libfoo.so --gpu h100-sxm --kernel copy --block 256 --curve
  occupant need libfoo.so --gpu b200-sxm --kernel gemm --stages 4 --tile-bytes 32K
  occupant need --gpu h100-sxm --bytes-per-thread 16 --ilp 4
  occupant need --gpu a100-sxm4-80gb --op ffma --ilp 2
  occupant need --gpu h100-sxm --flops 2e12 --bytes 8e9

Of a file, every kernel's machine code is read: how many warps saturate what it
is bound by, against how many it has. Needed warps grow with latency and
bandwidth and shrink with the bytes that each warp keeps in flight, so there
are two ways out: more warps, or more in flight per warp.

A range is the model alone; what it assumes stands below it. docs/need.md
explains the model, docs/accuracy.md how far it was measured.

Exit status: 0 answered, also where a kernel is short; 2 the question could not
be answered.")]
pub(crate) struct NeedFlags {
    #[command(flatten)]
    pub(crate) of: KernelFlags,
    /// Threads per block where neither binary nor launches say
    #[arg(long, value_name = "N", value_parser = block, requires = "paths", help_heading = "Kernels of a file")]
    pub(crate) block: Option<u32>,
    /// Dynamic shared memory per block where neither binary nor launches say
    #[arg(long, alias = "smem-dynamic", value_name = "SIZE", value_parser = size, requires = "paths", help_heading = "Kernels of a file")]
    pub(crate) shared_dynamic: Option<u32>,
    /// Stages of a kernel's pipeline, for one that is not modelled
    #[arg(long, value_name = "N", requires_all = ["paths", "tile_bytes"], help_heading = "Kernels of a file",
        value_parser = clap::value_parser!(u32).range(1..=64))]
    stages: Option<u32>,
    /// Bytes that one stage loads
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "stages", help_heading = "Kernels of a file")]
    tile_bytes: Option<u32>,
    /// Plot throughput against resident warps
    #[arg(long, requires = "paths", help_heading = "Kernels of a file")]
    curve: bool,
    /// Write that plot as an SVG file too, `-` for standard output alone
    #[arg(long, value_name = "FILE", requires = "paths", help_heading = "Kernels of a file")]
    pub(crate) svg: Option<PathBuf>,
    /// Where global accesses are served from [default: by the kernel's kind]
    #[arg(long, value_enum)]
    memory: Option<MemoryFlag>,
    /// Share of the ceiling to reach, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0, value_parser = target)]
    target: f64,
    /// Bytes that one load of a thread brings
    #[arg(long, value_name = "N", conflicts_with = "paths", help_heading = "By numbers", value_parser = per_thread)]
    bytes_per_thread: Option<f64>,
    /// An operation, to ask how many warps hide its latency
    #[arg(long, value_enum, conflicts_with = "paths", help_heading = "By numbers")]
    op: Option<OperationFlag>,
    /// Independent loads or operations of a thread [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "paths", help_heading = "By numbers", value_parser = per_thread)]
    ilp: Option<f64>,
    /// Floating-point operations of a kernel, such as 2e12
    #[arg(long, value_name = "N", requires = "bytes", conflicts_with = "paths", help_heading = "By numbers", value_parser = positive)]
    flops: Option<f64>,
    /// Bytes of DRAM that it moves, such as 8e9
    #[arg(long, value_name = "N", requires = "flops", conflicts_with = "paths", help_heading = "By numbers", value_parser = positive)]
    bytes: Option<f64>,
    #[command(flatten)]
    pub(crate) set_up: SetUp,
}

fn target(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (1.0..=99.9).contains(&percent) => Ok(percent),
        _ => Err("write a percentage from 1 to 99.9, such as 90: the ceiling itself is never reached".to_owned()),
    }
}

/// Operations or bytes of a whole kernel.
fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (1.0..=1e24).contains(&number) => Ok(number),
        _ => Err("write a number from 1 to 1e24, such as 2e12".to_owned()),
    }
}

/// Bytes of one load or independent operations of a thread.
fn per_thread(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (1.0..=1024.0).contains(&number) => Ok(number),
        _ => Err("write a number from 1 to 1024, such as 4".to_owned()),
    }
}

impl NeedFlags {
    /// What is asked of kernels.
    fn options(&self) -> NeedOptions {
        NeedOptions {
            memory: self.memory(),
            target: self.target,
            curve: self.curve || self.svg.is_some(),
            pipeline: self.stages.zip(self.tile_bytes),
        }
    }

    /// A plot in the terminal was asked for.
    pub(crate) const fn wants_curve(&self) -> bool {
        self.curve
    }

    /// How files are inspected.
    pub(crate) fn inspect(&self, launches: Launches) -> InspectOptions {
        let shape = ShapeFlags {
            block: self.block,
            shared_dynamic: self.shared_dynamic,
            set_up: self.set_up.clone(),
            ..ShapeFlags::none()
        };
        InspectOptions { need: Some(self.options()), ..self.of.options(Vec::new(), &shape, launches) }
    }

    /// What is asked by numbers.
    pub(crate) fn numbers(&self) -> anyhow::Result<NumbersRequest> {
        let request = NumbersRequest {
            bytes_per_thread: self.bytes_per_thread,
            operation: self.op.map(|operation| match operation {
                OperationFlag::Ffma => Operation::Ffma,
                OperationFlag::Dfma => Operation::Dfma,
                OperationFlag::Mufu => Operation::Mufu,
                OperationFlag::Hmma => Operation::Hmma,
                OperationFlag::Lds => Operation::Lds,
            }),
            ilp: self.ilp,
            memory: self.memory(),
            target: self.target,
            roofline: self.flops.zip(self.bytes),
        };
        let NumbersRequest { bytes_per_thread, operation, roofline, .. } = request;
        if bytes_per_thread.is_none() && operation.is_none() && roofline.is_none() {
            bail!(
                "of what? name a file, or ask by numbers: --bytes-per-thread 16 --ilp 4, --op ffma, or --flops with --bytes"
            );
        }
        if let Some(flag) = self.of_a_file() {
            bail!("{flag} is about the kernels of a file: name one, or leave the flag away");
        }
        Ok(request)
    }

    /// The first flag given that only means something with a file.
    fn of_a_file(&self) -> Option<&'static str> {
        let given = [
            ("--block", self.block.is_some()),
            ("--shared-dynamic", self.shared_dynamic.is_some()),
            ("--stages", self.stages.is_some()),
            ("--curve", self.curve),
            ("--svg", self.svg.is_some()),
            ("--launches", self.of.launches.is_some()),
            ("--kernel", self.of.has_filter()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn memory(&self) -> Option<NeedMemory> {
        self.memory.map(|memory| match memory {
            MemoryFlag::Dram => NeedMemory::Dram,
            MemoryFlag::L2 => NeedMemory::L2,
        })
    }
}
