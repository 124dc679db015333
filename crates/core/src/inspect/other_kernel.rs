//! Whether the metadata beside a file is of a kernel that the file does not have: it is then not used, and that has to be
//! said. Not for: metadata inside archives, nor what it states; that is [`crate::triton`].

use std::sync::atomic::{AtomicBool, Ordering};

use occupant_binary::in_short;

use super::{File, Outcome};
use crate::report::{Diagnostic, KernelRecord, Severity};
use crate::triton::Metadata;

/// Bytes of a name in a message.
const LONGEST_NAME: usize = 200;

/// A kernel that metadata names, and whether the file was seen to have it.
pub(super) struct NamedKernel {
    name: String,
    seen: AtomicBool,
}

impl NamedKernel {
    /// The kernel that the metadata beside a file names, where it names one.
    pub(super) fn beside(file: &File<'_>) -> Option<Self> {
        let name = Metadata::parse(file.companion?).ok()??.name?;
        Some(Self { name, seen: AtomicBool::new(false) })
    }

    /// Takes notice of kernels of the file, on any thread.
    pub(super) fn see(&self, kernels: &[KernelRecord]) {
        if kernels.iter().any(|kernel| *kernel.name == *self.name) {
            self.seen.store(true, Ordering::Relaxed);
        }
    }

    /// What is said of a file whose kernels were all seen and have another name.
    pub(super) fn missing(self, file: &File<'_>, outcome: &Outcome) -> Option<Diagnostic> {
        let totals = &outcome.totals;
        let all_seen = totals.kernels > 0 && totals.filtered == 0 && totals.failed == 0 && totals.not_selected == 0;
        (all_seen && !self.seen.into_inner()).then(|| Diagnostic {
            severity: Severity::Warning,
            code: "metadata".to_owned(),
            file: file.name.to_owned(),
            place: None,
            message: format!(
                "the .json beside it is not used: it is of kernel `{}`, which is not in the file",
                in_short(&self.name, LONGEST_NAME)
            ),
        })
    }
}
