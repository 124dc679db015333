//! VERDICT: profiler reports to answers. Joins what was measured with the code that a report carries, so that one report
//! gives HAVE, NEED and MEASURED. Not for: the rules (`occupant-advice`), reading reports (`occupant-profile`).

mod guide;
mod profiled;
mod waits;

pub use guide::{GuidedLaunch, Observed, Unguided, guide};
pub use profiled::Profiled;
pub use waits::samples_by_instruction;
