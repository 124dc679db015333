//! Finds the device code of a file: a bare cubin, a bare fatbin, or fatbins inside a host binary or anything else.
//!
//! Named sections are read first; the rest of the file is scanned for fatbins, so none is lost for being elsewhere.
//! Only headers are read here. Not for: unpacking entries, which the caller does one at a time.

use std::ops::Range;

use occupant_hardware::Architecture;

use crate::BinaryError;
use crate::compression::Codec;
use crate::cubin;
use crate::elf::{self, Elf};
use crate::fatbin::{self, ALIGNMENT, Entry, Image, ImageKind, Payload, SIGNATURE};
use crate::fields::u32_at;
use crate::host::{DeviceSection, device_sections};
use crate::ptx;
use crate::source::{Source, read};

/// The images of one fatbin blob: what the loader treats as one module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Where it is: a section's name, or `offset 0x…` where no section names it; empty for a bare file.
    pub place: String,
    /// Relocatable device code, to be linked before it runs.
    pub relocatable: bool,
    /// Its entries.
    pub entries: Vec<Entry>,
}

/// A part of a file that could not be read; the rest still is.
#[derive(Debug)]
pub struct Fault {
    /// Where.
    pub place: String,
    /// What is wrong there.
    pub error: BinaryError,
}

/// The device code that a file holds.
#[derive(Debug)]
pub struct Artifact {
    /// In file order: named sections first, then what the scan found.
    pub modules: Vec<Module>,
    /// What could not be read.
    pub faults: Vec<Fault>,
}

/// Bytes from the start that tell what a file is; PTX has comments before its first directive.
const START: u64 = 4096;
/// Bytes scanned at a time.
const CHUNK: u64 = 4 << 20;

impl Artifact {
    /// Finds every module of a file that is no archive; [`crate::visit`] goes through archives.
    ///
    /// # Errors
    /// [`BinaryError::NoDeviceCode`] where there is none; other variants where the file cannot be read at all.
    pub fn open(source: &dyn Source) -> Result<Self, BinaryError> {
        let start = read(source, 0, source.size().min(START), "start of the file")?;
        if elf::machine(&start) == Some(cubin::MACHINE) {
            let elf = Elf::parse(source)?;
            let architecture = cubin::target(&elf, source)?;
            return Ok(Self::bare(source, ImageKind::Elf, architecture, elf.kind == object::elf::ET_REL));
        }
        if let Some(architecture) = ptx::target(&start) {
            return Ok(Self::bare(source, ImageKind::Ptx, architecture, false));
        }
        let mut finder = Finder { source, modules: Vec::new(), faults: Vec::new() };
        let covered = match device_sections(source, &start) {
            _ if u32_at(&start, 0) == Some(fatbin::MAGIC) => {
                vec![finder.section(String::new(), 0..source.size(), false)?]
            }
            Some(sections) => finder.host_sections(sections?),
            None => Vec::new(),
        };
        finder.scan_outside(&covered)?;
        if finder.modules.is_empty() && finder.faults.is_empty() {
            return Err(BinaryError::NoDeviceCode { looks_like: looks_like(&start) });
        }
        Ok(Self { modules: finder.modules, faults: finder.faults })
    }

    /// A file that is one image.
    fn bare(source: &dyn Source, kind: ImageKind, architecture: Architecture, relocatable: bool) -> Self {
        let size = source.size();
        let payload = Payload { offset: 0, stored: size, unpacked: size, codec: Codec::Raw };
        let entry = Entry { payload, images: vec![Image::whole(kind, architecture)] };
        let module = Module { place: String::new(), relocatable, entries: vec![entry] };
        Self { modules: vec![module], faults: Vec::new() }
    }
}

struct Finder<'s> {
    source: &'s dyn Source,
    modules: Vec<Module>,
    faults: Vec<Fault>,
}

