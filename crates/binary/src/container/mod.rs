//! Archives: what holds binaries, and again archives. Each file inside is a [`Leaf`] with its path through all of them.
//!
//! For: Python wheels, `.zip` and `.pt2`, tar with gzip or zstd, static libraries (`.a`, `.lib`). Well-kept crates read
//! the standard formats; here is what bounds them: depth, members, bytes. Not for: device code; that is
//! [`crate::Artifact`].

mod archive;
mod companions;
mod kind;
mod places;
mod tar;
mod zip;
mod zip_listing;

use std::io::{self, Read};

use crate::source::{Source, read};
use crate::{BinaryError, Fault};

use kind::Kind;
use places::Places;

/// Archives within archives, at most.
const DEEPEST: usize = 8;
/// Files within one file, at most.
const MOST_MEMBERS: u64 = 1 << 20;
/// Bytes that one file unpacks to in all, at most.
const MOST_UNPACKED: u64 = 8 << 30;
/// Bytes from the start of a file that tell what it is; a tar header has its magic at 257.
const START: u64 = 4096;
/// The metadata beside a compiled Triton kernel; some kilobytes in practice.
const LARGEST_COMPANION: u64 = 4 << 20;

/// A file that is no archive.
pub struct Leaf<'a> {
    /// Its path through the archives; empty for the file itself. Of several files with one path, the second ends with
    /// `#2`, and so on.
    pub path: &'a str,
    /// Its bytes.
    pub source: &'a dyn Source,
    /// The `.json` beside a `.cubin` in the same archive.
    pub companion: Option<Vec<u8>>,
}

/// Keeps what is unpacked from an archive, so that it can be read by position. Memory or disk is the caller's choice.
pub trait Store {
    /// Everything that `unpacked` gives.
    ///
    /// # Errors
    /// Whatever the stream or the medium says.
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<Box<dyn Source>>;
}

/// Keeps unpacked files in memory.
pub struct Memory;

impl Store for Memory {
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<Box<dyn Source>> {
        let mut bytes = Vec::new();
        unpacked.read_to_end(&mut bytes)?;
        Ok(Box::new(bytes))
    }
}

/// Hands every file of `source` to `each`; returns what could not be read. A file that is no archive is its own only
/// leaf, whatever it is; of the files in archives, those that can't hold device code are left out.
pub fn visit(source: &dyn Source, store: &dyn Store, each: &mut dyn FnMut(Leaf<'_>)) -> Vec<Fault> {
    let mut visit = Visit { store, each, faults: Vec::new(), members: 0, unpacked: 0, places: Places::default() };
    let outcome = visit.file(source, "", 0, None);
    visit.fault("", outcome);
    visit.faults
}

struct Visit<'a> {
    store: &'a dyn Store,
    each: &'a mut dyn FnMut(Leaf<'_>),
    faults: Vec<Fault>,
    members: u64,
    unpacked: u64,
    places: Places,
}

impl Visit<'_> {
    /// One file: an archive is gone through, anything else is a leaf.
    fn file(
        &mut self,
        source: &dyn Source,
        path: &str,
        depth: usize,
        companion: Option<Vec<u8>>,
    ) -> Result<(), BinaryError> {
        let start = read(source, 0, source.size().min(START), "start of the file")?;
        let kind = Kind::of(&start);
        if kind == Kind::Leaf {
            (self.each)(Leaf { path, source, companion });
            return Ok(());
        }
        if depth >= DEEPEST {
            return Err(BinaryError::OverLimit { what: "depth of archives in archives", limit: DEEPEST as u64 });
        }
        match kind {
            Kind::Zip => zip::members(self, source, path, depth),
            Kind::Archive => archive::members(self, source, path, depth),
            Kind::Tar => tar::members(self, source, path, depth),
            Kind::Gzip | Kind::Zstd => tar::packed(self, source, kind, path, depth),
            Kind::Unsupported => {
                let reason = "neither bzip2 nor xz is read; unpack it first".to_owned();
                Err(BinaryError::Container { kind: "packed file", reason })
            }
            Kind::Leaf => Ok(()),
        }
    }

    /// A member that can be read by position as it is. Only a limit that the whole archive breaks is an error.
    fn stored(
        &mut self,
        source: &dyn Source,
        path: &str,
        depth: usize,
        companion: Option<Vec<u8>>,
    ) -> Result<(), BinaryError> {
        self.count_member()?;
        let outcome = self.file(source, path, depth.saturating_add(1), companion);
        self.fault(path, outcome);
        Ok(())
    }

    /// A member that has to be unpacked: only if its start can be that of device code or of an archive.
    fn packed(
        &mut self,
        unpacked: &mut dyn Read,
        path: &str,
        depth: usize,
        companion: Option<Vec<u8>>,
    ) -> Result<(), BinaryError> {
        self.count_member()?;
        let failed = |error: io::Error| BinaryError::Container { kind: "packed member", reason: error.to_string() };
        let mut start = Vec::new();
        unpacked.take(START).read_to_end(&mut start).map_err(failed)?;
        if !kind::can_hold_device_code(&start) {
            return Ok(());
        }
        let left = MOST_UNPACKED.saturating_sub(self.unpacked);
        let mut whole = io::Read::chain(start.as_slice(), unpacked).take(left.saturating_add(1));
        let kept = self.store.keep(&mut whole).map_err(failed)?;
        self.unpacked = self.unpacked.saturating_add(kept.size());
        if self.unpacked > MOST_UNPACKED {
            return Err(BinaryError::OverLimit { what: "size of all that is unpacked", limit: MOST_UNPACKED });
        }
        self.file(kept.as_ref(), path, depth.saturating_add(1), companion)
    }

    /// The path of a member of the archive at `path`, which no other file in these archives has.
    fn place(&mut self, path: &str, member: &[u8]) -> String {
        let member = String::from_utf8_lossy(member);
        self.places.unique(if path.is_empty() { member.into_owned() } else { format!("{path}/{member}") })
    }

    fn count_member(&mut self) -> Result<(), BinaryError> {
        self.members = self.members.saturating_add(1);
        if self.members > MOST_MEMBERS {
            return Err(BinaryError::OverLimit { what: "number of files in archives", limit: MOST_MEMBERS });
        }
        Ok(())
    }

    fn fault(&mut self, path: &str, outcome: Result<(), BinaryError>) {
        if let Err(error) = outcome {
            self.faults.push(Fault { place: path.to_owned(), error });
        }
    }
}
