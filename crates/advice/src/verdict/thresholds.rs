//! Every threshold of the verdict, with where it comes from. No rule has a number of its own.

/// Percent of its peak from which a unit counts as the limit: NVIDIA's `SOLBottleneck` rule calls 80 % high throughput.
pub const SATURATED: f64 = 80.0;

/// The same for device memory, in percent of what a mixed stream reaches on the GPU: streams reach 85 to 93 % of the
/// specified bandwidth (`occupant gpus`, measured ceilings), so 80 % of the specification is 86 to 94 % of it.
pub const SATURATED_OF_CEILING: f64 = 85.0;

/// Waves from which a grid fills the GPU: under this an SM in ten has nothing to do at best. NVIDIA's `SOLBottleneck` rule
/// says small grid below 1; at 0.9 nearly every SM has all the blocks it can hold.
pub const FILLS_THE_GPU: f64 = 0.9;

/// Points by which achieved occupancy may lie under the theoretical one: NVIDIA's `AchievedOccupancy` rule.
pub const GAP: f64 = 10.0;

/// Share of cycles with an issue from which a scheduler is busy: NVIDIA's `IssueSlotUtilization` rule fires below 0.6.
pub const BUSY_ISSUE: f64 = 0.6;

/// Warps ready in each cycle, on average, from which another one would only wait with them: each scheduler issues one.
pub const ENOUGH_ELIGIBLE: f64 = 1.0;

/// Share of the waiting that decides what kind of waiting it is.
pub const MOST_OF_THE_WAITING: f64 = 0.5;

/// Percent of the warp slots from which there is no room for another block worth speaking of.
pub const FULL: f64 = 95.0;

/// Share of the waiting from which a reason is told: NVIDIA's `CPIStall` rule takes 30 %, which hides the second of two.
pub const WORTH_TELLING: f64 = 0.05;

/// Threads that take part in an instruction, of 32, below which lanes are idle: NVIDIA's `ThreadDivergence` rule.
pub const FULL_WARP: f64 = 24.0;

/// Bytes used of each sector of 32 below which accesses are scattered: half.
pub const USED_OF_SECTOR: f64 = 16.0;

/// Extra passes over shared memory for bank conflicts, as a share of all, from which they are told.
pub const CONFLICTS: f64 = 0.1;

/// Samples of program counters below which their shares are left to chance: at 100 a share of a tenth is off by a third.
pub const FEW_SAMPLES: f64 = 100.0;
