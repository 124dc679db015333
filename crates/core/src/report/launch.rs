//! What `occupant launch` answers.

use schemars::JsonSchema;
use serde::Serialize;

use super::{CalcInput, GpuName, OccupancyRecord};

/// A grid on a whole GPU.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaunchReport {
    /// `occupant.launch.v1`.
    pub schema: &'static str,
    /// The GPU.
    pub gpu: GpuName,
    /// Its SMs.
    pub sms: u32,
    /// The shape; `null` where blocks per SM were given instead.
    pub input: Option<CalcInput>,
    /// A block fits, the cluster is allowed, and, for a cooperative launch, the grid is resident at once.
    pub launchable: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Resident blocks per SM.
    pub blocks_per_sm: u32,
    /// The occupancy behind them; `null` where they were given.
    pub occupancy: Option<OccupancyRecord>,
    /// Blocks of the grid; `null` where none was given.
    pub grid: Option<u64>,
    /// Blocks resident on the whole GPU at once.
    pub blocks_per_wave: u64,
    /// The grid in waves; `null` without a grid. Blocks are dispatched one by one: an estimate for blocks of equal length.
    pub waves: Option<f64>,
    /// Blocks of the last wave.
    pub last_wave_blocks: Option<u64>,
    /// Block slots that the last wave fills, 0 to 100.
    pub last_wave_percent: Option<f64>,
    /// SMs without a block in the last wave.
    pub idle_sms_last_wave: Option<u32>,
    /// Block slots used over all waves, 0 to 100.
    pub efficiency_percent: Option<f64>,
    /// Largest grid of a cooperative launch, in blocks.
    pub max_cooperative_grid: u64,
    /// Clusters; `null` without.
    pub cluster: Option<ClusterLaunch>,
    /// The grid for each tile of a problem; empty without.
    pub tiles: Vec<TileRecord>,
    /// What a reader should know about this answer.
    pub notes: Vec<String>,
}

/// Several GPUs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaunchMatrix {
    /// `occupant.launch_matrix.v1`.
    pub schema: &'static str,
    /// One answer a GPU.
    pub results: Vec<LaunchReport>,
}

/// Thread block clusters on a whole GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClusterLaunch {
    /// Blocks of a cluster.
    pub blocks: u32,
    /// Every GPU with clusters takes this size; larger ones need an attribute.
    pub portable: bool,
    /// Clusters resident at once, at most. GPCs with an odd number of SMs hold fewer.
    pub upper_bound: u64,
    /// Blocks of that many clusters.
    pub upper_bound_blocks: u64,
    /// Clusters of the grid; `null` without a grid.
    pub grid_clusters: Option<u64>,
    /// The call that tells what this chip holds.
    pub settled_by: &'static str,
}

/// The grid that a tile makes of a problem.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TileRecord {
    /// Rows and columns of a block's tile.
    pub tile: [u32; 2],
    /// Blocks per SM with it.
    pub blocks_per_sm: u32,
    /// Blocks of the grid, whole clusters.
    pub grid: u64,
    /// Waves.
    pub waves: f64,
    /// SMs without a block in the last wave.
    pub idle_sms_last_wave: u32,
    /// Block slots used over all waves, 0 to 100.
    pub efficiency_percent: f64,
    /// Elements of the tiles that are elements of the problem, 0 to 100.
    pub useful_percent: f64,
    /// Both together, 0 to 100.
    pub together_percent: f64,
}
