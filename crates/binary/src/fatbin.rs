//! The fatbin container: a blob header, then entries, each with one image (or several, concatenated) for one target.
//!
//! Layout as read from real files of CUDA 8 to 13.5 (docs/accuracy.md). Not for: finding blobs in a file; that is
//! [`crate::Artifact`].

use std::borrow::Cow;
use std::ops::Range;

use occupant_hardware::{Architecture, ComputeCapability, Variant};

use crate::BinaryError;
use crate::compression::{Codec, Workspace};
use crate::fields::{u16_at, u32_at, u64_at};
use crate::source::{Source, Window, read, read_packed};

/// First four bytes of a blob.
pub(crate) const MAGIC: u32 = 0xBA55_ED50;
/// Magic, version 1 and header size 16: what a scan looks for.
pub(crate) const SIGNATURE: [u8; 8] = [0x50, 0xED, 0x55, 0xBA, 0x01, 0x00, 0x10, 0x00];
/// Blobs start at multiples of this.
pub(crate) const ALIGNMENT: u64 = 8;

const BLOB_HEADER: u64 = 16;
const ENTRY_HEADER: u64 = 64;
/// An entry header is 64 bytes and a tail with names or a table; the longest seen has some 4 KB.
const LARGEST_ENTRY_HEADER: u64 = 16 << 20;
const ENTRY_VERSION: u16 = 0x0101;

const KIND_CONCATENATED: u16 = 0x100;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_ARCHITECTURE_SPECIFIC: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;

/// What an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// PTX text: has no resources until it is compiled.
    Ptx,
    /// A cubin.
    Elf,
    /// LTO-IR: has no resources until it is linked.
    LtoIr,
    /// A kind that is not known.
    Unknown(u16),
}

impl ImageKind {
    const fn from_number(kind: u16) -> Self {
        match kind {
            1 => Self::Ptx,
            2 => Self::Elf,
            8 => Self::LtoIr,
            other => Self::Unknown(other),
        }
    }
}

/// One image: device code for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What it is.
    pub kind: ImageKind,
    /// The target that the container names.
    pub architecture: Architecture,
    /// Its number in the section, from 1.
    pub number: usize,
    /// Its bytes in the unpacked entry; `None` for all of them.
    range: Option<Range<u64>>,
}

impl Image {
    pub(crate) const fn whole(kind: ImageKind, architecture: Architecture) -> Self {
        Self { kind, architecture, number: 1, range: None }
    }
}

/// Where an entry's bytes are and how they are packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Offset in the file.
    pub offset: u64,
    /// Bytes in the file.
    pub stored: u64,
    /// Bytes after unpacking, as claimed.
    pub unpacked: u64,
    /// The packing.
    pub codec: Codec,
}

/// One entry of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its bytes.
    pub payload: Payload,
    /// Its images; one, unless they were concatenated.
    pub images: Vec<Image>,
}

/// The bytes of an entry: a part of the file where it is raw, the caller's workspace where it was packed.
pub enum Unpacked<'s> {
    /// Raw in the file.
    Window(Window<'s>),
    /// Unpacked.
    Buffer(&'s [u8]),
}

impl Source for Unpacked<'_> {
    fn size(&self) -> u64 {
        match self {
            Self::Window(window) => window.size(),
            Self::Buffer(buffer) => buffer.size(),
        }
    }

    fn fetch(&self, offset: u64, length: usize) -> std::io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Window(window) => window.fetch(offset, length),
            Self::Buffer(buffer) => buffer.fetch(offset, length),
        }
    }

    fn fetch_in<'r>(&'r self, offset: u64, length: usize, room: &'r mut Vec<u8>) -> std::io::Result<&'r [u8]> {
        match self {
            Self::Window(window) => window.fetch_in(offset, length, room),
            Self::Buffer(buffer) => buffer.fetch_in(offset, length, room),
        }
    }
}

impl Unpacked<'_> {
    /// The bytes of one image.
    ///
    /// # Errors
    /// [`BinaryError::Truncated`] where the image reaches beyond the entry.
    pub fn image(&self, image: &Image) -> Result<Window<'_>, BinaryError> {
        let range = image.range.clone().unwrap_or(0..self.size());
        Window::new(self, range, "image in a concatenated entry")
    }
}

