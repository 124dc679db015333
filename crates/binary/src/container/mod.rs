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

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use crate::faults::{Fault, Faults};
use crate::names::in_short;
use crate::source::{Source, read};
use crate::{BinaryError, cubin, elf};

use kind::Kind;
pub use kind::ends_like_zip;
use places::Places;

/// Archives within archives, at most.
const DEEPEST: usize = 8;
/// Files within one file, at most.
const MOST_MEMBERS: u64 = 1 << 20;
/// Bytes that are kept of what one file unpacks to, at most.
const MOST_UNPACKED: u64 = 8 << 30;
/// Bytes that are unpacked of one file, those that are passed over or read a second time included: at most this, and no more
/// than [`UNPACKED_OF_SMALL`] and [`GROWTH`] times the file. A packed file inside a packed file multiplies what each can do.
const MOST_WORK: u64 = 16 << 30;
const UNPACKED_OF_SMALL: u64 = 1 << 30;
const GROWTH: u64 = 256;
/// Bytes of a path through archives; what is longer loses its middle. Systems have 4,096, and use a tenth of that.
const LONGEST_PLACE: usize = 1024;
/// Bytes of a message of the crates that read archives, which can hold parts of the file.
const LONGEST_REASON: usize = 200;
/// Bytes from the start of a file that tell what it is; a tar header has its magic at 257.
const START: u64 = 4096;
/// The most that the metadata beside a compiled Triton kernel may have; some kilobytes in practice. Of more, one byte more
/// than this is read, so that whoever is given it can tell.
pub const LARGEST_COMPANION: u64 = 4 << 20;

/// A file that is no archive.
pub struct Leaf<'a> {
    /// Its path through the archives; empty for the file itself. Of several files with one path, the second ends with
    /// `#2`, and so on.
    pub path: &'a str,
    /// Its bytes.
    pub source: &'a dyn Source,
    /// The `.json` beside a `.cubin` in the same archive, cut where it has more than [`LARGEST_COMPANION`] bytes.
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
    let allowed = source.size().saturating_mul(GROWTH).saturating_add(UNPACKED_OF_SMALL).min(MOST_WORK);
    let mut visit = Visit {
        store,
        each,
        faults: Faults::default(),
        members: 0,
        unpacked: 0,
        allowed,
        left: Rc::new(Cell::new(allowed)),
        told_spent: false,
        windows: 0,
        places: Places::default(),
    };
    let outcome = visit.file(source, "", 0, &mut |_| None);
    visit.fault("", outcome);
    visit.faults.all()
}

/// Gives the metadata beside a member, once that is known to be a cubin.
type Companion<'c> = &'c mut dyn FnMut(&mut Visit<'_>) -> Option<Vec<u8>>;

/// A stream that unpacks, as far as what is unpacked of the whole file may go.
struct Counted<R> {
    stream: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other("too much is unpacked"));
        }
        let read = self.stream.read(buffer)?;
        self.left.set(left.saturating_sub(read as u64));
        Ok(read)
    }
}

/// An error of a crate that reads archives.
fn failed(kind: &'static str) -> impl Fn(io::Error) -> BinaryError {
    move |error| BinaryError::Container { kind, reason: in_short(&error.to_string(), LONGEST_REASON).into_owned() }
}

struct Visit<'a> {
    store: &'a dyn Store,
    each: &'a mut dyn FnMut(Leaf<'_>),
    faults: Faults,
    members: u64,
    /// Bytes that were kept.
    unpacked: u64,
    /// Bytes that may be unpacked, and what is left of them.
    allowed: u64,
    left: Rc<Cell<u64>>,
    told_spent: bool,
    /// Streams that are open, one inside the other, each with the memory that it looks back to.
    windows: usize,
    places: Places,
}

