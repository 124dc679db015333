//! What could not be read of a file: each with its place, and beyond a number only counted.

use crate::BinaryError;

/// Faults of one file that are kept; a file can be made of nothing else.
const MOST: usize = 1000;

/// A part of a file that could not be read; the rest still is.
#[derive(Debug)]
pub struct Fault {
    /// Where.
    pub place: String,
    /// What is wrong there.
    pub error: BinaryError,
    /// Images that are lost with it: they are in no module.
    pub images: u32,
}

/// The faults of one file.
#[derive(Default)]
pub(crate) struct Faults {
    kept: Vec<Fault>,
    more: u32,
    more_images: u32,
}

impl Faults {
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(crate) fn push(&mut self, place: impl Into<String>, error: BinaryError) {
        self.push_images(place, error, 0);
    }

    /// A fault that takes images with it.
    pub(crate) fn push_images(&mut self, place: impl Into<String>, error: BinaryError, images: u32) {
        if self.kept.len() < MOST {
            self.kept.push(Fault { place: place.into(), error, images });
        } else {
            self.more = self.more.saturating_add(1);
            self.more_images = self.more_images.saturating_add(images);
        }
    }

    /// Those that are kept, and how many more there were.
    pub(crate) fn all(mut self) -> Vec<Fault> {
        if self.more > 0 {
            let reason = format!("and {} more places that can't be read", self.more);
            let error = BinaryError::Container { kind: "the same file", reason };
            self.kept.push(Fault { place: String::new(), error, images: self.more_images });
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_a_number_they_are_counted() {
        let mut faults = Faults::default();
        for at in 0..MOST + 7 {
            let error = BinaryError::malformed("thing", at as u64, "right", "wrong");
            faults.push_images("place", error, 2);
        }
        let all = faults.all();
        assert_eq!(all.len(), MOST + 1);
        assert!(all[MOST].error.to_string().contains("and 7 more"), "{}", all[MOST].error);
        assert_eq!(all.iter().map(|fault| fault.images).sum::<u32>(), 2 * (MOST as u32 + 7));
    }
}