impl Entry {
    /// The entry's bytes, unpacked in `workspace` where they are packed.
    ///
    /// # Errors
    /// [`BinaryError`] where they are not all there, claim too much or do not unpack.
    pub fn unpack<'s>(
        &self,
        source: &'s dyn Source,
        workspace: &'s mut Workspace,
    ) -> Result<Unpacked<'s>, BinaryError> {
        let Payload { offset, stored, unpacked, codec } = self.payload;
        if codec == Codec::Raw {
            return Window::new(source, offset..offset.saturating_add(stored), "raw entry").map(Unpacked::Window);
        }
        let Workspace { packed, unpacking } = workspace;
        let packed = read_packed(source, offset, stored, packed)?;
        unpacking.unpack(codec, packed, unpacked, offset).map(Unpacked::Buffer)
    }
}

/// The entries of one blob.
pub(crate) struct Blob {
    /// Their images are numbered from 1, those of [`Blob::bad`] included.
    pub(crate) entries: Vec<Entry>,
    /// Images that can't be read, by number. What follows them is read.
    pub(crate) bad: Vec<(usize, BinaryError)>,
    /// Images in all.
    pub(crate) images: usize,
    /// First byte after the blob, aligned.
    pub(crate) end: u64,
    /// What stopped the reading of the blob early.
    pub(crate) fault: Option<BinaryError>,
}

/// Bytes that entries and their headers may still take. Blobs can be made to lie over each other, and entries to claim the
/// bytes of others.
pub(crate) struct Budget {
    left: u64,
    allowed: u64,
}

/// What entries may take, as a multiple of the file that they are in.
const PASSES: u64 = 4;
/// What small files may take.
const LEAST: u64 = 1 << 20;

impl Budget {
    /// What the entries of a file may take.
    pub(crate) fn of(source: &dyn Source) -> Self {
        let allowed = source.size().saturating_mul(PASSES).max(LEAST);
        Self { left: allowed, allowed }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    fn take(&mut self, bytes: u64) -> Result<(), BinaryError> {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        let what = "size of fatbin entries that lie over each other";
        left.map(|_| ()).ok_or(BinaryError::OverLimit { what, limit: self.allowed })
    }
}

/// Reads the blob at `offset`. Entries before a fault are kept, and those behind one whose size is known.
///
/// # Errors
/// [`BinaryError`] where the blob header itself is none.
pub(crate) fn blob(source: &dyn Source, offset: u64, budget: &mut Budget) -> Result<Blob, BinaryError> {
    let header = read(source, offset, BLOB_HEADER, "fatbin header")?;
    budget.take(ENTRY_HEADER)?;
    let magic = u32_at(&header, 0).unwrap_or(0);
    if magic != MAGIC {
        return Err(BinaryError::malformed("fatbin magic", offset, format!("{MAGIC:#x}"), format!("{magic:#x}")));
    }
    let (version, header_size) = (u16_at(&header, 4).unwrap_or(0), u16_at(&header, 6).unwrap_or(0));
    if version != 1 || u64::from(header_size) < BLOB_HEADER {
        let found = format!("version {version}, header size {header_size}");
        return Err(BinaryError::malformed("fatbin header", offset, "version 1, header size 16", found));
    }
    let start = offset.saturating_add(u64::from(header_size));
    let end = start.saturating_add(u64_at(&header, 8).unwrap_or(0));
    let aligned = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(end);
    let mut blob = Blob { entries: Vec::new(), bad: Vec::new(), images: 0, end: aligned, fault: None };
    let mut at = start;
    while end.saturating_sub(at) >= ENTRY_HEADER {
        match next_entry(source, at, end, &mut blob, budget) {
            Ok(next) => at = next,
            Err(fault) => {
                blob.fault = Some(fault);
                break;
            }
        }
    }
    if blob.fault.is_none() && end > source.size() {
        let (what, needed) = ("fatbin", end.saturating_sub(offset));
        let available = source.size().saturating_sub(offset);
        blob.fault = Some(BinaryError::Truncated { what, offset, needed, available });
    }
    Ok(blob)
}

/// Adds the entry at `at`; the offset of the next one.
///
/// # Errors
/// [`BinaryError`] where nothing tells where the next one is.
fn next_entry(
    source: &dyn Source,
    at: u64,
    end: u64,
    blob: &mut Blob,
    budget: &mut Budget,
) -> Result<u64, BinaryError> {
    let header = header(source, at)?;
    let images = blob.images;
    let read = entry(source, at, &header, &mut blob.images, &mut blob.bad);
    let next = header.payload_at.saturating_add(header.stored);
    match read {
        Ok(entry) => {
            // Bytes beyond the file are refused when they are read.
            let bytes = entry.payload.stored.min(source.size());
            if let Err(error) = budget.take(header.size.saturating_add(bytes)) {
                blob.images = images;
                blob.bad.retain(|(number, _)| *number <= images);
                return Err(error);
            }
            blob.entries.extend((!entry.images.is_empty()).then_some(entry));
        }
        Err(error) if next <= end && next <= source.size() => {
            budget.take(header.size)?;
            blob.images = images.saturating_add(1);
            blob.bad.push((blob.images, error));
        }
        Err(error) => return Err(error),
    }
    if next > end {
        let (what, needed) = ("fatbin entry", next.saturating_sub(at));
        return Err(BinaryError::Truncated { what, offset: at, needed, available: end.saturating_sub(at) });
    }
    Ok(next)
}

/// What the header of an entry says of its place.
struct Header<'s> {
    fixed: Cow<'s, [u8]>,
    size: u64,
    payload_at: u64,
    stored: u64,
}

