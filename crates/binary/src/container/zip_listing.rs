//! The members of a zip file in the order of its directory, those that share a name included.
//!
//! The crate that reads zip files keeps one member a name, the last. Where names come twice, the directory is read here
//! too, by the layout of PKWARE's APPNOTE.TXT (4.3.12, 4.5.3), and gives the others. Not for: their bytes.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek};

use ::zip::ZipArchive;

use super::MOST_MEMBERS;
use super::companions::stem;
use crate::BinaryError;
use crate::fields::{u16_at, u32_at, u64_at};
use crate::source::{Source, read};

/// Bytes of a directory entry before its name.
const FIXED: u64 = 46;
const SIGNATURE: u32 = 0x0201_4b50;
/// The extra field with the values that 32 bits do not hold.
const ZIP64: u16 = 1;

/// A member of a zip file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Member {
    /// One of the crate's list, by its number there.
    Listed(usize),
    /// One that another of its name hides.
    Hidden(Hidden),
}

/// What the directory says of a hidden member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hidden {
    pub(super) name: Vec<u8>,
    /// Where its own header is in the file.
    pub(super) header: u64,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
}

/// The members, and where names come twice the `.json` files by name.
pub(super) struct Listing {
    members: Vec<Member>,
    json: BTreeMap<Vec<u8>, Vec<usize>>,
    given: BTreeMap<Vec<u8>, usize>,
}

impl Listing {
    /// # Errors
    /// Where names come twice and the directory is damaged.
    pub(super) fn of<R: Read + Seek>(archive: &ZipArchive<R>, source: &dyn Source) -> Result<Self, BinaryError> {
        let mut listing = Self {
            members: (0..archive.len()).map(Member::Listed).collect(),
            json: BTreeMap::new(),
            given: BTreeMap::new(),
        };
        if !archive.has_duplicate_names() {
            return Ok(listing);
        }
        let mut listed = HashMap::new();
        for index in 0..archive.len() {
            if let Ok(entry) = archive.by_index_data(index) {
                listed.insert(entry.central_header_start(), index);
            }
        }
        listing.members.clear();
        let mut at = archive.central_directory_start();
        while let Some((mut hidden, next)) = entry(source, at)? {
            // One more than is read, so that the limit is met and told.
            if listing.members.len() as u64 > MOST_MEMBERS {
                break;
            }
            if hidden.name.ends_with(b".json") {
                listing.json.entry(hidden.name.clone()).or_default().push(listing.members.len());
            }
            // Offsets count from where the archive begins, which need not be the file's start.
            hidden.header = hidden.header.saturating_add(archive.offset());
            let known = listed.get(&at).copied().map(Member::Listed);
            listing.members.push(known.unwrap_or(Member::Hidden(hidden)));
            at = next;
        }
        Ok(listing)
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn member(&self, number: usize) -> Option<&Member> {
        self.members.get(number)
    }

    /// The `.json` beside the next cubin of this name: the first belongs to the first `.json` of the name, the second to
    /// the second; where there are fewer, the last serves the rest.
    pub(super) fn companion<R: Read + Seek>(&mut self, archive: &ZipArchive<R>, cubin: &[u8]) -> Option<Member> {
        let json = [stem(cubin)?, b".json"].concat();
        if !archive.has_duplicate_names() {
            return archive.index_for_name_raw(&json).map(Member::Listed);
        }
        let all = self.json.get(&json)?;
        let given = self.given.entry(json).or_default();
        let found = all.get(*given).or_else(|| all.last())?;
        *given = given.saturating_add(1);
        self.members.get(*found).cloned()
    }
}

/// The directory entry at an offset, and where the next begins; `None` behind the last.
fn entry(source: &dyn Source, at: u64) -> Result<Option<(Hidden, u64)>, BinaryError> {
    let what = "zip directory entry";
    if source.size().saturating_sub(at) < FIXED {
        return Ok(None);
    }
    let fixed = read(source, at, FIXED, what)?;
    if u32_at(&fixed, 0) != Some(SIGNATURE) {
        return Ok(None);
    }
    let short = |offset| u16_at(&fixed, offset).unwrap_or(0);
    let word = |offset| u32_at(&fixed, offset).unwrap_or(0);
    let lengths = [short(28), short(30), short(32)].map(u64::from);
    let [name, extra, comment] = lengths;
    let variable = read(source, at.saturating_add(FIXED), name.saturating_add(extra), what)?;
    let (name, extra) = variable.split_at_checked(usize::from(short(28))).unwrap_or_default();
    let mut large = zip64(extra);
    // The values stand there in this order, each only where its own field has no room for it.
    let mut wide = |value: u32| match value {
        u32::MAX => large.next().unwrap_or(u64::from(value)),
        value => u64::from(value),
    };
    let (size, packed, header) = (wide(word(24)), wide(word(20)), wide(word(42)));
    let hidden = Hidden { name: name.to_vec(), header, packed, size, crc: word(16) };
    let next = [FIXED, variable.len() as u64, comment].into_iter().fold(at, u64::saturating_add);
    Ok(Some((hidden, next)))
}

/// The values of the extra field for large files, if it is there.
fn zip64(mut extra: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut values: &[u8] = &[];
    while let (Some(tag), Some(length)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let Some((field, rest)) = extra.get(4..).and_then(|rest| rest.split_at_checked(usize::from(length))) else {
            break;
        };
        if tag == ZIP64 {
            values = field;
        }
        extra = rest;
    }
    (0..values.len()).step_by(8).map_while(|at| u64_at(values, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_32_bits_do_not_hold() {
        let mut bytes = vec![0; 46];
        bytes[..4].copy_from_slice(&SIGNATURE.to_le_bytes());
        bytes[20..24].copy_from_slice(&7_u32.to_le_bytes());
        bytes[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
        bytes[28..30].copy_from_slice(&1_u16.to_le_bytes());
        bytes[30..32].copy_from_slice(&25_u16.to_le_bytes());
        bytes[32..34].copy_from_slice(&3_u16.to_le_bytes());
        bytes[42..46].copy_from_slice(&u32::MAX.to_le_bytes());
        bytes.push(b'a');
        bytes.extend([9, 0, 1, 0, 0, 1, 0, 16, 0]);
        bytes.extend((5_u64 << 32).to_le_bytes());
        bytes.extend((6_u64 << 32).to_le_bytes());
        bytes.extend(b"end");
        let (hidden, next) = entry(&bytes, 0).unwrap().unwrap();
        let expected = Hidden { name: b"a".to_vec(), header: 6 << 32, packed: 7, size: 5 << 32, crc: 0 };
        assert_eq!((hidden, next), (expected, bytes.len() as u64));
        assert_eq!(entry(&bytes, next).unwrap(), None);
        assert!(entry(&bytes[..60].to_vec(), 0).is_err(), "the name and the extra field are cut");
    }
}
