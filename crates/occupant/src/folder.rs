//! What a path stands for: a file, or those of a directory that can hold device code. Not for: reading them.
//!
//! Links are followed, since the directories of build and package tools are made of them. Whatever is reached twice is read
//! once, under its own entry where that is in the directory, else under the first link to it.

use std::collections::BTreeSet;
use std::fs::{File, canonicalize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use occupant_core::ends_like_zip;

use crate::file::Input;

/// A file to inspect.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Named by the person, so it has to hold device code; files of a directory need not.
    pub(crate) named: bool,
}

/// The files that a path stands for.
#[derive(Default)]
pub(crate) struct Listed {
    /// The path itself, or what is in a directory, in the order of the names.
    pub(crate) found: Vec<Found>,
    /// What of the directory could not be listed.
    pub(crate) failed: Vec<(PathBuf, io::Error)>,
    /// Files in it that are packed in a way that is not read.
    pub(crate) packed: Vec<PathBuf>,
    /// Links in it that lead to nothing.
    pub(crate) dangling: Vec<PathBuf>,
}

/// Lists what a path stands for.
pub(crate) fn files(path: &Path) -> Listed {
    if path == Path::new("-") || !path.is_dir() {
        let found = vec![Found { path: path.to_owned(), named: true }];
        return Listed { found, ..Listed::default() };
    }
    let mut walk = Walk::default();
    walk.folder(path.to_owned(), canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    // Only behind all that is there by itself is it known which links lead to something else.
    while !walk.links.is_empty() {
        let mut links = std::mem::take(&mut walk.links);
        links.sort();
        links.into_iter().for_each(|(link, folder)| walk.link(link, &folder));
    }
    let mut listed = walk.listed;
    listed.found.sort_by(|a, b| a.path.cmp(&b.path));
    listed.packed.sort();
    listed.dangling.sort();
    listed
}

/// The way through a directory. Files and folders are told apart by their paths without links.
#[derive(Default)]
struct Walk {
    listed: Listed,
    seen: BTreeSet<PathBuf>,
    /// Links that were met, each with the folder that it is in, by its path without links.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Walk {
    /// A folder and all below it, `real` being its path without links. Links are kept for later.
    fn folder(&mut self, path: PathBuf, real: PathBuf) {
        let mut folders = vec![(path, real)];
        while let Some((folder, real)) = folders.pop() {
            if !self.seen.insert(real.clone()) {
                continue;
            }
            let entries = match std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
                Ok(entries) => entries,
                Err(error) => {
                    self.listed.failed.push((folder, error));
                    continue;
                }
            };
            for entry in entries {
                let (path, own) = (entry.path(), real.join(entry.file_name()));
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push((path, own)),
                    Ok(kind) if kind.is_file() => self.file(path, own),
                    Ok(kind) if kind.is_symlink() => self.links.push((path, real.clone())),
                    _ => {}
                }
            }
        }
    }

    /// A file that was not met before.
    fn file(&mut self, path: PathBuf, real: PathBuf) {
        if self.seen.contains(&real) {
            return;
        }
        match look(&path) {
            Look::Inside => self.listed.found.push(Found { path, named: false }),
            Look::Packed => self.listed.packed.push(path),
            // By another name it can be one to look into: `.ptx` and `.fatbin` are told by that.
            Look::No => return,
        }
        self.seen.insert(real);
    }

    /// What a link in the folder `inside` leads to.
    fn link(&mut self, link: PathBuf, inside: &Path) {
        match canonicalize(&link).and_then(|real| Ok((real.metadata()?, real))) {
            // A folder that the link is in leads here again, and to all that is beside it.
            Ok((kind, real)) if kind.is_dir() && !inside.starts_with(&real) => self.folder(link, real),
            Ok((kind, real)) if kind.is_file() => self.file(link, real),
            Ok(_) => {}
            Err(_) => self.listed.dangling.push(link),
        }
    }
}

/// What becomes of a file of a directory.
enum Look {
    Inside,
    /// bzip2 or xz.
    Packed,
    No,
}

/// Whether a file of a directory is looked into: by its first bytes a binary, a fatbin or an archive, or PTX by name. A
/// file that can't be read counts, so that its error is told.
fn look(path: &Path) -> Look {
    let by_name = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let mut start = [0; 8];
    let inside = match File::open(path).and_then(|mut file| file.read_exact(&mut start)) {
        Err(error) => error.kind() != io::ErrorKind::UnexpectedEof,
        Ok(()) => match start {
            [b'B', b'Z', b'h', b'1'..=b'9', ..] | [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => return Look::Packed,
            [0x7f, b'E', b'L', b'F', ..] | [0x50, 0xED, 0x55, 0xBA, ..] | [b'M', b'Z', ..] => true,
            [b'P', b'K', 3, 4, ..] | [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n'] => true,
            [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => true,
            // An application that Python runs: a line for the system, then a zip.
            [b'#', b'!', ..] => Input::open(path).is_ok_and(|input| ends_like_zip(&input)),
            [0x64, 0x86 | 0xaa, ..] | [0, 0, 0xff, 0xff, ..] => matches!(by_name.as_deref(), Some("o" | "obj")),
            _ => matches!(by_name.as_deref(), Some("ptx" | "tar" | "fatbin")),
        },
    };
    if inside { Look::Inside } else { Look::No }
}
