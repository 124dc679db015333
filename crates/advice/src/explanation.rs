//! The form of an answer.

use std::fmt;

/// What failed, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequality {
    /// e.g. `shared memory of a block`.
    pub what: String,
    /// The left side.
    pub needed: u64,
    /// The right side.
    pub allowed: u64,
    /// e.g. `B`; empty for counts.
    pub unit: &'static str,
}

impl Inequality {
    /// How much too much it is; 0 where it holds.
    #[must_use]
    pub const fn over(&self) -> u64 {
        self.needed.saturating_sub(self.allowed)
    }
}

impl fmt::Display for Inequality {
    /// `shared memory of a block: 114688 B needed, 101376 B allowed: 13312 B over`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        write!(f, "{}: {}{unit} needed, {}{unit} allowed", self.what, self.needed, self.allowed)?;
        if self.needed > self.allowed { write!(f, ": {}{unit} over", self.over()) } else { write!(f, ": it fits") }
    }
}

/// A change that makes it fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What to change.
    pub change: String,
    /// What that gives, or what it rests on. Empty where the change says all.
    pub then: String,
}

impl Fix {
    pub(crate) fn new(change: impl Into<String>, then: impl Into<String>) -> Self {
        Self { change: change.into(), then: then.into() }
    }
}

/// What a message means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Stable identifier.
    pub code: &'static str,
    /// The kernel's mangled name, where the message says.
    pub kernel: Option<String>,
    /// The meaning, in a sentence.
    pub says: String,
    /// What failed; `None` where the numbers are not known.
    pub inequality: Option<Inequality>,
    /// Fixes, the smallest first.
    pub fixes: Vec<Fix>,
    /// GPUs on which it fits, of a set of present parts.
    pub fits_on: Vec<String>,
    /// GPUs on which it does not.
    pub fails_on: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// What to add for a fuller answer, with the flag.
    pub missing: Vec<String>,
}
