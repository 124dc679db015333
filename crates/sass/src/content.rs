//! What a stretch of code does, in numbers. Not for: how long it takes.

use crate::instruction::Instruction;
use crate::memory::AccessKind;
use crate::opcodes::{Class, Space};
use crate::word::RZ;

/// Counts of instructions by what they do; bytes are of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    /// All of them.
    pub instructions: u32,
    /// Global loads.
    pub global_loads: u32,
    /// Bytes of those.
    pub global_load_bytes: u32,
    /// Global stores.
    pub global_stores: u32,
    /// Bytes of those.
    pub global_store_bytes: u32,
    /// Generic loads: global, shared or local, by their address.
    pub generic_loads: u32,
    /// Generic stores.
    pub generic_stores: u32,
    /// Shared loads.
    pub shared_loads: u32,
    /// Bytes of those.
    pub shared_load_bytes: u32,
    /// Shared stores.
    pub shared_stores: u32,
    /// Bytes of those.
    pub shared_store_bytes: u32,
    /// Local loads and stores: stack and spills.
    pub local: u32,
    /// Atomics and reductions.
    pub atomics: u32,
    /// Asynchronous copies from global to shared memory.
    pub async_copies: u32,
    /// Bulk copies by the tensor memory accelerator.
    pub tma: u32,
    /// Operations on barriers in shared memory that wait.
    pub mbarrier_waits: u32,
    /// Barriers of the block or the cluster.
    pub barriers: u32,
    /// Tensor-core operations of every kind.
    pub tensor: u32,
    /// FP32 multiplications and additions.
    pub fp32: u32,
    /// Integer multiplications.
    pub imad: u32,
    /// Packed FP16.
    pub half: u32,
    /// FP64.
    pub fp64: u32,
    /// Transcendental functions and conversions.
    pub xu: u32,
    /// Texture and surface accesses.
    pub texture: u32,
    /// Calls.
    pub calls: u32,
    /// Choices of one thread of the warp.
    pub elections: u32,
}

impl Content {
    /// Counts one more instruction.
    pub fn add(&mut self, instruction: &Instruction) {
        bump(&mut self.instructions, 1);
        let Some(class) = instruction.class() else { return };
        if let Some(access) = instruction.access() {
            let bytes = access.bytes.unwrap_or(0);
            match (access.kind, access.space) {
                (AccessKind::Load, Space::Generic) => bump(&mut self.generic_loads, 1),
                (AccessKind::Store, Space::Generic) => bump(&mut self.generic_stores, 1),
                (AccessKind::Load, Space::Global) => {
                    bump(&mut self.global_loads, 1);
                    bump(&mut self.global_load_bytes, bytes);
                }
                (AccessKind::Store, Space::Global) => {
                    bump(&mut self.global_stores, 1);
                    bump(&mut self.global_store_bytes, bytes);
                }
                (AccessKind::Load, Space::Shared) => {
                    bump(&mut self.shared_loads, 1);
                    bump(&mut self.shared_load_bytes, bytes);
                }
                (AccessKind::Store, Space::Shared | Space::Cluster) => {
                    bump(&mut self.shared_stores, 1);
                    bump(&mut self.shared_store_bytes, bytes);
                }
                (AccessKind::Load | AccessKind::Store, Space::Local) => bump(&mut self.local, 1),
                (AccessKind::Atomic, _) => bump(&mut self.atomics, 1),
                (AccessKind::AsyncCopy, _) => bump(&mut self.async_copies, 1),
                _ => {}
            }
        }
        match class {
            Class::Tma => bump(&mut self.tma, 1),
            Class::Mbarrier if instruction.is_mbarrier_wait() => bump(&mut self.mbarrier_waits, 1),
            Class::Barrier => bump(&mut self.barriers, 1),
            Class::Tensor | Class::Wgmma | Class::Tcgen05Mma => bump(&mut self.tensor, 1),
            // With the zero register as a factor they are moves.
            Class::Fma | Class::Half
                if matches!(instruction.mnemonic(), "IMAD" | "HFMA2") && zero_factor(instruction) => {}
            Class::Fma if matches!(instruction.mnemonic(), "IMAD" | "IMUL" | "IDP") => bump(&mut self.imad, 1),
            Class::Fma => bump(&mut self.fp32, 1),
            Class::Half => bump(&mut self.half, 1),
            Class::Fp64 => bump(&mut self.fp64, 1),
            Class::Xu => bump(&mut self.xu, 1),
            Class::Texture | Class::Surface => bump(&mut self.texture, 1),
            Class::Call => bump(&mut self.calls, 1),
            Class::Alu if instruction.mnemonic() == "ELECT" => bump(&mut self.elections, 1),
            _ => {}
        }
    }

    /// What there is of it, the weightiest first, as number and name.
    #[must_use]
    pub fn parts(&self) -> Vec<(u32, &'static str)> {
        let parts = [
            (self.tensor, "tensor-core"),
            (self.tma, "TMA"),
            (self.async_copies, "async copy"),
            (self.global_loads, "global load"),
            (self.global_stores, "global store"),
            (self.atomics, "atomic"),
            (self.texture, "texture"),
            (self.generic_loads, "generic load"),
            (self.generic_stores, "generic store"),
            (self.shared_loads, "shared load"),
            (self.shared_stores, "shared store"),
            (self.local, "local access"),
            (self.fp64, "FP64"),
            (self.half, "FP16"),
            (self.fp32, "FP32"),
            (self.imad, "integer multiply"),
            (self.xu, "special function"),
            (self.mbarrier_waits, "mbarrier wait"),
            (self.barriers, "barrier"),
            (self.calls, "call"),
        ];
        parts.into_iter().filter(|(number, _)| *number > 0).collect()
    }

    /// Counts that a copy of the same source has in proportion: memory, tensor cores, arithmetic.
    pub(crate) fn proportions(&self) -> [u32; 16] {
        [
            self.global_load_bytes,
            self.global_store_bytes,
            self.generic_loads,
            self.generic_stores,
            self.shared_load_bytes,
            self.shared_store_bytes,
            self.local,
            self.atomics,
            self.async_copies,
            self.tensor,
            self.texture,
            self.fp32,
            self.fp64,
            self.half,
            self.xu,
            self.calls,
        ]
    }

    /// Work on data, as opposed to waiting and looping.
    pub(crate) fn works(&self) -> bool {
        self.proportions().iter().any(|count| *count > 0) || self.imad > 0 || self.tma > 0
    }
}

fn zero_factor(instruction: &Instruction) -> bool {
    instruction.word.register(24) == RZ
}

fn bump(count: &mut u32, by: u32) {
    *count = count.saturating_add(by);
}
