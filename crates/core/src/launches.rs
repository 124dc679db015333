//! Real launch shapes by kernel name: from a CSV file `kernel,block,shared_dynamic`, or from what a profiler measured.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use occupant_binary::shorten;
use occupant_profile::{Measurement, ProfileError};
use thiserror::Error;

use crate::size::{parse_block, parse_size};

/// One launch of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    /// Threads per block.
    pub block: u32,
    /// Dynamic shared memory per block in bytes; `None` where the file leaves it empty.
    pub shared_dynamic: Option<u32>,
}

/// Launches by kernel name.
#[derive(Debug, Default)]
pub struct Launches {
    by_name: BTreeMap<String, OfKernel>,
}

#[derive(Debug, Default)]
struct OfKernel {
    launches: BTreeSet<Launch>,
    /// A kernel of this name was found; set from any thread.
    found: AtomicBool,
}

/// A file of launches that can't be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LaunchesError {
    /// Not CSV.
    #[error("not CSV with the columns kernel,block,shared_dynamic; names with commas need quotes")]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error("no column `{column}`; expected kernel,block and optionally shared_dynamic")]
    MissingColumn {
        /// The column.
        column: &'static str,
    },
    /// Two columns for one value, so which of them counts is not known.
    #[error("column `{found}` and another stand for the same value")]
    ColumnTwice {
        /// The later one as written.
        found: String,
    },
    /// A profiler's file that can't be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A profiler's file without a launch shape.
    #[error("no launch in it has a kernel name and a block size")]
    Empty,
    /// A value that is none.
    #[error("line {line}: `{found}` is no {what}")]
    Value {
        /// Line of the file.
        line: u64,
        /// What it should be.
        what: &'static str,
        /// What is there.
        found: String,
    },
}

/// The one column that has any of these names, where there is one.
fn column(headers: &csv::StringRecord, names: &[&str]) -> Result<Option<usize>, LaunchesError> {
    let named = |header: &str| names.contains(&header.trim_start_matches('\u{feff}').to_ascii_lowercase().as_str());
    let mut found = headers.iter().enumerate().filter(|(_, header)| named(header));
    let first = found.next().map(|(at, _)| at);
    match found.next() {
        Some((_, second)) => Err(LaunchesError::ColumnTwice { found: second.to_owned() }),
        None => Ok(first),
    }
}

