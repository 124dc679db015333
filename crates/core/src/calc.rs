//! Occupancy of one launch shape given by numbers.

use occupant_hardware::{Basis as FactBasis, GpuSelector, Rules, SmLimits, UnknownCapability};
use occupant_occupancy::{
    Carveout, InvalidShape, LARGEST_CLUSTER, Occupancy, PartitionedCaching, Shape, by_hand, occupancy, refusals,
    requirements,
};
use thiserror::Error;

use crate::grid;
use crate::report::two_decimals;
use crate::report::{
    Basis, ByHandRecord, ByHandStep, CalcInput, CalcReport, MatrixReport, OccupancyRecord, RequirementRecord, SmRecord,
};
use crate::shape::carveout_name;
use crate::target::Target;

/// Smallest allocation of tensor memory. Source: PTX ISA, `tcgen05.alloc`.
const TENSOR_COLUMN_UNIT: u32 = 32;
/// Static shared memory that compilers accept, bytes.
const LARGEST_STATIC: u32 = 48 << 10;

/// A launch shape and how to look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CalcRequest {
    /// What one block asks for.
    pub shape: Shape,
    /// Blocks per cluster.
    pub cluster: Option<u32>,
    /// The same along x, y, z, where that is known: each dimension of the grid has to be a multiple.
    pub cluster_sizes: Option<[u32; 3]>,
    /// Blocks of the grid along x, y, z; one that is given as one number has them along x.
    pub grid: Option<[u64; 3]>,
    /// Release of NVIDIA's rules.
    pub rules: Rules,
    /// Show the textbook formula too.
    pub by_hand: bool,
}

/// A request that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CalcError {
    /// The shape itself.
    #[error(transparent)]
    Shape(#[from] InvalidShape),
    /// A cluster or grid of nothing.
    #[error("a {what} has at least 1 block, found 0: set it with --{what}")]
    Empty {
        /// `cluster` or `grid`.
        what: &'static str,
    },
    /// The GPU's rules are not known.
    #[error(transparent)]
    Gpu(#[from] UnknownCapability),
    /// The number of SMs is not one number.
    #[error("how many SMs? {gpu} does not say{}: name a model with --gpu, or give --sms", told(known))]
    SmsUnknown {
        /// The GPU as named.
        gpu: String,
        /// What its models have; empty for a bare architecture.
        known: String,
    },
    /// A number out of range.
    #[error("--{what} takes 1 to {most}, found {found}")]
    OutOfRange {
        /// The flag.
        what: &'static str,
        /// The number.
        found: u32,
        /// The largest.
        most: u32,
    },
    /// A problem of more tiles than can be counted, or of none.
    #[error("the tiles of the problem are too many to count, or no block fits: check --problem, --tile and the shape")]
    TooManyBlocks,
    /// A number that has to be 1 at least.
    #[error("--{what} takes 1 or more, found 0")]
    Zero {
        /// The flag.
        what: &'static str,
    },
}

fn told(known: &str) -> String {
    if known.is_empty() { String::new() } else { format!(" ({known})") }
}

impl CalcError {
    /// A stable identifier for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape(error) => error.code(),
            Self::Empty { .. } => "empty",
            Self::SmsUnknown { .. } => "sms_unknown",
            Self::Gpu(_) => "unknown_capability",
            Self::Zero { .. } => "zero",
            Self::OutOfRange { .. } => "out_of_range",
            Self::TooManyBlocks => "too_many_blocks",
        }
    }
}

/// The occupancy of a shape on one GPU.
///
/// # Errors
/// [`CalcError`] for a request that means nothing. A shape that does not fit is an answer.
pub fn calc(target: Target<'_>, request: &CalcRequest) -> Result<CalcReport, CalcError> {
    let empty = [("cluster", request.cluster == Some(0)), ("grid", request.grid.is_some_and(|grid| grid.contains(&0)))];
    if let Some((what, _)) = empty.into_iter().find(|(_, empty)| *empty) {
        return Err(CalcError::Empty { what });
    }
    let (limits, shape) = (target.limits, &request.shape);
    let answer = occupancy(limits, shape)?;
    let mut reasons: Vec<String> = refusals(limits, shape).iter().map(ToString::to_string).collect();
    reasons.extend(cluster_refusals(limits, request));
    let grid_refusals = grid::refusals(request);
    let grid = request.grid.filter(|_| grid_refusals.is_empty()).map(grid::blocks);
    reasons.extend(grid_refusals);
    let launchable = reasons.is_empty();
    let found = OccupancyRecord::new(Basis::Exact, &answer);
    let hand = if request.by_hand { Some(by_hand_record(limits, shape)?) } else { None };
    Ok(CalcReport {
        schema: "occupant.calc.v1",
        gpu: target.name_or_architecture(),
        input: input(request),
        launchable,
        reason: (!launchable).then(|| reasons.join("; ")),
        requires: if launchable { required(limits, request) } else { Vec::new() },
        sm: SmRecord {
            warps: answer.max_warps_per_sm,
            blocks: limits.max_blocks_per_sm,
            registers: limits.registers_per_sm,
            shared_memory: answer.allocated.shared_pool,
            barriers: limits.barriers_per_sm,
            virtual_resources: limits.virtual_resources_per_sm,
            tensor_memory: limits.tensor_memory_columns,
        },
        occupancy: if launchable { found } else { found.refused() },
        by_hand: hand,
        notes: notes(target, request, grid, &answer),
    })
}

