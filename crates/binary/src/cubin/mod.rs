//! Cubins: the ELF files that hold compiled kernels, and every resource of a kernel that stands in them.
//!
//! Traps that are handled here, each checked against NVIDIA's tools by `cargo xtask corpus`: two header generations,
//! register counts in two places, barriers in two places, the 1 KiB system prefix of shared memory from 9.0 on,
//! repeated section names (sections belong together by index, never by name), static kernels, unknown stacks.
//! Not for: the machine code itself.

mod attributes;
mod function;
mod lines;
mod parse;
mod target;

pub use function::{Cluster, DynamicShared, Function, IndirectJump, Inner, RegisterSource, Spills, Toolkit};
pub use lines::{LineOf, line_at, lines};
pub use target::HeaderGeneration;

use occupant_hardware::Architecture;

use crate::BinaryError;
use crate::elf::Elf;
use crate::source::Source;

pub(crate) use target::target;

/// ELF machine number of CUDA device code.
pub(crate) const MACHINE: object::elf::Machine = object::elf::EM_CUDA;

/// One cubin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cubin {
    /// What it was compiled for.
    pub architecture: Architecture,
    /// The form of its header.
    pub generation: HeaderGeneration,
    /// To be linked before it runs; register counts may still change.
    pub relocatable: bool,
    /// Kernels and device functions with code of their own, in symbol order.
    pub functions: Vec<Function>,
    /// Attribute streams that broke off, each with what is wrong; what came before is used.
    pub faults: Vec<String>,
}

impl Cubin {
    /// Reads the headers and attributes of a cubin; its code is not read.
    ///
    /// # Errors
    /// [`BinaryError`] where it is no 64-bit CUDA ELF file or its tables reach beyond it.
    pub fn parse(source: &dyn Source) -> Result<Self, BinaryError> {
        let elf = Elf::parse(source)?;
        if elf.machine != MACHINE {
            let found = elf.machine.0.to_string();
            return Err(BinaryError::malformed("ELF machine", 0x12, format!("{} (CUDA)", MACHINE.0), found));
        }
        let architecture = target(&elf, source)?;
        let (functions, faults) = parse::functions(&elf, source, architecture)?;
        Ok(Self {
            architecture,
            generation: target::generation(&elf),
            relocatable: elf.kind == object::elf::ET_REL,
            functions,
            faults,
        })
    }
}
