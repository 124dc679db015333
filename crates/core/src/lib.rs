//! The library that people add: bytes and options in, a [`report`] out.
//!
//! For: joining what binaries fix, what launches add and what GPUs hold. Not for: opening files or printing; the caller
//! brings a [`Source`] and hands the report to a renderer.
//!
//! ```no_run
//! use occupant_core::{Event, File, InspectOptions, Memory, inspect};
//!
//! # fn demo(bytes: Vec<u8>) {
//! let file = File { name: "libfoo.so", source: &bytes, companion: None };
//! let outcome = inspect(&file, &Memory, &InspectOptions::default(), &std::convert::identity, &mut |event| {
//!     if let Event::Kernels(kernels) = event {
//!         kernels.iter().for_each(|kernel| println!("{}: {:?} registers", kernel.demangled, kernel.registers));
//!     }
//! });
//! assert!(outcome.diagnostics.is_empty());
//! # }
//! ```

mod batch;
mod budget;
mod calc;
mod diagnostic;
mod explain;
mod fit;
mod gpus;
mod grid;
mod inspect;
mod launch;
mod launches;
mod need;
mod no_image;
mod ordered;
mod printable;
pub mod probe;
pub mod report;
mod shape;
mod size;
mod strip;
mod subject;
mod summary;
mod sweep;
mod taken_apart;
mod target;
mod triton;
pub mod verdict;

pub use batch::{BatchColumns, BatchError, BatchSummary};
pub use budget::{Accumulators, BudgetError, BudgetRequest, LaunchBounds, budget, budget_of_kernel};
pub use calc::{CalcError, CalcRequest, calc, matrix};
pub use explain::{ExplainRequest, explain};
pub use fit::{FitRequest, fit_each};
pub use gpus::gpu_rows;
pub use inspect::{Event, File, InspectOptions, Outcome, ReadCode, inspect};
pub use launch::{LaunchRequest, Tile, launch};
pub use launches::{Launch, Launches, LaunchesError};
pub use need::{Memory as NeedMemory, NeedError, NeedOptions, NumbersRequest, machine, need_by_numbers};
pub use no_image::Gpus;
pub use occupant_binary::{LARGEST_COMPANION, Memory, Source, Store, demangle, ends_like_zip, in_short, shorten};
pub use occupant_hardware::{
    Architecture, ComputeCapability, GpuSelector, Rules, UnknownCapability, UnknownGpu, current_gpus, gpu_set,
};
pub use occupant_need::Operation;
pub use occupant_occupancy::{Axis, Carveout, InvalidShape, PartitionedCaching, Schedule, Shape};
pub use occupant_profile::Measurement;
pub use printable::printable;
pub use regex::Regex;
pub use shape::{ParseCarveoutError, carveout_name, parse_carveout};
pub use size::{ParseBlockError, ParseSizeError, parse_block, parse_size};
pub use strip::{StrippedReport, strip};
pub use subject::{Subject, WithoutShape};
pub use summary::{GroupBy, Summary};
pub use sweep::sweep;
pub use target::Target;
