//! What a warp demands of each resource of an SM, in cycles of that resource. Not for: when; that is
//! [`crate::timeline`].

use occupant_hardware::{StreamKind, Unit};
use occupant_sass::{Access, Class, Detail, Instruction, Space, detail};

use crate::kernel::HitRates;
use crate::machine::{Machine, Memory};
use crate::path::{Path, Step};
use crate::reuse::wavefronts;

/// Something that all warps of an SM share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// Issue slots of the warp schedulers.
    Issue,
    /// FP32 and integer multiply-add.
    Fma,
    /// Integer and logic.
    Alu,
    /// Packed FP16.
    Half,
    /// FP64.
    Fp64,
    /// Special functions and conversions.
    Xu,
    /// Tensor cores.
    Tensor,
    /// L1 and shared memory.
    L1,
    /// L2 bandwidth.
    L2,
    /// DRAM bandwidth.
    Dram,
}

impl Resource {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Fma => "fma",
            Self::Alu => "alu",
            Self::Half => "half",
            Self::Fp64 => "fp64",
            Self::Xu => "xu",
            Self::Tensor => "tensor",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Dram => "dram",
        }
    }
}

/// The kind of a stream of global accesses and what it moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stream {
    /// Bytes of a warp that are read, whole sectors, each once.
    pub read: f64,
    /// Bytes that are written.
    pub written: f64,
}

impl Stream {
    /// Both together.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.read + self.written
    }

    /// What it counts as: below a tenth of one kind it is the other.
    #[must_use]
    pub fn kind(&self) -> StreamKind {
        match self.written / self.bytes().max(1.0) {
            share if share < 0.1 => StreamKind::Read,
            share if share > 0.9 => StreamKind::Write,
            _ => StreamKind::Mixed,
        }
    }
}

/// Cycles that a warp takes of each resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Every resource that it uses, with cycles of an SM.
    pub cycles: Vec<(Resource, f64)>,
    /// Its global accesses.
    pub stream: Stream,
    /// Tensor-core operations whose size is not decoded.
    pub unknown_tensor: u32,
}

impl Demand {
    /// Of one way along a path.
    pub(crate) fn of(path: &Path, machine: &Machine, hits: HitRates) -> Self {
        let mut counts = Counts::default();
        path.steps.iter().for_each(|step| counts.add(step, machine));
        // Not `sum`, whose start is -0.
        let moved = |of: fn(&Step) -> f64| path.steps.iter().fold(0.0, |bytes, step| bytes + of(step) * step.times);
        let stream = Stream { read: moved(|step| step.reads), written: moved(|step| step.writes) };
        let beyond_l1 = stream.bytes() * (1.0 - hits.l1);
        let beyond_l2 = beyond_l1 * (1.0 - hits.l2);
        let rate = |memory: Memory| machine.bytes_per_cycle(machine.gb_per_s(memory, stream.kind()));
        let shared = |cycles: f64| cycles / SUB_PARTITIONS;
        let unit = |count: f64, unit: Unit| shared(count * machine.interval(unit));
        let cycles = [
            (Resource::Issue, shared(counts.issued)),
            (Resource::Fma, unit(counts.fma, Unit::Fma).max(unit(counts.imad, Unit::Imad))),
            (Resource::Alu, unit(counts.alu, Unit::Alu)),
            (Resource::Half, unit(counts.half, Unit::Half)),
            (Resource::Fp64, unit(counts.fp64, Unit::Fp64)),
            (Resource::Xu, unit(counts.xu, Unit::Xu)),
            (Resource::Tensor, machine.tensor_fma.map_or(0.0, |rate| counts.tensor_fma / rate)),
            (Resource::L1, counts.l1),
            (Resource::L2, beyond_l1 / rate(Memory::L2)),
            (Resource::Dram, beyond_l2 / rate(Memory::Dram)),
        ];
        let cycles = cycles.into_iter().filter(|(_, cycles)| *cycles > 0.0).collect();
        Self { cycles, stream, unknown_tensor: counts.unknown_tensor }
    }

