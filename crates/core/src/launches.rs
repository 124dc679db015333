//! Real launch shapes by kernel name, from a CSV file: `kernel,block,shared_dynamic`.

use std::collections::BTreeMap;
use std::io::Read;

use thiserror::Error;

use crate::size::parse_size;

/// One launch of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    /// Threads per block.
    pub block: u32,
    /// Dynamic shared memory per block in bytes; `None` where the file leaves it empty.
    pub shared_dynamic: Option<u32>,
}

/// Launches by kernel name.
#[derive(Debug, Clone, Default)]
pub struct Launches {
    by_name: BTreeMap<String, Vec<Launch>>,
}

/// A file of launches that can't be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LaunchesError {
    /// Not CSV.
    #[error("launches: {0}; expected CSV with the columns kernel,block,shared_dynamic")]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error("launches: no column `{column}`; expected kernel,block and optionally shared_dynamic")]
    MissingColumn {
        /// The column.
        column: &'static str,
    },
    /// A value that is none.
    #[error("launches, line {line}: `{found}` is no {what}")]
    Value {
        /// Line of the file.
        line: u64,
        /// What it should be.
        what: &'static str,
        /// What is there.
        found: String,
    },
}

impl Launches {
    /// Reads the CSV. Blank lines are skipped; several launches of one kernel are all kept.
    ///
    /// # Errors
    /// [`LaunchesError`] with the line.
    pub fn read(input: impl Read) -> Result<Self, LaunchesError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let headers = reader.headers()?.clone();
        let column = |names: &[&str]| headers.iter().position(|header| names.contains(&header));
        let kernel = column(&["kernel", "name"]).ok_or(LaunchesError::MissingColumn { column: "kernel" })?;
        let block = column(&["block", "threads"]).ok_or(LaunchesError::MissingColumn { column: "block" })?;
        let shared = column(&["shared_dynamic", "smem_dynamic"]);
        let mut launches = Self::default();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let value = |what, found: &str| LaunchesError::Value { line, what, found: found.to_owned() };
            let block_text = record.get(block).unwrap_or("");
            let threads = block_text.parse().ok().filter(|threads| *threads > 0);
            let launch = Launch {
                block: threads.ok_or_else(|| value("block size", block_text))?,
                shared_dynamic: match shared.and_then(|shared| record.get(shared)).filter(|text| !text.is_empty()) {
                    None => None,
                    Some(text) => Some(parse_size(text).map_err(|_| value("size", text))?),
                },
            };
            let name = record.get(kernel).unwrap_or("").to_owned();
            let of_kernel = launches.by_name.entry(name).or_default();
            if !of_kernel.contains(&launch) {
                of_kernel.push(launch);
            }
        }
        Ok(launches)
    }

    /// The launches of a kernel, found by its mangled or demangled name, or by the demangled name without parameters.
    #[must_use]
    pub fn of(&self, name: &str, demangled: &str) -> &[Launch] {
        if self.by_name.is_empty() {
            return &[];
        }
        let plain = occupant_binary::shorten(demangled, usize::MAX);
        [name, demangled, plain.as_ref()].into_iter().find_map(|name| self.by_name.get(name)).map_or(&[], Vec::as_slice)
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
    }

    #[test]
    fn faults_name_the_line() {
        let error = |csv: &str| Launches::read(csv.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("kernel,block\na,128\nb,many\n"), "launches, line 3: `many` is no block size");
        assert!(error("kernel,threads_x\n").contains("no column `block`"));
        assert!(error("kernel,block\na,0\n").contains("no block size"));
    }
}
