//! Tar files, plain or packed with gzip or zstd, and single packed files.

use std::io::{self, BufReader, Read};

use ::tar::{Archive, Entry, EntryType};

use super::kind::{Kind, starts_like_device_code};
use super::{MOST_UNPACKED, START, Visit, join};
use crate::compression::zstd_reader;
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

/// A name, or the attributes that hold one; the longest path of any system has 32 KiB.
const LONGEST_NAME: u64 = 64 << 10;

fn failed(kind: &'static str) -> impl Fn(io::Error) -> BinaryError {
    move |error| BinaryError::Container { kind, reason: error.to_string() }
}

/// What to do with a file of a tar: the visit, the entry and its path.
type EachFile<'e, R> = &'e mut dyn FnMut(&mut Visit<'_>, &mut Entry<'_, R>, &str) -> Result<(), BinaryError>;

/// Goes through the entries. Long names stand in entries of their own before the file; they are read here, bounded, since
/// the crate would take whatever they claim.
fn for_each_file<R: Read>(
    archive: &mut Archive<R>,
    visit: &mut Visit<'_>,
    path: &str,
    each: EachFile<'_, R>,
) -> Result<(), BinaryError> {
    archive.set_ignore_zeros(true);
    let mut long_name: Option<Vec<u8>> = None;
    // Sparse in the newer form: a regular file with its holes in a pax header.
    let mut sparse = false;
    for entry in archive.entries().map_err(failed("tar"))?.raw(true) {
        let mut entry = entry.map_err(failed("tar"))?;
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let name = bounded(&mut entry)?;
                long_name = Some(name.split(|byte| *byte == 0).next().unwrap_or(&[]).to_vec());
            }
            EntryType::XHeader => {
                let records = bounded(&mut entry)?;
                sparse = memchr::memmem::find(&records, b" GNU.sparse.").is_some();
                long_name = pax_path(&records).or(long_name);
            }
            kind @ (EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse) => {
                let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                let name = join(path, &String::from_utf8_lossy(&name));
                if std::mem::take(&mut sparse) || kind == EntryType::GNUSparse {
                    let reason = "a sparse member; unpack it first".to_owned();
                    visit.fault(&name, Err(BinaryError::Container { kind: "tar", reason }));
                } else {
                    each(visit, &mut entry, &name)?;
                }
            }
            _ => (long_name, sparse) = (None, false),
        }
    }
    Ok(())
}

fn bounded(entry: &mut impl Read) -> Result<Vec<u8>, BinaryError> {
    let mut name = Vec::new();
    entry.take(LONGEST_NAME).read_to_end(&mut name).map_err(failed("tar"))?;
    Ok(name)
}

/// The name among the records of a pax header, each `LENGTH KEY=VALUE` and a line break; a sparse file's own name wins
/// over the one of its packed form.
fn pax_path(header: &[u8]) -> Option<Vec<u8>> {
    let value = |key: &[u8]| {
        let at = memchr::memmem::find(header, key)?.checked_add(key.len())?;
        header.get(at..)?.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec)
    };
    value(b" GNU.sparse.name=").or_else(|| value(b" path="))
}

/// A plain tar: its members are read in place.
pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let mut archive = Archive::new(BufReader::new(SourceReader::new(source)));
    for_each_file(&mut archive, visit, path, &mut |visit, entry, name| {
        let start = entry.raw_file_position();
        let size = entry.header().entry_size().map_err(failed("tar"))?;
        match Window::new(source, start..start.saturating_add(size), "tar member") {
            Ok(window) if starts_like_device_code(&window) => visit.stored(&window, name, depth, None),
            Ok(_) => visit.count_member(),
            Err(error) => {
                visit.fault(name, Err(error));
                Ok(())
            }
        }
    })
}

/// A packed stream: a tar inside is gone through as it unpacks, anything else is one file.
pub(super) fn packed(
    visit: &mut Visit<'_>,
    source: &dyn Source,
    kind: Kind,
    path: &str,
    depth: usize,
) -> Result<(), BinaryError> {
    let stream = BufReader::new(SourceReader::new(source));
    let mut unpacked: Box<dyn Read + '_> = match kind {
        Kind::Gzip => Box::new(Gzip { decoder: flate2::bufread::MultiGzDecoder::new(stream), began: false }),
        _ => Box::new(zstd_reader(stream).map_err(failed("zstd"))?),
    };
    let mut start = Vec::new();
    (&mut unpacked).take(START).read_to_end(&mut start).map_err(failed("packed file"))?;
    let is_tar = Kind::of(&start) == Kind::Tar;
    // Members that are skipped are unpacked too.
    let mut whole = start.as_slice().chain(unpacked).take(MOST_UNPACKED);
    if !is_tar {
        return visit.packed(&mut whole, path, depth, None);
    }
    for_each_file(&mut Archive::new(whole), visit, path, &mut |visit, entry, name| match visit
        .packed(entry, name, depth, None)
    {
        Err(error @ BinaryError::OverLimit { .. }) => Err(error),
        outcome => {
            visit.fault(name, outcome);
            Ok(())
        }
    })
}

/// Gzip members one after the other. What follows the last and is no member is padding, as for gzip itself.
struct Gzip<R> {
    decoder: flate2::bufread::MultiGzDecoder<R>,
    began: bool,
}

impl<R: io::BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.decoder.read(buffer) {
            // The crate's word for a header that is none; a damaged stream has another kind.
            Err(error) if self.began && error.kind() == io::ErrorKind::InvalidInput => Ok(0),
            Ok(read) => {
                self.began = self.began || read > 0;
                Ok(read)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_among_attributes() {
        assert_eq!(pax_path(b"30 mtime=1700000000.123456789\n17 path=a/b.so\n"), Some(b"a/b.so".to_vec()));
        assert_eq!(pax_path(b"30 mtime=1700000000.123456789\n"), None);
    }
}
