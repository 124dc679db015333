//! NEED against HAVE: how many warps saturate the hardware, of a kernel's machine code ([`kernel`]) or by numbers
//! ([`numbers`]). Not for: the model itself; that is `occupant-need`.

mod assumptions;
mod kernel;
mod numbers;
mod partial;
mod sentence;
mod ways;

pub(crate) use kernel::{Code, of_kernel};
pub use numbers::{NumbersRequest, need_by_numbers};

use occupant_hardware::{Basis, Gpu, GpuSelector, StreamKind};
pub use occupant_need::Memory;
use occupant_need::{Constants, Machine, MissingFact};
use thiserror::Error;

use crate::report::{CeilingOrigin, LittlesLaw};

/// What is asked of kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeedOptions {
    /// Where global accesses are served from; chosen by the kernel's kind where `None`.
    pub memory: Option<Memory>,
    /// Share of the ceiling to reach, percent, above 0 and below 100.
    pub target: f64,
    /// The whole curve, too.
    pub curve: bool,
    /// A pipeline's stages and the bytes of one, for kernels that are not modelled.
    pub pipeline: Option<(u32, u32)>,
}

impl Default for NeedOptions {
    fn default() -> Self {
        Self { memory: None, target: 90.0, curve: false, pipeline: None }
    }
}

/// A GPU that the model can't be asked about.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NeedError {
    /// An architecture alone has no memory.
    #[error(
        "{0} is an architecture: how many warps are needed depends on a model's memory bandwidth and number of SMs; name one \
         with --gpu, such as {1}"
    )]
    Architecture(String, String),
    /// A family whose models differ.
    #[error("{name} stands for models that differ in bandwidth or SMs: name one of {models}")]
    Family {
        /// The family.
        name: String,
        /// Its models.
        models: String,
    },
    /// A rate is missing.
    #[error("the rate of {operation} on {gpu} is not known")]
    Operation {
        /// The operation.
        operation: &'static str,
        /// The GPU.
        gpu: String,
    },
    /// A fact is missing.
    #[error(transparent)]
    Missing(#[from] MissingFact),
}

impl NeedError {
    /// Stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Architecture(..) => "gpu_architecture",
            Self::Family { .. } => "gpu_family",
            Self::Operation { .. } => "rate_unknown",
            Self::Missing(missing) => missing.code(),
        }
    }
}

/// The machine of a GPU that was named.
///
/// # Errors
/// [`NeedError`] where the name stands for no one model, or where a fact of it is not known.
pub fn machine(gpu: &GpuSelector) -> Result<Machine, NeedError> {
    match gpu {
        GpuSelector::Model(model) => Ok(Machine::of(model)?),
        GpuSelector::Family { name, models } => {
            let names: Vec<&str> = models.iter().filter(|gpu| known(gpu)).map(|gpu| gpu.id.as_str()).collect();
            let models =
                if names.is_empty() { "a family without known latencies".to_owned() } else { names.join(", ") };
            Err(NeedError::Family { name: name.clone(), models })
        }
        GpuSelector::Capability(capability) => {
            let example = occupant_hardware::gpus().iter().find(|gpu| gpu.capability == *capability && known(gpu));
            let example = example.map_or("h100-sxm", |gpu| gpu.id.as_str());
            Err(NeedError::Architecture(gpu.name(), example.to_owned()))
        }
    }
}

fn known(gpu: &Gpu) -> bool {
    Machine::of(gpu).is_ok()
}

/// Little's law for a stream of a machine; `target` and the part of its bytes that is read as shares of 1.
fn littles_law(machine: &Machine, memory: Memory, stream: StreamKind, target: f64, read: f64) -> LittlesLaw {
    let rate = machine.gb_per_s(memory, stream) * read;
    let latency = machine.latency(memory);
    let in_flight = machine.bytes_per_cycle(rate) * latency;
    let ceiling = machine.ceiling(memory, stream);
    let more = occupant_need::Knee { warps: 1.0, sharpness: Constants::fitted().sharpness }.needed(target);
    LittlesLaw {
        latency_ns: two_decimals(latency * 1000.0 / machine.clock_mhz),
        gb_per_s: two_decimals(rate),
        ceiling: CeilingOrigin {
            stream: ceiling.stream.name(),
            scope: ceiling.scope.clone(),
            basis: basis_name(ceiling.provenance.basis).to_owned(),
            source: ceiling.provenance.source.clone(),
        },
        bytes_per_sm: in_flight.round() as u32,
        bytes_per_sm_for_target: (in_flight * more).round() as u32,
    }
}

const fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::Measured => "measured",
        Basis::Documented => "documented",
        Basis::Inferred => "inferred",
    }
}

use crate::report::two_decimals;
