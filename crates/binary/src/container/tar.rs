//! Tar files, plain or packed with gzip or zstd, and single packed files.

use std::io::{self, BufReader, Read};

use ::tar::{Archive, Entry, EntryType};
use flate2::bufread::GzDecoder;

use super::companions::{self, Companions};
use super::kind::{Kind, starts_like_device_code};
use super::{Counted, START, Visit, failed};
use crate::compression::zstd_reader;
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

/// A name, or the attributes that hold one; the longest path of any system has 32 KiB.
const LONGEST_NAME: u64 = 64 << 10;

/// What a zstd stream may look back over, as a power of two: 128 MiB, which is what packers use at most; 8 MiB where it is
/// inside of another that is open, since each takes that memory.
const WINDOW: u32 = 27;
const NESTED_WINDOW: u32 = 23;

/// A file of a tar.
enum Member<'e, 'a, R: Read> {
    /// Its bytes as they stand there.
    Whole(&'e mut Entry<'a, R>),
    /// With holes that are not stored.
    Sparse,
}

/// What to do with a file of a tar, given its name.
type EachFile<'e, R> = &'e mut dyn FnMut(&[u8], Member<'_, '_, R>) -> Result<(), BinaryError>;

/// Goes through the entries. Long names stand in entries of their own before the file; they are read here, bounded, since
/// the crate would take whatever they claim.
fn for_each_file<R: Read>(archive: &mut Archive<R>, each: EachFile<'_, R>) -> Result<(), BinaryError> {
    archive.set_ignore_zeros(true);
    let mut long_name: Option<Vec<u8>> = None;
    // Sparse in the newer form: a regular file with its holes in a pax header.
    let mut sparse = false;
    let mut pax_size = None;
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
                pax_size = pax_value(&records, b" size=");
                long_name = pax_path(&records).or(long_name);
            }
            kind @ (EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse) => {
                check_size(&entry, pax_size.take())?;
                let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                if std::mem::take(&mut sparse) || kind == EntryType::GNUSparse {
                    each(&name, Member::Sparse)?;
                } else {
                    each(&name, Member::Whole(&mut entry))?;
                }
            }
            _ => (long_name, sparse, pax_size) = (None, false, None),
        }
    }
    Ok(())
}

/// A size can stand in a pax header instead, where the crate's reader does not see it and takes the file's bytes for headers.
fn check_size(entry: &Entry<'_, impl Read>, in_pax: Option<Vec<u8>>) -> Result<(), BinaryError> {
    let Some(in_pax) = in_pax else { return Ok(()) };
    let stated: Option<u64> = std::str::from_utf8(&in_pax).ok().and_then(|size| size.parse().ok());
    let own = entry.header().entry_size().ok();
    if stated.is_some() && stated == own {
        return Ok(());
    }
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let reason = format!("the size of {name} stands in a pax header alone, which is not read; unpack the tar first");
    Err(failed("tar")(io::Error::other(reason)))
}

fn sparse(visit: &mut Visit<'_>, place: &str) -> Result<(), BinaryError> {
    let reason = "a sparse member; unpack it first".to_owned();
    visit.fault(place, Err(BinaryError::Container { kind: "tar", reason }));
    visit.count_member()
}

/// The metadata beside a tar's cubins. Where the first cubin comes, the tar is read once more from its start for all of it:
/// a `.json` can stand before or after its cubin, and most tars have no cubins.
#[derive(Default)]
struct Beside(Option<Companions>);

impl Beside {
    /// The metadata of the cubin at `place`, none for other files; `again` opens the tar anew.
    fn of<R: Read>(
        &mut self,
        visit: &mut Visit<'_>,
        place: &str,
        name: &[u8],
        again: impl FnOnce() -> Result<R, BinaryError>,
    ) -> Option<Vec<u8>> {
        companions::stem(name)?;
        let collect = || {
            let mut companions = Companions::default();
            let read = again().and_then(|stream| {
                for_each_file(&mut Archive::new(stream), &mut |name, member| match member {
                    Member::Whole(entry) => companions.take(name, entry),
                    Member::Sparse => Ok(()),
                })
            });
            // Other errors meet the tar's own pass too, and are told there.
            if let Err(error @ BinaryError::OverLimit { .. }) = read {
                visit.fault(place, Err(error));
            }
            companions
        };
        self.0.get_or_insert_with(collect).of(name)
    }
}

