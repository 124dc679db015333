//! Times of an experiment from a CSV file of one's own: occupancy, or the dynamic shared memory that made it, and a time.

use std::io::Read;

use occupant_occupancy::{Shape, occupancy};
use thiserror::Error;

use super::read::{Axis, Of, Run, read};
use crate::calc::CalcError;
use crate::report::ProbeReading;
use crate::size::parse_size;
use crate::subject::Subject;

/// A file of timings that can't be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TimingsError {
    /// Not CSV.
    #[error("not CSV with the columns shared_dynamic,time")]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error("no column `{column}`; expected {OCCUPANCY} and time")]
    MissingColumn {
        /// The column.
        column: &'static str,
    },
    /// A column comes twice, so which of the two counts is not known.
    #[error("the column `{column}` comes twice: keep one of them")]
    ColumnTwice {
        /// The column.
        column: String,
    },
    /// More than one column says the occupancy.
    #[error("the columns `{first}` and `{second}` both say the occupancy: keep one of them")]
    TwoColumns {
        /// The one.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
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
    /// Dynamic shared memory without the shape that makes an occupancy of it.
    #[error(
        "which kernel? shared_dynamic becomes an occupancy with the rest of the launch: name the file, --kernel and \
         --gpu, or give --gpu, --registers and --block; else give a column blocks_per_sm"
    )]
    NoShape,
    /// A launch that is refused.
    #[error(
        "line {line}: a launch with {dynamic} bytes of dynamic shared memory is refused: check the shape and the GPU"
    )]
    NoLaunch {
        /// Line of the file.
        line: u64,
        /// The amount.
        dynamic: u32,
    },
    /// Blocks that the shape does not allow.
    #[error(
        "line {line}: {blocks} blocks per SM, an SM holds {most} of this shape: give the launch's own with the shape flags"
    )]
    MoreBlocks {
        /// Line of the file.
        line: u64,
        /// Blocks of the line.
        blocks: u32,
        /// Blocks that an SM holds.
        most: u32,
    },
    /// The shape or the GPU.
    #[error(transparent)]
    Calc(#[from] CalcError),
}

const OCCUPANCY: &str = "one of shared_dynamic, blocks_per_sm, percent";

/// What a column of occupancy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Shared,
    Blocks,
    Percent,
}

const COLUMNS: [(Column, &str); 3] =
    [(Column::Shared, "shared_dynamic"), (Column::Blocks, "blocks_per_sm"), (Column::Percent, "percent")];

/// What the times of a CSV file say; `subject` is the rest of the launch, where it is known.
///
/// # Errors
/// [`TimingsError`] with the line.
pub fn read_timings(input: impl Read, subject: Option<&Subject>) -> Result<ProbeReading, TimingsError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
    let headers = reader.headers()?.clone();
    let is = |header: &str, name: &str| header.trim_start_matches('\u{feff}').eq_ignore_ascii_case(name);
    let read_here = COLUMNS.iter().map(|(_, name)| *name).chain(["time"]);
    for name in read_here {
        if headers.iter().filter(|header| is(header, name)).count() > 1 {
            return Err(TimingsError::ColumnTwice { column: name.to_owned() });
        }
    }
    let place = |name: &str| headers.iter().position(|header| is(header, name));
    let mut found = COLUMNS.iter().filter_map(|(column, name)| Some((*column, *name, place(name)?)));
    let (column, first, at) = found.next().ok_or(TimingsError::MissingColumn { column: "shared_dynamic" })?;
    if let Some((_, second, _)) = found.next() {
        return Err(TimingsError::TwoColumns { first, second });
    }
    let time = place("time").ok_or(TimingsError::MissingColumn { column: "time" })?;
    let mut runs = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let value = |what, found: &str| TimingsError::Value { line, what, found: found.to_owned() };
        let text = record.get(time).unwrap_or("");
        let time_ns = parse_time(text).ok_or_else(|| value("time such as 1.25ms, 310us or 0.8 (ms)", text))?;
        let amount = record.get(at).unwrap_or("");
        runs.push(Run { time_ns, ..run(column, amount, line, subject)? });
    }
    let warps = column != Column::Percent && subject.is_some();
    let axis = match column {
        _ if warps => Axis::Warps,
        Column::Percent => Axis::Percent,
        _ => Axis::Blocks,
    };
    let of = Of {
        kernel: subject.and_then(|subject| Some(subject.kernel.as_ref()?.demangled.to_string())),
        gpu: subject.and_then(|subject| subject.target().ok()?.name()),
        notes: Vec::new(),
    };
    Ok(read(of, axis, &runs))
}

