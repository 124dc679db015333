//! Zip files: Python wheels, `.pt2`, Windows packages. Stored members are read in place, deflated ones unpacked.

use std::io::{BufReader, Read};

use ::zip::{CompressionMethod, ZipArchive};

use super::kind::starts_like_device_code;
use super::{LARGEST_COMPANION, Visit, join};
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let failed = |error: ::zip::result::ZipError| BinaryError::Container { kind: "zip", reason: error.to_string() };
    let mut archive =
        ZipArchive::new(BufReader::new(SourceReader::new(source))).map_err(|error| match failed(error) {
            // The reader's word for a download that broke off.
            BinaryError::Container { kind, reason } if reason.contains("Could not find EOCD") => {
                let reason = "the directory at its end is missing: the file is cut or no zip".to_owned();
                BinaryError::Container { kind, reason }
            }
            other => other,
        })?;
    for index in 0..archive.len() {
        let (name, stored) = {
            let member = match archive.by_index_raw(index) {
                Ok(member) => member,
                Err(error) => {
                    visit.fault(path, Err(failed(error)));
                    continue;
                }
            };
            if !member.is_file() {
                continue;
            }
            let in_place = member.compression() == CompressionMethod::Stored && !member.encrypted();
            let range = member.data_start().map(|start| start..start.saturating_add(member.size()));
            (String::from_utf8_lossy(member.name_raw()).into_owned(), range.filter(|_| in_place))
        };
        let member_path = join(path, &name);
        let companion = companion(&mut archive, &name);
        if let Some(range) = stored {
            match Window::new(source, range, "stored member") {
                Ok(window) if starts_like_device_code(&window) => {
                    visit.stored(&window, &member_path, depth, companion)?
                }
                Ok(_) => visit.count_member()?,
                Err(error) => visit.fault(&member_path, Err(error)),
            }
            continue;
        }
        let outcome = match archive.by_index(index) {
            Ok(mut member) => visit.packed(&mut member, &member_path, depth, companion),
            Err(error) => Err(failed(error)),
        };
        let over = matches!(outcome, Err(BinaryError::OverLimit { .. }));
        visit.fault(&member_path, outcome);
        if over {
            break;
        }
    }
    Ok(())
}

/// The metadata that Triton writes beside `name.cubin`.
fn companion<R: Read + std::io::Seek>(archive: &mut ZipArchive<R>, name: &str) -> Option<Vec<u8>> {
    let json = format!("{}.json", name.strip_suffix(".cubin")?);
    let member = archive.by_name(&json).ok()?;
    let mut bytes = Vec::new();
    member.take(LARGEST_COMPANION).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