/// The same shape on several GPUs.
///
/// # Errors
/// [`CalcError`], as [`calc`].
pub fn matrix(targets: &[Target<'_>], request: &CalcRequest) -> Result<MatrixReport, CalcError> {
    let results = targets.iter().map(|target| calc(*target, request)).collect::<Result<_, _>>()?;
    Ok(MatrixReport { schema: "occupant.matrix.v1", results })
}

fn input(request: &CalcRequest) -> CalcInput {
    let shape = &request.shape;
    CalcInput {
        registers: shape.registers_per_thread,
        block: shape.threads_per_block,
        shared_static: shape.shared_static,
        shared_dynamic: shape.shared_dynamic,
        barriers: shape.barriers,
        virtual_resources: shape.virtual_resources,
        tensor_columns: (shape.tensor_columns > 0).then_some(shape.tensor_columns),
        cluster: request.cluster,
        grid: request.grid.map(grid::blocks),
        carveout: carveout_name(shape.carveout),
        partitioned_caching: shape.partitioned_caching.name(),
        rules: match request.rules {
            Rules::Cuda13_5 => "13.5",
            Rules::Cuda12_9 => "12.9",
        },
    }
}

fn required(limits: &SmLimits, request: &CalcRequest) -> Vec<RequirementRecord> {
    let needed = requirements(limits, &request.shape, request.cluster.unwrap_or(1));
    needed.iter().map(RequirementRecord::from).collect()
}

fn cluster_refusals(limits: &SmLimits, request: &CalcRequest) -> Vec<String> {
    let Some(cluster) = request.cluster.filter(|cluster| *cluster > 1) else { return Vec::new() };
    let mut reasons = Vec::new();
    if !limits.clusters {
        reasons.push(format!("clusters need compute capability 9.0 or later, this is {}", limits.capability));
    }
    if cluster > LARGEST_CLUSTER {
        reasons.push(format!("a cluster of {cluster} blocks, {LARGEST_CLUSTER} allowed"));
    }
    reasons
}

/// What a reader should know; `grid` is the blocks of a grid that no limit of grids refuses.
fn notes(target: Target<'_>, request: &CalcRequest, grid: Option<u64>, answer: &Occupancy) -> Vec<String> {
    let (limits, shape) = (target.limits, &request.shape);
    let capability = limits.capability;
    let mut notes = Vec::new();
    if shape.registers_per_thread == 0 {
        notes.push("registers do not bound: none were given (--registers)".to_owned());
    }
    if shape.registers_per_thread > limits.max_registers_per_thread {
        let most = limits.max_registers_per_thread;
        notes.push(format!("no compiler gives a thread more than {most} registers; NVIDIA's rules still accept 256"));
    }
    if !shape.tensor_columns.is_multiple_of(TENSOR_COLUMN_UNIT) {
        notes.push("tensor memory is allocated in powers of two from 32 columns".to_owned());
    }
    if shape.shared_static > LARGEST_STATIC {
        notes.push("compilers refuse static shared memory over 48 KiB: take it as dynamic".to_owned());
    }
    match answer.ceilings.virtual_resources {
        Some(_) => notes.push(
            "virtual resources are a launch-time limit: a running block can give them back, which lets the next one in. Files \
             state them in attribute 0x4a (VRC_CTA_INIT_COUNT), 128 of 128 for every kernel with tcgen05.alloc; that it is the \
             header's virtualResourceCount is inferred"
                .to_owned(),
        ),
        None if shape.virtual_resources > 0 => {
            notes.push(format!("virtual resources do not bound on {capability} under these rules"));
        }
        None if shape.tensor_columns > 0 && limits.virtual_resources_per_sm.is_some() => notes.push(
            "compiled kernels with tcgen05.alloc take 128 of 128 virtual resources too, one block per SM at launch until it gives \
             up its permit: --virtual-resources 128"
                .to_owned(),
        ),
        None => {}
    }
    if let Some(blocks) = answer.ceilings.tensor_memory.filter(|blocks| *blocks > 0 && *blocks < answer.blocks_per_sm) {
        notes.push(format!(
            "tensor memory has columns for {blocks} of these blocks at a time: further blocks become resident and wait \
             for columns"
        ));
    }
    if shape.carveout != Carveout::Default && limits.carveouts.is_empty() {
        notes.push(format!("shared memory of {capability} is fixed: --carveout changes nothing"));
    }
    if shape.partitioned_caching != answer.partitioned_caching {
        notes.push("partitioned caching is off: the architecture has none, or no block would fit with it".to_owned());
    }
    notes.extend(other_caching(limits, shape, answer));
    if request.cluster.is_some_and(|cluster| cluster > 1) && limits.clusters {
        notes.push(
            "how many clusters run at once depends on the chip's GPC layout: cudaOccupancyMaxActiveClusters tells"
                .to_owned(),
        );
    }
    notes.extend(grid_note(target, grid, answer));
    if limits.limits_from.basis == FactBasis::Inferred {
        let doubt = limits.limits_from.note.as_deref().unwrap_or("no source states them");
        notes.push(format!("the limits of {capability} are inferred: {doubt}"));
    }
    notes
}

/// Where partitioned caching matters, calculators disagree: what the other mode gives.
fn other_caching(limits: &SmLimits, shape: &Shape, answer: &Occupancy) -> Option<String> {
    let off = answer.partitioned_caching == PartitionedCaching::Off;
    let mode = if off { PartitionedCaching::On } else { PartitionedCaching::Off };
    let other = occupancy(limits, &Shape { partitioned_caching: mode, ..*shape }).ok()?;
    (limits.partitioned_caching && other.blocks_per_sm != answer.blocks_per_sm).then(|| {
        let (now, then) = if off { ("off", "on (-Xptxas -dlcm=ca)") } else { ("on", "off") };
        format!(
            "partitioned caching of global loads is taken as {now}; with it {then}, {} blocks fit (--partitioned-caching)",
            other.blocks_per_sm
        )
    })
}

/// Whether the grid fills the GPU once.
fn grid_note(target: Target<'_>, grid: Option<u64>, answer: &Occupancy) -> Option<String> {
    let grid = grid?;
    let Some(sms) = target.selector.and_then(GpuSelector::sm_count) else {
        return Some("how a grid fills a GPU depends on its SMs: name one model (`occupant gpus`)".to_owned());
    };
    let at_once = u64::from(answer.blocks_per_sm) * u64::from(sms);
    (at_once > 0).then(|| {
        let verb = if grid < at_once { "does not fill" } else { "fills" };
        format!("{sms} SMs hold {at_once} such blocks at once: a grid of {grid} {verb} them")
    })
}

fn by_hand_record(limits: &SmLimits, shape: &Shape) -> Result<ByHandRecord, InvalidShape> {
    let hand = by_hand(limits, shape)?;
    let steps = hand.steps.into_iter().map(|step| ByHandStep {
        rounding: step.rounding.name(),
        from_warps: two_decimals(step.from_warps),
        to_warps: two_decimals(step.to_warps),
        says: step.says,
    });
    Ok(ByHandRecord {
        warps_per_sm: two_decimals(hand.answer),
        registers: hand.registers.map(two_decimals),
        shared_memory: hand.shared_memory.map(two_decimals),
        warps: hand.warps,
        blocks: hand.blocks,
        steps: steps.collect(),
    })
}

#[cfg(test)]
mod tests {

    use super::*;

    fn on(gpu: &str, request: CalcRequest) -> CalcReport {
        let selector: GpuSelector = gpu.parse().unwrap();
        calc(Target::named(&selector, request.rules).unwrap(), &request).unwrap()
    }

    fn shape(registers: u32, block: u32, dynamic: u32) -> CalcRequest {
        let shape = Shape {
            registers_per_thread: registers,
            threads_per_block: block,
            shared_dynamic: dynamic,
            ..Shape::default()
        };
        CalcRequest { shape, ..CalcRequest::default() }
    }

    #[test]
    fn the_contracts_example() {
        let report = on("h100-sxm", shape(128, 256, 49152));
        assert_eq!((report.occupancy.blocks_per_sm, report.occupancy.percent), (2, 25.0));
        assert_eq!(report.occupancy.limiters, ["registers"]);
        assert_eq!(report.occupancy.allocated.shared_per_block, 50176);
        assert_eq!(report.occupancy.ceilings.barriers, Some(64));
        assert!(report.requires.is_empty(), "48 KiB is the default limit itself");
    }

    #[test]
    fn threads_of_the_field_that_do_not_launch() {
        // EnzymeAD/Enzyme-JAX#2895: 134 registers, 512 threads on 12.0. 384 threads are the most that fit.
        assert!(!on("sm_120", shape(134, 512, 0)).launchable);
        assert!(!on("sm_120", shape(134, 416, 0)).launchable);
        assert!(on("sm_120", shape(134, 384, 0)).launchable);
        let reason = on("rtx-5090", shape(0, 128, 114_688)).reason.unwrap();
        assert!(reason.contains("115712 B") && reason.contains("102400 B"), "{reason}");
    }

    #[test]
    fn clusters_and_grids() {
        let with =
            |cluster, grid| CalcRequest { cluster: Some(cluster), grid: Some([grid, 1, 1]), ..shape(32, 128, 0) };
        assert!(on("h100-sxm", with(8, 64)).requires.is_empty());
        assert_eq!(
            on("h100-sxm", with(16, 64)).requires[0].attribute,
            "cudaFuncAttributeNonPortableClusterSizeAllowed"
        );
        assert!(!on("h100-sxm", with(17, 34)).launchable);
        assert!(!on("h100-sxm", with(8, 60)).launchable);
        assert!(!on("a100-sxm4-80gb", with(2, 64)).launchable);
        assert!(on("h100-sxm", with(1, 100)).notes.iter().any(|note| note.contains("does not fill")));
        let selector: GpuSelector = "h100-sxm".parse().unwrap();
        let target = Target::named(&selector, Rules::default()).unwrap();
        assert!(calc(target, &with(0, 1)).is_err());
        assert!(calc(target, &with(1, 0)).is_err());
    }

    #[test]
    fn a_grid_is_as_large_as_it_is_given() {
        let with = |grid| on("h100-sxm", CalcRequest { grid: Some(grid), ..shape(32, 128, 0) });
        let most = (1 << 31) - 1;
        for grid in [[most, 1, 1], [1, 65535, 1], [1, 1, 65535], [most, 65535, 1]] {
            let report = with(grid);
            assert_eq!((report.launchable, report.input.grid), (true, Some(grid[0] * grid[1] * grid[2])), "{grid:?}");
            assert!(report.notes.iter().any(|note| note.contains("fills them")), "{:?}", report.notes);
        }
        let refused = [
            ([most + 1, 1, 1], "a grid of 2147483648 blocks along x, 2147483647 allowed"),
            ([u64::MAX, 1, 1], "a grid of 18446744073709551615 blocks along x, 2147483647 allowed"),
            ([1, 65536, 1], "a grid of 65536 blocks along y, 65535 allowed"),
            ([1, 1, 70000], "a grid of 70000 blocks along z, 65535 allowed"),
        ];
        for (grid, reason) in refused {
            let report = with(grid);
            assert_eq!((report.launchable, report.reason.as_deref()), (false, Some(reason)));
            assert_eq!(report.input.grid, Some(grid[0] * grid[1] * grid[2]));
            assert!(!report.notes.iter().any(|note| note.contains("fill")), "{:?}", report.notes);
        }
    }

    #[test]
    fn barriers_that_a_block_can_not_name() {
        for gpu in ["sm_80", "h100-sxm"] {
            let with = |barriers| {
                let mut request = shape(32, 128, 0);
                request.shape.barriers = barriers;
                on(gpu, request)
            };
            assert!(with(16).launchable, "{gpu}");
            let report = with(17);
            assert_eq!((report.launchable, report.occupancy.blocks_per_sm), (false, 0), "{gpu}");
            assert_eq!(report.reason.as_deref(), Some("a block needs 17 named barriers, it can name 16"), "{gpu}");
        }
    }

    #[test]
    fn tensor_memory_is_shown_and_does_not_lower() {
        let mut request = shape(64, 128, 0);
        request.shape.tensor_columns = 256;
        let report = on("b200-sxm", request);
        assert_eq!(report.occupancy.ceilings.tensor_memory, Some(2));
        assert!(report.occupancy.blocks_per_sm > 2 && report.launchable);
        assert!(report.notes.iter().any(|note| note.contains("wait for columns")));
        request.shape.tensor_columns = 576;
        assert!(!on("b200-sxm", request).launchable);
        assert!(!on("h100-sxm", request).launchable);
    }
}
