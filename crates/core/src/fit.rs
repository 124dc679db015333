//! What must change for N blocks to fit, how far each step is, and what a block may take.

use occupant_hardware::{ComputeCapability, SmLimits};
use occupant_occupancy::{
    Axis, BARRIERS_OF_A_BLOCK, Change, Edge, Effect, InvalidShape, MinBlocks, Setting, Shape, Slack, Solution,
    best_blocks, fit as solutions, largest, launch_bounds, most_min_blocks, register_cap, slack,
};

use crate::calc::{CalcError, CalcRequest, calc};
use crate::report::{
    BestBlocks, BlockSizeRecord, BoundEffect, CalcReport, ChangeRecord, EdgeRecord, FitReport, FromTo, KernelName,
    OccupancyRecord, RoomRecord, SolutionRecord, StepRecord, Wanted, two_decimals,
};
use crate::shape::carveout_name;
use crate::subject::{Subject, WithoutShape};
use crate::target::Target;

/// What is asked about a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FitRequest {
    /// Blocks per SM to reach; one more than now where `None`.
    pub blocks: Option<u32>,
    /// Bytes of shared memory that one pipeline stage takes.
    pub tile_bytes: Option<u32>,
}

/// The unit of an axis in words.
pub(crate) const fn unit(axis: Axis) -> &'static str {
    match axis {
        Axis::Registers => "registers per thread",
        Axis::Block => "threads",
        Axis::Shared => "bytes",
        Axis::Barriers => "barriers",
    }
}

/// The answer for one shape on one GPU.
fn fit(target: Target<'_>, subject: &Subject, request: &FitRequest) -> Result<FitReport, CalcError> {
    for (what, value) in [("blocks", request.blocks), ("tile-bytes", request.tile_bytes)] {
        if value == Some(0) {
            return Err(CalcError::Zero { what });
        }
    }
    let now = calc(target, &subject.request)?;
    let (limits, shape) = (target.limits, &subject.request.shape);
    let blocks = now.occupancy.blocks_per_sm;
    // A refusal outside the ceilings (tensor memory, clusters): steps and room are about ceilings.
    let refused = now.reason.clone().filter(|_| now.occupancy.ceilings.smallest() > 0);
    // Nothing is gained beyond an SM that is full.
    let full = now.occupancy.warps_per_sm == now.occupancy.max_warps_per_sm || blocks == limits.max_blocks_per_sm;
    let next = (!full).then_some(Wanted { blocks: blocks + 1, given: false });
    let wanted = request.blocks.map(|blocks| Wanted { blocks, given: true }).or(next);
    let unmended = unmended(target, subject)?;
    let found = match wanted.filter(|_| unmended.is_none()) {
        Some(wanted) => solutions(limits, shape, wanted.blocks)?,
        None => Vec::new(),
    };
    let why = |wanted: Wanted| unmended.clone().unwrap_or_else(|| why_not(limits, shape, wanted.blocks));
    let no_solution = wanted.filter(|_| found.is_empty()).map(why);
    let most_threads = subject.kernel.as_ref().and_then(|kernel| kernel.max_threads).unwrap_or(u32::MAX);
    let most_threads = subject.kernel.as_ref().and_then(|kernel| kernel.required_block).unwrap_or(most_threads);
    let steps = if refused.is_none() { slack(limits, shape)? } else { Vec::new() };
    let mut notes = notes(&now, subject, &found, blocks);
    notes.extend(wanted.and_then(|wanted| ignored_minimum(limits, shape, wanted)));
    Ok(FitReport {
        schema: "occupant.fit.v1",
        gpu: now.gpu,
        kernel: subject.kernel.as_deref().map(KernelName::from),
        input: Some(now.input),
        launchable: Some(now.launchable),
        reason: now.reason,
        requires: now.requires,
        occupancy: Some(OccupancyRecord { basis: subject.basis, ..now.occupancy }),
        wanted,
        solutions: found.iter().map(|solution| solution_record(shape, solution)).collect(),
        no_solution,
        steps: steps.iter().map(step_record).collect(),
        best_blocks: if refused.is_none() { best(limits, shape, most_threads)? } else { None },
        room: if refused.is_none() { room(limits, shape, request.tile_bytes)? } else { Vec::new() },
        notes,
    })
}

/// Why no change of these amounts lets the shape launch: a refusal outside the ceilings. Only one for barriers that a block
/// can't name is mended, by fewer of them.
fn unmended(target: Target<'_>, subject: &Subject) -> Result<Option<String>, CalcError> {
    let shape = subject.request.shape;
    let nameable = Shape { barriers: shape.barriers.min(BARRIERS_OF_A_BLOCK), ..shape };
    let then = calc(target, &CalcRequest { shape: nameable, ..subject.request })?;
    Ok(then.reason.filter(|_| then.occupancy.ceilings.smallest() > 0))
}

