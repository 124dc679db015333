//! NEED: how many resident warps saturate a GPU, from a kernel's own machine code or from numbers.
//!
//! For: the timeline of one warp, its demand on each resource of an SM, and the knee where the two meet (Little's law with
//! a soft corner). Not for: absolute run times, accesses that follow data, or how many warps a launch has; that is HAVE.
//! The model, its constants and its measured errors are explained in `docs/need.md`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod constants;
mod demand;
mod guided;
mod kernel;
mod knee;
mod machine;
mod numbers;
mod path;
mod refusal;
mod reuse;
mod timeline;

pub use constants::Constants;
pub use demand::{Demand, Resource, Stream};
pub use guided::{Formula, Guide, Guided, Lifetime, assumed_counts, guided, visit_cycles};
pub use kernel::{Execution, Model, Scenario, Scope, Sources, model};
pub use knee::Knee;
pub use machine::{Machine, Memory, MissingFact};
pub use numbers::{Operation, Roofline, by_bytes, by_operation, roofline};
pub use path::Guarded;
pub use refusal::NotModelled;
pub use timeline::Timeline;
