//! Regular expressions of this crate, and what their groups hold.

use regex::{Captures, Regex};

/// Compiles one of the literals of this crate; the tests compile them all.
pub(crate) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this crate, compiled by its tests")
}

/// A group as a number; `None` where it is absent or too large.
pub(crate) fn number<T: std::str::FromStr>(captures: &Captures<'_>, group: usize) -> Option<T> {
    captures.get(group)?.as_str().parse().ok()
}

/// A group as text; `None` where it is absent or blank.
pub(crate) fn text(captures: &Captures<'_>, group: usize) -> Option<String> {
    captures.get(group).map(|found| found.as_str().trim().to_owned()).filter(|found| !found.is_empty())
}
