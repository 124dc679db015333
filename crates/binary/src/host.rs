//! Sections of host binaries that hold device code: ELF (Linux), PE (Windows `.dll`, `.exe`) and COFF (Windows `.obj`).

use std::ops::Range;

use object::{Object, ObjectSection, ReadCache};

use crate::BinaryError;
use crate::elf::{self, Elf};
use crate::reader::SourceReader;
use crate::source::Source;

/// A section for fatbins; its range is empty where it has no bytes in the file.
pub(crate) struct DeviceSection {
    pub(crate) name: String,
    pub(crate) range: Range<u64>,
    pub(crate) relocatable: bool,
}

/// Names of sections, and whether what they hold is relocatable; Windows cuts names to eight characters.
const NAMES: [(&str, bool); 4] =
    [(".nv_fatbin", false), (".nv_fatb", false), ("__nv_relfatbin", true), ("__nv_rel", true)];

/// The device sections of a host binary; `None` where the file is none.
pub(crate) fn device_sections(source: &dyn Source, start: &[u8]) -> Option<Result<Vec<DeviceSection>, BinaryError>> {
    match start {
        _ if elf::machine(start).is_some() => Some(of_elf(source)),
        [b'M', b'Z', ..] => Some(of_windows(source, "Windows binary")),
        // Machine AMD64 or ARM64 of an object file, which has no magic.
        [0x64, 0x86 | 0xaa, ..] => of_windows(source, "Windows object").ok().map(Ok),
        _ => None,
    }
}

fn of_elf(source: &dyn Source) -> Result<Vec<DeviceSection>, BinaryError> {
    let elf = Elf::parse(source)?;
    let found = elf.sections.iter().filter_map(|section| {
        // Only compared: a file can have a hundred thousand sections with long names.
        let (name, relocatable) = NAMES.into_iter().find(|(name, _)| elf.is_named(section, name))?;
        let size = if section.is_empty_in_file() { 0 } else { section.size };
        let range = section.offset..section.offset.saturating_add(size);
        Some(DeviceSection { relocatable, name: name.to_owned(), range })
    });
    Ok(found.collect())
}

fn of_windows(source: &dyn Source, kind: &'static str) -> Result<Vec<DeviceSection>, BinaryError> {
    let cache = ReadCache::new(SourceReader::new(source));
    let failed = |error: object::Error| BinaryError::Container { kind, reason: error.to_string() };
    let file = object::File::parse(&cache).map_err(failed)?;
    let found = file.sections().filter_map(|section| {
        let own = section.name_bytes().ok()?;
        let (name, relocatable) = NAMES.into_iter().find(|(name, _)| name.as_bytes() == own)?;
        let (offset, size) = section.file_range()?;
        Some(DeviceSection { relocatable, name: name.to_owned(), range: offset..offset.saturating_add(size) })
    });
    Ok(found.collect())
}
