//! Profiler reports that are damaged, and files that are none: nothing panics, what is wrong is named with its place, what
//! stands before it is shown, and nothing is stripped that can't be read whole.
#![allow(clippy::disallowed_methods, reason = "tests write damaged reports")]

mod support;

use std::fs;
use std::path::PathBuf;

use occupant_core::report::Severity;
use occupant_core::strip;
use occupant_core::verdict::{VerdictOptions, verdicts};
use occupant_profile::ncu::{Device, Instance, Launch, Metric, Module, Private, Report, ReportWriter, Session, Value};
use support::{Run, fixtures, occupant, occupant_fed};

const LAUNCHES: usize = 5;

/// A report of several launches of a fixture's kernel.
fn report() -> Vec<u8> {
    let cubin = fs::read(fixtures().join("plain.sm_90.cubin")).unwrap();
    let instances = (0..40).map(|number| Instance {
        correlation: Value::Unsigned64(4096 + number * 16),
        value: Value::Unsigned64(number),
    });
    let metric = |name, value| Metric { name, value: Value::Double(value), instances: Vec::new() };
    let launch = |_| Launch {
        mangled: "plain_shared",
        function: "plain_shared",
        demangled: "plain_shared",
        grid: [132, 1, 1],
        block: [256, 1, 1],
        module: Some(1),
        metrics: vec![
            metric("device__attribute_compute_capability_major", 9.0),
            metric("device__attribute_compute_capability_minor", 0.0),
            metric("launch__registers_per_thread", 32.0),
            metric("launch__sm_count", 132.0),
            metric("sm__warps_active.avg.per_cycle_active", 20.0),
            metric("sm__cycles_active.avg", 9000.0),
            metric("launch__function_pcs", 4096.0),
            Metric { instances: instances.clone().collect(), ..metric("inst_executed", 9.0) },
            Metric { instances: instances.clone().collect(), ..metric("smsp__pcsamp_sample_count", 9.0) },
        ],
        ..Launch::default()
    };
    let device = Device { number: 0, name: "NVIDIA H100 PCIe", attributes: Vec::new() };
    let report = Report {
        session: Session { devices: vec![device], versions: vec![("Nsight Compute Target", "2025.1.0.0")] },
        modules: vec![Module { reference: 1, cubin: Some(&cubin), capability: Some((9, 0)), ..Module::default() }],
        launches: (0..LAUNCHES).map(launch).collect(),
        faults: Vec::new(),
    };
    let private = Private { host: "secret-host", program: "/home/alice/a.out", ..Private::default() };
    ReportWriter::new(&report).private(private).bytes()
}

/// Launches of a damaged report, and what is said of it: at least one thing, unless it is whole.
fn judged(bytes: &[u8]) -> (usize, Vec<String>) {
    // Stripping may succeed or not; it may not panic.
    let _ = (strip(bytes, true), strip(bytes, false));
    match verdicts("damaged", bytes, VerdictOptions::default(), &|_, _| true) {
        Ok((records, diagnostics)) => {
            assert!(diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Error));
            (records.len(), diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect())
        }
        Err(error) => (0, vec![error.to_string()]),
    }
}

/// A folder for what a test writes; emptied first.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn cut_at_every_97th_byte() {
    let bytes = report();
    assert_eq!(judged(&bytes), (LAUNCHES, Vec::new()));
    let mut seen = 0;
    for length in (0..bytes.len()).step_by(97) {
        let (launches, said) = judged(&bytes[..length]);
        assert_eq!(said.len(), 1, "cut to {length}: {said:?}");
        assert!(said[0].contains("offset") || said[0].contains("empty file"), "cut to {length}: {said:?}");
        assert!(launches >= seen && launches < LAUNCHES, "cut to {length}: {launches} launches");
        seen = launches;
    }
    assert_eq!(seen, LAUNCHES - 1, "launches before the cut are shown");
}

#[test]
fn flipped_anywhere() {
    let mut bytes = report();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..1500 {
        let at = (next() % bytes.len() as u64) as usize;
        let before = bytes[at];
        bytes[at] ^= 1 << (next() % 8);
        let (launches, _) = judged(&bytes);
        assert!(launches <= LAUNCHES, "a flip at {at}");
        bytes[at] = before;
    }
}

#[test]
fn every_word_of_the_start_at_its_extremes() {
    let original = report();
    for at in (0..original.len().min(600)).chain(original.len() - 300..original.len() - 4) {
        for value in [0, 1, 0x7fff_ffff, 0xffff_ffff_u32] {
            let mut bytes = original.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            judged(&bytes);
        }
    }
}

