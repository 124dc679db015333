//! A grid on a whole GPU: waves, the tail, cooperative launches, clusters, tiles.

use occupant_hardware::{GpuSelector, SmLimits, gpus};
use occupant_occupancy::{PORTABLE_CLUSTER, clusters_upper_bound, waves};

use crate::calc::{CalcError, CalcRequest, calc};
use crate::grid;
use crate::report::{ClusterLaunch, LaunchReport, TileRecord};
use crate::subject::Subject;

/// The call that tells how many clusters a chip holds.
const CLUSTER_CALL: &str = "cudaOccupancyMaxActiveClusters";

/// Rows and columns of a tile, and blocks per SM with it where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// Blocks per SM; as for the shape where `None`.
    pub blocks_per_sm: Option<u32>,
}

/// What is asked about a grid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchRequest {
    /// Blocks of the grid along x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Resident blocks per SM where they are known; else from the shape.
    pub blocks_per_sm: Option<u32>,
    /// SMs where the GPU does not say, or where only some may be used.
    pub sms: Option<u32>,
    /// All blocks have to be resident at once.
    pub cooperative: bool,
    /// Rows, columns and batch of a problem that tiles divide.
    pub problem: Option<[u64; 3]>,
    /// Tiles to compare.
    pub tiles: Vec<Tile>,
}

/// The answer for one grid on one GPU.
///
/// # Errors
/// [`CalcError`] for a request that means nothing, and for a GPU whose number of SMs is not known.
pub fn launch(subject: &Subject, request: &LaunchRequest) -> Result<LaunchReport, CalcError> {
    let target = subject.target()?;
    let sms = request.sms.or_else(|| subject.gpu.sm_count()).ok_or_else(|| no_sms(&subject.gpu))?;
    checked(subject, request, target.limits)?;
    let grid_blocks = request.grid.map(grid::blocks);
    let calculated = calc(target, &CalcRequest { grid: request.grid, ..subject.request })?;
    let blocks_per_sm = request.blocks_per_sm.unwrap_or(calculated.occupancy.blocks_per_sm);
    let cluster = subject.request.cluster.map(|blocks| cluster(blocks, sms, blocks_per_sm, grid_blocks));
    let slots = u64::from(sms) * u64::from(blocks_per_sm);
    let blocks_per_wave = cluster.as_ref().map_or(slots, |cluster| cluster.upper_bound_blocks);
    let found = grid_blocks.and_then(|grid| waves(grid, sms, blocks_per_wave));
    let mut reasons: Vec<String> = calculated.reason.into_iter().collect();
    if let Some(grid) = grid_blocks.filter(|grid| request.cooperative && *grid > blocks_per_wave) {
        reasons.push(format!(
            "a cooperative grid of {grid} blocks, {blocks_per_wave} can be resident ({blocks_per_sm} on each of {sms} SMs)"
        ));
    }
    Ok(LaunchReport {
        schema: "occupant.launch.v1",
        notes: notes(subject, request, grid_blocks, sms, blocks_per_sm, calculated.notes),
        gpu: calculated.gpu,
        sms,
        input: request.blocks_per_sm.is_none().then_some(calculated.input),
        launchable: reasons.is_empty(),
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        blocks_per_sm,
        occupancy: request.blocks_per_sm.is_none().then_some(calculated.occupancy),
        grid: grid_blocks,
        blocks_per_wave,
        waves: found.map(|found| three_decimals(found.waves)),
        last_wave_blocks: found.map(|found| found.last_wave_blocks),
        last_wave_percent: found
            .map(|found| one_decimal(found.last_wave_blocks as f64 * 100.0 / blocks_per_wave as f64)),
        idle_sms_last_wave: found.map(|found| found.idle_sms_last_wave),
        efficiency_percent: found.map(|found| one_decimal(found.efficiency * 100.0)),
        max_cooperative_grid: blocks_per_wave,
        cluster,
        tiles: tiles(request, subject.request.cluster_sizes, sms, blocks_per_sm)?,
    })
}

/// Numbers that no GPU has.
fn checked(subject: &Subject, request: &LaunchRequest, limits: &SmLimits) -> Result<(), CalcError> {
    let most_blocks = limits.max_blocks_per_sm;
    let tiles = request.tiles.iter().filter_map(|tile| tile.blocks_per_sm);
    let numbers = [
        ("blocks-per-sm", request.blocks_per_sm, most_blocks),
        ("tile", tiles.max(), most_blocks),
        ("sms", request.sms, subject.gpu.sm_count().unwrap_or(u32::MAX)),
    ];
    for (what, found, most) in numbers {
        if let Some(found) = found.filter(|found| !(1..=most).contains(found)) {
            return Err(CalcError::OutOfRange { what, found, most });
        }
    }
    Ok(())
}