fn bounded(entry: &mut impl Read) -> Result<Vec<u8>, BinaryError> {
    let mut name = Vec::new();
    entry.take(LONGEST_NAME).read_to_end(&mut name).map_err(failed("tar"))?;
    Ok(name)
}

/// The name among the records of a pax header, each `LENGTH KEY=VALUE` and a line break; a sparse file's own name wins
/// over the one of its packed form.
fn pax_path(header: &[u8]) -> Option<Vec<u8>> {
    pax_value(header, b" GNU.sparse.name=").or_else(|| pax_value(header, b" path="))
}

fn pax_value(header: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memmem::find(header, key)?.checked_add(key.len())?;
    header.get(at..)?.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec)
}

/// A plain tar: its members are read in place.
pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let stream = || Ok(BufReader::new(SourceReader::new(source)));
    let mut beside = Beside::default();
    for_each_file(&mut Archive::new(stream()?), &mut |name, member| {
        let place = visit.place(path, name);
        let Member::Whole(entry) = member else { return sparse(visit, &place) };
        let start = entry.raw_file_position();
        let size = entry.header().entry_size().map_err(failed("tar"))?;
        match Window::new(source, start..start.saturating_add(size), "tar member") {
            Ok(window) if starts_like_device_code(&window) => {
                visit.stored(&window, &place, depth, &mut |visit| beside.of(visit, &place, name, stream))
            }
            Ok(_) => visit.count_member(),
            Err(error) => {
                visit.fault(&place, Err(error));
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
    visit.windows = visit.windows.saturating_add(1);
    let outcome = packed_stream(visit, source, kind, path, depth);
    visit.windows = visit.windows.saturating_sub(1);
    outcome
}

fn packed_stream(
    visit: &mut Visit<'_>,
    source: &dyn Source,
    kind: Kind,
    path: &str,
    depth: usize,
) -> Result<(), BinaryError> {
    let mut unpacked = unpack(visit, source, kind)?;
    let mut start = Vec::new();
    (&mut unpacked).take(START).read_to_end(&mut start).map_err(failed("packed file"))?;
    let is_tar = Kind::of(&start) == Kind::Tar;
    let mut whole = start.as_slice().chain(unpacked);
    if !is_tar {
        return visit.packed(&mut whole, path, depth, &mut |_| None);
    }
    let mut beside = Beside::default();
    for_each_file(&mut Archive::new(whole), &mut |name, member| {
        let place = visit.place(path, name);
        let Member::Whole(entry) = member else { return sparse(visit, &place) };
        let mut companion = |visit: &mut Visit<'_>| {
            let again = unpack(visit, source, kind);
            beside.of(visit, &place, name, || again)
        };
        match visit.packed(entry, &place, depth, &mut companion) {
            Err(error @ BinaryError::OverLimit { .. }) => Err(error),
            outcome => {
                visit.fault(&place, outcome);
                Ok(())
            }
        }
    })
}

/// What a packed file unpacks to, counted: members that are skipped are unpacked too.
fn unpack<'s>(
    visit: &Visit<'_>,
    source: &'s dyn Source,
    kind: Kind,
) -> Result<Counted<Box<dyn Read + 's>>, BinaryError> {
    let window = if visit.windows > 1 { NESTED_WINDOW } else { WINDOW };
    let stream = BufReader::new(SourceReader::new(source));
    let unpacked: Box<dyn Read + 's> = match kind {
        Kind::Gzip => Box::new(Gzip { member: Some(GzDecoder::new(stream)) }),
        _ => Box::new(zstd_reader(stream, window).map_err(failed("zstd"))?),
    };
    Ok(visit.counted(unpacked))
}

/// Gzip members one after the other, each with its checksum. What follows the last and does not begin like a member is
/// passed over, as by gzip itself; the reader of flate2 for several members takes it for a damaged one, and reports a wrong
/// checksum as it reports that.
struct Gzip<'s> {
    /// The member that is read; none behind the last.
    member: Option<GzDecoder<BufReader<SourceReader<'s>>>>,
}

impl Read for Gzip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            if let Some(mut rest) = self.member.take().map(GzDecoder::into_inner)
                && begins_member(&mut rest)?
            {
                self.member = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

/// Whether the next two bytes of a stream are those of a gzip member, which are not taken from it.
fn begins_member(stream: &mut BufReader<SourceReader<'_>>) -> io::Result<bool> {
    let mut magic = [0; 2];
    match stream.read_exact(&mut magic) {
        Ok(()) => stream.seek_relative(-2).map(|()| magic == [0x1f, 0x8b]),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
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
