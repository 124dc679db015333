//! Families of compute capabilities that share one instruction encoding. Not for: what an SM of them holds.

use std::fmt;
use std::str::FromStr;

use occupant_hardware::ComputeCapability;
use thiserror::Error;

/// Compute capabilities whose machine code has the same opcodes, named by the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// 7.0 and 7.2.
    Sm70,
    /// 7.5.
    Sm75,
    /// 8.0.
    Sm80,
    /// 8.6, 8.7 and 8.8.
    Sm86,
    /// 8.9.
    Sm89,
    /// 9.0.
    Sm90,
    /// 10.0 and 10.3.
    Sm100,
    /// 10.7.
    Sm107,
    /// 11.0, named 10.1 before CUDA 13.
    Sm110,
    /// 12.0 and 12.1.
    Sm120,
}

/// Why machine code can't be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotDecoded {
    /// Another encoding.
    #[error("machine code of sm_{}{} is not decoded: before sm_70 its encoding is another", .0.major, .0.minor)]
    TooOld(ComputeCapability),
    /// No opcode table.
    #[error("machine code of sm_{}{} is not decoded: its opcodes are not known", .0.major, .0.minor)]
    Unknown(ComputeCapability),
}

impl NotDecoded {
    /// Stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooOld(_) => "sass_too_old",
            Self::Unknown(_) => "sass_unknown",
        }
    }
}

impl Family {
    /// Every family, oldest first.
    pub const ALL: [Self; 10] = [
        Self::Sm70,
        Self::Sm75,
        Self::Sm80,
        Self::Sm86,
        Self::Sm89,
        Self::Sm90,
        Self::Sm100,
        Self::Sm107,
        Self::Sm110,
        Self::Sm120,
    ];

    /// The family of a compute capability.
    ///
    /// # Errors
    /// [`NotDecoded`] before 7.0 and where no table exists.
    pub const fn of(capability: ComputeCapability) -> Result<Self, NotDecoded> {
        Ok(match (capability.major, capability.minor) {
            (7, 0 | 2) => Self::Sm70,
            (7, 5) => Self::Sm75,
            (8, 0) => Self::Sm80,
            (8, 6..=8) => Self::Sm86,
            (8, 9) => Self::Sm89,
            (9, 0) => Self::Sm90,
            (10, 0 | 3) => Self::Sm100,
            (10, 7) => Self::Sm107,
            (10, 1) | (11, 0) => Self::Sm110,
            (12, 0 | 1) => Self::Sm120,
            (..=6, _) => return Err(NotDecoded::TooOld(capability)),
            _ => return Err(NotDecoded::Unknown(capability)),
        })
    }

    /// The capability that names it, as in the data files.
    const fn name(self) -> &'static str {
        match self {
            Self::Sm70 => "7.0",
            Self::Sm75 => "7.5",
            Self::Sm80 => "8.0",
            Self::Sm86 => "8.6",
            Self::Sm89 => "8.9",
            Self::Sm90 => "9.0",
            Self::Sm100 => "10.0",
            Self::Sm107 => "10.7",
            Self::Sm110 => "11.0",
            Self::Sm120 => "12.0",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Families from one to another, both included, as `9.0-11.0` or `9.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FamilyRange {
    first: Family,
    last: Family,
}

impl FamilyRange {
    pub(crate) fn contains(self, family: Family) -> bool {
        (self.first..=self.last).contains(&family)
    }
}

impl FromStr for FamilyRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let named = |name: &str| {
            let family = Family::ALL.into_iter().find(|family| family.name() == name);
            family.ok_or_else(|| format!("`{name}` names no family"))
        };
        Ok(Self { first: named(first)?, last: named(last)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_has_a_family_or_a_reason() {
        let family = |sm| Family::of(ComputeCapability::from_sm(sm).unwrap());
        assert_eq!(family(72), Ok(Family::Sm70));
        assert_eq!(family(87), Ok(Family::Sm86));
        assert_eq!(family(103), Ok(Family::Sm100));
        assert_eq!(family(101), family(110));
        assert_eq!(family(121), Ok(Family::Sm120));
        let too_old = family(61).unwrap_err();
        assert_eq!(too_old.to_string(), "machine code of sm_61 is not decoded: before sm_70 its encoding is another");
        assert_eq!(family(130).unwrap_err().code(), "sass_unknown");
    }
}
