//! Finds the device code of a file: a bare cubin, a bare fatbin, or fatbins inside a host binary or anything else.
//!
//! Named sections are read first; the rest of the file is scanned for fatbins, so none is lost for being elsewhere.
//! Only headers are read here. Not for: unpacking entries, which the caller does one at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use occupant_hardware::Architecture;

use crate::BinaryError;
use crate::compression::Codec;
use crate::cubin;
use crate::elf::{self, Elf};
use crate::fatbin::{self, ALIGNMENT, Blob, Budget, Entry, Image, ImageKind, Payload, SIGNATURE};
use crate::faults::{Fault, Faults};
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
/// Bytes that are scanned of one file, at most.
const LARGEST_SCAN: u64 = 16 << 30;
/// Bytes scanned first: the next blob mostly follows at once.
const FIRST_CHUNK: u64 = 4 << 10;
/// Bytes scanned at a time where none does; few enough that they are still in the cache when they are looked at.
const CHUNK: u64 = 256 << 10;

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
        // The section where images would be, to be named where there are none.
        let mut without_images = None;
        let budget = Budget::of(source);
        let mut finder = Finder { source, modules: Vec::new(), faults: Faults::default(), budget };
        let covered = match device_sections(source, &start) {
            _ if u32_at(&start, 0) == Some(fatbin::MAGIC) => {
                let whole = 0..source.size();
                finder.section(String::new(), whole.clone(), false);
                Vec::from([whole])
            }
            Some(Ok(sections)) => {
                without_images = sections.first().map(|section| section.name.clone());
                finder.host_sections(sections)
            }
            Some(Err(error)) => {
                // A cut section table leaves fatbins that the scan still finds.
                finder.faults.push("", error);
                Vec::new()
            }
            None => Vec::new(),
        };
        finder.scan_outside(&covered);
        if finder.modules.is_empty() && finder.faults.is_empty() {
            let empty = without_images.map(|name| format!("a binary whose {name} holds no images"));
            return Err(BinaryError::NoDeviceCode { looks_like: empty.unwrap_or_else(|| looks_like(&start)) });
        }
        Ok(Self { modules: finder.modules, faults: finder.faults.all() })
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
    faults: Faults,
    budget: Budget,
}

impl<'s> Finder<'s> {
    /// Reads the named sections of a host binary; returns the ranges they cover.
    fn host_sections(&mut self, sections: Vec<DeviceSection>) -> Vec<Range<u64>> {
        // By where they begin: a file can have a hundred thousand of them.
        let mut covered: BTreeMap<u64, u64> = BTreeMap::new();
        let size = self.source.size();
        for DeviceSection { name, mut range, relocatable } in sections {
            if range.is_empty() {
                continue;
            }
            if range.end > size {
                let (what, offset) = ("device section", range.start);
                let (needed, available) = (range.end.saturating_sub(offset), size.saturating_sub(offset));
                let error = BinaryError::Truncated { what, offset, needed, available };
                self.faults.push(name.clone(), error);
                range.end = size.max(range.start);
            }
            // Those before do not lie over each other, so the last that begins before the end of this one tells.
            let before = covered.range(..range.end).next_back();
            if before.is_some_and(|(_, end)| range.start < *end) {
                let error =
                    BinaryError::malformed("device section", range.start, "bytes of its own", "another's bytes");
                self.faults.push(name, error);
                continue;
            }
            if range.start < range.end {
                covered.insert(range.start, range.end);
            }
            self.section(name, range, relocatable);
        }
        covered.into_iter().map(|(start, end)| start..end).collect()
    }

    /// Reads blob after blob of a section; after a fault, on from the next blob.
    fn section(&mut self, place: String, range: Range<u64>, relocatable: bool) {
        let mut number = 0;
        let mut at = range.start;
        while let Some(start) = self.skip_padding(&place, at..range.end) {
            let read = fatbin::blob(self.source, start, &mut self.budget);
            let (fault, end) = match read {
                Ok(mut blob) => {
                    let (fault, end) = (blob.fault.take(), blob.end);
                    self.push(place.clone(), relocatable, blob, &mut number);
                    (fault, end)
                }
                Err(error) => (Some(error), start),
            };
            at = end.max(start.saturating_add(ALIGNMENT));
            if let Some(error) = fault {
                self.faults.push(place.clone(), error);
                if self.budget.is_spent() {
                    break;
                }
                match self.next_signature(&place, start.saturating_add(ALIGNMENT)..range.end) {
                    Some(found) => at = found,
                    None => break,
                }
            }
        }
    }

