//! The loaded module of a launch: its cubin, as bytes, and sources that were imported with it.

use crate::error::ProfileError;
use crate::wire::{Field, Payload, Slice};

/// A source file in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFile<'a> {
    /// Its path on the machine that compiled it.
    pub path: &'a str,
    /// Its text; `None` where it was not imported.
    pub text: Option<&'a str>,
}

/// What was loaded on the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Module<'a> {
    /// Its number in the report.
    pub reference: u64,
    /// The cubin; `None` where it was stripped.
    pub cubin: Option<&'a [u8]>,
    /// PTX text.
    pub ptx: Option<&'a str>,
    /// Compute capability, major and minor, that it was compiled for.
    pub capability: Option<(u8, u8)>,
    /// Source files.
    pub files: Vec<SourceFile<'a>>,
}

impl<'a> Module<'a> {
    pub(super) fn read(message: Slice<'a>) -> Result<Self, ProfileError> {
        let mut module = Self::default();
        for field in message.fields() {
            let Field { number, payload } = field?;
            match (number, payload) {
                (1, Payload::Varint(value)) => module.reference = value,
                (3, Payload::Bytes(text)) => module.ptx = std::str::from_utf8(text.bytes).ok(),
                (4, Payload::Bytes(bytes)) if !bytes.bytes.is_empty() => module.cubin = Some(bytes.bytes),
                (6, Payload::Varint(version)) => module.capability = Some(((version >> 16) as u8, version as u8)),
                (8, Payload::Bytes(files)) => module.files.extend(source_files(files)?),
                _ => {}
            }
        }
        Ok(module)
    }

    /// Takes what a later record of the same module adds; relocations come as one without a cubin.
    pub(super) fn merge(&mut self, later: Self) {
        self.cubin = later.cubin.or(self.cubin);
        self.ptx = later.ptx.filter(|text| !text.is_empty()).or(self.ptx);
        self.capability = later.capability.or(self.capability);
        self.files.extend(later.files);
    }
}

/// The source files of a module: a message around one for each.
fn source_files(message: Slice<'_>) -> Result<Vec<SourceFile<'_>>, ProfileError> {
    let mut files = Vec::new();
    for field in message.fields() {
        let field = field?;
        if let (1, Some(slice)) = (field.number, field.slice()) {
            files.extend(source_file(slice)?);
        }
    }
    Ok(files)
}

fn source_file(message: Slice<'_>) -> Result<Option<SourceFile<'_>>, ProfileError> {
    let (mut path, mut text) = (None, None);
    for field in message.fields() {
        let field = field?;
        match (field.number, field.slice()) {
            (1, Some(slice)) => path = std::str::from_utf8(slice.bytes).ok(),
            (2, Some(slice)) => text = std::str::from_utf8(slice.bytes).ok().filter(|text| !text.is_empty()),
            _ => {}
        }
    }
    Ok(path.map(|path| SourceFile { path, text }))
}
