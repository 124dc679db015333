//! Where bytes come from: a slice, a file read by position, or a part of either.
//!
//! For: parsers that read only what they need, from several threads through `&self`. Not for: opening files.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use crate::BinaryError;

/// The most that one structure (a section of attributes, a symbol table) may take. The largest seen has some 10 MiB.
const LARGEST_STRUCTURE: u64 = 64 << 20;
/// The most that one packed entry may take in a file.
const LARGEST_PACKED: u64 = 2 << 30;

/// Bytes that can be read at any offset.
pub trait Source: Sync {
    /// Length in bytes.
    fn size(&self) -> u64;

    /// Exactly `length` bytes at `offset`; the range is inside [`Source::size`], which may yet have shrunk since.
    ///
    /// # Errors
    /// Whatever the medium says.
    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>>;

    /// The same bytes, in `room` where they have to be copied: what reads thousands of parts makes room once. What `room`
    /// holds is not kept.
    ///
    /// # Errors
    /// Whatever the medium says.
    fn fetch_in<'r>(&'r self, offset: u64, length: usize, room: &'r mut Vec<u8>) -> io::Result<&'r [u8]> {
        match self.fetch(offset, length)? {
            Cow::Borrowed(bytes) => Ok(bytes),
            Cow::Owned(bytes) => {
                *room = bytes;
                Ok(room)
            }
        }
    }
}

impl Source for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(length)?))
            .map(Cow::Borrowed)
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl Source for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        <[u8] as Source>::fetch(self, offset, length)
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        <[u8] as Source>::fetch(self, offset, length)
    }
}

/// A part of a source, with offsets of its own.
pub struct Window<'s> {
    source: &'s dyn Source,
    start: u64,
    length: u64,
}

impl<'s> Window<'s> {
    /// The bytes of `range`.
    ///
    /// # Errors
    /// [`BinaryError::Truncated`] where the range reaches beyond the source.
    pub fn new(source: &'s dyn Source, range: Range<u64>, what: &'static str) -> Result<Self, BinaryError> {
        let length = range.end.saturating_sub(range.start);
        check_inside(source, range.start, length, what)?;
        Ok(Self { source, start: range.start, length })
    }
}

impl Source for Window<'_> {
    fn size(&self) -> u64 {
        self.length
    }

    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        self.source.fetch(self.start.saturating_add(offset), length)
    }

    fn fetch_in<'r>(&'r self, offset: u64, length: usize, room: &'r mut Vec<u8>) -> io::Result<&'r [u8]> {
        self.source.fetch_in(self.start.saturating_add(offset), length, room)
    }
}

fn check_inside(source: &dyn Source, offset: u64, needed: u64, what: &'static str) -> Result<(), BinaryError> {
    let available = source.size().saturating_sub(offset);
    if needed > available {
        return Err(BinaryError::Truncated { what, offset, needed, available });
    }
    Ok(())
}

/// Reads a structure whose place and size a file claims: checked against the source before anything is allocated.
pub(crate) fn read<'s>(
    source: &'s dyn Source,
    offset: u64,
    length: u64,
    what: &'static str,
) -> Result<Cow<'s, [u8]>, BinaryError> {
    let size = checked(source, offset, length, LARGEST_STRUCTURE, what)?;
    source.fetch(offset, size).map_err(|cause| BinaryError::Read { offset, length, cause })
}

/// The same in `room`.
pub(crate) fn read_in<'s>(
    source: &'s dyn Source,
    offset: u64,
    length: u64,
    what: &'static str,
    room: &'s mut Vec<u8>,
) -> Result<&'s [u8], BinaryError> {
    let size = checked(source, offset, length, LARGEST_STRUCTURE, what)?;
    source.fetch_in(offset, size, room).map_err(|cause| BinaryError::Read { offset, length, cause })
}

/// Reads a packed entry, which may be larger than any structure, in `room`.
pub(crate) fn read_packed<'s>(
    source: &'s dyn Source,
    offset: u64,
    length: u64,
    room: &'s mut Vec<u8>,
) -> Result<&'s [u8], BinaryError> {
    let size = checked(source, offset, length, LARGEST_PACKED, "packed entry")?;
    source.fetch_in(offset, size, room).map_err(|cause| BinaryError::Read { offset, length, cause })
}

/// The length of what is inside the source and not larger than `limit`.
fn checked(
    source: &dyn Source,
    offset: u64,
    length: u64,
    limit: u64,
    what: &'static str,
) -> Result<usize, BinaryError> {
    check_inside(source, offset, length, what)?;
    if length > limit {
        return Err(BinaryError::TooLarge { what, offset, claimed: length, limit });
    }
    Ok(usize::try_from(length).unwrap_or(usize::MAX))
}
