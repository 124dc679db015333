//! Nsight Compute reports (`.ncu-rep`, `.ncu-repz`, before 2020.2 `.nsight-cuprof-report`): blocks of length-prefixed
//! protocol-buffer messages, by the layout in NVIDIA's documentation (Customization Guide, Report File Format, version 7).
//!
//! Numbers of fields that are not known are skipped, so that later versions that only add to it are read.

mod launch;
mod measure;
mod metric;
mod module;
mod packed;
mod rule;
mod session;
mod strip;
mod write;

use crate::error::ProfileError;
use crate::wire::{Field, Payload, Slice};

pub use launch::{Launch, Workload};
pub use metric::{Instance, Metric, Value};
pub use module::{Module, SourceFile};
pub use packed::unpack;
pub(crate) use packed::{is_packed, unpacked_start};
pub use rule::{Message, Rule, Speedup, SpeedupKind};
pub use session::{Device, Session};
pub use strip::{MaskCubin, Removed, Stripped, strip};
pub use write::{Private, ReportWriter};

/// What a report starts with.
pub(crate) const MAGIC: &[u8] = b"NVR\0";
/// The layout that is read: that of every report from 2018 to 2025 that was seen.
const VERSION: u64 = 7;

/// A report, with what its bytes hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report<'a> {
    /// Who made it and on what.
    pub session: Session<'a>,
    /// Loaded modules.
    pub modules: Vec<Module<'a>>,
    /// Results in the order of the report.
    pub launches: Vec<Launch<'a>>,
    /// What could not be read; everything else was.
    pub faults: Vec<ProfileError>,
}

/// Whether a file starts like a report, packed or not.
#[must_use]
pub fn is_report(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || is_packed(bytes)
}

/// Launches and modules of one report that are read: a million times what profilers write in an hour.
const MOST_LAUNCHES: usize = 65_536;
const MOST_MODULES: usize = 4096;

const fn too_many(what: &'static str, limit: usize) -> ProfileError {
    ProfileError::TooLarge { what, limit: limit as u64 }
}

impl<'a> Report<'a> {
    /// Reads a report that is not packed; see [`unpack`].
    ///
    /// # Errors
    /// Where it is no report or of a layout that is not known. Damage further on is in [`Report::faults`], and what could
    /// be read before and after it is there.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ProfileError> {
        let mut report = Self::default();
        let mut names = Vec::new();
        let mut rest = header(bytes)?;
        while !rest.bytes.is_empty() {
            match report.block(rest, &mut names) {
                Ok(after) => rest = after,
                // Where the next block starts is not known.
                Err(fault) => {
                    report.faults.push(fault);
                    break;
                }
            }
        }
        Ok(report)
    }

    /// The module of a launch.
    #[must_use]
    pub fn module(&self, launch: &Launch<'_>) -> Option<&Module<'a>> {
        self.modules.iter().find(|module| Some(module.reference) == launch.module)
    }

    /// The GPU of a launch, where the session lists it.
    #[must_use]
    pub fn device(&self, launch: &Launch<'_>) -> Option<&Device<'a>> {
        let number = launch.whole("launch__device_id").or_else(|| launch.whole("device__attribute_device_index"));
        let by_number = self.session.devices.iter().find(|device| Some(device.number) == number);
        by_number.or_else(|| self.session.devices.first())
    }

    fn block(&mut self, rest: Slice<'a>, names: &mut Vec<&'a str>) -> Result<Slice<'a>, ProfileError> {
        let block = Block::read(rest)?;
        for table in &block.names {
            // Later blocks carry an empty table.
            let found = string_table(*table)?;
            if !found.is_empty() {
                *names = found;
            }
        }
        for session in &block.sessions {
            self.session.read(*session).unwrap_or_else(|fault| self.faults.push(fault));
        }
        let mut payload = block.payload;
        for (kind, count) in block.counts {
            for _ in 0..count {
                let (length, after) = payload.word("the length of a message")?;
                let (message, after) = after.split(u64::from(length), "a message")?;
                payload = after;
                match self.message(kind, message, names) {
                    // What follows is more of the same.
                    Err(fault @ ProfileError::TooLarge { .. }) => return Err(fault),
                    read => read.unwrap_or_else(|fault| self.faults.push(fault)),
                }
            }
        }
        Ok(block.after)
    }

    fn message(&mut self, kind: Kind, message: Slice<'a>, names: &[&'a str]) -> Result<(), ProfileError> {
        match kind {
            Kind::Module => {
                let module = Module::read(message)?;
                let room = self.modules.len() < MOST_MODULES;
                match self.modules.iter_mut().find(|known| known.reference == module.reference) {
                    Some(known) => known.merge(module),
                    None if room => self.modules.push(module),
                    None => return Err(too_many("modules", MOST_MODULES)),
                }
            }
            Kind::Result(_) if self.launches.len() >= MOST_LAUNCHES => return Err(too_many("launches", MOST_LAUNCHES)),
            Kind::Result(Workload::Kernel) => self.launches.push(Launch::of_kernel(message, names)?),
            Kind::Result(workload) => self.launches.push(Launch::of_several(message, names, workload)?),
        }
        Ok(())
    }
}

