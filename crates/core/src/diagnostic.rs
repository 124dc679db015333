//! Turns faults of the libraries into [`Diagnostic`]s: data with a place, never a log line.

use occupant_binary::{BinaryError, Fault};

use crate::report::{Diagnostic, Severity};

pub(crate) fn from_binary(file: &str, place: Option<String>, error: &BinaryError) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code: error.code().to_owned(),
        file: file.to_owned(),
        place: place.filter(|place| !place.is_empty()),
        message: error.to_string(),
    }
}

pub(crate) fn from_fault(file: &str, fault: &Fault) -> Diagnostic {
    from_binary(file, Some(fault.place.clone()), &fault.error)
}