/// Reads the header of the entry at `at`, as far as it has to be right for the next entry to be found.
fn header(source: &dyn Source, at: u64) -> Result<Header<'_>, BinaryError> {
    let fixed = read(source, at, ENTRY_HEADER, "fatbin entry header")?;
    let version = u16_at(&fixed, 2).unwrap_or(0);
    let header_size = u64::from(u32_at(&fixed, 4).unwrap_or(0));
    if version != ENTRY_VERSION || !(ENTRY_HEADER..=LARGEST_ENTRY_HEADER).contains(&header_size) {
        let found = format!("version {version:#x}, header size {header_size}");
        return Err(BinaryError::malformed("fatbin entry header", at, "version 0x101, header size 64 or more", found));
    }
    let stored = u64_at(&fixed, 8).unwrap_or(0);
    let payload_at = at.saturating_add(header_size);
    if payload_at.saturating_add(stored) <= at {
        return Err(BinaryError::malformed("fatbin entry size", at, "a size inside the file", stored.to_string()));
    }
    Ok(Header { fixed, size: header_size, payload_at, stored })
}

/// The entry of a header; its images are numbered on from `images`, and those that can't be read are `bad`.
fn entry(
    source: &dyn Source,
    at: u64,
    header: &Header<'_>,
    images: &mut usize,
    bad: &mut Vec<(usize, BinaryError)>,
) -> Result<Entry, BinaryError> {
    let word = |offset| u32_at(&header.fixed, offset).unwrap_or(0);
    let long = |offset| u64_at(&header.fixed, offset).unwrap_or(0);
    let kind = u16_at(&header.fixed, 0).unwrap_or(0);
    let (stored, flags) = (header.stored, long(40));
    let codec = codec(flags, word(16), at)?;
    let payload = Payload {
        offset: header.payload_at,
        stored: if codec == Codec::Raw { stored } else { u64::from(word(16)) },
        unpacked: if codec == Codec::Raw { stored } else { long(56) },
        codec,
    };
    let found = if kind == KIND_CONCATENATED {
        let table = read(source, at, header.size, "fatbin entry header")?;
        concatenated(&table, at, payload.unpacked)?
    } else {
        let architecture = architecture(word(28), flags, at)?;
        vec![Ok(Image::whole(ImageKind::from_number(kind), architecture))]
    };
    let mut entry = Entry { payload, images: Vec::new() };
    for image in found {
        *images = images.saturating_add(1);
        match image {
            Ok(image) => entry.images.push(Image { number: *images, ..image }),
            Err(error) => bad.push((*images, error)),
        }
    }
    Ok(entry)
}

