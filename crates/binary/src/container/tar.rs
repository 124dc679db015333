//! Tar files, plain or packed with gzip or zstd, and single packed files.

use std::io::{self, BufReader, Read};

use super::kind::{Kind, starts_like_device_code};
use super::{MOST_UNPACKED, START, Visit, join};
use crate::compression::zstd_reader;
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

fn failed(kind: &'static str) -> impl Fn(io::Error) -> BinaryError {
    move |error| BinaryError::Container { kind, reason: error.to_string() }
}

/// A plain tar: its members are read in place.
pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let mut archive = ::tar::Archive::new(BufReader::new(SourceReader::new(source)));
    for entry in archive.entries().map_err(failed("tar"))? {
        let entry = entry.map_err(failed("tar"))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = join(path, &String::from_utf8_lossy(&entry.path_bytes()));
        let start = entry.raw_file_position();
        match Window::new(source, start..start.saturating_add(entry.size()), "tar member") {
            Ok(window) if starts_like_device_code(&window) => visit.stored(&window, &name, depth, None),
            Ok(_) => visit.count_member()?,
            Err(error) => visit.fault(&name, Err(error)),
        }
    }
    Ok(())
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
        Kind::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
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
    let mut archive = ::tar::Archive::new(whole);
    for entry in archive.entries().map_err(failed("tar"))? {
        let mut entry = entry.map_err(failed("tar"))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = join(path, &String::from_utf8_lossy(&entry.path_bytes()));
        let outcome = visit.packed(&mut entry, &name, depth, None);
        let over = matches!(outcome, Err(BinaryError::OverLimit { .. }));
        visit.fault(&name, outcome);
        if over {
            break;
        }
    }
    Ok(())
}
