//! What a profiler measured of one launch, whatever kind of file said so: under the metric names of Nsight Compute, in base
//! units (bytes, seconds' fractions as the profiler has them, percent from 0 to 100). Not for: what it means.

use std::collections::BTreeMap;

use occupant_hardware::{ComputeCapability, Described, Gpu, identify};

use crate::ncu::SpeedupKind;

/// The kind of file that a measurement comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// An Nsight Compute report.
    Report,
    /// CSV of `--page raw`: one row a launch, a column a metric.
    CsvRaw,
    /// CSV of `--page details`, of `--metrics` and of 2018 to 2020: a row a metric.
    CsvDetails,
    /// CSV of `--print-summary per-kernel`: several launches in one row a metric.
    CsvSummary,
    /// A PyTorch (Kineto) trace.
    Trace,
}

impl Flavour {
    /// Its name for reading and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Report => "ncu_report",
            Self::CsvRaw => "csv_raw",
            Self::CsvDetails => "csv_details",
            Self::CsvSummary => "csv_summary",
            Self::Trace => "pytorch_trace",
        }
    }
}

/// What one of NVIDIA's own rules said.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Identifier of the rule, such as `TheoreticalOccupancy`; of older CSV its name.
    pub rule: String,
    /// The text.
    pub text: String,
    /// The speedup it estimates, percent.
    pub speedup: Option<(SpeedupKind, f64)>,
}

/// One launch, or of a summary several alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Where it comes from.
    pub flavour: Flavour,
    /// Version of the profiler, where the file says.
    pub profiler: Option<String>,
    /// Name for reading.
    pub name: String,
    /// Name as the binary has it.
    pub mangled: Option<String>,
    /// The GPU's marketing name.
    pub gpu: Option<String>,
    /// Its compute capability.
    pub capability: Option<ComputeCapability>,
    /// Blocks along x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Threads of a block along x, y, z.
    pub block: Option<[u64; 3]>,
    /// Launches that this stands for.
    pub launches: u64,
    /// Values by metric name.
    pub metrics: BTreeMap<String, f64>,
    /// What NVIDIA's rules said.
    pub said: Vec<Said>,
    /// Values by metric name and instruction: its offset in the kernel, bytes.
    pub instructions: BTreeMap<String, Vec<(u64, f64)>>,
}

impl Measurement {
    /// One without any value.
    #[must_use]
    pub fn new(flavour: Flavour, name: String) -> Self {
        Self {
            flavour,
            profiler: None,
            name,
            mangled: None,
            gpu: None,
            capability: None,
            grid: None,
            block: None,
            launches: 1,
            metrics: BTreeMap::new(),
            said: Vec::new(),
            instructions: BTreeMap::new(),
        }
    }

    /// A metric's value; `None` where it was not measured or can't be true: nothing that is counted is negative, and no
    /// share of a peak is ten times the peak.
    #[must_use]
    pub fn get(&self, metric: &str) -> Option<f64> {
        let most = if metric.contains("pct") { 1000.0 } else { LARGEST };
        self.metrics.get(metric).copied().filter(|value| (0.0..=most).contains(value))
    }

    /// The first of several names that has a value: metrics were renamed between versions and chips.
    #[must_use]
    pub fn first(&self, metrics: &[&'static str]) -> Option<(&'static str, f64)> {
        metrics.iter().find_map(|metric| Some((*metric, self.get(metric)?)))
    }

    /// Blocks of the grid.
    #[must_use]
    pub fn blocks(&self) -> Option<u64> {
        self.get("launch__grid_size").map(|blocks| blocks as u64).or_else(|| self.grid.map(product))
    }

    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> Option<u64> {
        self.get("launch__block_size").map(|threads| threads as u64).or_else(|| self.block.map(product))
    }

    /// The GPU model, where its name and size say which.
    #[must_use]
    pub fn model(&self) -> Option<&'static Gpu> {
        identify(Described {
            name: self.gpu.as_deref()?,
            capability: self.capability,
            sms: self.get("device__attribute_multiprocessor_count").map(|sms| sms as u32),
            gb_per_s: self.dram_peak().map(|rate| rate / 1e9),
        })
    }

    /// Bytes per second that DRAM moves at most, by memory clock and bus width.
    #[must_use]
    pub fn dram_peak(&self) -> Option<f64> {
        let hertz = self.get("device__attribute_memory_clock_rate")? * 1e3;
        // Both edges of the clock carry data.
        Some(hertz * 2.0 * self.get("device__attribute_global_memory_bus_width")? / 8.0)
    }

    /// What a metric says of each instruction, in the order of their offsets.
    #[must_use]
    pub fn by_instruction(&self, metric: &str) -> &[(u64, f64)] {
        self.instructions.get(metric).map_or(&[], Vec::as_slice)
    }
}

/// The most that a counter can hold.
const LARGEST: f64 = 18_446_744_073_709_551_615.0;

fn product(dimensions: [u64; 3]) -> u64 {
    dimensions.iter().fold(1, |all: u64, one| all.saturating_mul(*one))
}