/// What a message of a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module,
    Result(Workload),
}

/// A block: its header, and the messages after it.
struct Block<'a> {
    /// How many messages of which kind, in their order.
    counts: [(Kind, u64); 5],
    sessions: Vec<Slice<'a>>,
    names: Vec<Slice<'a>>,
    payload: Slice<'a>,
    after: Slice<'a>,
}

impl<'a> Block<'a> {
    fn read(rest: Slice<'a>) -> Result<Self, ProfileError> {
        let (length, after) = rest.word("the length of a block header")?;
        let (header, after) = after.split(u64::from(length), "a block header")?;
        let mut block = Self {
            counts: [
                (Kind::Module, 0),
                (Kind::Result(Workload::Kernel), 0),
                (Kind::Result(Workload::Range), 0),
                (Kind::Result(Workload::CommandList), 0),
                (Kind::Result(Workload::Graph), 0),
            ],
            sessions: Vec::new(),
            names: Vec::new(),
            payload: after,
            after,
        };
        let mut size = 0;
        for field in header.fields() {
            let Field { number, payload } = field?;
            match (number, payload) {
                (3, Payload::Bytes(session)) => block.sessions.push(session),
                (4, Payload::Bytes(table)) => block.names.push(table),
                (5, Payload::Varint(value)) => size = value,
                (1, Payload::Varint(value)) => block.counts[0].1 = value,
                (2, Payload::Varint(value)) => block.counts[1].1 = value,
                (7, Payload::Varint(value)) => block.counts[2].1 = value,
                (8, Payload::Varint(value)) => block.counts[3].1 = value,
                (9, Payload::Varint(value)) => block.counts[4].1 = value,
                _ => {}
            }
        }
        (block.payload, block.after) = after.split(size, "the messages of a block")?;
        Ok(block)
    }
}

/// Checks the file's header and gives what follows it.
fn header(bytes: &[u8]) -> Result<Slice<'_>, ProfileError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let found = match bytes.get(..4.min(bytes.len())) {
            None | Some([]) => "an empty file".to_owned(),
            Some(start) => format!("`{}`", start.escape_ascii()),
        };
        return Err(ProfileError::NotAReport { expected: "`NVR\\x00`", found });
    };
    let rest = Slice { bytes: rest, offset: MAGIC.len() };
    let (length, rest) = rest.word("the length of the file header")?;
    let (header, after) = rest.split(u64::from(length), "the file header")?;
    let mut version = None;
    for field in header.fields() {
        let field = field?;
        if field.number == 1 {
            version = field.varint();
        }
    }
    match version {
        Some(VERSION) => Ok(after),
        found => Err(ProfileError::Version { offset: header.offset, found: found.unwrap_or(0), known: VERSION }),
    }
}

fn string_table(message: Slice<'_>) -> Result<Vec<&str>, ProfileError> {
    let mut names = Vec::new();
    for field in message.fields() {
        let field = field?;
        if let (1, Some(slice)) = (field.number, field.slice()) {
            names.push(slice.text("the name of a metric")?);
        }
    }
    Ok(names)
}
