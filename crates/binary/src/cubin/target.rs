//! Which architecture a cubin was compiled for, and whether ptxas made it whole or nvlink put it together.

use occupant_hardware::{Architecture, ComputeCapability, Variant};

use crate::BinaryError;
use crate::elf::Elf;
use crate::source::Source;

/// The two forms of the ELF header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderGeneration {
    /// CUDA up to 12 below 10.0: architecture in the low byte of the flags.
    Old,
    /// CUDA 13, and 12.8 and later from 10.0 on: architecture in bits 8 to 15.
    New,
}

const NEW_OS_ABI: u8 = 0x41;
/// Marks an `a` target in the old form (ptxas 12.4 and 12.9).
const OLD_SPECIFIC: u32 = 0x800;
/// Marks an `a` target in the new form (ptxas 12.9; 13.x leaves it to `.nv.compat`).
const NEW_SPECIFIC: u32 = 0x08;

/// The form of the header.
pub(super) fn generation(elf: &Elf<'_>) -> HeaderGeneration {
    if elf.os_abi == NEW_OS_ABI { HeaderGeneration::New } else { HeaderGeneration::Old }
}

/// The architecture. The compiler's own note is the most exact; it alone tells an `f` target.
pub(crate) fn target(elf: &Elf<'_>, source: &dyn Source) -> Result<Architecture, BinaryError> {
    if let Some(named) = note(elf, source).and_then(|note| architecture_in(&note)) {
        return Ok(named);
    }
    let flags = elf.flags;
    let (number, flagged) = match generation(elf) {
        HeaderGeneration::Old => (flags & 0xff, flags & OLD_SPECIFIC != 0),
        HeaderGeneration::New => ((flags >> 8) & 0xff, flags & NEW_SPECIFIC != 0),
    };
    let capability = ComputeCapability::from_sm(number).filter(|capability| capability.major >= 2);
    let capability = capability.ok_or_else(|| {
        BinaryError::malformed("architecture in the ELF flags", 0x30, "a number from 20", format!("{flags:#x}"))
    })?;
    let specific = flagged || compat_says_specific(elf, source);
    Ok(Architecture { capability, variant: if specific { Variant::Specific } else { Variant::Base } })
}

/// A linker put the cubin together from relocatable ones: a kernel's sections then are only its own.
pub(super) fn is_linked(elf: &Elf<'_>, source: &dyn Source) -> bool {
    note(elf, source).is_some_and(|note| memchr::memmem::find(&note, b"nvlink").is_some())
}

fn note(elf: &Elf<'_>, source: &dyn Source) -> Option<Vec<u8>> {
    let section = elf.named(".note.nv.tkinfo")?;
    section.bytes(source, "toolkit note").ok().map(std::borrow::Cow::into_owned)
}

/// The word after `-arch` in the compiler's command line.
fn architecture_in(note: &[u8]) -> Option<Architecture> {
    let at = memchr::memmem::find(note, b"-arch sm_")?;
    let word = note.get(at..)?.split(|byte| byte.is_ascii_whitespace() || *byte == 0).nth(1)?;
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// `.nv.compat` holds attributes like `.nv.info`: code 9 with value 1 marks an `a` target.
fn compat_says_specific(elf: &Elf<'_>, source: &dyn Source) -> bool {
    let compat = elf.named(".nv.compat");
    let bytes = compat.and_then(|section| section.bytes(source, "compatibility attributes").ok());
    bytes.is_some_and(|bytes| {
        super::attributes::Attributes::new(&bytes)
            .flatten()
            .any(|attribute| attribute.code == 0x09 && attribute.value.first() == Some(&1))
    })
}
