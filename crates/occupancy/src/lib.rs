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

mod by_hand;
mod ceilings;
mod refusal;
mod requirement;
mod rules;
mod search;
mod shape;

pub use by_hand::{ByHand, Rounding, RoundingStep, by_hand};
pub use ceilings::{Ceilings, Limiters, Resource};
pub use refusal::{Refusal, refusals};
pub use requirement::{Requirement, requirements};
pub use rules::{Allocated, Occupancy, occupancy};
pub use search::{BestBlock, best_block};
pub use shape::{Carveout, InvalidShape, PartitionedCaching, Shape};