    /// The first byte of a range that is not padding of zeros, aligned; `None` where nothing else follows.
    fn skip_padding(&mut self, place: &str, range: Range<u64>) -> Option<u64> {
        let mut at = range.start;
        let mut length = ALIGNMENT;
        while at < range.end {
            length = length.min(range.end.saturating_sub(at));
            let chunk = self.chunk(place, at, length)?;
            // Whole words: a gigabyte of padding is read in a fraction of a second.
            let word = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all | byte) != 0;
            if let Some(found) = chunk.chunks(ALIGNMENT as usize).position(word) {
                return Some(at.saturating_add((found as u64).saturating_mul(ALIGNMENT)));
            }
            at = at.saturating_add(length);
            // Mostly there is none; a long run is read in ever larger pieces.
            length = length.saturating_mul(8).min(CHUNK);
        }
        None
    }

    /// A part of the file; where the medium fails, that is a fault and the end of the search.
    fn chunk(&mut self, place: &str, at: u64, length: u64) -> Option<Cow<'s, [u8]>> {
        match read(self.source, at, length, "part of the file") {
            Ok(chunk) => Some(chunk),
            Err(error) => {
                self.faults.push(place.to_owned(), error);
                None
            }
        }
    }

    /// The next aligned signature in a range.
    fn next_signature(&mut self, place: &str, range: Range<u64>) -> Option<u64> {
        let finder = memchr::memmem::Finder::new(&SIGNATURE);
        let mut at = range.start;
        let mut reach = FIRST_CHUNK;
        while range.end.saturating_sub(at) >= SIGNATURE.len() as u64 {
            let length = reach.min(range.end.saturating_sub(at));
            reach = reach.saturating_mul(8).min(CHUNK);
            let chunk = self.chunk(place, at, length)?;
            let place = |hit: usize| at.saturating_add(hit as u64);
            let aligned = |hit: &usize| place(*hit).saturating_sub(range.start).is_multiple_of(ALIGNMENT);
            if let Some(hit) = finder.find_iter(&chunk).find(aligned) {
                return Some(place(hit));
            }
            // A signature over the end of the chunk is found in the next one.
            let end = at.saturating_add(length);
            at = if end < range.end { end.saturating_sub(ALIGNMENT) } else { end };
        }
        None
    }

    /// Adds a module; numbers its images on from `number`.
    fn push(&mut self, place: String, relocatable: bool, blob: Blob, number: &mut usize) {
        let Blob { mut entries, bad, images, .. } = blob;
        for image in entries.iter_mut().flat_map(|entry| &mut entry.images) {
            image.number = image.number.saturating_add(*number);
        }
        for (of_blob, error) in bad {
            let of_section = of_blob.saturating_add(*number);
            let place = if place.is_empty() { of_section.to_string() } else { format!("{place}/{of_section}") };
            self.faults.push_images(place, error, 1);
        }
        *number = number.saturating_add(images);
        if !entries.is_empty() {
            self.modules.push(Module { place, relocatable, entries });
        }
    }

    /// Scans everything outside the covered ranges for fatbins.
    fn scan_outside(&mut self, covered: &[Range<u64>]) {
        let mut covered = covered.to_vec();
        covered.sort_by_key(|range| range.start);
        let mut at = 0;
        for range in covered {
            self.scan(at..range.start);
            at = at.max(range.end);
        }
        self.scan(at..self.source.size());
    }

    fn scan(&mut self, range: Range<u64>) {
        if range.end.saturating_sub(range.start) > LARGEST_SCAN {
            let what = "size of what is to be scanned for fatbins";
            let error = BinaryError::OverLimit { what, limit: LARGEST_SCAN };
            self.faults.push(String::new(), error);
            return;
        }
        let mut at = range.start.checked_next_multiple_of(ALIGNMENT).unwrap_or(range.end);
        while !self.budget.is_spent()
            && let Some(found) = self.next_signature("", at..range.end)
        {
            let place = format!("offset {found:#x}");
            at = found.saturating_add(ALIGNMENT);
            let error = match fatbin::blob(self.source, found, &mut self.budget) {
                Ok(mut blob) => {
                    let empty = blob.images == 0;
                    let fault = blob.fault.take();
                    if fault.is_none() {
                        at = at.max(blob.end);
                    }
                    self.push(place.clone(), false, blob, &mut 0);
                    let nothing = || BinaryError::malformed("fatbin", found, "at least one entry", "none");
                    fault.or_else(|| empty.then(nothing))
                }
                Err(error) => Some(error),
            };
            if let Some(error) = error {
                self.faults.push(place, error);
            }
        }
    }
}

/// What a file seems to be, for a person who gave the wrong one.
fn looks_like(start: &[u8]) -> String {
    let text = match start {
        [] => "the file is empty",
        [0x7f, b'E', b'L', b'F', 1, ..] => "a 32-bit ELF file without fatbins",
        [0x7f, b'E', b'L', b'F', ..] => "an ELF file without .nv_fatbin, __nv_relfatbin or fatbins elsewhere",
        [0x50, 0xED, 0x55, 0xBA, ..] => "a fatbin that holds no images",
        [b'M', b'Z', ..] => "a Windows binary without fatbins",
        [b'!', b'<', b't', b'h', b'i', b'n', b'>', ..] => {
            "a thin archive: its members are files of their own; name those"
        }
        [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] => "a bzip2 or xz file; unpack it first",
        _ => "neither a binary nor an archive that is known, and no fatbin inside",
    };
    text.to_owned()
}
