//! Which file a row comes from: a file as named, and the path of a binary in the archives that it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use occupant_core::report::{Extreme, KernelName, KernelRecord};

/// Paths that differ further from their ends only are told whole.
const DEEPEST: usize = 16;

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

    pub(crate) fn of_name(kernel: &'r KernelName) -> Self {
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

/// As much of the end of each place's path as tells it from all others of `among`; the whole path where nothing does.
pub(crate) fn labels(places: &[Place<'_>], among: &[Place<'_>]) -> Vec<String> {
    let mut open: BTreeSet<Place<'_>> = places.iter().chain(among).copied().collect();
    let mut told: BTreeMap<Place<'_>, String> = BTreeMap::new();
    // What is told by fewer parts can't be taken for what needs more: that one's end is another.
    for parts in 1..=DEEPEST {
        let mut ends: BTreeMap<String, Vec<Place<'_>>> = BTreeMap::new();
        open.iter().for_each(|place| ends.entry(place.tail(parts)).or_default().push(*place));
        for (end, places) in ends {
            if let [place] = places[..] {
                open.remove(&place);
                told.insert(place, end);
            }
        }
        if open.is_empty() {
            break;
        }
    }
    let label = |place: &Place<'_>| told.get(place).cloned().unwrap_or_else(|| place.to_string());
    places.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_as_long_as_they_must_be() {
        let place = |file, member| Place { file, member };
        let wheel = [place("d/a.whl", Some("x/_C.so")), place("d/a.whl", Some("x/image.so"))];
        assert_eq!(labels(&wheel, &[]), ["_C.so", "image.so"]);
        assert_eq!(wheel[0].to_string(), "d/a.whl/x/_C.so");
        let cache = [place("cache/one/k.cubin", None), place("cache/two/k.cubin", None)];
        assert_eq!(labels(&cache, &[]), ["one/k.cubin", "two/k.cubin"]);
        // Only one of them is labelled: it could be taken for the other all the same.
        assert_eq!(labels(&cache[..1], &cache), ["one/k.cubin"]);
        // Each is as long as it must be itself.
        let three = [cache[0], cache[1], place("cache/two/other.cubin", None)];
        assert_eq!(labels(&three, &[]), ["one/k.cubin", "two/k.cubin", "other.cubin"]);
        assert_eq!(labels(&[place("k.cubin", None), place("x/k.cubin", None)], &[]), ["k.cubin", "x/k.cubin"]);
    }

    #[test]
    fn what_differs_far_from_its_end_is_told_whole() {
        let deep = "/d".repeat(20);
        let (one, two) = (format!("one{deep}"), format!("two{deep}"));
        let places = [Place { file: &one, member: None }, Place { file: &two, member: None }];
        assert_eq!(labels(&places, &[]), [one.as_str(), two.as_str()]);
    }
}
