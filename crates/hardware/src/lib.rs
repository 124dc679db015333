//! Facts about NVIDIA GPUs: what one multiprocessor holds, how its resources are allocated, and which models carry it.
//!
//! For: everything above that needs a limit, a granularity, an SM count or a latency. Every fact is a row of a data
//! file in `data/` with its source and how sure it is. Not for: arithmetic on those facts; that is `occupant-occupancy`.
//!
//! An unknown model or compute capability is an error that names what is known. It is never mapped to a neighbour.

mod capability;
mod ceilings;
mod gpus;
mod identify;
mod latencies;
mod limits;
mod pipes;
mod provenance;
mod selector;
mod sets;
mod table;

pub use capability::{Architecture, ComputeCapability, ParseArchitectureError, Variant};
pub use ceilings::{Ceiling, Level, StreamKind, TECHNOLOGIES, ceiling, ceilings};
pub use gpus::{Gpu, gpus};
pub use identify::{Described, identify};
pub use latencies::{MemoryLatency, latency};
pub use limits::{Rules, SmLimits, UnknownCapability, limits, limits_under, rows as limit_rows};
pub use pipes::{Pipe, Unit, pipe};
pub use provenance::{Basis, Confidence, Provenance};
pub use selector::{GpuSelector, UnknownGpu};
pub use sets::{current_gpus, gpu_set};
