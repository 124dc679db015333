//! The same questions without a binary: bytes or operations of a thread, and how many of them are independent. Not for:
//! kernels; those have a timeline of their own.

use occupant_hardware::{StreamKind, Unit};

use crate::constants::Constants;
use crate::knee::Knee;
use crate::machine::{Machine, Memory};

/// An operation of a thread, to ask how many independent ones hide its latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// FP32 multiply-add.
    Ffma,
    /// FP64 multiply-add.
    Dfma,
    /// Special function.
    Mufu,
    /// Tensor-core multiply of one warp, 16x8x16 in FP16.
    Hmma,
    /// Shared load of 4 bytes.
    Lds,
}

impl Operation {
    /// Its name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ffma => "ffma",
            Self::Dfma => "dfma",
            Self::Mufu => "mufu",
            Self::Hmma => "hmma",
            Self::Lds => "lds",
        }
    }

    /// Cycles to its result, and cycles of an SM that one warp's operation takes.
    fn timing(self, machine: &Machine) -> Option<(f64, f64)> {
        let of = |unit: Unit| (machine.unit_latency(unit), machine.interval(unit) / 4.0);
        Some(match self {
            Self::Ffma => of(Unit::Fma),
            Self::Dfma => of(Unit::Fp64),
            Self::Mufu => of(Unit::Xu),
            // Of the whole SM, not of a sub-partition.
            Self::Lds => (machine.unit_latency(Unit::Shared), machine.interval(Unit::Shared)),
            Self::Hmma => (machine.unit_latency(Unit::Tensor), HMMA_FMA / machine.tensor_fma?),
        })
    }
}

/// Multiply-adds of a 16x8x16 tensor-core operation.
const HMMA_FMA: f64 = 2048.0;

/// A stream of loads: `bytes` that one load of a thread brings, `ilp` independent loads in flight.
#[must_use]
pub fn by_bytes(machine: &Machine, memory: Memory, bytes: f64, ilp: f64, constants: &Constants) -> (f64, Knee) {
    let in_flight = bytes * 32.0 * ilp;
    let cycles = machine.latency(memory);
    let rate = machine.bytes_per_cycle(machine.gb_per_s(memory, StreamKind::Read));
    (cycles, Knee::new(cycles, in_flight / rate, constants.sharpness))
}

/// A chain of operations, `ilp` of them independent: latency in cycles, cycles of an SM for each, warps that keep the
/// unit busy. No memory is in it, so that the corner is hard.
#[must_use]
pub fn by_operation(machine: &Machine, operation: Operation, ilp: f64) -> Option<(f64, f64, f64)> {
    let (latency, demand) = operation.timing(machine)?;
    // Independent operations of one warp still issue one after the other.
    let cycles = latency.max(ilp * demand * 4.0);
    Some((latency, demand, cycles / (ilp * demand)))
}

/// Where a kernel stands under the roofline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofline {
    /// Floating-point operations per byte.
    pub intensity: f64,
    /// Intensity at which memory and arithmetic take as long.
    pub ridge: f64,
    /// Arithmetic peak, GFLOP/s.
    pub peak_gflops: f64,
    /// Memory bandwidth, GB/s.
    pub gb_per_s: f64,
    /// The most that it can reach, GFLOP/s.
    pub attainable_gflops: f64,
}

/// The position of `flops` and `bytes` under a peak in GFLOP/s and a bandwidth in GB/s.
#[must_use]
pub fn roofline(flops: f64, bytes: f64, peak_gflops: f64, gb_per_s: f64) -> Roofline {
    let intensity = flops / bytes;
    Roofline {
        intensity,
        ridge: peak_gflops / gb_per_s,
        peak_gflops,
        gb_per_s,
        attainable_gflops: peak_gflops.min(intensity * gb_per_s),
    }
}
