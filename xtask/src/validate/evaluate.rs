//! One curve against the model: errors of bandwidth and of needed warps. Not for: many curves together.

use std::sync::Arc;

use anyhow::anyhow;
use occupant_hardware::StreamKind;
use occupant_need::{Constants, Execution, Guarded, Knee, Machine, Model, Scenario, Sources, model};
use occupant_sass::Analysis;

use super::curves::Curve;

/// A measured curve with the code of its kernel and the machine of its GPU.
pub(crate) struct Case {
    pub(crate) curve: Curve,
    pub(crate) machine: Machine,
    analysis: Arc<Analysis>,
}

/// Errors of one curve. `None` where the curve does not reach the share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errors {
    /// Mean of |predicted / measured - 1| over its points.
    pub(crate) bandwidth: f64,
    /// Predicted over measured warps for 80 % and 90 % of the peak.
    pub(crate) needed: [Option<f64>; 2],
}

/// Shares of the peak at which needed warps are compared.
pub(crate) const SHARES: [f64; 2] = [0.8, 0.9];

impl Case {
    pub(crate) fn new(curve: Curve, analysis: Arc<Analysis>) -> anyhow::Result<Self> {
        let machine = Machine::of(curve.gpu)?;
        Ok(Self { curve, machine, analysis })
    }

    /// The kernel's model with some constants.
    pub(crate) fn model(&self, constants: &Constants) -> anyhow::Result<Model> {
        let scenario = Scenario { memory: self.curve.memory, guarded: Guarded::Executed };
        let execution = Execution::default();
        let sources = Sources { analysis: &self.analysis, machine: &self.machine, constants, execution: &execution };
        model(sources, scenario).map_err(|why| anyhow!("{} {}: {why}", self.curve.gpu_name, self.curve.kernel))
    }

    /// What the kernel's stream counts as.
    pub(crate) fn stream(&self, constants: &Constants) -> anyhow::Result<StreamKind> {
        Ok(self.model(constants)?.demand.stream.kind())
    }

    /// The knee under a ceiling in GB/s that is not the machine's own.
    pub(crate) fn knee(&self, constants: &Constants, ceiling: f64) -> anyhow::Result<Knee> {
        let found = self.model(constants)?;
        let own = self.machine.gb_per_s(self.curve.memory, found.demand.stream.kind());
        let mut demand = found.demand.clone();
        let level = self.curve.memory.name();
        for (resource, cycles) in &mut demand.cycles {
            if resource.name() == level {
                *cycles *= own / ceiling;
            }
        }
        Ok(Knee { warps: found.timeline.cycles / demand.combined(found.knee.sharpness), ..found.knee })
    }

    /// Errors under a ceiling.
    pub(crate) fn errors(&self, constants: &Constants, ceiling: f64) -> anyhow::Result<Errors> {
        let knee = self.knee(constants, ceiling)?;
        // Needed warps are those for a share of the measured peak, whatever the ceiling.
        let of_peak = self.curve.peak() / ceiling;
        let needed = SHARES.map(|share| {
            let reached = (share * of_peak).min(0.999);
            Some(knee.needed(reached) / self.curve.needed(share)?)
        });
        Ok(Errors { bandwidth: self.mape(|warps| ceiling * knee.share(warps)), needed })
    }

    /// Mean of |predicted / measured - 1| over the points.
    pub(crate) fn mape(&self, predicted: impl Fn(f64) -> f64) -> f64 {
        let errors = self.curve.points.iter().map(|(warps, rate)| (predicted(*warps) / rate - 1.0).abs());
        errors.sum::<f64>() / self.curve.points.len() as f64
    }
}