#[test]
fn claims_of_terabytes_are_not_believed() {
    let original = report();
    let start = u32::from_le_bytes(original[4..8].try_into().unwrap()) as usize + 8;
    // A block header that claims 2^32 messages of each kind, and a payload beyond any file.
    let huge = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let mut header = Vec::new();
    for field in [0x08, 0x10, 0x38, 0x40, 0x48] {
        header.push(field);
        header.extend(huge);
    }
    for (size, said) in
        [(&[0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f][..], "the messages of a block"), (&[], "a message")]
    {
        let head = [&header[..], size].concat();
        let bytes = [&original[..start], &(head.len() as u32).to_le_bytes(), &head].concat();
        let (launches, found) = judged(&bytes);
        assert_eq!((launches, found.len()), (0, 1), "{found:?}");
        assert!(found[0].contains(said) && found[0].contains("offset"), "{found:?}");
    }
    // Frames of zstd that claim, or unpack to, far more than is there.
    let claimed = b"\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\x0f\x01\0\0";
    assert_eq!(judged(claimed).0, 0);
}

/// One line on standard error, status 2, nothing on standard output.
#[track_caller]
fn refused(run: &Run, said: &str) {
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn files_that_are_no_reports() {
    let folder = scratch("no-reports");
    let version = ReportWriter::new(&Report::default()).version(8).bytes();
    let whole = report();
    fs::create_dir(folder.join("folder")).unwrap();
    for (name, bytes, said) in [
        ("empty", &b""[..], "an empty file"),
        ("text", b"hello, this is text", "no table of Nsight Compute"),
        ("elf", b"\x7fELF\x02\x01\x01", "an ELF binary"),
        ("version", &version, "report version 8 at offset 0x8"),
        ("start", &whole[..6], "at offset 0x4"),
        ("packed", b"\x28\xb5\x2f\xfd\x04", "does not unpack"),
    ] {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        refused(&occupant(&format!("verdict {}", path.display())), said);
        refused(&occupant_fed("verdict -", bytes), said);
        let out = folder.join("out");
        refused(&occupant(&format!("strip {} -o {}", path.display(), out.display())), said);
        assert!(!out.exists(), "{name}: nothing is written");
    }
    for command in ["verdict", "strip -o -"] {
        refused(&occupant(&format!("{command} {}", folder.join("folder").display())), "a directory");
        refused(&occupant(&format!("{command} {}", folder.join("missing").display())), "No such file");
    }
}

#[test]
fn launches_before_the_damage_are_shown() {
    let folder = scratch("damaged-reports");
    let bytes = report();
    let path = folder.join("cut.ncu-rep");
    fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let run = occupant(&format!("verdict {} --format csv", path.display()));
    assert_eq!(run.status, 2);
    assert_eq!(run.stdout.lines().filter(|line| line.contains("plain_shared")).count(), LAUNCHES - 1, "{}", run.stdout);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("at offset 0x") && run.stderr.contains("cut off or damaged"), "{}", run.stderr);
    let out = folder.join("out.ncu-rep");
    refused(&occupant(&format!("strip {} -o {}", path.display(), out.display())), "at offset 0x");
    assert!(!out.exists());
}

#[test]
fn strip_writes_what_verdict_reads() {
    let folder = scratch("stripped-reports");
    let (path, out) = (folder.join("report.ncu-rep"), folder.join("out.ncu-rep"));
    fs::write(&path, report()).unwrap();
    let run = occupant(&format!("strip {} -o {}", path.display(), out.display()));
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    for said in ["wrote ", "removed: 3 facts about host and session", "removed: 7 mentions of the profiled process"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let written = fs::read(&out).unwrap();
    assert!(!written.windows(5).any(|window| window == b"alice" || window == b"secre"));
    let verdict = |path: &PathBuf| occupant_fed("verdict - --full", &fs::read(path).unwrap()).stdout;
    assert_eq!(verdict(&path), verdict(&out));
    let bare = occupant(&format!("strip {} -o {} --no-code", path.display(), out.display()));
    assert!(bare.stderr.contains("removed: 1 images of code"), "{}", bare.stderr);
    assert!(verdict(&out).contains("plain_shared"));
    // The report itself is not written over, under no name.
    let again = folder.join(".").join("report.ncu-rep");
    refused(&occupant(&format!("strip {} -o {}", path.display(), again.display())), "not written over");
    assert_eq!(fs::read(&path).unwrap(), report());
    // Nor through the shell's redirections.
    #[cfg(unix)]
    for (arguments, to_stdout) in [(format!("strip - -o {}", path.display()), false), ("strip - -o -".to_owned(), true)]
    {
        let input = fs::File::open(&path).unwrap();
        let mut command = support::program(&arguments);
        if to_stdout {
            command.stdout(fs::OpenOptions::new().append(true).open(&path).unwrap());
        }
        refused(&command.stdin(input).output().unwrap().into(), "not written over");
        assert_eq!(fs::read(&path).unwrap(), report(), "{arguments}");
    }
}
