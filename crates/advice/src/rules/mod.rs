//! One rule a file: which explanation a fact gets.

mod cluster;
mod cooperative;
mod invalid;
mod min_blocks;
mod registers;
mod requests;
mod resources;
mod shared;
mod tensor;
mod wgmma;

use occupant_logs::{Fact, LaunchError, Resource, TooMuch};

use crate::explanation::{Explanation, Inequality};
use crate::question::Question;

/// The explanation of a fact; `None` where it only adds to others.
pub(crate) fn explain(fact: &Fact, question: &Question) -> Option<Explanation> {
    Some(match fact {
        Fact::OverLimit { resource: Resource::SharedMemory, required, limit, kernel, stages, tiled } => {
            let tile = tiled.then_some(shared::Tile { kernel: kernel.as_deref(), stages: *stages });
            shared::over_limit(*required, *limit, tile, question)
        }
        Fact::OverLimit { resource: Resource::TensorMemory, required, limit, .. } => {
            tensor::over_limit(*required, *limit)
        }
        Fact::OverLimit { resource: Resource::Threads, required, limit, .. } => resources::threads(*required, *limit),
        Fact::OverLimit { resource: Resource::Other(name), required, limit, .. } => other(name, *required, *limit),
        Fact::BlockRegisters { registers, threads, limit } => {
            resources::block_registers(*registers, *threads, *limit, question)
        }
        Fact::KernelThreads { threads, limit } => resources::kernel_threads(*threads, *limit, question),
        Fact::Dimension { what, asked, limit } => invalid::dimension(what, *asked, *limit),
        Fact::TooMuch { what: TooMuch::Shared, kernel, bytes, limit } => {
            shared::static_over(*bytes, *limit, kernel.as_deref(), question)
        }
        Fact::TooMuch { what, kernel, bytes, limit } => invalid::too_much(*what, kernel.as_deref(), *bytes, *limit),
        Fact::MinBlocksIgnored { kernel, refused } => min_blocks::ignored(kernel, *refused, question),
        Fact::RequestsIgnored { code, reason } => requests::ignored(*code, reason, question),
        Fact::RequestRefused { says } => requests::refused(says),
        Fact::WgmmaSerialized { code, reason, kernel } => wgmma::serialized(*code, reason, kernel.as_deref()),
        Fact::RegistersTooFew { cap, needed, kernel } => registers::too_few(*cap, *needed, kernel.as_deref(), question),
        Fact::CalleeRegisters { kernel, cap, callee, registers } => registers::callee(kernel, *cap, callee, *registers),
        Fact::CapRaised { from, to } => registers::cap_raised(*from, *to),
        Fact::Spills { kernel, bytes } => registers::spills(kernel, *bytes),
        Fact::CapOverridden { kernel, cap } => registers::cap_overridden(kernel, *cap),
        Fact::LocalMemory { kernel, frame } => registers::local_memory(kernel, *frame),
        Fact::Launch(LaunchError::OutOfResources) => resources::out_of_resources(question),
        Fact::Launch(LaunchError::InvalidValue) => invalid::value(question),
        // Without a word of CUDA, only who adds a launch shape means one.
        Fact::Launch(LaunchError::PerhapsInvalidValue) => {
            return question.has_shape().then(|| invalid::value(question));
        }
        Fact::Launch(LaunchError::Cutlass) => invalid::cutlass(question),
        Fact::Launch(LaunchError::InvalidConfiguration) => invalid::configuration(question),
        Fact::Launch(LaunchError::CooperativeTooLarge) => cooperative::too_large(question),
        Fact::Launch(LaunchError::ClusterSize) => cluster::size(question),
        Fact::Block(_) => return None,
    })
}

fn other(name: &str, required: u64, limit: Option<u64>) -> Explanation {
    let what = if name.is_empty() { "a resource that the message does not name".to_owned() } else { name.to_owned() };
    Explanation {
        code: "over_limit",
        says: format!("more of {what} is asked for than a block may have"),
        inequality: limit.map(|allowed| Inequality { what, needed: required, allowed, unit: "" }),
        ..Explanation::default()
    }
}
