//! Tells by its first bytes what a file is.

use super::START;
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
    /// No archive.
    Leaf,
}

impl Kind {
    pub(super) fn of(start: &[u8]) -> Self {
        match start {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => Self::Archive,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ if start.get(257..262) == Some(b"ustar") => Self::Tar,
            _ => Self::Leaf,
        }
    }
}

/// Whether a member of an archive is worth unpacking: a binary, a fatbin, PTX, or an archive again.
pub(super) fn can_hold_device_code(start: &[u8]) -> bool {
    Kind::of(start) != Kind::Leaf
        || elf::machine(start).is_some()
        || start.starts_with(&fatbin::SIGNATURE)
        || start.starts_with(b"MZ")
        || matches!(start, [0x64, 0x86 | 0xaa, ..])
        || ptx::target(start).is_some()
}

/// The same of a member that is read in place.
pub(super) fn starts_like_device_code(source: &dyn Source) -> bool {
    read(source, 0, source.size().min(START), "member").is_ok_and(|start| can_hold_device_code(&start))
}
