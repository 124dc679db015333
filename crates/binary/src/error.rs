//! What can be wrong with a binary: which field, at which offset, what was expected and what was found.

use std::io;

use thiserror::Error;

/// A fault in a binary. Offsets count from the start of the file, or of the unpacked image where the text says so.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BinaryError {
    /// The source itself failed.
    #[error("can't read {length} bytes at offset {offset:#x}: {cause}")]
    Read {
        /// Where.
        offset: u64,
        /// How much.
        length: u64,
        /// The system's word for it.
        cause: io::Error,
    },
    /// A structure reaches beyond the end of what holds it.
    #[error("{what} at offset {offset:#x} needs {needed} bytes, {available} are there")]
    Truncated {
        /// The structure.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// Bytes it needs.
        needed: u64,
        /// Bytes from there to the end.
        available: u64,
    },
    /// A field has a value that it cannot have.
    #[error("{what} at offset {offset:#x}: expected {expected}, found {found}")]
    Malformed {
        /// The field.
        what: &'static str,
        /// Where it is.
        offset: u64,
        /// What would have been right.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A size that is refused before anything is allocated for it.
    #[error("{what} at offset {offset:#x} claims {claimed} bytes, the limit is {limit}")]
    TooLarge {
        /// The structure.
        what: &'static str,
        /// Where it is.
        offset: u64,
        /// The size it claims.
        claimed: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// Packed data that does not unpack.
    #[error("{codec} data at offset {offset:#x} does not unpack: {reason}")]
    Unpack {
        /// The compression.
        codec: &'static str,
        /// Where the packed data starts.
        offset: u64,
        /// The decoder's word for it.
        reason: String,
    },
    /// An archive that its reader refuses.
    #[error("{kind}: {reason}")]
    Container {
        /// What kind of archive.
        kind: &'static str,
        /// The reader's word for it.
        reason: String,
    },
    /// An archive that would take too much: a bomb, or nested without end.
    #[error("{what} is over the limit of {limit}")]
    OverLimit {
        /// What was counted.
        what: &'static str,
        /// The most that is accepted.
        limit: u64,
    },
    /// Nothing in the file is device code.
    #[error("no CUDA device code: {looks_like}")]
    NoDeviceCode {
        /// What the file seems to be.
        looks_like: String,
    },
}

impl BinaryError {
    /// A stable identifier for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Truncated { .. } => "truncated",
            Self::Malformed { .. } => "malformed",
            Self::TooLarge { .. } => "too_large",
            Self::Unpack { .. } => "unpack",
            Self::Container { .. } => "container",
            Self::OverLimit { .. } => "over_limit",
            Self::NoDeviceCode { .. } => "no_device_code",
        }
    }

    pub(crate) fn malformed(
        what: &'static str,
        offset: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Malformed { what, offset, expected: expected.into(), found: found.into() }
    }
}