impl Finder<'_> {
    /// Reads the named sections of a host binary; returns the ranges they cover.
    fn host_sections(&mut self, sections: Vec<DeviceSection>) -> Vec<Range<u64>> {
        let mut covered = Vec::new();
        for section in sections {
            let range = section.range.clone();
            match self.section(section.name.clone(), section.range, section.relocatable) {
                Ok(read) => covered.push(read),
                Err(error) => {
                    self.faults.push(Fault { place: section.name, error });
                    covered.push(range);
                }
            }
        }
        covered
    }

    /// Reads blob after blob of a section; returns the range it covers.
    fn section(&mut self, place: String, range: Range<u64>, relocatable: bool) -> Result<Range<u64>, BinaryError> {
        let mut number = 0;
        let mut at = range.start;
        while range.end.saturating_sub(at) >= SIGNATURE.len() as u64 {
            let signature = read(self.source, at, SIGNATURE.len() as u64, "fatbin header")?;
            // Between blobs there is padding of zeros.
            if signature.iter().all(|byte| *byte == 0) {
                at = at.saturating_add(ALIGNMENT);
                continue;
            }
            let blob = fatbin::blob(self.source, at)?;
            if let Some(error) = blob.fault {
                self.faults.push(Fault { place: place.clone(), error });
            }
            self.push(place.clone(), relocatable, blob.entries, &mut number);
            at = blob.end.max(at.saturating_add(ALIGNMENT));
        }
        Ok(range)
    }

    /// Adds a module; numbers its images on from `number`.
    fn push(&mut self, place: String, relocatable: bool, mut entries: Vec<Entry>, number: &mut usize) {
        for image in entries.iter_mut().flat_map(|entry| &mut entry.images) {
            *number = number.saturating_add(1);
            image.number = *number;
        }
        if !entries.is_empty() {
            self.modules.push(Module { place, relocatable, entries });
        }
    }

    /// Scans everything outside the covered ranges for fatbins.
    fn scan_outside(&mut self, covered: &[Range<u64>]) -> Result<(), BinaryError> {
        let mut covered = covered.to_vec();
        covered.sort_by_key(|range| range.start);
        let mut at = 0;
        for range in covered {
            self.scan(at..range.start)?;
            at = at.max(range.end);
        }
        self.scan(at..self.source.size())
    }

    fn scan(&mut self, range: Range<u64>) -> Result<(), BinaryError> {
        let finder = memchr::memmem::Finder::new(&SIGNATURE);
        let mut at = range.start.checked_next_multiple_of(ALIGNMENT).unwrap_or(range.end);
        while range.end.saturating_sub(at) >= SIGNATURE.len() as u64 {
            let length = CHUNK.min(range.end.saturating_sub(at));
            let chunk = read(self.source, at, length, "part of the file")?;
            let mut next = at.saturating_add(length);
            if next < range.end {
                // A signature over the end of the chunk is found in the next one.
                next = next.saturating_sub(ALIGNMENT);
            }
            let mut inside_blob_until = 0;
            for hit in finder.find_iter(&chunk) {
                let offset = at.saturating_add(hit as u64);
                if offset.is_multiple_of(ALIGNMENT) && offset >= inside_blob_until {
                    inside_blob_until = self.scanned_blob(offset).unwrap_or(0);
                }
            }
            at = next.max(inside_blob_until);
        }
        Ok(())
    }

    /// A blob that the scan hit; `None` where it is none after all: then no first entry can be read either.
    fn scanned_blob(&mut self, offset: u64) -> Option<u64> {
        let blob = fatbin::blob(self.source, offset).ok()?;
        if blob.entries.is_empty() {
            return None;
        }
        let place = format!("offset {offset:#x}");
        if let Some(error) = blob.fault {
            self.faults.push(Fault { place: place.clone(), error });
        }
        self.push(place, false, blob.entries, &mut 0);
        Some(blob.end)
    }
}

/// What a file seems to be, for a person who gave the wrong one.
fn looks_like(start: &[u8]) -> String {
    let text = match start {
        [] => "the file is empty",
        [0x7f, b'E', b'L', b'F', 1, ..] => "a 32-bit ELF file without fatbins",
        [0x7f, b'E', b'L', b'F', ..] => "an ELF file without .nv_fatbin, __nv_relfatbin or fatbins elsewhere",
        [b'M', b'Z', ..] => "a Windows binary without fatbins",
        [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] => "a bzip2 or xz file; unpack it first",
        _ => "neither a binary nor an archive that is known, and no fatbin inside",
    };
    text.to_owned()
}
