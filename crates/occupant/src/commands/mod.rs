//! One file a command: from flags to a printed answer and a status.

pub(crate) mod budget;
pub(crate) mod calc;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod gpus;
pub(crate) mod inspect;
pub(crate) mod launch;
pub(crate) mod manual;
pub(crate) mod need;
pub(crate) mod probe;
pub(crate) mod strip;
pub(crate) mod sweep;
pub(crate) mod verdict;

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Done,
    /// The answer is no.
    No,
    /// Something could not be done; what could be is printed.
    CouldNot,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::No => Self::from(1),
            Status::CouldNot => Self::from(2),
        }
    }
}