impl Launches {
    /// Reads the CSV. Blank lines are skipped; several launches of one kernel are all kept.
    ///
    /// # Errors
    /// [`LaunchesError`] with the line.
    pub fn read(input: impl Read) -> Result<Self, LaunchesError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let headers = reader.headers()?.clone();
        let column = |names: &[&str]| column(&headers, names);
        let kernel = column(&["kernel", "name"])?.ok_or(LaunchesError::MissingColumn { column: "kernel" })?;
        let block = column(&["block", "threads"])?.ok_or(LaunchesError::MissingColumn { column: "block" })?;
        let shared = column(&["shared_dynamic", "smem_dynamic"])?;
        let mut launches = Self::default();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let value = |what, found: &str| LaunchesError::Value { line, what, found: found.to_owned() };
            let block_text = record.get(block).unwrap_or("");
            let threads = parse_block(block_text).ok().filter(|threads| *threads > 0);
            let launch = Launch {
                block: threads.ok_or_else(|| value("block size", block_text))?,
                shared_dynamic: match shared.and_then(|shared| record.get(shared)).filter(|text| !text.is_empty()) {
                    None => None,
                    Some(text) => Some(parse_size(text).map_err(|_| value("size", text))?),
                },
            };
            let name = record.get(kernel).unwrap_or("").to_owned();
            launches.by_name.entry(name).or_default().launches.insert(launch);
        }
        Ok(launches)
    }

    /// Reads a file of any kind: the CSV, a profiler's report, the CSV it prints, or a PyTorch trace.
    ///
    /// # Errors
    /// [`LaunchesError`]: of the CSV where it is no profiler's file either.
    pub fn read_any(bytes: &[u8]) -> Result<Self, LaunchesError> {
        let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let binary = occupant_profile::ncu::is_report(bytes) || matches!(start, Some(b'{' | b'['));
        if binary {
            return Self::of_read(occupant_profile::read(bytes)?);
        }
        Self::read(bytes).or_else(|error| match (error, occupant_profile::read(bytes)) {
            (
                LaunchesError::MissingColumn { .. } | LaunchesError::ColumnTwice { .. } | LaunchesError::Csv(_),
                Ok(read),
            ) if !read.measurements.is_empty() => Self::of_read(read),
            (error, _) => Err(error),
        })
    }

    /// The launches of a profiler's file; one that is damaged has not told all of them.
    fn of_read(read: occupant_profile::Read) -> Result<Self, LaunchesError> {
        match read.faults.into_iter().next() {
            Some(fault) => Err(fault.into()),
            None => Self::of_measurements(&read.measurements),
        }
    }

    /// The launches that a profiler measured. Traces tell static and dynamic shared memory together only: dynamic shared
    /// memory is then not known.
    fn of_measurements(measured: &[Measurement]) -> Result<Self, LaunchesError> {
        let mut launches = Self::default();
        for measured in measured {
            let Some(block) = measured.threads().and_then(|threads| u32::try_from(threads).ok()) else { continue };
            let dynamic = measured.get("launch__shared_mem_per_block_dynamic").map(|bytes| bytes as u32);
            let name = measured.mangled.clone().unwrap_or_else(|| measured.name.clone());
            launches.by_name.entry(name).or_default().launches.insert(Launch { block, shared_dynamic: dynamic });
        }
        if launches.by_name.is_empty() { Err(LaunchesError::Empty) } else { Ok(launches) }
    }

    /// The launches of a kernel, found by its mangled or demangled name, or by the demangled name without parameters and
    /// with or without return type.
    #[must_use]
    pub fn of(&self, name: &str, demangled: &str) -> Vec<Launch> {
        if self.by_name.is_empty() {
            return Vec::new();
        }
        let plain = shorten(demangled, usize::MAX);
        let with_return_type = demangled.find(plain.as_ref()).map(|at| &demangled[..at + plain.len()]);
        let names = [Some(name), Some(demangled), Some(plain.as_ref()), with_return_type];
        let Some(of_kernel) = names.into_iter().flatten().find_map(|name| self.by_name.get(name)) else {
            return Vec::new();
        };
        of_kernel.found.store(true, Ordering::Relaxed);
        of_kernel.launches.iter().copied().collect()
    }

    /// Names that no kernel had so far.
    #[must_use]
    pub fn unmatched(&self) -> Vec<&str> {
        let unmatched = self.by_name.iter().filter(|(_, of_kernel)| !of_kernel.found.load(Ordering::Relaxed));
        unmatched.map(|(name, _)| name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_any_form_of_the_name() {
        let csv = "kernel, block, shared_dynamic\n_Z6kernelPf,128,48K\nkernel(int),64,\nsaxpy,256,0\nsaxpy,512,0\n";
        let launches = Launches::read(csv.as_bytes()).unwrap();
        assert_eq!(launches.of("_Z6kernelPf", "kernel(float*)"), [Launch { block: 128, shared_dynamic: Some(49152) }]);
        assert_eq!(launches.of("_Z6kerneli", "kernel(int)"), [Launch { block: 64, shared_dynamic: None }]);
        assert_eq!(launches.of("_Z5saxpyi", "saxpy(int)").len(), 2);
        assert!(launches.of("other", "other").is_empty());
        assert!(launches.unmatched().is_empty());
        let csv = "kernel,block\n\"void k<float, 8>\",128\nnosuch,16x4\n";
        let launches = Launches::read(csv.as_bytes()).unwrap();
        assert_eq!(launches.of("_Z1kIfLi8EEvPf", "void k<float, 8>(float*)")[0].block, 128);
        assert_eq!(launches.unmatched(), ["nosuch"]);
    }

    #[test]
    fn what_a_profiler_printed() {
        let csv = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\",\"launch__shared_mem_per_block_dynamic\"\n\
                   \"\",\"\",\"\",\"\",\"\",\"byte/block\"\n\
                   \"0\",\"saxpy(int, float *)\",\"(256, 1, 1)\",\"(80, 1, 1)\",\"9.0\",\"49152\"\n";
        let launches = Launches::read_any(csv.as_bytes()).unwrap();
        let found = launches.of("_Z5saxpyiPf", "saxpy(int, float *)");
        assert_eq!(found, [Launch { block: 256, shared_dynamic: Some(49152) }]);
        let trace = r#"{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "saxpy(int)", "ts": 1, "dur": 5,
            "args": {"grid": [80, 1, 1], "block": [128, 2, 1], "registers per thread": 16, "shared memory": 0}}]}"#;
        let launches = Launches::read_any(trace.as_bytes()).unwrap();
        assert_eq!(launches.of("_Z5saxpyi", "saxpy(int)"), [Launch { block: 256, shared_dynamic: None }]);
    }

    #[test]
    fn faults_name_the_line() {
        let error = |csv: &str| Launches::read(csv.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("kernel,block\na,128\nb,many\n"), "line 3: `many` is no block size");
        assert!(error("kernel,threads_x\n").contains("no column `block`"));
        assert!(error("kernel,block\na,0\n").contains("no block size"));
        let twice = "column `Kernel` and another stand for the same value";
        assert_eq!(error("kernel,Kernel,block\na,b,64\n"), twice);
        assert_eq!(error("kernel,threads,block\na,32,64\n"), twice.replace("Kernel", "block"));
        assert_eq!(Launches::read_any(b"name,Kernel,block\na,b,64\n").unwrap_err().to_string(), twice);
        assert!(error("kernel,block,smem_dynamic,shared_dynamic\na,64,0,1\n").contains("`shared_dynamic` and another"));
    }
}