/// The answers for several shapes and GPUs, in order. GPUs whose SMs are alike share one computation, where the answers for
/// a kernel follow each other.
///
/// # Errors
/// [`CalcError`] for a request that means nothing, or a GPU whose rules are not known.
pub fn fit_each(
    subjects: Vec<Result<Subject, WithoutShape>>,
    request: &FitRequest,
) -> Result<Vec<FitReport>, CalcError> {
    let mut known: Vec<(ComputeCapability, Shape, FitReport)> = Vec::new();
    let mut reports = Vec::new();
    for subject in subjects {
        let subject = match subject {
            Ok(subject) => subject,
            Err(without) => {
                reports.push(fit_without_shape(without));
                continue;
            }
        };
        let target = subject.target()?;
        let (capability, shape) = (target.limits.capability, subject.request.shape);
        let kernel = subject.kernel.as_deref().map(KernelName::from);
        if known.last().is_some_and(|(_, _, report)| report.kernel != kernel) {
            known.clear();
        }
        let same = |(c, s, _): &&(ComputeCapability, Shape, FitReport)| *c == capability && *s == shape;
        let report = match (known.iter().rev().find(same), target.name()) {
            (Some((_, _, report)), Some(gpu)) => FitReport { gpu, ..report.clone() },
            _ => {
                let report = fit(target, &subject, request)?;
                known.push((capability, shape, report.clone()));
                report
            }
        };
        reports.push(report);
    }
    Ok(reports)
}

/// The record of a kernel of which there is no shape.
fn fit_without_shape(without: WithoutShape) -> FitReport {
    FitReport {
        schema: "occupant.fit.v1",
        gpu: without.gpu,
        kernel: Some(KernelName::from(&*without.kernel)),
        input: None,
        launchable: None,
        reason: Some(without.reason),
        requires: Vec::new(),
        occupancy: None,
        wanted: None,
        solutions: Vec::new(),
        no_solution: None,
        steps: Vec::new(),
        best_blocks: None,
        room: Vec::new(),
        notes: Vec::new(),
    }
}

/// What stands in the way of `blocks` blocks whatever is changed.
fn why_not(limits: &SmLimits, shape: &Shape, blocks: u32) -> String {
    if blocks > limits.max_blocks_per_sm {
        return format!(
            "an SM of {} holds {} blocks at most, whatever they take",
            limits.capability, limits.max_blocks_per_sm
        );
    }
    match limits.virtual_resources_per_sm {
        Some(pool) if blocks.saturating_mul(shape.virtual_resources) > pool => format!(
            "a block takes {} of an SM's {pool} virtual resources at launch: kernels that allocate tensor memory do, and \
             give them back while they run",
            shape.virtual_resources
        ),
        _ => "no smaller block, register count or shared memory makes it fit".to_owned(),
    }
}

fn solution_record(shape: &Shape, solution: &Solution) -> SolutionRecord {
    let found = &solution.occupancy;
    SolutionRecord {
        change: change_record(shape, solution),
        blocks_per_sm: found.blocks_per_sm,
        warps_per_sm: found.warps_per_sm(),
        percent: two_decimals(found.percent()),
        given_up_percent: two_decimals(solution.given_up * 100.0),
    }
}

fn change_record(shape: &Shape, solution: &Solution) -> ChangeRecord {
    let after = &solution.shape;
    let from_to = |from: u32, to: u32| (from != to).then_some(FromTo { from, to });
    let of = |axis: Axis| {
        let change = solution.changes.iter().find(|change| change.axis == axis);
        change.map(|Change { from, to, .. }| FromTo { from: *from, to: *to })
    };
    let set = |setting: Setting| solution.settings.contains(&setting);
    ChangeRecord {
        registers: of(Axis::Registers),
        block: of(Axis::Block),
        shared_static: from_to(shape.shared_static, after.shared_static),
        shared_dynamic: from_to(shape.shared_dynamic, after.shared_dynamic),
        barriers: of(Axis::Barriers),
        carveout: set(Setting::DefaultCarveout)
            .then(|| FromTo { from: carveout_name(shape.carveout), to: carveout_name(after.carveout) }),
        partitioned_caching: set(Setting::NoPartitionedCaching)
            .then_some(FromTo { from: shape.partitioned_caching.name(), to: "off" }),
    }
}

