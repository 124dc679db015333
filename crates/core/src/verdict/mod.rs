//! VERDICT: profiler reports to answers. Joins what was measured with the code that a report carries, so that one report
//! gives HAVE, NEED and MEASURED. Not for: the rules (`occupant-advice`), reading reports (`occupant-profile`).

mod guide;
mod needs;
mod profiled;
mod reconcile;
mod record;
mod waits;

use occupant_binary::{Artifact, Source};
use occupant_profile::ncu::{Report, is_report, unpack};
use occupant_profile::{Measurement, ProfileError};

use crate::report::{Diagnostic, Severity, VerdictRecord};

pub use guide::{GuidedLaunch, Observed, Unguided, guide};
pub(crate) use occupant_advice::verdict::measured_shape as launch_shape;
pub use profiled::Profiled;
pub(crate) use reconcile::engine as launch_engine;
pub(crate) use record::gpu as measured_name;
pub use waits::samples_by_instruction;

/// What is asked of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictOptions {
    /// Share of the throughput that needed warps are for, percent, above 0 and below 100.
    pub target: f64,
}

impl Default for VerdictOptions {
    fn default() -> Self {
        Self { target: 90.0 }
    }
}

/// Whether a file is a profiler's, by its content and whatever its name, so that [`measurements`] and [`verdicts`] read it
/// or say what is wrong with it; other files are for [`crate::inspect`].
///
/// # Errors
/// Where its start can't be read.
pub fn is_profile(source: &dyn Source) -> std::io::Result<bool> {
    let length = source.size().min(occupant_profile::START as u64);
    let start = source.fetch(0, usize::try_from(length).unwrap_or(occupant_profile::START))?;
    // PTX is text, too.
    Ok(occupant_profile::is_profile(&start) && Artifact::open(&&*start).is_err())
}

/// What was measured of the launches of one file, without verdicts, and what is wrong with it.
///
/// # Errors
/// [`ProfileError`], as [`verdicts`].
pub fn measurements(file: &str, bytes: &[u8]) -> Result<(Vec<Measurement>, Vec<Diagnostic>), ProfileError> {
    let read = occupant_profile::read(bytes)?;
    Ok((read.measurements, read.faults.iter().map(|found| fault(file, found)).collect()))
}

fn fault(file: &str, fault: &ProfileError) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code: fault.code().to_owned(),
        file: file.to_owned(),
        place: None,
        message: fault.to_string(),
    }
}

/// The verdicts on the launches of one file, and what is wrong with it.
///
/// # Errors
/// [`ProfileError`] where it is no file of a profiler, or of a version that is not known.
pub fn verdicts(
    file: &str,
    bytes: &[u8],
    options: VerdictOptions,
    wanted: &dyn Fn(usize, &Measurement) -> bool,
) -> Result<(Vec<VerdictRecord>, Vec<Diagnostic>), ProfileError> {
    let fault = |found: &ProfileError| fault(file, found);
    if !is_report(bytes) {
        let read = occupant_profile::read(bytes)?;
        let launches = read.measurements.into_iter().enumerate().filter(|(index, measured)| wanted(*index, measured));
        let records =
            launches.map(|(index, measured)| record::record(file, index, &Profiled::without_code(measured), options));
        return Ok((records.collect(), read.faults.iter().map(fault).collect()));
    }
    let unpacked = unpack(bytes)?;
    let report = Report::read(&unpacked)?;
    let mut records = Vec::new();
    for (index, launch) in report.launches.iter().enumerate() {
        let profiled = Profiled::of(&report, launch);
        if wanted(index, &profiled.measured) {
            records.push(record::record(file, index, &profiled, options));
        }
    }
    Ok((records, report.faults.iter().map(fault).collect()))
}
