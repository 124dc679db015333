//! Tells by its first bytes what a file is.

use super::START;
use crate::fields::u16_at;
use crate::source::{Source, read};
use crate::{elf, fatbin, ptx};

/// What to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Zip,
    /// `ar`: a static library of Unix or Windows.
    Archive,
    Tar,
    Gzip,
    Zstd,
    /// bzip2 or xz, which are not read.
    Unsupported,
    /// No archive.
    Leaf,
}

impl Kind {
    pub(super) fn of(start: &[u8]) -> Self {
        match start {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => Self::Archive,
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A skippable frame may come before the first frame of data.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] | [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Unsupported,
            _ if is_tar(start) => Self::Tar,
            _ => Self::Leaf,
        }
    }
}

/// A tar header has no magic before POSIX, but a checksum over itself with blanks in the checksum's place.
fn is_tar(start: &[u8]) -> bool {
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let Some(header) = start.get(..512).filter(|header| header.first() != Some(&0)) else { return false };
    let stated = header.get(CHECKSUM).and_then(|field| std::str::from_utf8(field).ok());
    let stated = stated.map(|field| field.trim_matches(|c: char| c == '\0' || c == ' '));
    let Some(stated) = stated.and_then(|field| u32::from_str_radix(field, 8).ok()) else { return false };
    let byte = |(at, byte): (usize, &u8)| u32::from(if CHECKSUM.contains(&at) { b' ' } else { *byte });
    header.iter().enumerate().map(byte).fold(0, u32::saturating_add) == stated
}

/// Whether a file that starts with other data is a zip: it ends with the record that ends a zip's directory, as PKWARE's
/// APPNOTE.TXT has it (4.3.16), which states the length of the comment behind it.
#[must_use]
pub fn ends_like_zip(source: &dyn Source) -> bool {
    const RECORD: u64 = 22;
    const COMMENT_LENGTH: usize = 20;
    let length = source.size().min(RECORD.saturating_add(u64::from(u16::MAX)));
    let Ok(end) = read(source, source.size().saturating_sub(length), length, "end of the file") else { return false };
    memchr::memmem::rfind_iter(&end, b"PK\x05\x06").any(|at| {
        let rest = end.get(at..).unwrap_or(&[]);
        let comment = u16_at(rest, COMMENT_LENGTH).map(u64::from);
        comment.is_some_and(|comment| rest.len() as u64 == RECORD.saturating_add(comment))
    })
}

/// Whether a member of an archive is worth unpacking: a binary, a fatbin, PTX, or an archive again.
pub(super) fn can_hold_device_code(start: &[u8]) -> bool {
    Kind::of(start) != Kind::Leaf
        || elf::machine(start).is_some()
        || start.starts_with(&fatbin::SIGNATURE)
        || start.starts_with(b"MZ")
        || matches!(start, [0x64, 0x86 | 0xaa, ..] | [0, 0, 0xff, 0xff, ..])
        || ptx::target(start).is_some()
}

/// The same of a member that is read in place.
pub(super) fn starts_like_device_code(source: &dyn Source) -> bool {
    read(source, 0, source.size().min(START), "member").is_ok_and(|start| can_hold_device_code(&start))
}