fn step_record(slack: &Slack) -> StepRecord {
    let edge = |edge: Edge| EdgeRecord {
        value: edge.value,
        change: i64::from(edge.value) - i64::from(slack.value),
        ceiling: edge.occupancy.ceilings.get(slack.axis.resource()),
        blocks_per_sm: edge.occupancy.blocks_per_sm,
        warps_per_sm: edge.occupancy.warps_per_sm(),
    };
    StepRecord {
        axis: slack.axis.name(),
        unit: unit(slack.axis),
        value: slack.value,
        ceiling: slack.ceiling,
        ceiling_up: slack.ceiling_up.map(edge),
        ceiling_down: slack.ceiling_down.map(edge),
        gain: slack.gain.map(edge),
        loss: slack.loss.map(edge),
        free_to: slack.free_to,
    }
}

fn best(limits: &SmLimits, shape: &Shape, most: u32) -> Result<Option<BestBlocks>, InvalidShape> {
    let sizes = best_blocks(limits, shape, most)?;
    Ok(sizes.first().map(|best| BestBlocks {
        warps_per_sm: best.occupancy.warps_per_sm(),
        percent: two_decimals(best.occupancy.percent()),
        sizes: sizes
            .iter()
            .map(|size| BlockSizeRecord { block: size.threads, blocks_per_sm: size.occupancy.blocks_per_sm })
            .collect(),
    }))
}

fn room(limits: &SmLimits, shape: &Shape, tile_bytes: Option<u32>) -> Result<Vec<RoomRecord>, InvalidShape> {
    let rows = launch_bounds(limits, shape)?;
    rows.into_iter().map(|row| room_record(limits, shape, tile_bytes, row)).collect()
}

fn room_record(
    limits: &SmLimits,
    shape: &Shape,
    tile_bytes: Option<u32>,
    row: MinBlocks,
) -> Result<RoomRecord, InvalidShape> {
    let shared = largest(limits, shape, Axis::Shared, row.blocks)?;
    let shared_dynamic = shared.and_then(|shared| shared.checked_sub(shape.shared_static));
    let stages = tile_bytes.map(|tile| {
        let left = shared_dynamic.and_then(|dynamic| dynamic.checked_sub(shape.shared_dynamic));
        left.and_then(|left| left.checked_div(tile)).unwrap_or(0)
    });
    let effect = match row.effect {
        Effect::Free => BoundEffect::Free,
        Effect::Lowers => BoundEffect::Lowers,
        Effect::Unreachable => BoundEffect::Unreachable,
    };
    Ok(RoomRecord {
        blocks: row.blocks,
        warps: row.warps,
        register_cap: row.register_cap,
        effect,
        others_allow: row.others_allow,
        shared_dynamic,
        stages,
    })
}

/// Launch bounds with a minimum that the compiler drops give no cap at all.
fn ignored_minimum(limits: &SmLimits, shape: &Shape, wanted: Wanted) -> Option<String> {
    let (threads, blocks) = (shape.threads_per_block, wanted.blocks);
    let most = most_min_blocks(limits, threads);
    if !wanted.given || blocks <= most {
        return None;
    }
    let why = if u64::from(threads) * u64::from(blocks) > u64::from(limits.max_threads_per_sm) {
        format!(
            "{threads} x {blocks} = {} threads, an SM holds {}",
            u64::from(threads) * u64::from(blocks),
            limits.max_threads_per_sm
        )
    } else {
        format!("an SM holds {} blocks", limits.max_blocks_per_sm)
    };
    let largest = register_cap(limits, threads, most).map_or_else(String::new, |cap| {
        format!("; the largest minimum that counts is {most}, which caps registers at {cap}")
    });
    Some(format!("__launch_bounds__({threads}, {blocks}) is ignored by the compiler, with a warning: {why}{largest}"))
}

fn notes(now: &CalcReport, subject: &Subject, solutions: &[Solution], blocks: u32) -> Vec<String> {
    let shape = &subject.request.shape;
    let mut notes = now.notes.clone();
    let given = now.occupancy.allocated.registers_per_thread;
    if given != shape.registers_per_thread && shape.registers_per_thread > 0 {
        notes.push(format!(
            "{} to {given} registers are the same to the hardware: it gives {given}",
            (given + 1).saturating_sub(8)
        ));
    }
    if solutions.iter().any(|solution| solution.changes.iter().any(|change| change.axis == Axis::Registers)) {
        notes.push(
            "registers are cut with __launch_bounds__(threads, blocks) or --maxrregcount; what then has no register is \
             spilled to memory, so look at the spills too"
                .to_owned(),
        );
    }
    if solutions.iter().any(|solution| !solution.changes.is_empty() && solution.occupancy.blocks_per_sm > blocks)
        && blocks > 0
    {
        notes.push(
            "more blocks are no gain by themselves: they help where warps wait on latency and no other warp is ready"
                .to_owned(),
        );
    }
    notes
}
