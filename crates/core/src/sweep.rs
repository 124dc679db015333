//! Occupancy along one axis.

use occupant_occupancy::{Axis, Occupancy, Shape, Stair, occupancy, sweep as staircase};

use crate::calc::{CalcError, CalcRequest, calc};
use crate::fit::unit;
use crate::report::{KernelName, PointRecord, StairRecord, SweepRecord, SweepReport, two_decimals};
use crate::subject::Subject;

/// The staircases of some shapes along one axis. The current point of an amount that was not given is left out:
/// `given` says whether it was.
///
/// # Errors
/// [`CalcError`] for a shape that means nothing, or a GPU whose rules are not known.
pub fn sweep(subjects: &[Subject], axis: Axis, given: bool) -> Result<SweepReport, CalcError> {
    let sweeps = subjects.iter().map(|subject| one(subject, axis, given)).collect::<Result<Vec<_>, _>>()?;
    let mut notes = Vec::new();
    if axis != Axis::Registers && subjects.iter().any(|subject| subject.request.shape.registers_per_thread == 0) {
        notes.push("registers do not bound: none were given (--registers)".to_owned());
    }
    notes.extend(refusals(subjects, axis)?);
    if sweeps.iter().flat_map(|sweep| &sweep.steps).any(|step| step.blocks_per_sm == 0) {
        notes.push("0 blocks: a launch with that amount is refused".to_owned());
    }
    Ok(SweepReport { schema: "occupant.sweep.v1", axis: axis.name(), unit: unit(axis), sweeps, notes })
}

/// Refusals that no amount on the axis changes.
fn refusals(subjects: &[Subject], axis: Axis) -> Result<Vec<String>, CalcError> {
    let mut notes: Vec<String> = Vec::new();
    for subject in subjects {
        let least = axis.with(&subject.request.shape, axis.least());
        let now = calc(subject.target()?, &CalcRequest { shape: least, ..subject.request })?;
        if let Some(reason) = now.reason.filter(|_| now.occupancy.ceilings.smallest() > 0) {
            notes.push(format!("can't launch on {} whatever the amount: {reason}", now.gpu.name));
        }
    }
    Ok(notes)
}

fn one(subject: &Subject, axis: Axis, given: bool) -> Result<SweepRecord, CalcError> {
    let target = subject.target()?;
    let shape = &subject.request.shape;
    let now = calc(target, &subject.request)?;
    let current = if given || subject.kernel.is_some() {
        Some(point(axis, shape, &occupancy(target.limits, shape)?))
    } else {
        None
    };
    Ok(SweepRecord {
        gpu: now.gpu,
        kernel: subject.kernel.as_deref().map(KernelName::from),
        input: now.input,
        max_warps_per_sm: target.limits.max_warps_per_sm(),
        current,
        steps: staircase(target.limits, shape, axis)?.iter().map(stair).collect(),
    })
}

fn point(axis: Axis, shape: &Shape, found: &Occupancy) -> PointRecord {
    PointRecord {
        value: axis.value(shape),
        blocks_per_sm: found.blocks_per_sm,
        warps_per_sm: found.warps_per_sm(),
        percent: two_decimals(found.percent()),
    }
}

fn stair(stair: &Stair) -> StairRecord {
    let found = &stair.occupancy;
    StairRecord {
        from: stair.from,
        to: stair.to,
        blocks_per_sm: found.blocks_per_sm,
        warps_per_sm: found.warps_per_sm(),
        percent: two_decimals(found.percent()),
        limiters: found.limiters().iter().map(|resource| resource.name()).collect(),
    }
}