fn three_decimals(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn one_decimal(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn no_sms(gpu: &GpuSelector) -> CalcError {
    let known = match gpu {
        GpuSelector::Family { models, .. } => {
            let each = models.iter().filter_map(|gpu| Some(format!("{} has {}", gpu.id, gpu.sm_count?)));
            each.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    CalcError::SmsUnknown { gpu: gpu.name(), known }
}

fn cluster(blocks: u32, sms: u32, blocks_per_sm: u32, grid: Option<u64>) -> ClusterLaunch {
    let upper_bound = clusters_upper_bound(sms, blocks_per_sm, blocks).unwrap_or(0);
    ClusterLaunch {
        blocks,
        portable: blocks <= PORTABLE_CLUSTER,
        upper_bound,
        upper_bound_blocks: upper_bound * u64::from(blocks),
        grid_clusters: grid.map(|grid| grid / u64::from(blocks.max(1))),
        settled_by: CLUSTER_CALL,
    }
}

/// The grid of each tile, rounded up to whole clusters.
fn tiles(
    request: &LaunchRequest,
    cluster: Option<[u32; 3]>,
    sms: u32,
    blocks_per_sm: u32,
) -> Result<Vec<TileRecord>, CalcError> {
    let Some([m, n, batch]) = request.problem else { return Ok(Vec::new()) };
    let [along_m, along_n, _] = cluster.unwrap_or([1; 3]).map(|size| u64::from(size.max(1)));
    let record = |tile: &Tile| {
        let [rows, columns] = [u64::from(tile.m), u64::from(tile.n)];
        let blocks = [m.div_ceil(rows).next_multiple_of(along_m), n.div_ceil(columns).next_multiple_of(along_n)];
        let grid = blocks[0].checked_mul(blocks[1]).and_then(|grid| grid.checked_mul(batch));
        let grid = grid.ok_or(CalcError::TooManyBlocks)?;
        let blocks_per_sm = tile.blocks_per_sm.unwrap_or(blocks_per_sm);
        let (slots, cluster) = (u64::from(blocks_per_sm) * u64::from(sms), along_m * along_n);
        let found = waves(grid, sms, slots / cluster * cluster).ok_or(CalcError::TooManyBlocks)?;
        let useful = m as f64 * n as f64 * batch as f64 / (grid as f64 * rows as f64 * columns as f64);
        Ok(TileRecord {
            tile: [tile.m, tile.n],
            blocks_per_sm,
            grid,
            waves: three_decimals(found.waves),
            idle_sms_last_wave: found.idle_sms_last_wave,
            efficiency_percent: one_decimal(found.efficiency * 100.0),
            useful_percent: one_decimal(useful * 100.0),
            together_percent: one_decimal(found.efficiency * useful * 100.0),
        })
    };
    request.tiles.iter().map(record).collect()
}

fn notes(
    subject: &Subject,
    request: &LaunchRequest,
    grid: Option<u64>,
    sms: u32,
    blocks_per_sm: u32,
    mut notes: Vec<String>,
) -> Vec<String> {
    if request.blocks_per_sm.is_some() {
        notes.clear();
    }
    // The waves say it better.
    notes.retain(|note| !note.contains("such blocks at once") && !note.contains("GPC layout"));
    notes.extend(grid.and_then(|grid| other_card(grid, sms, blocks_per_sm)));
    if let Some(grid) = grid.filter(|grid| *grid < u64::from(sms)) {
        notes.push(format!(
            "{} of {sms} SMs get no block: no occupancy makes up for a grid that small",
            u64::from(sms) - grid
        ));
    }
    if subject.request.cluster.is_some() {
        notes.push(format!(
            "a cluster stays within one GPC, and how many SMs a GPC has differs from chip to chip: the number of clusters is \
             an upper bound, {CLUSTER_CALL} tells what this chip holds"
        ));
    }
    if grid.is_some() || request.problem.is_some() {
        notes.push(
            "waves assume blocks of equal length; the hardware starts a block as soon as another one ends".to_owned(),
        );
    }
    if let GpuSelector::Family { models, .. } = &subject.gpu
        && request.sms.is_none()
    {
        notes.push(format!("{} SMs, as all {} models of the family have", sms, models.len()));
    }
    notes
}

/// A grid that fits the number of SMs of another card is often written into the program.
fn other_card(grid: u64, sms: u32, blocks_per_sm: u32) -> Option<String> {
    if grid.is_multiple_of(u64::from(sms)) {
        return None;
    }
    let mut factors = vec![1, 2, u64::from(blocks_per_sm)];
    factors.dedup();
    let named = |factor: u64| {
        let of = |count: u32| u64::from(count) * factor == grid && count >= 20;
        let cards: Vec<&str> =
            gpus().iter().filter(|gpu| gpu.sm_count.is_some_and(of)).map(|gpu| gpu.id.as_str()).take(3).collect();
        (!cards.is_empty()).then(|| (factor, cards.join(", ")))
    };
    let (factor, cards) = factors.into_iter().find_map(named)?;
    let count = grid / factor;
    let times = if factor == 1 { String::new() } else { format!("{factor} times ") };
    Some(format!(
        "the grid is {times}the number of SMs of another card ({cards}: {count}); this one has {sms}: ask the device for \
         multiProcessorCount"
    ))
}
