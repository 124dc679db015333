//! Gives every file in archives a path of its own: archives can hold several files of one name.
//!
//! Not for: what a path means; that is the archives' own business.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How often each path came, by hash: a million paths of 64 KiB would fill the memory. Where two paths share a hash, the
/// second gets a number that it would not need.
#[derive(Default)]
pub(super) struct Places(HashMap<u64, u32>);

impl Places {
    /// `path` where it is new, else with the first number that makes it new: `a.so`, `a.so#2`, `a.so#3`.
    pub(super) fn unique(&mut self, path: String) -> String {
        let Some(last) = self.0.get(&hash(&path)).copied() else {
            self.0.insert(hash(&path), 1);
            return path;
        };
        let mut number = last;
        loop {
            number = number.saturating_add(1);
            let named = format!("{path}#{number}");
            let taken = self.0.contains_key(&hash(&named));
            if !taken || number == u32::MAX {
                self.0.insert(hash(&named), 1);
                // Kept, so that a thousand files of one name do not count up from 2 each.
                self.0.insert(hash(&path), number);
                return named;
            }
        }
    }
}

/// The same on every run and machine.
fn hash(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_paths_are_the_same() {
        let mut places = Places::default();
        let given = ["a", "b", "a", "a#3", "a", "a#2", "a"].map(|path| places.unique(path.to_owned()));
        assert_eq!(given, ["a", "b", "a#2", "a#3", "a#4", "a#2#2", "a#5"]);
    }
}
