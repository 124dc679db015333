//! What `occupant inspect --summary` answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Diagnostic, GpuKernels, Totals};

/// The census of the kernels that `inspect` lists.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SummaryReport {
    /// `occupant.summary.v1`.
    pub schema: &'static str,
    /// Per architecture, and per tile, schedule or family where asked for.
    pub groups: Vec<GroupRecord>,
    /// The ten with the most registers; `value` is registers per thread.
    pub most_registers: Vec<Extreme>,
    /// The ten with the lowest occupancy that is exact or an upper bound; `value` is percent.
    pub lowest_occupancy: Vec<Extreme>,
    /// The ten that spill most; `value` is bytes stored and loaded by a thread.
    pub most_spills: Vec<Extreme>,
    /// Every binary that has kernels of the census, as file and path in its archives, so that those of the extremes can be told
    /// apart in short. Not in JSON: paths are whole there.
    #[serde(skip)]
    pub places: Vec<(Arc<str>, Option<Arc<str>>)>,
    /// For each GPU asked for, how many kernels have an image that it runs; empty without `--gpu`.
    pub gpus: Vec<GpuKernels>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
    /// Counts over everything that was found.
    pub totals: Totals,
}

/// Kernels of one architecture, or of one group of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GroupRecord {
    /// The GPU asked for; `null` where the images' own architectures answer.
    pub gpu: Option<String>,
    /// Target, e.g. `sm_90a`; `none` for kernels without an image for the GPU asked for.
    pub arch: String,
    /// Tile, schedule or family; `null` where grouped by architecture alone.
    pub group: Option<String>,
    /// Kernels.
    pub kernels: u64,
    /// Those of them that return at once, see `returns_at_once` of a kernel. They count here and in `kernels` alone: what
    /// follows is about the others.
    pub returns_at_once: u64,
    /// Those of them that only report, see `only_reports` of a kernel. They count like those that return at once.
    pub only_reports: u64,
    /// Different kernels: by mangled name, resources and bytes of code. A library holds a template's kernel once for each
    /// of its files that use it.
    pub distinct: u64,
    /// The kernel that is there most often; `null` where each is there once.
    pub most_copied: Option<Copied>,
    /// Registers per thread.
    pub registers: Histogram,
    /// Occupancy of kernels whose launch is known.
    pub exact: OccupancyCensus,
    /// Largest occupancy of kernels whose launch is not.
    pub upper_bound: OccupancyCensus,
    /// Occupancy at an assumed block of 256 threads.
    pub hypothetical: OccupancyCensus,
    /// Kernels that can't launch as given.
    pub cannot_launch: u64,
    /// Kernels without an occupancy.
    pub unknown: u64,
    /// What binds, most frequent first; a kernel can have several.
    pub limiters: Vec<LimiterShare>,
}

impl GroupRecord {
    /// Kernels that the counts are about: those that do what they were written for.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.kernels.saturating_sub(self.returns_at_once).saturating_sub(self.only_reports)
    }
}

/// Counts over ranges of a value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Histogram {
    /// Median; `null` without kernels.
    pub median: Option<f64>,
    /// Ranges, ascending.
    pub bins: Vec<HistogramBin>,
}

/// Kernels in a range. Its upper end belongs to it, its lower end where it is no other range's upper end: of registers, 33
/// to 40 are both inside; of occupancy in percent, `from` 10 `to` 20 is above 10 up to and including 20, and 0 is in the
/// first range.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HistogramBin {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// Kernels.
    pub kernels: u64,
}

/// Occupancies of one basis, in percent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OccupancyCensus {
    /// Kernels of this basis.
    pub kernels: u64,
    /// Median; `null` without kernels.
    pub median: Option<f64>,
    /// Kernels from 30 % to 60 %, both included.
    pub from_30_to_60: u64,
    /// Ranges of 10 %.
    pub bins: Vec<HistogramBin>,
}

/// How often a ceiling binds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LimiterShare {
    /// The ceiling.
    pub name: &'static str,
    /// Kernels that it limits.
    pub kernels: u64,
    /// Share of the kernels that can launch.
    pub percent: f64,
}

/// A kernel that is there several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Copied {
    /// Mangled name.
    pub name: Arc<str>,
    /// Name for reading.
    pub demangled: Arc<str>,
    /// How often it is there.
    pub kernels: u64,
}

/// A kernel at an end of the range.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Extreme {
    /// Mangled name.
    pub name: Arc<str>,
    /// Name for reading.
    pub demangled: Arc<str>,
    /// Target.
    pub arch: String,
    /// The file as named.
    pub file: Arc<str>,
    /// Path of the binary in the archives that `file` is; `null` where `file` is the binary itself.
    pub member: Option<Arc<str>>,
    /// The value.
    pub value: f64,
}
