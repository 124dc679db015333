//! A profiler's file of any kind, told by its content. For: what a user hands over, whatever its name. Not for: kinds that
//! only other programs read (Nsight Systems' databases).

use std::borrow::Cow;

use crate::error::ProfileError;
use crate::measurement::Measurement;
use crate::{csv, ncu, trace};

/// How far into a JSON document the events may begin: properties of devices and the job stand before.
const EVENTS_WITHIN: usize = 4 << 20;
/// What a database starts with.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// What is read here.
const EXPECTED: &str =
    "a Nsight Compute report, CSV that `ncu --csv` printed, or a PyTorch trace (JSON with `traceEvents`)";

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Read {
    /// One a launch, or of summaries and traces one for launches alike.
    pub measurements: Vec<Measurement>,
    /// What could not be read; everything else was.
    pub faults: Vec<ProfileError>,
}

/// Bytes from the start of a file that tell whether it is a profiler's: the first block of a packed one is among them.
pub const START: usize = 256 << 10;

/// Whether a file that starts so is a Nsight Compute report, packed or not.
#[must_use]
pub fn is_report_start(start: &[u8]) -> bool {
    let magic = ncu::MAGIC;
    start.starts_with(magic) || (ncu::is_packed(start) && ncu::unpacked_start(start, magic.len() as u64) == magic)
}

/// Whether a file that starts so is [`read`] here, whatever its name: a report, or text. Text can yet be of something else,
/// such as PTX; archives and binaries are none.
#[must_use]
pub fn is_profile(start: &[u8]) -> bool {
    // Small archives can be without a zero byte, by which text is told.
    let text = || !ncu::is_packed(start) && foreign(start).is_none() && decode(start).is_some();
    is_report_start(start) || start.starts_with(SQLITE) || text()
}

/// Reads a file.
///
/// # Errors
/// [`ProfileError::NotAReport`] where it is of no kind that is read here; else what its kind's reader says.
pub fn read(bytes: &[u8]) -> Result<Read, ProfileError> {
    let bytes = if ncu::is_report(bytes) { ncu::unpack(bytes)? } else { Cow::Borrowed(bytes) };
    if ncu::is_report(&bytes) {
        let report = ncu::Report::read(&bytes)?;
        return Ok(Read { measurements: report.measurements(), faults: report.faults });
    }
    if let Some(found) = foreign(&bytes) {
        return Err(ProfileError::NotAReport { expected: EXPECTED, found: found.to_owned() });
    }
    let Some(text) = decode(&bytes) else {
        let start = bytes.get(..16.min(bytes.len())).unwrap_or_default();
        let found = format!("binary data `{}`", start.escape_ascii());
        return Err(ProfileError::NotAReport { expected: EXPECTED, found });
    };
    let json = text.trim_start().starts_with(['{', '[']);
    if json && has_events(&text) {
        return trace::read_trace(&text);
    }
    match csv::read(&text) {
        Ok(csv::Text { measurements, faults }) => Ok(Read { measurements, faults }),
        Err(_) if json => {
            let found = "JSON without `traceEvents`".to_owned();
            Err(ProfileError::NotAReport { expected: EXPECTED, found })
        }
        Err(error) => Err(error),
    }
}

/// Kinds of files that are handed over by mistake, with what to do.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if bytes.is_empty() {
        Some("an empty file")
    } else if starts(b"\x1f\x8b") {
        Some("a gzip archive: unpack it with `gunzip`")
    } else if starts(b"PK\x03\x04") {
        Some("a zip archive: unpack it first; `occupant inspect FILE` reads the kernels of a wheel or a .pt2")
    } else if starts(SQLITE) {
        Some("an SQLite database, as Nsight Systems exports: it has no counters; profile with `ncu`")
    } else if starts(b"\x7fELF") {
        Some("an ELF binary: `occupant inspect FILE` reads its kernels")
    } else if starts(b"MZ") {
        Some("a Windows binary: `occupant inspect FILE` reads its kernels")
    } else if starts(b"\x50\xed\x55\xba") || starts(b"!<arch>\n") {
        Some("a fatbin or a static library: `occupant inspect FILE` reads its kernels")
    } else {
        None
    }
}

fn has_events(text: &str) -> bool {
    let start = text.as_bytes().get(..EVENTS_WITHIN.min(text.len())).unwrap_or_default();
    let has = |name: &[u8]| start.windows(name.len()).any(|window| window == name);
    // An array of events alone has no name.
    has(b"\"traceEvents\"") || (text.trim_start().starts_with('[') && has(b"\"ph\""))
}

