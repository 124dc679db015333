//! The launch that a kernel's occupancy is for: what the binary fixes, what was given, what has to be assumed.

use occupant_binary::{DynamicShared, Function};
use occupant_hardware::SmLimits;
use occupant_occupancy::{InvalidShape, Occupancy, Shape, best_block, occupancy, refusals, requirements};

use super::InspectOptions;
use crate::launches::Launch;
use crate::report::{Basis, BlockFrom, LaunchRecord, OccupancyRecord, RequirementRecord, SharedFrom};
use crate::triton::Metadata;

/// Threads per block where nothing says otherwise.
const ASSUMED_BLOCK: u32 = 256;

/// A launch and how the kernel fits with it.
pub(super) struct Answer {
    pub(super) launch: LaunchRecord,
    pub(super) launchable: Option<bool>,
    pub(super) reason: Option<String>,
    pub(super) requires: Vec<RequirementRecord>,
    pub(super) occupancy: Option<OccupancyRecord>,
}

impl Answer {
    /// No occupancy, for a reason.
    pub(super) fn unknown(reason: String) -> Self {
        let launch = LaunchRecord { block: None, block_from: None, shared_dynamic: None, shared_dynamic_from: None };
        Self { launch, launchable: None, reason: Some(reason), requires: Vec::new(), occupancy: None }
    }
}

/// A block size, or the largest one that may be used.
enum Block {
    Known(u32, BlockFrom),
    UpTo(u32),
}

/// What is known of a kernel's launch beside its binary.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// A real launch of it.
    pub(super) launch: Option<&'a Launch>,
    /// What its compiler says that it will be launched with.
    pub(super) metadata: Option<&'a Metadata>,
    /// The code is still to be linked.
    pub(super) relocatable: bool,
    /// Columns of tensor memory that its code takes.
    pub(super) tensor_columns: Option<u32>,
}

/// The answer for one kernel on one SM.
pub(super) fn answer(function: &Function, limits: &SmLimits, options: &InspectOptions, known: Known<'_>) -> Answer {
    let Some(registers) = function.registers else {
        return Answer::unknown("the file does not say how many registers it takes".to_owned());
    };
    let (shared_dynamic, shared_from) = shared_dynamic(function, options, known);
    let columns = known.metadata.and_then(|metadata| metadata.tensor_columns);
    let shape = Shape {
        registers_per_thread: registers,
        shared_static: function.shared_static,
        shared_dynamic: shared_dynamic.unwrap_or(0),
        barriers: function.barriers,
        virtual_resources: function.virtual_resources,
        tensor_columns: columns.or(believable_columns(known.tensor_columns, limits)).unwrap_or(0),
        carveout: options.carveout,
        partitioned_caching: options.partitioned_caching,
        ..Shape::default()
    };
    let block = block(function, options, known);
    let evaluated = evaluate(limits, shape, &block);
    let (shape, block_from, found) = match evaluated {
        Ok(evaluated) => evaluated,
        Err(error) => return Answer::unknown(error.to_string()),
    };
    // Linking and loading can only raise what the binary says.
    let may_grow = known.relocatable || !function.externals.is_empty();
    let basis = match (&block_from, shared_from) {
        (BlockFrom::Assumed, _) => Basis::Hypothetical,
        (BlockFrom::LaunchBounds, _) | (_, SharedFrom::Unknown) => Basis::UpperBound,
        _ if may_grow => Basis::UpperBound,
        _ => Basis::Exact,
    };
    let mut reasons: Vec<String> = refusals(limits, &shape).iter().map(ToString::to_string).collect();
    reasons.extend(bounds_refusal(function, shape.threads_per_block));
    let launchable = reasons.is_empty();
    let found = OccupancyRecord::new(basis, &found);
    let needed = if launchable { requirements(limits, &shape, cluster_size(function, known)) } else { Vec::new() };
    Answer {
        launch: LaunchRecord {
            block: Some(shape.threads_per_block),
            block_from: Some(block_from),
            shared_dynamic,
            shared_dynamic_from: Some(shared_from),
        },
        launchable: Some(launchable),
        reason: (!launchable).then(|| reasons.join("; ")),
        requires: needed.iter().map(RequirementRecord::from).collect(),
        occupancy: Some(if launchable { found } else { found.refused() }),
    }
}

