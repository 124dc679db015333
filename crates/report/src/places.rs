//! Which file a row comes from: a file as named, and the path of a binary in the archives that it is.

use std::collections::BTreeSet;
use std::fmt;

use occupant_core::report::{Extreme, KernelRecord};

/// A binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place<'r> {
    pub(crate) file: &'r str,
    /// Its path in an archive.
    pub(crate) member: Option<&'r str>,
}

impl<'r> Place<'r> {
    pub(crate) fn of(kernel: &'r KernelRecord) -> Self {
        Self { file: &kernel.file, member: kernel.member.as_deref() }
    }

    pub(crate) fn of_extreme(extreme: &'r Extreme) -> Self {
        Self { file: &extreme.file, member: extreme.member.as_deref() }
    }

    /// The last `count` parts of its path.
    fn tail(&self, count: usize) -> String {
        let path = self.to_string();
        let parts: Vec<&str> = path.split('/').collect();
        parts[parts.len().saturating_sub(count)..].join("/")
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member {
            Some(member) => write!(f, "{}/{member}", self.file),
            None => f.write_str(self.file),
        }
    }
}

/// As much of the end of each place's path as tells them all apart.
pub(crate) fn labels(places: &[Place<'_>]) -> Vec<String> {
    /// Deeper paths are cut all the same.
    const DEEPEST: usize = 16;
    let different: BTreeSet<Place<'_>> = places.iter().copied().collect();
    let tells = |count: &usize| {
        let tails: BTreeSet<String> = different.iter().map(|place| place.tail(*count)).collect();
        tails.len() == different.len()
    };
    let count = (1..DEEPEST).find(tells).unwrap_or(DEEPEST);
    places.iter().map(|place| place.tail(count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_as_long_as_they_must_be() {
        let place = |file, member| Place { file, member };
        let wheel = [place("d/a.whl", Some("x/_C.so")), place("d/a.whl", Some("x/image.so"))];
        assert_eq!(labels(&wheel), ["_C.so", "image.so"]);
        assert_eq!(wheel[0].to_string(), "d/a.whl/x/_C.so");
        let cache = [place("cache/one/k.cubin", None), place("cache/two/k.cubin", None)];
        assert_eq!(labels(&cache), ["one/k.cubin", "two/k.cubin"]);
    }
}