impl Visit<'_> {
    /// One file: an archive is gone through, anything else is a leaf.
    fn file(
        &mut self,
        source: &dyn Source,
        path: &str,
        depth: usize,
        companion: Companion<'_>,
    ) -> Result<(), BinaryError> {
        let start = read(source, 0, source.size().min(START), "start of the file")?;
        let mut kind = Kind::of(&start);
        // An application that Python runs: a line for the system, then a zip.
        if kind == Kind::Leaf && !kind::can_hold_device_code(&start) && kind::ends_like_zip(source) {
            kind = Kind::Zip;
        }
        if kind == Kind::Leaf {
            let is_cubin = elf::machine(&start) == Some(cubin::MACHINE);
            let companion = if is_cubin { companion(self) } else { None };
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
        companion: Companion<'_>,
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
        companion: Companion<'_>,
    ) -> Result<(), BinaryError> {
        match self.keep(unpacked)? {
            Some(kept) => self.file(kept.as_ref(), path, depth.saturating_add(1), companion),
            None => Ok(()),
        }
    }

    /// What is worth reading of a packed member.
    fn keep(&mut self, unpacked: &mut dyn Read) -> Result<Option<Box<dyn Source>>, BinaryError> {
        self.count_member()?;
        let failed = failed("packed member");
        let mut start = Vec::new();
        unpacked.take(START).read_to_end(&mut start).map_err(&failed)?;
        if !kind::can_hold_device_code(&start) {
            return Ok(None);
        }
        let left = MOST_UNPACKED.saturating_sub(self.unpacked);
        let mut whole = io::Read::chain(start.as_slice(), unpacked).take(left.saturating_add(1));
        let kept = self.store.keep(&mut whole).map_err(&failed)?;
        self.unpacked = self.unpacked.saturating_add(kept.size());
        if self.unpacked > MOST_UNPACKED {
            return Err(BinaryError::OverLimit { what: "size of all that is unpacked", limit: MOST_UNPACKED });
        }
        Ok(Some(kept))
    }

    /// Counts bytes that are read, whatever comes out of them.
    ///
    /// # Errors
    /// [`BinaryError::OverLimit`] where no more may be.
    fn spend(&self, bytes: u64) -> Result<(), BinaryError> {
        self.left.set(self.left.get().saturating_sub(bytes));
        match self.left.get() {
            0 => Err(BinaryError::OverLimit { what: "size of all that is unpacked", limit: self.allowed }),
            _ => Ok(()),
        }
    }

    /// Counts what a stream gives.
    fn counted<R: Read>(&self, stream: R) -> Counted<R> {
        Counted { stream, left: Rc::clone(&self.left) }
    }

    /// The path of a member of the archive at `path`, which no other file in these archives has.
    fn place(&mut self, path: &str, member: &[u8]) -> String {
        let member = String::from_utf8_lossy(member);
        let whole = if path.is_empty() { member.into_owned() } else { format!("{path}/{member}") };
        let short = match in_short(&whole, LONGEST_PLACE) {
            Cow::Borrowed(_) => whole,
            Cow::Owned(short) => short,
        };
        self.places.unique(short)
    }

    fn count_member(&mut self) -> Result<(), BinaryError> {
        self.members = self.members.saturating_add(1);
        if self.members > MOST_MEMBERS {
            return Err(BinaryError::OverLimit { what: "number of files in archives", limit: MOST_MEMBERS });
        }
        Ok(())
    }

    /// What is read beside a member and breaks off is left out in silence, but not where nothing more may be unpacked.
    fn fault_if_spent(&mut self, path: &str, error: BinaryError) {
        if self.left.get() == 0 {
            self.fault(path, Err(error));
        }
    }

    fn fault(&mut self, path: &str, outcome: Result<(), BinaryError>) {
        let Err(mut error) = outcome else { return };
        // Whatever else is packed breaks off from here on; that is told once.
        if self.left.get() == 0 && matches!(error, BinaryError::Container { .. }) {
            if std::mem::replace(&mut self.told_spent, true) {
                return;
            }
            error = BinaryError::OverLimit { what: "size of all that is unpacked", limit: self.allowed };
        }
        self.faults.push(path, error);
    }
}
