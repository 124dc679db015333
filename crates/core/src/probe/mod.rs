//! PROBE: an experiment that answers whether occupancy matters, without a change of code: dynamic shared memory that is
//! added at launch lowers it step by step, and where the time stays flat occupancy is not the lever. For: what to launch
//! ([`plan`]) and what the measurements say ([`read_reports`], [`read_timings`]). Not for: launching or measuring.

mod plan;
mod read;
mod reports;
mod timings;

pub use plan::{ProbeError, launched, plan, plan_of_launch};
pub use reports::read_reports;
pub use timings::{TimingsError, read_timings};