fn evaluate(limits: &SmLimits, shape: Shape, block: &Block) -> Result<(Shape, BlockFrom, Occupancy), InvalidShape> {
    match *block {
        Block::Known(threads_per_block, from) => {
            let shape = Shape { threads_per_block, ..shape };
            Ok((shape, from, occupancy(limits, &shape)?))
        }
        Block::UpTo(max_threads) => {
            let best = best_block(limits, &shape, max_threads)?;
            let shape = Shape { threads_per_block: best.threads_per_block, ..shape };
            Ok((shape, BlockFrom::LaunchBounds, best.occupancy))
        }
    }
}

fn block(function: &Function, options: &InspectOptions, known: Known<'_>) -> Block {
    if let Some(launch) = known.launch {
        return Block::Known(launch.block, BlockFrom::Launches);
    }
    if let Some(required) = function.required_threads.and_then(threads) {
        return Block::Known(required, BlockFrom::Required);
    }
    if let Some(metadata) = known.metadata {
        return Block::Known(metadata.block, BlockFrom::Metadata);
    }
    if let Some(given) = options.block {
        return Block::Known(given, BlockFrom::Given);
    }
    match function.max_threads.and_then(threads) {
        Some(max_threads) => Block::UpTo(max_threads),
        None => Block::Known(ASSUMED_BLOCK, BlockFrom::Assumed),
    }
}

fn shared_dynamic(function: &Function, options: &InspectOptions, known: Known<'_>) -> (Option<u32>, SharedFrom) {
    if let Some(bytes) = known.launch.and_then(|launch| launch.shared_dynamic) {
        return (Some(bytes), SharedFrom::Launches);
    }
    if let Some(bytes) = known.metadata.and_then(|metadata| metadata.shared) {
        return (Some(bytes), SharedFrom::Metadata);
    }
    match (function.shared_dynamic, options.shared_dynamic) {
        (DynamicShared::None, _) => (Some(0), SharedFrom::None),
        (DynamicShared::Unknown, Some(given)) => (Some(given), SharedFrom::Given),
        (DynamicShared::Unknown, None) => (None, SharedFrom::Unknown),
    }
}

/// The launch bounds and the required block are checks of the launch too.
fn bounds_refusal(function: &Function, block: u32) -> Option<String> {
    if let Some(required) = function.required_threads.and_then(threads).filter(|required| *required != block) {
        return Some(format!("{block} threads per block, the kernel can only be launched with {required}"));
    }
    let max_threads = function.max_threads.and_then(threads).filter(|max_threads| block > *max_threads)?;
    Some(format!("{block} threads per block, its launch bounds allow {max_threads}"))
}

/// Columns of tensor memory that the code takes, where an SM has so many. A larger sum is of allocations that a block does
/// not hold at once, such as one that is given back before the next: what it takes is not known then.
pub(super) fn believable_columns(traced: Option<u32>, limits: &SmLimits) -> Option<u32> {
    traced.filter(|columns| limits.tensor_memory_columns.is_none_or(|all| *columns <= all))
}

/// Threads of a block of x, y, z; `None` where the product is 0.
pub(super) fn threads(dimensions: [u32; 3]) -> Option<u32> {
    let product = dimensions.into_iter().fold(1_u32, u32::saturating_mul);
    (product > 0).then_some(product)
}

fn cluster_size(function: &Function, known: Known<'_>) -> u32 {
    let compiled = function.cluster.and_then(|cluster| cluster.blocks).and_then(threads);
    compiled.or(known.metadata.and_then(|metadata| metadata.cluster)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use occupant_hardware::{ComputeCapability, limits};

    use super::*;

    #[test]
    fn no_block_takes_more_tensor_memory_than_there_is() {
        let blackwell = limits(ComputeCapability { major: 10, minor: 0 }).unwrap();
        assert_eq!(believable_columns(Some(512), blackwell), Some(512));
        assert_eq!(believable_columns(Some(1024), blackwell), None);
    }
}
