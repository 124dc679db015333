//! Reports without what they say of machine and user, still reports for this reader and for NVIDIA's.
//!
//! For: giving a report on. What is kept is listed, and everything else is left out, so that what later versions add stays
//! private until it is known. Kept fields are kept byte for byte, but for the folders of paths in texts of rules and in
//! code. Not for: finding paths in machine code's tables (the caller does that, who can read cubins), or secrets in
//! kernels' names.

use super::{Block, Kind, MAGIC, Workload, header};
use crate::error::ProfileError;
use crate::paths::{mask_ptx, mask_strings, mask_text};
use crate::wire::{Draft, Payload, Slice};

/// Messages in messages of a rule that are looked into.
const DEEPEST: usize = 12;

/// What was left out, as counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Facts about machine and session: host name, addresses, program, environment, settings, command line, time.
    pub session: usize,
    /// Block headers that named the profiled process.
    pub processes: usize,
    /// Launches whose NVTX ranges were left out.
    pub ranges: usize,
    /// Launches whose host call stack was left out.
    pub callers: usize,
    /// Source files whose text was left out.
    pub sources: usize,
    /// Paths whose folders were masked.
    pub paths: usize,
    /// Images of code: cubins, PTX.
    pub code: usize,
    /// Fields that could hold text and whose meaning is not known.
    pub unknown: usize,
}

/// A report that can be given on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// The report, not packed.
    pub bytes: Vec<u8>,
    /// What it no longer holds.
    pub removed: Removed,
}

/// Masks the paths in a cubin and says how many, or why it can't.
pub type MaskCubin<'m> = &'m mut dyn FnMut(&mut [u8]) -> Result<usize, String>;

/// Strips a report that is not packed; see [`super::unpack`]. With `mask` code is kept and its paths are masked by that;
/// without, code is left out.
///
/// # Errors
/// Any damage: what can't be read can't be said to hold nothing private.
pub fn strip(bytes: &[u8], mask: Option<MaskCubin<'_>>) -> Result<Stripped, ProfileError> {
    let mut rest = header(bytes)?;
    let mut stripper = Stripper { removed: Removed::default(), mask };
    let mut file = MAGIC.to_vec();
    let mut start = Draft::default();
    start.varint(1, super::VERSION);
    prefixed(&mut file, start.finish())?;
    while !rest.bytes.is_empty() {
        let block = Block::read(rest)?;
        let payload = stripper.payload(&block)?;
        let (length, after) = rest.word("the length of a block header")?;
        let (head, _) = after.split(u64::from(length), "a block header")?;
        prefixed(&mut file, stripper.header(head, payload.len())?)?;
        file.extend(payload);
        rest = block.after;
    }
    Ok(Stripped { bytes: file, removed: stripper.removed })
}

struct Stripper<'m> {
    removed: Removed,
    mask: Option<MaskCubin<'m>>,
}