    /// The resource that takes longest.
    #[must_use]
    pub fn binding(&self) -> Option<(Resource, f64)> {
        // The first of equals, as in a list by size.
        self.cycles.iter().copied().rev().max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Cycles of all resources combined with an exponent: several that are half busy slow a kernel down as one that is
    /// busier.
    #[must_use]
    pub fn combined(&self, sharpness: f64) -> f64 {
        self.cycles.iter().map(|(_, cycles)| cycles.powf(sharpness)).sum::<f64>().powf(1.0 / sharpness)
    }
}

/// Warp schedulers of an SM, since 5.0.
const SUB_PARTITIONS: f64 = 4.0;

#[derive(Default)]
struct Counts {
    issued: f64,
    fma: f64,
    /// Those of them that only half of the unit takes, from 8.6 on.
    imad: f64,
    alu: f64,
    half: f64,
    fp64: f64,
    xu: f64,
    tensor_fma: f64,
    unknown_tensor: u32,
    l1: f64,
}

impl Counts {
    fn add(&mut self, step: &Step, machine: &Machine) {
        let instruction = &step.instruction;
        self.issued += step.issues();
        if let Some(access) = instruction.access() {
            self.l1 += step.times * l1_cycles(&access, step, machine);
        }
        match instruction.class() {
            Some(Class::Fma) => {
                self.fma += step.times;
                self.imad += if instruction.mnemonic() == "IMAD" { step.times } else { 0.0 };
            }
            Some(Class::Alu) => self.alu += step.times,
            Some(Class::Half) => self.half += step.times,
            Some(Class::Fp64) => self.fp64 += step.times,
            Some(Class::Xu) => self.xu += step.times,
            Some(Class::Shuffle) => self.l1 += step.times * machine.interval(Unit::Shuffle),
            Some(Class::Tensor | Class::Wgmma) => match tensor_fma(instruction) {
                Some(fma) => self.tensor_fma += step.times * fma,
                None => self.unknown_tensor += u32::from(instruction.mnemonic() != "MOVM"),
            },
            _ => {}
        }
    }
}

/// Cycles of L1 or shared memory. Bank conflicts are not known and taken as none.
fn l1_cycles(access: &Access, step: &Step, machine: &Machine) -> f64 {
    match access.space {
        Space::Shared | Space::Cluster => wavefronts(access, None).max(machine.interval(Unit::Shared)),
        Space::Global | Space::Generic => wavefronts(access, step.address),
        Space::Local => wavefronts(access, None),
        Space::Constant | Space::Tensor => 0.0,
    }
}

/// FP16 multiply-adds, or as many as take as long, of a tensor-core operation of one warp (of a warp group for `wgmma`,
/// whose four warps share it); `None` where its shape is not decoded.
pub(crate) fn tensor_fma(instruction: &Instruction) -> Option<f64> {
    if let Some(Detail::WarpgroupColumns { n }) = detail(instruction) {
        // 64 x N x 16 for 16-bit operands; a quarter of it for each warp of the group.
        return (instruction.mnemonic() == "HGMMA").then(|| f64::from(n) * 64.0 * 16.0 / 4.0);
    }
    let word = instruction.word;
    let long = word.bit(K_IS_DOUBLE);
    let whole = match (instruction.mnemonic(), word.opcode()) {
        // TF32 runs at half the rate of FP16: `.1688`, and `.1684` where this bit is set.
        ("HMMA", HMMA) if word.bit(TF32) => !word.bit(TF32_SHORT),
        // `.16816` and `.1688` of FP16 and BF16; 8 bits run at twice the rate of 16: `.16832` and `.16816`.
        ("HMMA", HMMA) => long,
        ("IMMA", IMMA) if word.bit(EIGHT_BITS) => long,
        ("QMMA", QMMA) if long => true,
        _ => return None,
    };
    Some(if whole { WHOLE } else { HALF })
}

/// Multiply-adds of 16 x 8 x 16.
const WHOLE: f64 = 2048.0;
const HALF: f64 = 1024.0;
const HMMA: usize = 0x03c;
const IMMA: usize = 0x037;
const QMMA: usize = 0x07a;
/// The longer of two shapes.
const K_IS_DOUBLE: u32 = 75;
/// Set for operands of 8 bits.
const EIGHT_BITS: u32 = 74;
const TF32: u32 = 83;
const TF32_SHORT: u32 = 78;

#[cfg(test)]
mod tests {
    use occupant_hardware::ComputeCapability;
    use occupant_sass::Decoder;

    use super::*;

    #[test]
    fn shapes_of_tensor_core_operations() {
        // As nvdisasm 13.5.37 prints them: low bits of both halves, shape, multiply-adds of FP16 that take as long.
        let shapes = [
            (0x723c, 0x0000_1804, "HMMA.16816.F32", 2048.0),
            (0x723c, 0x0004_1804, "HMMA.16816.F32.BF16", 2048.0),
            (0x723c, 0x0000_0804, "HMMA.16816.F16", 2048.0),
            (0x723c, 0x0000_1004, "HMMA.1688.F32", 1024.0),
            (0x723c, 0x0008_1004, "HMMA.1688.F32.TF32", 2048.0),
            (0x723c, 0x0008_5004, "HMMA.1684.F32.TF32", 1024.0),
            (0x7237, 0x0040_5c04, "IMMA.16832.S8.S8", 2048.0),
            (0x7237, 0x0040_5404, "IMMA.16816.S8.S8", 1024.0),
            (0x727a, 0x0000_2c04, "QMMA.16832.F32.E4M3.E4M3", 2048.0),
        ];
        let decoder = Decoder::new(ComputeCapability::new(8, 9)).unwrap();
        for (low, high, name, expected) in shapes {
            let word = u128::from(0x0808_0004_0000_u64 | low) | u128::from(0x000f_e400_0000_0000_u64 | high) << 64;
            let instruction = decoder.instruction(word.to_le_bytes(), 0);
            assert_eq!(tensor_fma(&instruction), Some(expected), "{name}: {}", instruction.mnemonic());
        }
    }
}
