//! Profiler reports to measurements: Nsight Compute reports and the CSV and text it prints, PyTorch traces.
//!
//! For: what a profiler measured of each launch, under the profiler's own metric names and in base units, and the code
//! that a report carries, as bytes. Input is untrusted: nothing here panics, and nothing is allocated because a file
//! claims a size. Not for: what the numbers mean (that is `occupant-advice`) or reading the code.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod any;
pub mod csv;
mod error;
mod measurement;
pub mod ncu;
mod paths;
mod trace;
mod units;
mod wire;

pub use any::{Read, START, is_profile, is_report_start, read};
pub use error::ProfileError;
pub use measurement::{Flavour, Measurement, Said};
pub use paths::{mask_ptx, mask_strings};
pub use trace::read_trace;
pub use units::unit;
