//! A grid on a whole GPU: waves, the tail, idle SMs. Not for: time; blocks are dispatched one by one as others end, so
//! waves are an estimate that assumes blocks of equal length.

/// Blocks of a grid along x, y and z, at most. Source: CUDA Programming Guide, technical specifications.
pub const LARGEST_GRID: [u64; 3] = [(1 << 31) - 1, 65535, 65535];

/// A grid cut into waves of resident blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waves {
    /// Waves, with a fraction.
    pub waves: f64,
    /// Blocks of the last wave, 1 to a whole wave.
    pub last_wave_blocks: u64,
    /// SMs without a block in the last wave, blocks being spread over SMs first.
    pub idle_sms_last_wave: u32,
    /// Block slots used over all waves, 0 to 1.
    pub efficiency: f64,
}

/// The waves of `grid` blocks on a GPU of `sms` SMs that holds `blocks_per_wave` at once. `None` where one of them is 0.
#[must_use]
pub fn waves(grid: u64, sms: u32, blocks_per_wave: u64) -> Option<Waves> {
    if grid == 0 || blocks_per_wave == 0 || sms == 0 {
        return None;
    }
    let whole = grid.div_ceil(blocks_per_wave);
    let last_wave_blocks = grid - (whole - 1) * blocks_per_wave;
    // Far beyond 2^53 nobody counts single blocks.
    let waves = grid as f64 / blocks_per_wave as f64;
    Some(Waves {
        waves,
        last_wave_blocks,
        idle_sms_last_wave: sms.saturating_sub(u32::try_from(last_wave_blocks).unwrap_or(u32::MAX)),
        efficiency: waves / whole as f64,
    })
}

/// Clusters of `cluster` blocks that can be resident at once, at most: all block slots of the GPU divided by it. What a chip
/// reaches depends on how many SMs each of its GPCs has; `cudaOccupancyMaxActiveClusters` tells. `None` for a cluster of 0.
#[must_use]
pub fn clusters_upper_bound(sms: u32, blocks_per_sm: u32, cluster: u32) -> Option<u64> {
    (u64::from(sms) * u64::from(blocks_per_sm)).checked_div(u64::from(cluster))
}
