//! A [`Source`] as a stream, for readers of standard containers that want `Read` and `Seek`.

use std::io::{self, Read, Seek, SeekFrom};

use crate::Source;

/// The most that is read at once; readers of tables ask for whole tables, whose size a file only claims.
const LARGEST_READ: usize = 128 << 20;

/// Reads a source from a place that moves.
pub(crate) struct SourceReader<'s> {
    source: &'s dyn Source,
    at: u64,
}

impl<'s> SourceReader<'s> {
    pub(crate) fn new(source: &'s dyn Source) -> Self {
        Self { source, at: 0 }
    }
}

impl Read for SourceReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.len() > LARGEST_READ {
            return Err(io::Error::other(format!(
                "a structure of {} bytes is over the limit of {LARGEST_READ}",
                buffer.len()
            )));
        }
        let left = usize::try_from(self.source.size().saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let bytes = self.source.fetch(self.at, length)?;
        if let Some(filled) = buffer.get_mut(..length) {
            filled.copy_from_slice(&bytes);
        }
        self.at = self.at.saturating_add(length as u64);
        Ok(length)
    }
}

impl Seek for SourceReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.source.size().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
