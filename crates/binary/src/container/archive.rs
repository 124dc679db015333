//! Static libraries: `ar` of Unix and Windows.

use object::ReadCache;
use object::read::archive::ArchiveFile;

use super::Visit;
use crate::reader::SourceReader;
use crate::source::Source;
use crate::{BinaryError, Window};

/// The names of all members together, as multiples of the library: many members can share one long name.
const NAMES: u64 = 16;

pub(super) fn members(visit: &mut Visit<'_>, source: &dyn Source, path: &str, depth: usize) -> Result<(), BinaryError> {
    let failed = |error: object::Error| BinaryError::Container { kind: "static library", reason: error.to_string() };
    let cache = ReadCache::new(SourceReader::new(source));
    let archive = ArchiveFile::parse(&cache).map_err(failed)?;
    let allowed = source.size().saturating_mul(NAMES);
    let mut names = 0_u64;
    for member in archive.members() {
        // After a broken header the rest can't be found.
        let member = member.map_err(failed)?;
        names = names.saturating_add(member.name().len() as u64);
        if names > allowed {
            return Err(BinaryError::OverLimit { what: "size of names that members share", limit: allowed });
        }
        let name = visit.place(path, member.name());
        let (offset, size) = member.file_range();
        match Window::new(source, offset..offset.saturating_add(size), "library member") {
            Ok(window) => visit.stored(&window, &name, depth, &mut |_| None)?,
            Err(error) => visit.fault(&name, Err(error)),
        }
    }
    Ok(())
}
