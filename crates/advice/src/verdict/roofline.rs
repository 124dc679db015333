//! Where a launch stands under the roofline: operations, bytes, and the peaks of the GPU at the measured clocks.

use super::facts::Facts;

/// Which roof is above a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Left of the ridge: memory bandwidth.
    Memory,
    /// Right of it: arithmetic.
    Compute,
}

/// A position, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofline {
    /// `fp32` or `fp64`.
    pub precision: &'static str,
    /// Floating-point operations per second.
    pub flop_per_s: f64,
    /// The most at the measured clock.
    pub peak_flop_per_s: f64,
    /// Bytes per second of DRAM.
    pub bytes_per_s: f64,
    /// The most at the measured clock.
    pub peak_bytes_per_s: f64,
    /// Which roof.
    pub position: Position,
}

impl Roofline {
    /// Operations for each byte of DRAM.
    #[must_use]
    pub fn intensity(&self) -> f64 {
        self.flop_per_s / self.bytes_per_s
    }

    /// Operations for each byte at which both roofs are equally low.
    #[must_use]
    pub fn ridge(&self) -> f64 {
        self.peak_flop_per_s / self.peak_bytes_per_s
    }

    /// Percent of the roof above it.
    #[must_use]
    pub fn percent(&self) -> f64 {
        match self.position {
            Position::Memory => self.bytes_per_s / self.peak_bytes_per_s * 100.0,
            Position::Compute => self.flop_per_s / self.peak_flop_per_s * 100.0,
        }
    }
}

/// The position of a launch, by the precision that it computes most in.
pub(super) fn of(facts: &Facts<'_>) -> Option<Roofline> {
    let single = position(facts, "fp32", ["fadd", "fmul", "ffma"]);
    let double = position(facts, "fp64", ["dadd", "dmul", "dfma"]);
    match (single, double) {
        (Some(single), Some(double)) if double.flop_per_s > single.flop_per_s => Some(double),
        (Some(single), _) => Some(single),
        (None, double) => double,
    }
}

fn position(facts: &Facts<'_>, precision: &'static str, operations: [&str; 3]) -> Option<Roofline> {
    let measured = facts.measured;
    let per_cycle = |operation: &str| {
        let metric = format!("smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum.per_cycle_elapsed");
        measured.get(&metric)
    };
    let [add, multiply, both] = operations;
    let flop_per_cycle = per_cycle(add)? + per_cycle(multiply)? + 2.0 * per_cycle(both)?;
    let clock = measured.first(&["smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"])?.1;
    let peak = measured.get(&format!("sm__sass_thread_inst_executed_op_{both}_pred_on.sum.peak_sustained"))?;
    let bytes_per_s = measured.get("dram__bytes.sum.per_second")?;
    let peak_bytes = measured.get("dram__bytes.sum.peak_sustained")?;
    let memory_clock = measured.get("dram__cycles_elapsed.avg.per_second")?;
    let found = Roofline {
        precision,
        flop_per_s: flop_per_cycle * clock,
        peak_flop_per_s: 2.0 * peak * clock,
        bytes_per_s,
        peak_bytes_per_s: peak_bytes * memory_clock,
        position: Position::Memory,
    };
    let known = found.flop_per_s > 0.0 && found.bytes_per_s > 0.0 && found.ridge() > 0.0;
    let position = if found.intensity() < found.ridge() { Position::Memory } else { Position::Compute };
    known.then_some(Roofline { position, ..found })
}

pub(super) fn finding(facts: &Facts<'_>) -> Option<String> {
    let found = of(facts)?;
    let roof = match found.position {
        Position::Memory => "memory",
        Position::Compute => "arithmetic",
    };
    Some(format!(
        "roofline: {:.2} {} operations for each byte of DRAM, the ridge is at {:.1}: under the {roof} roof, at {:.0} % of it",
        found.intensity(),
        found.precision.to_uppercase(),
        found.ridge(),
        found.percent()
    ))
}
