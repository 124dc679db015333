//! Names of architectures: compute capability `9.0`, target `sm_90a`. Not for: what they can do; that is [`crate::limits`].

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// A compute capability such as `9.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// Generation, e.g. 9 for Hopper.
    pub major: u8,
    /// Revision within the generation.
    pub minor: u8,
}

impl ComputeCapability {
    /// The capability `major.minor`.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// From the number NVIDIA's tools write after `sm_`, e.g. 90 or 121. `None` beyond 25.9.
    #[must_use]
    pub fn from_sm(number: u32) -> Option<Self> {
        Some(Self { major: u8::try_from(number / 10).ok()?, minor: u8::try_from(number % 10).ok()? })
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for ComputeCapability {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// What a compiled image may use beyond its architecture's base features.
///
/// Source: CUDA Programming Guide, "Feature set compiler targets".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// `sm_90`: runs on this and every later minor revision of the generation.
    Base,
    /// `sm_100f`: family-specific; runs on this and later minor revisions of the same family.
    Family,
    /// `sm_90a`: architecture-specific; runs on exactly this capability.
    Specific,
}

/// A compilation target such as `sm_90a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// The capability it was compiled for.
    pub capability: ComputeCapability,
    /// Base, `f` or `a`.
    pub variant: Variant,
}

impl Architecture {
    /// A base target, e.g. `sm_90`.
    #[must_use]
    pub const fn base(capability: ComputeCapability) -> Self {
        Self { capability, variant: Variant::Base }
    }

    /// The suffix NVIDIA's tools print: empty, `f` or `a`.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self.variant {
            Variant::Base => "",
            Variant::Family => "f",
            Variant::Specific => "a",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ComputeCapability { major, minor } = self.capability;
        write!(f, "sm_{major}{minor}{}", self.suffix())
    }
}

impl Serialize for Architecture {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A text that names no architecture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is no architecture: write it as sm_90, sm_90a or 9.0", start_of(found))]
pub struct ParseArchitectureError {
    /// The text as given.
    pub found: String,
}

/// Letters of a given name that an error shows.
pub(crate) const LONGEST: usize = 100;

/// A given name, or its start where it is far longer than any name.
pub(crate) fn start_of(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

impl FromStr for Architecture {
    type Err = ParseArchitectureError;

    /// Accepts `sm_90`, `sm90`, `compute_90`, each with `a` or `f`, and `9.0`; case is ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseArchitectureError { found: text.to_owned() };
        let lower = text.trim().to_ascii_lowercase();
        let (digits, variant) = match lower.as_bytes().last() {
            Some(b'a') => (&lower[..lower.len() - 1], Variant::Specific),
            Some(b'f') => (&lower[..lower.len() - 1], Variant::Family),
            _ => (lower.as_str(), Variant::Base),
        };
        let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let named = ["sm_", "sm", "compute_"].iter().find_map(|prefix| digits.strip_prefix(prefix));
        let capability = match (named, digits.split_once('.')) {
            (Some(number), _) if number.len() >= 2 && all_digits(number) => {
                number.parse().ok().and_then(ComputeCapability::from_sm)
            }
            (None, Some((major, minor))) if all_digits(major) && minor.len() == 1 && all_digits(minor) => {
                major.parse().ok().zip(minor.parse().ok()).map(|(major, minor)| ComputeCapability { major, minor })
            }
            _ => None,
        };
        Ok(Self { capability: capability.ok_or_else(error)?, variant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_spelling() {
        for (text, shown) in [
            ("sm_90", "sm_90"),
            ("SM_90A", "sm_90a"),
            ("9.0", "sm_90"),
            ("compute_100f", "sm_100f"),
            ("12.1", "sm_121"),
            ("sm75", "sm_75"),
        ] {
            assert_eq!(text.parse::<Architecture>().unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_architecture() {
        for text in ["", "h100", "sm_", "sm_9", "9", "9.00", "9.", ".0", "sm_9x", "sm_99999", "90", "9.0.1", "a"] {
            assert!(text.parse::<Architecture>().is_err(), "{text}");
        }
    }
}
