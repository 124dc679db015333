//! Where the sections of a cubin lie, by name. For: changing bytes of a section in place, as where the paths in debug
//! information are masked. Not for: what they mean, and code, symbols and names of symbols, which are not listed.

use std::ops::Range;

use object::elf::{self, SHF_ALLOC, SHF_COMPRESSED, SHF_EXECINSTR};

use crate::BinaryError;
use crate::cubin::MACHINE;
use crate::elf::Elf;
use crate::source::Source;

/// Sections may lie over each other; what all of them hold may be this many times the file.
const PASSES: u64 = 16;

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainSection {
    /// Its name.
    pub name: String,
    /// Its bytes in the file.
    pub range: Range<u64>,
    /// It is loaded with the program.
    pub loaded: bool,
    /// It is packed.
    pub compressed: bool,
}

/// The sections of a cubin that hold bytes, but for code, symbols and their names.
///
/// # Errors
/// [`BinaryError`] where it is no 64-bit CUDA ELF file, or where a section reaches beyond it.
pub fn plain_sections(source: &dyn Source) -> Result<Vec<PlainSection>, BinaryError> {
    let elf = Elf::parse(source)?;
    if elf.machine != MACHINE {
        let found = elf.machine.0.to_string();
        return Err(BinaryError::malformed("ELF machine", 0x12, format!("{} (CUDA)", MACHINE.0), found));
    }
    let allowed = source.size().saturating_mul(PASSES);
    let mut budget = allowed;
    let mut found = Vec::new();
    for section in &elf.sections {
        let tables = [elf::SHT_STRTAB, elf::SHT_SYMTAB, elf::SHT_SYMTAB_SHNDX, elf::SHT_REL, elf::SHT_RELA];
        let has = |flag: elf::SectionFlags| section.flags & flag.0 != 0;
        if section.is_empty_in_file() || tables.contains(&section.kind) || has(SHF_EXECINSTR) {
            continue;
        }
        let available = source.size().saturating_sub(section.offset);
        let Some(end) = section.offset.checked_add(section.size).filter(|_| section.size <= available) else {
            let (offset, needed) = (section.offset, section.size);
            return Err(BinaryError::Truncated { what: "section", offset, needed, available });
        };
        let over = BinaryError::OverLimit { what: "size of sections that lie over each other", limit: allowed };
        let name = elf.name(section);
        budget = budget.checked_sub(section.size.saturating_add(name.len() as u64)).ok_or(over)?;
        found.push(PlainSection {
            name: String::from_utf8_lossy(name).into_owned(),
            range: section.offset..end,
            loaded: has(SHF_ALLOC),
            compressed: has(SHF_COMPRESSED),
        });
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests read fixtures")]
mod tests {
    use super::*;

    #[test]
    fn of_a_fixture() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bin/kernels.sm_90a.cubin");
        let bytes = std::fs::read(path).expect("a fixture");
        let sections = plain_sections(&bytes).expect("sections");
        let named = |name: &str| sections.iter().find(|section| section.name == name);
        assert!(named(".nv.info").is_some() && named(".strtab").is_none());
        assert!(sections.iter().all(|section| !section.name.starts_with(".text.")));
        assert!(sections.iter().any(|section| section.loaded && section.name.starts_with(".nv.constant0.")));
        assert!(plain_sections(&&bytes[..bytes.len() / 2]).is_err());
        assert!(plain_sections(&b"\x7fELF".as_slice()).is_err());
    }
}
