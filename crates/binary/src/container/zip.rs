//! Zip files: Python wheels, `.pt2`, Windows packages. Stored members are read in place, deflated ones unpacked.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

use ::zip::read::{ZipFile, read_zipfile_from_stream_with_options};
use ::zip::result::ZipError;
use ::zip::{CompressionMethod, ZipArchive, ZipReadOptions};

use super::kind::starts_like_device_code;
use super::zip_listing::{Hidden, Listing, Member};
use super::{LARGEST_COMPANION, Visit};
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

type Stream<'s> = BufReader<SourceReader<'s>>;

fn failed(error: ZipError) -> BinaryError {
    BinaryError::Container { kind: "zip", reason: error.to_string() }
}

pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let mut archive =
        ZipArchive::new(BufReader::new(SourceReader::new(source))).map_err(|error| match failed(error) {
            // The reader's word for a download that broke off.
            BinaryError::Container { kind, reason } if reason.contains("Could not find EOCD") => {
                let reason = "the directory at its end is missing: the file is cut or no zip".to_owned();
                BinaryError::Container { kind, reason }
            }
            other => other,
        })?;
    let mut listing = Listing::of(&archive, source)?;
    for number in 0..listing.len() {
        let Some(member) = listing.member(number).cloned() else { continue };
        let (name, stored) = match describe(&mut archive, source, &member) {
            Ok(Some(described)) => described,
            Ok(None) => continue,
            Err(error) => {
                visit.fault(path, Err(error));
                continue;
            }
        };
        let place = visit.place(path, &name);
        let beside = listing.companion(&archive, &name);
        let companion = beside.and_then(|member| read_companion(&mut archive, source, &member));
        if let Some(range) = stored {
            match Window::new(source, range, "stored member") {
                Ok(window) if starts_like_device_code(&window) => visit.stored(&window, &place, depth, companion)?,
                Ok(_) => visit.count_member()?,
                Err(error) => visit.fault(&place, Err(error)),
            }
            continue;
        }
        let outcome =
            open(&mut archive, source, &member, |unpacked| visit.packed(unpacked, &place, depth, companion)).flatten();
        let over = matches!(outcome, Err(BinaryError::OverLimit { .. }));
        visit.fault(&place, outcome);
        if over {
            break;
        }
    }
    Ok(())
}

/// A file's name, and where its bytes are if they stand there plain; `None` for folders and links.
type Described = Option<(Vec<u8>, Option<Range<u64>>)>;

fn describe(
    archive: &mut ZipArchive<Stream<'_>>,
    source: &dyn Source,
    member: &Member,
) -> Result<Described, BinaryError> {
    match member {
        Member::Listed(index) => {
            let member = archive.by_index_raw(*index).map_err(failed)?;
            let range = member.data_start().map(|start| start..start.saturating_add(member.size()));
            Ok(member.is_file().then(|| (member.name_raw().to_vec(), range.filter(|_| in_place(&member)))))
        }
        // Stored ones are read as a stream too: they are rare, and the stream finds where their bytes begin.
        Member::Hidden(hidden) => {
            with_hidden(source, hidden, |member| Ok(member.is_file().then(|| (hidden.name.clone(), None))))
        }
    }
}

fn in_place(member: &ZipFile<'_, impl Read>) -> bool {
    member.compression() == CompressionMethod::Stored && !member.encrypted()
}

/// Hands the unpacked bytes of a member to `each`.
fn open<T>(
    archive: &mut ZipArchive<Stream<'_>>,
    source: &dyn Source,
    member: &Member,
    each: impl FnOnce(&mut dyn Read) -> T,
) -> Result<T, BinaryError> {
    match member {
        Member::Listed(index) => Ok(each(&mut archive.by_index(*index).map_err(failed)?)),
        Member::Hidden(hidden) => with_hidden(source, hidden, |member| Ok(each(member))),
    }
}

/// A member that the crate's own list lacks, opened at its header in the file.
fn with_hidden<T>(
    source: &dyn Source,
    hidden: &Hidden,
    each: impl FnOnce(&mut ZipFile<'_, Stream<'_>>) -> Result<T, BinaryError>,
) -> Result<T, BinaryError> {
    let mut stream = BufReader::new(SourceReader::new(source));
    let at = hidden.header;
    stream.seek(SeekFrom::Start(at)).map_err(|cause| BinaryError::Read { offset: at, length: 4, cause })?;
    let options = ZipReadOptions::new()
        .override_compressed_size(hidden.packed)
        .override_uncompressed_size(hidden.size)
        .override_crc(hidden.crc);
    let opened = read_zipfile_from_stream_with_options(&mut stream, options).map_err(failed)?;
    let missing = || BinaryError::malformed("zip member", at, "the header of a file", "another structure");
    each(&mut opened.ok_or_else(missing)?)
}

fn read_companion(archive: &mut ZipArchive<Stream<'_>>, source: &dyn Source, member: &Member) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open(archive, source, member, |unpacked| unpacked.take(LARGEST_COMPANION).read_to_end(&mut bytes));
    read.ok()?.ok()?;
    Some(bytes)
}