fn codec(flags: u64, packed_size: u32, at: u64) -> Result<Codec, BinaryError> {
    match (packed_size, flags & FLAG_LZ4 != 0, flags & FLAG_ZSTD != 0) {
        (0, _, _) => Ok(Codec::Raw),
        (_, true, false) => Ok(Codec::Lz4),
        (_, false, true) => Ok(Codec::Zstd),
        _ => Err(BinaryError::malformed("fatbin entry flags", at, "one of lz4 and zstd", format!("{flags:#x}"))),
    }
}

fn architecture(sm: u32, flags: u64, at: u64) -> Result<Architecture, BinaryError> {
    let capability = ComputeCapability::from_sm(sm).ok_or_else(|| {
        BinaryError::malformed("fatbin entry architecture", at, "a number such as 90", sm.to_string())
    })?;
    let variant = match (flags & FLAG_ARCHITECTURE_SPECIFIC != 0, flags & FLAG_FAMILY != 0) {
        (true, _) => Variant::Specific,
        (false, true) => Variant::Family,
        (false, false) => Variant::Base,
    };
    Ok(Architecture { capability, variant })
}

/// The table of a concatenated entry: a count, the table's size, then one row an image. Images of one entry have bytes of
/// their own: a few times `unpacked`, the entry's size, is what they can take in all.
fn concatenated(header: &[u8], at: u64, unpacked: u64) -> Result<Vec<Result<Image, BinaryError>>, BinaryError> {
    const TABLE: usize = 0x40;
    const FIRST_ROW: usize = TABLE + 8;
    let beyond = |found: String| {
        BinaryError::malformed("table of a concatenated entry", at, "rows inside the entry header", found)
    };
    let count = u32_at(header, TABLE).ok_or_else(|| beyond("no count".to_owned()))?;
    if count == 0 || count > MOST_CONCATENATED {
        return Err(beyond(format!("{count} rows")));
    }
    let mut images = Vec::new();
    let mut row_at = FIRST_ROW;
    let allowed = unpacked.saturating_mul(PASSES);
    let mut left = allowed;
    for number in 1..=count {
        let rest = header.get(row_at..).unwrap_or(&[]);
        let row = rest.get(..ROW).ok_or_else(|| beyond(format!("row {number} of {count} beyond its end")))?;
        let start = u64::from(u32_at(row, 4).unwrap_or(0));
        let size = u64_at(row, 8).unwrap_or(0);
        let target = architecture(u32_at(row, 28).unwrap_or(0), u64_at(row, 40).unwrap_or(0), at);
        let fits = left.checked_sub(size);
        left = fits.unwrap_or(left);
        let what = "size of images that lie over each other";
        images.push(fits.ok_or(BinaryError::OverLimit { what, limit: allowed }).and(target).map(|architecture| {
            Image {
                kind: ImageKind::from_number(u16_at(row, 0).unwrap_or(0)),
                architecture,
                number: 1,
                range: Some(start..start.saturating_add(size)),
            }
        }));
        row_at = row_at.saturating_add(row_length(rest));
    }
    Ok(images)
}

const ROW: usize = 64;
/// Images of one entry, at most; nvcc writes one a target.
const MOST_CONCATENATED: u32 = 1024;

/// A row is 64 bytes, and from 10.0 on has a tail: its header's length (72 from the row's start), the length of its
/// data, the data, and padding of 1 to 8 bytes to a multiple of 8. As observed in `nvcc -concat` of 13.5.
fn row_length(row: &[u8]) -> usize {
    let has_tail = u32_at(row, 20) == Some(ROW as u32);
    let tail = || Some((u32_at(row, ROW)?, u32_at(row, ROW.checked_add(4)?)?));
    match tail().filter(|_| has_tail) {
        None => ROW,
        Some((data_at, length)) => {
            let data_end = (data_at as usize).saturating_add(length as usize);
            (data_end | 7).saturating_add(1)
        }
    }
}
