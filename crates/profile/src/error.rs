//! What can be wrong with a report: where, what was expected, what is there.

use thiserror::Error;

/// A fault in a profiler report. Offsets count from the start of the file, unpacked where it was packed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Not a file of any kind that is read here.
    #[error("no profiler report: expected {expected} at offset 0, found {found}")]
    NotAReport {
        /// What a report starts with.
        expected: &'static str,
        /// What the file starts with.
        found: String,
    },
    /// The layout has changed.
    #[error(
        "report version {found} at offset {offset:#x} is not known, this reader knows version {known}: export it with `ncu --import FILE --page raw --csv`"
    )]
    Version {
        /// Where the version stands.
        offset: usize,
        /// The file's.
        found: u64,
        /// The one that is read.
        known: u64,
    },
    /// A structure reaches beyond the end of what holds it.
    #[error("{what} at offset {offset:#x} needs {needed} bytes, {available} are there: the file is cut off or damaged")]
    Truncated {
        /// The structure.
        what: &'static str,
        /// Where it starts.
        offset: usize,
        /// Bytes it needs.
        needed: u64,
        /// Bytes from there to the end.
        available: usize,
    },
    /// A field has a value that it cannot have.
    #[error("{what} at offset {offset:#x}: {found}")]
    Malformed {
        /// The field.
        what: &'static str,
        /// Where it is.
        offset: usize,
        /// What is wrong with it.
        found: String,
    },
    /// A packed report that does not unpack.
    #[error("a packed report that does not unpack: {0}")]
    Unpack(String),
    /// More than is accepted.
    #[error("{what}: more than the {limit} that are accepted")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The most that is accepted.
        limit: u64,
    },
    /// Text that is not of a known layout.
    #[error("line {line}: {found}")]
    Text {
        /// Its number, from 1.
        line: u64,
        /// What is wrong.
        found: String,
    },
}

impl ProfileError {
    /// Stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAReport { .. } => "not_a_report",
            Self::Version { .. } => "report_version",
            Self::Truncated { .. } => "truncated",
            Self::Malformed { .. } => "malformed",
            Self::Unpack(_) => "unpack",
            Self::TooLarge { .. } => "too_large",
            Self::Text { .. } => "report_text",
        }
    }
}
