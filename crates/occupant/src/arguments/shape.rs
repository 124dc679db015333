//! Flags of a launch shape, the same for every command that takes one.

use clap::{Args, ValueEnum};
use occupant_core::{Carveout, PartitionedCaching, Rules, parse_carveout, parse_size};

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