/// The occupancy of one line.
fn run(column: Column, text: &str, line: u64, subject: Option<&Subject>) -> Result<Run, TimingsError> {
    let value = |what| TimingsError::Value { line, what, found: text.to_owned() };
    match column {
        Column::Percent => {
            let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
            let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
            Ok(Run {
                percent: Some(percent.ok_or_else(|| value("percentage above 0 and up to 100"))?),
                ..Run::default()
            })
        }
        Column::Blocks => {
            let blocks = text.parse().ok().filter(|blocks| (1..=64).contains(blocks));
            let blocks: u32 = blocks.ok_or_else(|| value("number of blocks per SM"))?;
            let Some(subject) = subject else { return Ok(Run { blocks: Some(blocks), ..Run::default() }) };
            let limits = subject.target().map_err(CalcError::from)?.limits;
            let most = occupancy(limits, &subject.request.shape).map_err(CalcError::from)?;
            if blocks > most.blocks_per_sm {
                return Err(TimingsError::MoreBlocks { line, blocks, most: most.blocks_per_sm });
            }
            let warps = blocks * (most.warps_per_sm() / most.blocks_per_sm.max(1));
            let percent = f64::from(warps) * 100.0 / f64::from(most.max_warps_per_sm);
            Ok(Run { blocks: Some(blocks), warps: Some(warps), percent: Some(percent), ..Run::default() })
        }
        Column::Shared => {
            let dynamic = parse_size(text).map_err(|_| value("size such as 49152 or 48K"))?;
            let subject = subject.ok_or(TimingsError::NoShape)?;
            let limits = subject.target().map_err(CalcError::from)?.limits;
            let shape = Shape { shared_dynamic: dynamic, ..subject.request.shape };
            let found = occupancy(limits, &shape).map_err(CalcError::from)?;
            if found.blocks_per_sm == 0 {
                return Err(TimingsError::NoLaunch { line, dynamic });
            }
            Ok(Run {
                blocks: Some(found.blocks_per_sm),
                warps: Some(found.warps_per_sm()),
                percent: Some(found.percent()),
                shared_dynamic: Some(dynamic),
                ..Run::default()
            })
        }
    }
}

/// Times of kernels, in nanoseconds: no clock tells less than the first, and nobody waits for more than the second.
const SHORTEST: f64 = 1.0;
const LONGEST: f64 = 1e15;

/// Nanoseconds of a time with a unit, milliseconds without.
fn parse_time(text: &str) -> Option<f64> {
    let text = text.trim();
    let units = [("ns", 1.0), ("us", 1e3), ("\u{b5}s", 1e3), ("\u{3bc}s", 1e3), ("ms", 1e6), ("s", 1e9)];
    let found = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = found.unwrap_or((text, 1e6));
    let time = number.trim().parse::<f64>().ok()? * factor;
    (SHORTEST..=LONGEST).contains(&time).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calc::CalcRequest;

    #[test]
    fn units() {
        for (text, ns) in [("0.8", 8e5), ("310us", 3.1e5), ("1.5 ms", 1.5e6), ("12ns", 12.0), ("2s", 2e9), ("5µs", 5e3)]
        {
            assert_eq!(parse_time(text), Some(ns), "{text}");
        }
        for text in ["", "ms", "-1", "0", "1h", "nan", "inf", "1e400", "0.001ns", "1e300s"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn blocks_that_a_shape_does_not_allow() {
        let shape = Shape { registers_per_thread: 64, threads_per_block: 1024, ..Shape::default() };
        let subject = Subject::by_numbers("h100-sxm".parse().unwrap(), CalcRequest { shape, ..CalcRequest::default() });
        let read = |csv: &str| read_timings(csv.as_bytes(), Some(&subject));
        let error = read("blocks_per_sm,time\n1,2ms\n64,1ms\n").unwrap_err().to_string();
        assert!(error.starts_with("line 3: 64 blocks per SM, an SM holds 1 of this shape"), "{error}");
    }

    #[test]
    fn dynamic_shared_memory_becomes_warps() {
        let shape = Shape { registers_per_thread: 64, threads_per_block: 256, ..Shape::default() };
        let request = CalcRequest { shape, ..CalcRequest::default() };
        let subject = Subject::by_numbers("h100-sxm".parse().unwrap(), request);
        let csv = "shared_dynamic,time\n0,100us\n57472,0.101\n76928,0.180\n112K,300us\n";
        let found = read_timings(csv.as_bytes(), Some(&subject)).unwrap();
        let warps: Vec<Option<u32>> = found.points.iter().map(|point| point.warps_per_sm).collect();
        assert_eq!(warps, [Some(32), Some(24), Some(16)], "112 KiB still hold 2 blocks");
        assert_eq!((found.answer, found.knee, found.axis), (Some("knee"), Some(24.0), "warps"));
        assert!(matches!(read_timings(csv.as_bytes(), None), Err(TimingsError::NoShape)));
        let over = "shared_dynamic,time\n0,1\n300K,1\n";
        let error = read_timings(over.as_bytes(), Some(&subject)).unwrap_err().to_string();
        assert!(error.starts_with("line 3: a launch with 307200 bytes"), "{error}");
    }

    #[test]
    fn faults_name_the_line() {
        let error = |csv: &str| read_timings(csv.as_bytes(), None).unwrap_err().to_string();
        assert!(error("occupancy,time\n1,2\n").contains("no column `shared_dynamic`"));
        assert!(error("percent,ms\n1,2\n").contains("no column `time`"));
        assert!(error("percent,blocks_per_sm,time\n1,2,3\n").contains("both say the occupancy"));
        assert!(error("percent,time,Time\n1,2,3\n").contains("the column `time` comes twice: keep one of them"));
        assert!(error("percent,percent,time\n1,2,3\n").contains("the column `percent` comes twice"));
        let beside = read_timings("run,run,percent,time\n1,2,50,3\n".as_bytes(), None);
        assert!(beside.is_ok(), "columns that are not read may come as often as they like");
        assert!(error("percent,time\n50,fast\n").starts_with("line 2: `fast` is no time"));
        assert!(error("percent,time\n50,1\n101,1\n").starts_with("line 3: `101` is no percentage"));
        assert!(error("blocks_per_sm,time\n0,1\n").contains("no number of blocks"));
    }
}
