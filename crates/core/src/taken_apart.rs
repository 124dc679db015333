//! A function's machine code, taken apart with what its file tells of its flow. Not for: what the code says.

use occupant_binary::Function;
use occupant_sass::{Analysis, Code, Known};

/// What a file tells of a function's flow beside its code.
pub(crate) struct Landmarks<'f> {
    /// Offsets of the functions in its section.
    inner: Vec<u32>,
    /// Jumps through tables, with where they lead to, in the order of the code.
    jumps: Vec<(u32, &'f [u32])>,
}

impl<'f> Landmarks<'f> {
    pub(crate) fn of(function: &'f Function) -> Self {
        let inner = function.inner.iter().filter_map(|inner| u32::try_from(inner.offset).ok()).collect();
        let mut jumps: Vec<(u32, &[u32])> = function.jumps.iter().map(|jump| (jump.from, jump.to.as_slice())).collect();
        jumps.sort_by_key(|(from, _)| *from);
        Self { inner, jumps }
    }

    pub(crate) fn known(&self) -> Known<'_> {
        Known { inner: &self.inner, jumps: &self.jumps }
    }
}

/// The code taken apart, or why it is not: damaged code has no need.
pub(crate) fn taken_apart(code: &Code<'_>, known: &Known<'_>) -> Result<Analysis, String> {
    let analysis = Analysis::new(code, known);
    match (analysis.instructions.is_empty(), analysis.trailing_bytes + analysis.structure.flow.stray) {
        (true, _) => Err("it has no code".to_owned()),
        (false, 0) => Ok(analysis),
        (false, _) => Err("its code is damaged".to_owned()),
    }
}