impl Stripper<'_> {
    /// A block's header for a payload of `size` bytes.
    fn header(&mut self, head: Slice<'_>, size: usize) -> Result<Vec<u8>, ProfileError> {
        let mut kept = Draft::default();
        let mut fields = head.fields();
        while let Some(field) = fields.written() {
            let (field, written) = field?;
            match (field.number, field.payload) {
                (3, Payload::Bytes(session)) => kept.bytes(3, &self.session(session)?),
                (4, Payload::Bytes(_)) | (1 | 2 | 7..=10, Payload::Varint(_)) => kept.as_written(written),
                (5, _) => kept.varint(5, size as u64),
                (6, _) => add(&mut self.removed.processes, 1),
                _ => add(&mut self.removed.unknown, 1),
            }
        }
        Ok(kept.finish())
    }

    /// Of the session its GPUs and versions.
    fn session(&mut self, session: Slice<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut kept = Draft::default();
        let mut fields = session.fields();
        while let Some(field) = fields.written() {
            let (field, written) = field?;
            match field.number {
                6 | 8 => kept.as_written(written),
                _ => add(&mut self.removed.session, 1),
            }
        }
        Ok(kept.finish())
    }

    fn payload(&mut self, block: &Block<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut payload = Vec::new();
        let mut rest = block.payload;
        for (kind, count) in block.counts {
            for _ in 0..count {
                let (length, after) = rest.word("the length of a message")?;
                let (message, after) = after.split(u64::from(length), "a message")?;
                rest = after;
                let kept = match kind {
                    Kind::Module => self.module(message)?,
                    Kind::Result(Workload::Kernel) => self.kernel(message)?,
                    Kind::Result(_) => self.several(message)?,
                };
                prefixed(&mut payload, kept)?;
            }
        }
        // What follows are graphs: nodes and edges by number.
        while !rest.bytes.is_empty() {
            let (length, after) = rest.word("the length of a message")?;
            let (message, after) = after.split(u64::from(length), "a message")?;
            rest = after;
            let mut bytes = message.bytes.to_vec();
            self.texts(&mut bytes);
            prefixed(&mut payload, bytes)?;
        }
        Ok(payload)
    }

    fn module(&mut self, message: Slice<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut kept = Draft::default();
        let mut fields = message.fields();
        while let Some(field) = fields.written() {
            let (field, written) = field?;
            match (field.number, field.payload) {
                (_, Payload::Varint(_)) => kept.as_written(written),
                (2 | 3 | 4 | 8 | 9, Payload::Bytes(slice)) if self.mask.is_none() => {
                    let image = usize::from(field.number != 8 && field.number != 9 && !slice.bytes.is_empty());
                    add(&mut self.removed.code, image);
                    add(&mut self.removed.sources, if field.number == 8 { slice.fields().count() } else { 0 });
                }
                (number @ (2 | 3), Payload::Bytes(text)) => {
                    let mut text = text.bytes.to_vec();
                    add(&mut self.removed.paths, mask_ptx(&mut text));
                    kept.bytes(number, &text);
                }
                (4, Payload::Bytes(cubin)) => kept.bytes(4, &self.cubin(cubin)?),
                (8, Payload::Bytes(files)) => kept.bytes(8, &self.files(files)?),
                (9, Payload::Bytes(_)) => kept.as_written(written),
                _ => add(&mut self.removed.unknown, 1),
            }
        }
        Ok(kept.finish())
    }

    fn cubin(&mut self, cubin: Slice<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut bytes = cubin.bytes.to_vec();
        let Some(mask) = self.mask.as_mut().filter(|_| !bytes.is_empty()) else { return Ok(bytes) };
        let paths = mask(&mut bytes).map_err(|found| ProfileError::Malformed {
            what: "the machine code of a module",
            offset: cubin.offset,
            found: format!("{found}: leave code out with --no-code"),
        })?;
        add(&mut self.removed.paths, paths);
        Ok(bytes)
    }

    /// Source files by name alone.
    fn files(&mut self, files: Slice<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut kept = Draft::default();
        for file in files.fields() {
            let file = file?;
            let (1, Some(file)) = (file.number, file.slice()) else {
                add(&mut self.removed.unknown, 1);
                continue;
            };
            let mut named = Draft::default();
            for field in file.fields() {
                let field = field?;
                match (field.number, field.slice()) {
                    (1, Some(path)) => {
                        let mut path = path.bytes.to_vec();
                        add(&mut self.removed.paths, mask_strings(&mut path, 1));
                        named.bytes(1, &path);
                    }
                    (2, Some(text)) => add(&mut self.removed.sources, usize::from(!text.bytes.is_empty())),
                    _ => add(&mut self.removed.unknown, 1),
                }
            }
            kept.message(1, &named);
        }
        Ok(kept.finish())
    }

    fn kernel(&mut self, message: Slice<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut kept = Draft::default();
        let mut fields = message.fields();
        while let Some(field) = fields.written() {
            let (field, written) = field?;
            match (field.number, field.payload) {
                (19, Payload::Bytes(rule)) => {
                    let mut rule = rule.bytes.to_vec();
                    self.texts(&mut rule);
                    kept.bytes(19, &rule);
                }
                (21, _) => add(&mut self.removed.ranges, 1),
                (28, _) => add(&mut self.removed.callers, 1),
                // Names, shapes, metrics, module, sections, state of the clocks.
                (5..=7 | 9..=11 | 13 | 15 | 17 | 18 | 24 | 25 | 29 | 31, Payload::Bytes(_)) => kept.as_written(written),
                (_, Payload::Bytes(_)) => add(&mut self.removed.unknown, 1),
                _ => kept.as_written(written),
            }
        }
        Ok(kept.finish())
    }

    /// Of a range, a command list or a graph its metrics and sections.
    fn several(&mut self, message: Slice<'_>) -> Result<Vec<u8>, ProfileError> {
        let mut kept = Draft::default();
        let mut fields = message.fields();
        while let Some(field) = fields.written() {
            let (field, written) = field?;
            match (field.number, field.payload) {
                (4 | 7, _) => kept.as_written(written),
                (_, Payload::Bytes(_)) => add(&mut self.removed.unknown, 1),
                _ => kept.as_written(written),
            }
        }
        Ok(kept.finish())
    }

    /// Masks paths in every text of a message, whatever field it is in.
    fn texts(&mut self, message: &mut [u8]) {
        let paths = texts(message, DEEPEST);
        add(&mut self.removed.paths, paths);
    }
}

/// Masks paths in the texts of a message and of those in it. What is a message and what is a text the format does not say:
/// both are tried, and since a mask is as long as what it hides, neither harms the other.
fn texts(message: &mut [u8], deepest: usize) -> usize {
    let whole = Slice { bytes: message, offset: 0 };
    let fields: Option<Vec<Option<Slice<'_>>>> =
        whole.fields().map(|field| field.ok().map(super::super::wire::Field::slice)).collect();
    let Some(fields) = fields.filter(|_| deepest > 0) else { return mask_text(message) };
    let inside: Vec<_> = fields.into_iter().flatten().map(|slice| (slice.offset, slice.bytes.len())).collect();
    let mut masked = 0_usize;
    for (offset, length) in inside {
        let end = offset.saturating_add(length);
        masked =
            masked.saturating_add(texts(message.get_mut(offset..end).unwrap_or_default(), deepest.saturating_sub(1)));
    }
    masked
}

fn add(count: &mut usize, more: usize) {
    *count = count.saturating_add(more);
}

fn prefixed(file: &mut Vec<u8>, bytes: Vec<u8>) -> Result<(), ProfileError> {
    let Ok(length) = u32::try_from(bytes.len()) else {
        return Err(ProfileError::TooLarge { what: "bytes of a message", limit: u64::from(u32::MAX) });
    };
    file.extend(length.to_le_bytes());
    file.extend(bytes);
    Ok(())
}
