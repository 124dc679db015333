//! What a warp demands of each resource of an SM, in cycles of that resource. Not for: when; that is
//! [`crate::timeline`].

use occupant_hardware::{StreamKind, Unit};
use occupant_sass::{Access, AccessKind, Class, Detail, Instruction, Space, detail};

use crate::kernel::HitRates;
use crate::machine::{Machine, Memory};
use crate::path::{Path, Step};
use crate::reuse::{bytes, wavefronts};

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
        let accesses = |wanted: fn(AccessKind) -> bool| {
            path.steps.iter().filter_map(move |step| {
                let access = step.instruction.access()?;
                let global = matches!(access.space, Space::Global | Space::Generic);
                (global && wanted(access.kind) && step.times > 0.0).then_some((step, access))
            })
        };
        let stream = Stream {
            read: bytes(accesses(|kind| matches!(kind, AccessKind::Load | AccessKind::AsyncCopy))),
            written: bytes(accesses(|kind| matches!(kind, AccessKind::Store | AccessKind::Atomic))),
        };
        let beyond_l1 = stream.bytes() * (1.0 - hits.l1);
        let beyond_l2 = beyond_l1 * (1.0 - hits.l2);
        let rate = |memory: Memory| machine.bytes_per_cycle(machine.gb_per_s(memory, stream.kind()));
        let shared = |cycles: f64| cycles / SUB_PARTITIONS;
        let unit = |count: f64, unit: Unit| shared(count * machine.interval(unit));
        let cycles = [
            (Resource::Issue, shared(counts.issued)),
            (Resource::Fma, unit(counts.fma, Unit::Fma)),
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
        self.cycles.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
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
        // An instruction whose guard fails for all lanes is issued all the same.
        self.issued += step.times.max(if step.times == 0.0 { 1.0 } else { 0.0 });
        if let Some(access) = instruction.access() {
            self.l1 += step.times * l1_cycles(&access, step, machine);
        }
        match instruction.class() {
            Some(Class::Fma) => self.fma += step.times,
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
    match instruction.mnemonic() {
        // `.16816` has bit 75 set where `.1688` has not.
        "HMMA" if instruction.word.opcode() == HMMA => Some(if instruction.word.bit(75) { 2048.0 } else { 1024.0 }),
        _ => None,
    }
}

const HMMA: usize = 0x03c;
