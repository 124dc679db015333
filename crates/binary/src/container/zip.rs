//! Zip files: Python wheels, `.pt2`, Windows packages. Stored members are read in place, deflated ones unpacked.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

use ::zip::read::{ZipFile, read_zipfile_from_stream_with_options};
use ::zip::result::ZipError;
use ::zip::{CompressionMethod, ZipArchive, ZipReadOptions};

use super::kind::starts_like_device_code;
use super::zip_listing::{Hidden, Listing, Member};
use super::{LARGEST_COMPANION, LONGEST_REASON, Visit, failed as failed_to_read};
use crate::names::in_short;
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

type Stream<'s> = BufReader<SourceReader<'s>>;

fn failed(error: ZipError) -> BinaryError {
    let reason = in_short(&error.to_string(), LONGEST_REASON).into_owned();
    BinaryError::Container { kind: "zip", reason }
}

fn archive(source: &dyn Source) -> Result<ZipArchive<Stream<'_>>, BinaryError> {
    ZipArchive::new(BufReader::new(SourceReader::new(source))).map_err(|error| match failed(error) {
        // The reader's word for a download that broke off.
        BinaryError::Container { kind, reason } if reason.contains("Could not find EOCD") => {
            let reason = "the directory at its end is missing: the file is cut or no zip".to_owned();
            BinaryError::Container { kind, reason }
        }
        other => other,
    })
}

pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let mut archive = archive(source)?;
    let mut listing = Listing::of(&archive, source)?;
    // Members have bytes of their own, so all of them have no more than the archive.
    let mut in_place = source.size();
    for number in 0..listing.len() {
        let Some(member) = listing.member(number).cloned() else { continue };
        let (name, stored) = match describe(visit, &mut archive, source, &member) {
            Ok(Some(described)) => described,
            Ok(None) => continue,
            Err(error) => {
                let place = visit.place(path, &listed_name(&archive, &member));
                let over = matches!(error, BinaryError::OverLimit { .. });
                visit.fault(&place, Err(error));
                if over {
                    break;
                }
                continue;
            }
        };
        let place = visit.place(path, &name);
        if let Some(range) = stored {
            let (start, size) = (range.start, range.end.saturating_sub(range.start));
            match Window::new(source, range, "stored member") {
                Ok(window) if starts_like_device_code(&window) => {
                    let Some(left) = in_place.checked_sub(size) else {
                        let (own, found) = ("bytes of its own", "another's bytes");
                        visit.fault(&place, Err(BinaryError::malformed("stored member", start, own, found)));
                        visit.count_member()?;
                        continue;
                    };
                    in_place = left;
                    let companion = &mut beside(&mut archive, &mut listing, source, &name, &place);
                    visit.stored(&window, &place, depth, companion)?;
                }
                Ok(_) => visit.count_member()?,
                Err(error) => visit.fault(&place, Err(error)),
            }
            continue;
        }
        let keep = |visit: &mut Visit<'_>, unpacked: &mut dyn Read| visit.keep(&mut visit.counted(unpacked));
        let kept = open(visit, &mut archive, source, &member, keep).flatten();
        let outcome = kept.and_then(|kept| {
            let companion = &mut beside(&mut archive, &mut listing, source, &name, &place);
            kept.map_or(Ok(()), |kept| visit.file(kept.as_ref(), &place, depth.saturating_add(1), companion))
        });
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
    visit: &mut Visit<'_>,
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
            with_hidden(visit, source, hidden, |_, member| Ok(member.is_file().then(|| (hidden.name.clone(), None))))
        }
    }
}

fn in_place(member: &ZipFile<'_, impl Read>) -> bool {
    member.compression() == CompressionMethod::Stored && !member.encrypted()
}

/// Hands the unpacked bytes of a member to `each`.
fn open<T>(
    visit: &mut Visit<'_>,
    archive: &mut ZipArchive<Stream<'_>>,
    source: &dyn Source,
    member: &Member,
    each: impl FnOnce(&mut Visit<'_>, &mut dyn Read) -> T,
) -> Result<T, BinaryError> {
    match member {
        Member::Listed(index) => {
            let mut member = archive.by_index(*index).map_err(failed)?;
            spend(visit, source, &member)?;
            Ok(each(visit, &mut member))
        }
        Member::Hidden(hidden) => with_hidden(visit, source, hidden, |visit, member| Ok(each(visit, member))),
    }
}

/// Counts what is read of a member: members can lie over each other, and long packed bytes can stand for nothing.
fn spend(visit: &Visit<'_>, source: &dyn Source, member: &ZipFile<'_, impl Read>) -> Result<(), BinaryError> {
    visit.spend(member.compressed_size().min(source.size()))
}

/// A member that the crate's own list lacks, opened at its header in the file. The crate reads it to its end afterwards.
fn with_hidden<T>(
    visit: &mut Visit<'_>,
    source: &dyn Source,
    hidden: &Hidden,
    each: impl FnOnce(&mut Visit<'_>, &mut ZipFile<'_, Stream<'_>>) -> Result<T, BinaryError>,
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
    let mut member = opened.ok_or_else(missing)?;
    spend(visit, source, &member)?;
    each(visit, &mut member)
}

/// The name of a member whose own header can't be read.
fn listed_name(archive: &ZipArchive<Stream<'_>>, member: &Member) -> Vec<u8> {
    match member {
        Member::Listed(index) => {
            let name = archive.name_for_index(*index).and_then(Result::ok);
            name.map_or_else(Vec::new, |name| name.into_owned().into_bytes())
        }
        Member::Hidden(hidden) => hidden.name.clone(),
    }
}

/// Reads the `.json` beside a cubin of this name, once it is asked for.
fn beside<'b>(
    archive: &'b mut ZipArchive<Stream<'_>>,
    listing: &'b mut Listing,
    source: &'b dyn Source,
    name: &'b [u8],
    place: &'b str,
) -> impl FnMut(&mut Visit<'_>) -> Option<Vec<u8>> {
    move |visit| {
        let member = listing.companion(archive, name)?;
        let mut bytes = Vec::new();
        let read = open(visit, archive, source, &member, |visit, unpacked| {
            visit.counted(unpacked).take(LARGEST_COMPANION.saturating_add(1)).read_to_end(&mut bytes)
        });
        match read.and_then(|read| read.map_err(failed_to_read("packed member"))) {
            Ok(_) => Some(bytes),
            Err(error) => {
                visit.fault_if_spent(place, error);
                None
            }
        }
    }
}
