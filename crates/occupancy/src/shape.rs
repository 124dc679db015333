//! The launch shape: what a block asks for. Not for: what an SM gives; that is [`crate::occupancy`].

use thiserror::Error;

/// How much of the unified L1 is asked for as shared memory (7.0 and later; ignored where the split is fixed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carveout {
    /// The driver chooses; NVIDIA's occupancy rules then assume the largest.
    #[default]
    Default,
    /// `cudaFuncAttributePreferredSharedMemoryCarveout`, 0 to 100 % of the SM's shared memory.
    Percent(u32),
    /// A size in bytes.
    Bytes(u32),
}

/// Caching of global loads in the partitioned L1 of 5.2, 5.3, 6.1 and 6.2 (`-Xptxas -dlcm=ca`); ignored elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartitionedCaching {
    /// Not used.
    #[default]
    Off,
    /// Used where at least one block then fits, else given up.
    On,
    /// Used whatever it costs.
    Strict,
}

impl PartitionedCaching {
    /// The name in JSON and CSV.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Strict => "strict",
        }
    }
}

/// What one block of a launch asks for. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Registers per thread, as compiled; 0 where unknown or none.
    pub registers_per_thread: u32,
    /// Threads per block, 1 or more.
    pub threads_per_block: u32,
    /// Static shared memory, without the system's reserve.
    pub shared_static: u32,
    /// Dynamic shared memory of the launch.
    pub shared_dynamic: u32,
    /// Named barriers of the block.
    pub barriers: u32,
    /// Virtual resources of the block (10.0 and later).
    pub virtual_resources: u32,
    /// Tensor-memory columns of the block in all (10.0 and later); 0 for none.
    pub tensor_columns: u32,
    /// Preferred carve-out.
    pub carveout: Carveout,
    /// Partitioned caching of global loads.
    pub partitioned_caching: PartitionedCaching,
    /// The host opts in to more than the default shared memory per block where the launch needs it.
    pub shared_opt_in: bool,
}

impl Default for Shape {
    /// One thread with one barrier and nothing else; the host opts in to large shared memory where needed.
    fn default() -> Self {
        Self {
            registers_per_thread: 0,
            threads_per_block: 1,
            shared_static: 0,
            shared_dynamic: 0,
            barriers: 1,
            virtual_resources: 0,
            tensor_columns: 0,
            carveout: Carveout::Default,
            partitioned_caching: PartitionedCaching::Off,
            shared_opt_in: true,
        }
    }
}

/// A shape that means nothing, as opposed to one that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidShape {
    /// A block without threads.
    #[error("a block has at least 1 thread, found 0: set it with --block")]
    NoThreads,
    /// A carve-out over 100 %.
    #[error("a carve-out is 0 % to 100 %, found {found} %: set it with --carveout")]
    CarveoutPercent {
        /// The percentage given.
        found: u32,
    },
    /// A carve-out larger than the SM's largest.
    #[error("the largest carve-out is {largest} bytes, found {found}: set it with --carveout")]
    CarveoutSize {
        /// The size given, bytes.
        found: u32,
        /// The largest supported, bytes.
        largest: u32,
    },
}

impl InvalidShape {
    /// A stable identifier for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoThreads => "no_threads",
            Self::CarveoutPercent { .. } => "carveout_percent",
            Self::CarveoutSize { .. } => "carveout_size",
        }
    }
}
