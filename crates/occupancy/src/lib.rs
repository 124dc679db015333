//! HAVE: how many blocks of a launch shape fit on one multiprocessor, which ceiling binds, and why.
//!
//! For: exact theoretical occupancy by NVIDIA's allocation rules, equal to `cuda_occupancy.h` on every point compared
//! (`cargo xtask oracle`). Pure arithmetic: no I/O, no allocation on the path of [`occupancy`].
//! Not for: where the shape comes from (binaries, profiles), nor whether more occupancy would help.
//!
//! ```
//! use occupant_hardware::{ComputeCapability, limits};
//! use occupant_occupancy::{Resource, Shape, occupancy};
//!
//! let h100 = limits(ComputeCapability::new(9, 0))?;
//! let shape = Shape { registers_per_thread: 128, threads_per_block: 256, shared_dynamic: 49152, ..Shape::default() };
//! let answer = occupancy(h100, &shape)?;
//! assert_eq!((answer.blocks_per_sm, answer.warps_per_sm(), answer.percent()), (2, 16, 25.0));
//! assert!(answer.limiters().contains(Resource::Registers));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod budget;
mod by_hand;
mod ceilings;
mod fit;
mod inverse;
mod launch_bounds;
mod refusal;
mod requirement;
mod rules;
mod search;
mod shape;
mod slack;
mod sweep;
mod waves;

pub use axis::{Axis, BARRIERS_OF_A_BLOCK};
pub use budget::{
    Budget, InvalidBudget, LARGEST_REQUEST, REQUEST_STEP, Requests, SMALLEST_REQUEST, Schedule, Split,
    WARPGROUP_THREADS, accumulator_registers, budget, legal_splits,
};
pub use by_hand::{ByHand, Rounding, RoundingStep, by_hand};
pub use ceilings::{Ceilings, Limiters, Resource};
pub use fit::{Change, Setting, Solution, fit};
pub use inverse::{BlockSize, best_blocks, largest};
pub use launch_bounds::{Effect, MinBlocks, launch_bounds, most_min_blocks, register_cap};
pub use refusal::{Refusal, refusals};
pub use requirement::{LARGEST_CLUSTER, PORTABLE_CLUSTER, Requirement, requirements};
pub use rules::{Allocated, Occupancy, occupancy};
pub use search::{BestBlock, best_block};
pub use shape::{Carveout, InvalidShape, PartitionedCaching, Shape};
pub use slack::{Edge, Slack, slack};
pub use sweep::{Stair, sweep};
pub use waves::{LARGEST_GRID, Waves, clusters_upper_bound, waves};