/// Text of any encoding that terminals and spreadsheets write; `None` where it is none.
fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let half = |bytes: &[u8], order: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| order(*pair)).collect();
        Some(Cow::Owned(String::from_utf16_lossy(&units)))
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return Some(String::from_utf8_lossy(rest)),
        // PowerShell's `>` writes this one.
        [0xff, 0xfe, rest @ ..] => return half(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return half(rest, u16::from_be_bytes),
        // The same without its mark: text of NVIDIA's begins with ASCII.
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => return half(bytes, u16::from_le_bytes),
        _ => {}
    }
    if bytes.contains(&0) {
        return None;
    }
    // Where it is not UTF-8 it is an older code page, in which only spaces between thousands and a micro sign matter.
    let older = || bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    Some(std::str::from_utf8(bytes).map_or_else(|_| Cow::Owned(older()), Cow::Borrowed))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CSV: &str = "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\r\n\
        \"0\",\"saxpy\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"\u{b5}s\",\"2.5\"\r\n";

    fn time(bytes: &[u8]) -> Option<f64> {
        let read = read(bytes).expect("a table");
        assert_eq!(read.faults, []);
        assert_eq!(read.measurements.len(), 1);
        read.measurements[0].get("gpu__time_duration.sum")
    }

    #[test]
    fn text_of_every_encoding() {
        assert_eq!(time(CSV.as_bytes()), Some(2500.0));
        assert_eq!(time(&[b"\xef\xbb\xbf", CSV.as_bytes()].concat()), Some(2500.0));
        let little: Vec<u8> = CSV.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(time(&[&[0xff, 0xfe], little.as_slice()].concat()), Some(2500.0));
        assert_eq!(time(&little), Some(2500.0));
        let big: Vec<u8> = CSV.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(time(&[&[0xfe, 0xff], big.as_slice()].concat()), Some(2500.0));
        let older: Vec<u8> = CSV.chars().map(|c| c as u8).collect();
        assert_eq!(time(&older), Some(2500.0));
    }

    #[test]
    fn other_files_are_named() {
        let found = |bytes: &[u8]| match read(bytes) {
            Err(error) => error.to_string(),
            Ok(read) => panic!("{read:?}"),
        };
        assert!(found(b"").contains("an empty file"));
        assert!(found(b"\x1f\x8b\x08\0").contains("gunzip"));
        assert!(found(b"SQLite format 3\0rest").contains("Nsight Systems"));
        assert!(found(b"\x7fELF\x02").contains("an ELF binary: `occupant inspect FILE`"));
        for binary in [&b"MZ\x90\0"[..], b"\x50\xed\x55\xba\x01\0", b"!<arch>\n/"] {
            assert!(found(binary).contains("`occupant inspect FILE`"));
        }
        assert!(found(b"\x01\0\0\x02").contains("binary data `\\x01\\x00\\x00\\x02`"));
        assert!(found(b"{\"a\": 1}").contains("JSON without `traceEvents`"));
        assert!(found(b"hello").contains("no table of Nsight Compute"));
        assert!(found(b"NVR\0\x04\0\0\0\x08\x09").contains("needs 4 bytes"));
    }

    #[test]
    fn a_profilers_file_is_told_by_its_start() {
        // A frame of one raw block: its size in one byte, then the block's header and bytes.
        let packed = |bytes: &[u8]| {
            let size = bytes.len() as u8;
            [b"\x28\xb5\x2f\xfd\x20", &[size][..], &[size << 3 | 1, 0, 0], bytes].concat()
        };
        let skipped = [b"\x51\x2a\x4d\x18\x02\0\0\0ab", packed(b"NVR\0...").as_slice()].concat();
        for report in [b"NVR\0".to_vec(), packed(b"NVR\0..."), skipped] {
            assert!(is_report_start(&report) && is_profile(&report), "{}", report.escape_ascii());
        }
        for other in [packed(b"\x7fELF"), packed(b"NV"), b"\x28\xb5\x2f\xfd\x20".to_vec(), b"\x51\x2a\x4d\x18".to_vec()]
        {
            assert!(!is_report_start(&other) && !is_profile(&other), "{}", other.escape_ascii());
        }
        assert!(is_profile(CSV.as_bytes()) && is_profile(b"SQLite format 3\0rest"));
        assert!(!is_profile(b"") && !is_profile(b"\x7fELF\x02\x01\x01\0\0\0"));
    }

    #[test]
    fn a_trace_is_told_from_text_that_begins_with_a_brace() {
        let trace = br#" {"deviceProperties": [], "traceEvents": [{"cat":"kernel","name":"k","dur":2}]}"#;
        assert_eq!(read(trace).expect("a trace").measurements[0].get("gpu__time_duration.sum"), Some(2000.0));
        let events = br#"[{"ph":"X","cat":"kernel","name":"k","dur":1.5}]"#;
        assert_eq!(read(events).expect("events").measurements[0].get("gpu__time_duration.sum"), Some(1500.0));
        let printed = format!("{{'epoch': 1}}\n{CSV}");
        assert_eq!(time(printed.as_bytes()), Some(2500.0));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0_usize..8) {
            let starts: [&[u8]; 8] = [
                b"", b"NVR\0", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"[{\"ph\":", CSV.as_bytes(),
            ];
            let _ = read(&[starts[start], &bytes].concat());
        }
    }
}
