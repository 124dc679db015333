//! Flags of a launch shape, the same for every command that takes one.

use clap::{Args, ValueEnum};
use occupant_core::{CalcRequest, Carveout, PartitionedCaching, Rules, Shape, parse_block, parse_carveout, parse_size};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Caching {
    Off,
    On,
    Strict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesFlag {
    #[value(name = "13.5")]
    Cuda13_5,
    #[value(name = "12.9")]
    Cuda12_9,
}

/// How the SM is set up.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetUp {
    /// Preferred shared-memory carve-out: default, max, a percentage such as 50%, or a size
    #[arg(long, default_value = "default", value_parser = parse_carveout, help_heading = "SM set-up")]
    carveout: Carveout,
    /// Partitioned caching of global loads (5.2, 5.3, 6.1, 6.2)
    #[arg(long, value_enum, default_value_t = Caching::Off, help_heading = "SM set-up")]
    partitioned_caching: Caching,
    /// Release of NVIDIA's occupancy rules
    #[arg(long, value_enum, default_value_t = RulesFlag::Cuda13_5, help_heading = "SM set-up")]
    rules: RulesFlag,
}

impl SetUp {
    pub(crate) const fn carveout(&self) -> Carveout {
        self.carveout
    }

    pub(crate) const fn partitioned_caching(&self) -> PartitionedCaching {
        match self.partitioned_caching {
            Caching::Off => PartitionedCaching::Off,
            Caching::On => PartitionedCaching::On,
            Caching::Strict => PartitionedCaching::Strict,
        }
    }

    pub(crate) const fn rules(&self) -> Rules {
        match self.rules {
            RulesFlag::Cuda13_5 => Rules::Cuda13_5,
            RulesFlag::Cuda12_9 => Rules::Cuda12_9,
        }
    }
}

/// Flags for sizes share their words.
pub(crate) fn size(text: &str) -> Result<u32, String> {
    parse_size(text).map_err(|error| error.to_string())
}

/// Threads per block, at least one.
pub(crate) fn block(text: &str) -> Result<u32, String> {
    // Source: CUDA Programming Guide, technical specifications.
    let along_z = text.split(['x', 'X']).nth(2).and_then(|threads| threads.trim().parse::<u32>().ok());
    match parse_block(text) {
        Ok(0) => Err("a block has at least 1 thread".to_owned()),
        Ok(_) if along_z.is_some_and(|threads| threads > 64) => {
            Err("a block has at most 64 threads along z".to_owned())
        }
        Ok(threads) => Ok(threads),
        Err(error) => Err(error.to_string()),
    }
}

/// Blocks of a cluster along x, y, z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cluster(pub(crate) [u32; 3]);

impl Cluster {
    /// Blocks in all.
    pub(crate) const fn blocks(self) -> u32 {
        self.0[0] * self.0[1] * self.0[2]
    }
}

/// A block can name 16; NVIDIA's rules take more, as far as any SM has them.
fn barriers(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(barriers @ 0..=64) => Ok(barriers),
        _ => Err("a block can name 16 barriers, and no SM has more than 64".to_owned()),
    }
}

fn cluster(text: &str) -> Result<Cluster, String> {
    let error = "write blocks such as 2, or dimensions such as 2x1";
    // The product is checked, so that it can be taken later.
    match parse_block(text).map_err(|_| error)? {
        0 => Err("a cluster has at least 1 block".to_owned()),
        _ => {
            let mut sizes = [1; 3];
            for (size, given) in sizes.iter_mut().zip(text.split(['x', 'X'])) {
                *size = given.trim().parse().map_err(|_| error)?;
            }
            Ok(Cluster(sizes))
        }
    }
}

/// The amounts of a launch shape. What is not given is told apart from what is.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShapeFlags {
    /// Registers per thread, as ptxas prints them; they do not bound where not given
    #[arg(long, visible_alias = "regs", value_name = "N", help_heading = "Launch shape",
        value_parser = clap::value_parser!(u32).range(..=65536))]
    pub(crate) registers: Option<u32>,
    /// Threads per block, or dimensions such as 16x16 [default: 256]
    #[arg(long, value_name = "N", value_parser = block, help_heading = "Launch shape")]
    pub(crate) block: Option<u32>,
    /// Static shared memory per block [default: 0]
    #[arg(long, alias = "smem-static", value_name = "SIZE", value_parser = size, help_heading = "Launch shape")]
    pub(crate) shared_static: Option<u32>,
    /// Dynamic shared memory per block [default: 0]
    #[arg(long, alias = "smem-dynamic", value_name = "SIZE", value_parser = size, help_heading = "Launch shape")]
    pub(crate) shared_dynamic: Option<u32>,
    /// Named barriers per block [default: 1]
    #[arg(long, value_name = "N", help_heading = "Launch shape", value_parser = barriers)]
    pub(crate) barriers: Option<u32>,
    /// Virtual resources per block (10.0 and later) [default: 0]
    #[arg(long, value_name = "N", help_heading = "Launch shape")]
    pub(crate) virtual_resources: Option<u32>,
    /// Tensor-memory columns per block in all (10.0 and later)
    #[arg(long, value_name = "N", help_heading = "Launch shape")]
    pub(crate) tensor_columns: Option<u32>,
    /// Blocks per cluster, or dimensions such as 2x1
    #[arg(long, value_name = "N", value_parser = cluster, help_heading = "Launch shape")]
    pub(crate) cluster: Option<Cluster>,
    #[command(flatten)]
    pub(crate) set_up: SetUp,
}

impl ShapeFlags {
    /// No flag given, for commands that take none.
    pub(crate) const fn none() -> Self {
        Self {
            registers: None,
            block: None,
            shared_static: None,
            shared_dynamic: None,
            barriers: None,
            virtual_resources: None,
            tensor_columns: None,
            cluster: None,
            set_up: SetUp {
                carveout: Carveout::Default,
                partitioned_caching: Caching::Off,
                rules: RulesFlag::Cuda13_5,
            },
        }
    }

    /// The request that the flags make.
    pub(crate) fn request(&self) -> CalcRequest {
        CalcRequest {
            shape: Shape {
                registers_per_thread: self.registers.unwrap_or(0),
                threads_per_block: self.block.unwrap_or(256),
                shared_static: self.shared_static.unwrap_or(0),
                shared_dynamic: self.shared_dynamic.unwrap_or(0),
                barriers: self.barriers.unwrap_or(1),
                virtual_resources: self.virtual_resources.unwrap_or(0),
                tensor_columns: self.tensor_columns.unwrap_or(0),
                carveout: self.set_up.carveout(),
                partitioned_caching: self.set_up.partitioned_caching(),
                shared_opt_in: true,
            },
            cluster: self.cluster.map(Cluster::blocks),
            cluster_sizes: self.cluster.map(|cluster| cluster.0),
            rules: self.set_up.rules(),
            ..CalcRequest::default()
        }
    }

    /// The first flag given of those that a file answers.
    pub(crate) fn of_a_file(&self) -> Option<&'static str> {
        let given = [
            ("--registers", self.registers.is_some()),
            ("--shared-static", self.shared_static.is_some()),
            ("--barriers", self.barriers.is_some()),
            ("--virtual-resources", self.virtual_resources.is_some()),
            ("--tensor-columns", self.tensor_columns.is_some()),
            ("--cluster", self.cluster.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}
