//! The `.json` that Triton writes beside a `.cubin`, for archives that are read as a stream: it can stand before its cubin
//! or after it.
//!
//! Not for: what stands in it; that is the caller's to read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

use super::LARGEST_COMPANION;
use crate::BinaryError;

/// Bytes of metadata and names that are kept of one archive. A cache of ten thousand kernels has some 30 MB.
const MOST_KEPT: u64 = 64 << 20;

/// What a cubin's name ends with.
const CUBIN: &[u8] = b".cubin";
/// What its metadata's name ends with.
const JSON: &[u8] = b".json";

/// The name that cubin and metadata share; `None` where this is no cubin.
pub(super) fn stem(cubin: &[u8]) -> Option<&[u8]> {
    cubin.strip_suffix(CUBIN)
}

/// A path without the parts that lead nowhere: tar writes `./a/x` for what it was given as `.`, and `a/x` for `a`.
fn plain(path: &[u8]) -> Cow<'_, [u8]> {
    let leads_somewhere = |part: &&[u8]| !part.is_empty() && *part != b".";
    let parts = || path.split(|byte| *byte == b'/');
    if parts().all(|part| leads_somewhere(&part)) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(parts().filter(leads_somewhere).collect::<Vec<_>>().join(&b'/'))
}

/// Every `.json` of an archive, by the name that it shares with its cubin.
#[derive(Default)]
pub(super) struct Companions {
    by_stem: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    kept: u64,
    given: BTreeMap<Vec<u8>, usize>,
}

impl Companions {
    /// Keeps a file where it is a `.json`. One that can't be read is left out: the archive's own pass tells that.
    ///
    /// # Errors
    /// [`BinaryError::OverLimit`] where this would be more than is kept.
    pub(super) fn take(&mut self, name: &[u8], file: &mut impl Read) -> Result<(), BinaryError> {
        let Some(stem) = name.strip_suffix(JSON).map(plain) else { return Ok(()) };
        let mut bytes = Vec::new();
        if file.take(LARGEST_COMPANION.saturating_add(1)).read_to_end(&mut bytes).is_err() {
            return Ok(());
        }
        let size = (stem.len() as u64).saturating_add(bytes.len() as u64);
        self.kept = self.kept.saturating_add(size);
        if self.kept > MOST_KEPT {
            return Err(BinaryError::OverLimit { what: "size of the .json files of one archive", limit: MOST_KEPT });
        }
        self.by_stem.entry(stem.into_owned()).or_default().push(bytes);
        Ok(())
    }

    /// The metadata of the next cubin of this name: the first belongs to the first `.json` of the name, the second to the
    /// second; where there are fewer, the last serves the rest.
    pub(super) fn of(&mut self, cubin: &[u8]) -> Option<Vec<u8>> {
        let stem = plain(stem(cubin)?);
        let all = self.by_stem.get(stem.as_ref())?;
        let given = self.given.entry(stem.to_vec()).or_default();
        let found = all.get(*given).or_else(|| all.last());
        *given = given.saturating_add(1);
        found.cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_name_belongs_to_the_first() {
        let mut companions = Companions::default();
        for (name, text) in [("k.json", "1"), ("k.ttir", "no"), ("k.json", "2"), ("other.json", "3")] {
            companions.take(name.as_bytes(), &mut text.as_bytes()).unwrap();
        }
        let mut of = |name: &str| companions.of(name.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        let given = ["k.cubin", "k.so", "k.cubin", "k.cubin", "alone.cubin"].map(&mut of);
        assert_eq!(given.map(|text| text.unwrap_or_default()), ["1", "", "2", "2", ""]);
    }

    #[test]
    fn one_place_has_several_names() {
        let mut companions = Companions::default();
        for (name, text) in [("a/x.json", "1"), ("./b/x.json", "2"), ("./c//./x.json", "3"), (".hidden/x.json", "4")] {
            companions.take(name.as_bytes(), &mut text.as_bytes()).unwrap();
        }
        let mut of = |name: &str| companions.of(name.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        let given = ["./a/x.cubin", "b/x.cubin", "c/x.cubin", ".hidden/x.cubin", "hidden/x.cubin"].map(&mut of);
        assert_eq!(given.map(|text| text.unwrap_or_default()), ["1", "2", "3", "4", ""]);
    }
}
