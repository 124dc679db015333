//! Files as [`Source`]s: read by position, so a file that shrinks while it is read is an error and not a crash.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use occupant_core::{LARGEST_COMPANION, Launches, Source, Store};

/// The most that is taken from standard input or a pipe, which have to be kept to be read by position.
const LARGEST_STREAM: u64 = 4 << 30;

/// The real launches of a file that was named, none where there is none.
pub(crate) fn launches(path: Option<&Path>) -> anyhow::Result<Launches> {
    let Some(path) = path else { return Ok(Launches::default()) };
    let read = whole(path, LARGEST_STREAM).and_then(|bytes| Ok(Launches::read_any(&bytes)?));
    read.with_context(|| path.display().to_string())
}

/// A whole file, or standard input for `-`.
pub(crate) fn whole(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let read = |stream: &mut dyn Read| -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        stream.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            bail!("more than {most} bytes");
        }
        Ok(bytes)
    };
    if path == Path::new("-") {
        return read(&mut io::stdin().lock());
    }
    if path.is_dir() {
        bail!("a directory: name the files in it");
    }
    read(&mut File::open(path)?)
}

/// An input that can be read at any offset.
pub(crate) enum Input {
    /// A regular file.
    File { file: File, size: u64 },
    /// Standard input or a pipe, read whole.
    Memory(Vec<u8>),
}

impl Input {
    /// Opens a path; `-` is standard input.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Self::stream(io::stdin().lock()).context("standard input");
        }
        let file = File::open(path).with_context(|| path.display().to_string())?;
        let metadata = file.metadata().with_context(|| path.display().to_string())?;
        if metadata.is_file() {
            Ok(Self::File { file, size: metadata.len() })
        } else {
            Self::stream(file).with_context(|| path.display().to_string())
        }
    }

    fn stream(stream: impl Read) -> anyhow::Result<Self> {
        let kept = spool(&mut stream.take(LARGEST_STREAM + 1))?;
        if kept.size() > LARGEST_STREAM {
            bail!("more than {LARGEST_STREAM} bytes; save it to a file first");
        }
        Ok(kept)
    }
}

impl Input {
    /// All of it.
    pub(crate) fn into_bytes(self, most: u64) -> anyhow::Result<Vec<u8>> {
        let size = self.size();
        if size > most {
            bail!("more than {most} bytes");
        }
        match self {
            Self::Memory(bytes) => Ok(bytes),
            Self::File { .. } => Ok(self.fetch(0, usize::try_from(size)?)?.into_owned()),
        }
    }
}

impl Source for Input {
    fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } => *size,
            Self::Memory(bytes) => bytes.size(),
        }
    }

    fn fetch(&self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => bytes.fetch(offset, length),
            Self::File { file, .. } => {
                let mut buffer = vec![0; length];
                read_exact_at(file, &mut buffer, offset)?;
                Ok(Cow::Owned(buffer))
            }
        }
    }

    fn fetch_in<'r>(&'r self, offset: u64, length: usize, room: &'r mut Vec<u8>) -> io::Result<&'r [u8]> {
        match self {
            Self::Memory(bytes) => bytes.fetch_in(offset, length, room),
            Self::File { file, .. } => {
                // Never made shorter: what was used once need not be cleared again.
                room.resize(room.len().max(length), 0);
                read_exact_at(file, &mut room[..length], offset)?;
                Ok(&room[..length])
            }
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// What is unpacked up to this size stays in memory; more goes to a temporary file, which has no name and so can't be
/// left behind.
const LARGEST_IN_MEMORY: u64 = 16 << 20;

/// Keeps what is unpacked from archives.
pub(crate) struct Spool;

impl Store for Spool {
    fn keep(&self, unpacked: &mut dyn Read) -> io::Result<Box<dyn Source>> {
        Ok(Box::new(spool(unpacked)?))
    }
}

fn spool(stream: &mut dyn Read) -> io::Result<Input> {
    let mut bytes = Vec::new();
    stream.take(LARGEST_IN_MEMORY).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < LARGEST_IN_MEMORY {
        return Ok(Input::Memory(bytes));
    }
    // The system's word alone would seem to be about the input.
    let mut file = tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        io::Error::new(error.kind(), format!("temporary folder {}: {error}", folder.display()))
    })?;
    file.write_all(&bytes)?;
    drop(bytes);
    io::copy(stream, &mut file)?;
    let size = file.metadata()?.len();
    Ok(Input::File { file, size })
}

/// The longest line of a CSV file.
const LONGEST_LINE: usize = 1 << 20;

/// Opens a CSV file, `-` for standard input. A line beyond any sense is an error before it fills the memory.
pub(crate) fn lines(path: &Path) -> io::Result<impl Read> {
    let stream: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
    Ok(ShortLines { stream, length: 0 })
}

struct ShortLines {
    stream: Box<dyn Read>,
    /// Bytes since the last line break.
    length: usize,
}

impl Read for ShortLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.length = match buffer[..read].iter().rposition(|byte| *byte == b'\n') {
            Some(at) => read - at - 1,
            None => self.length + read,
        };
        if self.length > LONGEST_LINE {
            return Err(io::Error::other(format!("a line of more than {LONGEST_LINE} bytes")));
        }
        Ok(read)
    }
}

/// The metadata that Triton writes beside a compiled kernel, `None` where there is none; or why it can't be read.
pub(crate) fn companion(cubin: &Path) -> Result<Option<Vec<u8>>, String> {
    if cubin.extension().is_none_or(|extension| extension != "cubin") {
        return Ok(None);
    }
    let json = cubin.with_extension("json");
    match std::fs::metadata(&json) {
        // Opening a pipe would wait for its writer.
        Ok(metadata) if !metadata.is_file() => return Err("it is no regular file".to_owned()),
        Ok(_) => {}
        Err(_) if json.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    }
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that its reader can tell.
    let read = File::open(json).and_then(|file| file.take(LARGEST_COMPANION + 1).read_to_end(&mut bytes));
    read.map(|_| Some(bytes)).map_err(|error| error.to_string())
}
