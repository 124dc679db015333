//! Bad input: every fixture cut and flipped, and everything else that people give by mistake.
//!
//! Nothing panics (the program would end with 101), nothing runs long, and what is wrong is named.
#![allow(clippy::disallowed_methods, reason = "tests read fixtures and write damaged copies")]

mod support;

use std::convert::identity;
use std::fs;
use std::path::PathBuf;

use occupant_core::{Event, File, InspectOptions, Memory, Outcome, inspect};
use support::{fixtures, occupant, occupant_fed};

fn all_fixtures() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Inspects bytes with an eye on what the outcome promises.
fn inspect_bytes(bytes: &[u8]) -> (Outcome, usize) {
    let mut kernels = 0;
    let file = File { name: "damaged", source: &bytes, companion: None };
    let options = InspectOptions { gpus: vec!["h100".parse().unwrap()], ..InspectOptions::default() };
    for options in [InspectOptions::default(), options] {
        inspect(&file, &Memory, &options, &identity, &mut |_| {});
    }
    let outcome = inspect(&file, &Memory, &InspectOptions::default(), &|records| records.len(), &mut |event| {
        kernels += if let Event::Kernels(number) = event { number } else { 0 };
    });
    let totals = &outcome.totals;
    let parts = [
        totals.read,
        totals.not_selected,
        totals.relocatable,
        totals.ptx,
        totals.lto_ir,
        totals.unknown,
        totals.failed,
    ];
    assert_eq!(totals.images, parts.iter().sum::<u32>(), "totals add up: {totals:?}");
    assert!(totals.images > 0 || !outcome.diagnostics.is_empty(), "nothing found and nothing said");
    (outcome, kernels)
}

#[test]
fn cut_anywhere() {
    for (name, bytes) in all_fixtures() {
        let step = (bytes.len() / 40).max(1);
        for length in (0..bytes.len()).step_by(step).chain(0..bytes.len().min(200)) {
            let (outcome, _) = inspect_bytes(&bytes[..length]);
            let whole_table = length * 10 < bytes.len() * 9;
            if whole_table && !name.ends_with(".so") && !name.ends_with(".o") {
                assert!(!outcome.diagnostics.is_empty(), "{name} cut to {length} bytes passes for whole");
            }
        }
    }
}

#[test]
fn flipped_anywhere() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for (_, mut bytes) in all_fixtures() {
        for round in 0..100_u64 {
            // The first rounds hit headers and tables, which matter most.
            let reach = if round < 60 { bytes.len().min(4096) } else { bytes.len() };
            let at = (next() % reach as u64) as usize;
            let before = bytes[at];
            bytes[at] ^= 1 << (next() % 8);
            inspect_bytes(&bytes);
            bytes[at] = before;
        }
    }
}

#[test]
fn every_word_of_the_headers_at_its_extremes() {
    for name in ["plain.sm_90.cubin", "plain.default.fatbin", "plain.concat.fatbin", "kernels.concat.fatbin"] {
        let original = fs::read(fixtures().join(name)).unwrap();
        for at in (0..original.len().min(1024)).step_by(4) {
            for value in [0, 1, 0x7fff_ffff, 0xffff_ffff_u32] {
                let mut bytes = original.clone();
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
                inspect_bytes(&bytes);
            }
        }
    }
}

#[test]
fn a_fatbin_that_declares_terabytes_is_refused_without_allocating_them() {
    for name in ["kernels.zstd.fatbin", "kernels.lz4.fatbin"] {
        let mut bytes = fs::read(fixtures().join(name)).unwrap();
        // The unpacked size of the first entry: 16 bytes of blob header, then 56 into the entry's.
        bytes[16 + 56..16 + 64].copy_from_slice(&(5_u64 << 40).to_le_bytes());
        let (outcome, _) = inspect_bytes(&bytes);
        let codes: Vec<&str> = outcome.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert_eq!(codes, ["too_large"], "{name}: {:?}", outcome.diagnostics);
        assert_eq!(outcome.totals.failed, 1);
    }
    let mut bytes = fs::read(fixtures().join("plain.none.fatbin")).unwrap();
    bytes[8..16].copy_from_slice(&(5_u64 << 40).to_le_bytes());
    let (outcome, kernels) = inspect_bytes(&bytes);
    assert!(kernels > 0, "what is there is still read");
    assert_eq!(outcome.diagnostics[0].code, "truncated");
}

/// A folder for files that a test writes; emptied first.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn bad_files_are_named_and_the_others_done() {
    let folder = scratch("bad-files");
    fs::write(folder.join("empty"), b"").unwrap();
    fs::write(folder.join("text"), b"not a binary at all").unwrap();
    fs::write(folder.join("kernel.ptx"), b"//\n// Generated\n.version 8.4\n.target sm_90\n").unwrap();
    let cut = fs::read(fixtures().join("plain.sm_90.cubin")).unwrap();
    fs::write(folder.join("cut.cubin"), &cut[..cut.len() / 2]).unwrap();
    fs::create_dir(folder.join("nothing")).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    for (name, said) in [
        ("empty", "the file is empty"),
        ("text", "neither a binary nor an archive"),
        ("cut.cubin", "at offset 0x"),
        ("nothing", "nothing in this directory"),
        ("missing", "No such file"),
    ] {
        let run = occupant(&format!("inspect {} plain.sm_90.cubin", path(name)));
        assert_eq!(run.status, 2, "{name}: {}", run.stderr);
        assert!(run.stdout.contains("plain_shared"), "{name}: the other file is done");
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{name}: one line a problem: {lines:?}");
        assert!(
            lines[0].starts_with(&format!("error: {}", path(name))) && lines[0].contains(said),
            "{name}: {lines:?}"
        );
    }
    let ptx = occupant(&format!("inspect {}", path("kernel.ptx")));
    assert_eq!(ptx.status, 0, "PTX alone is no error");
    assert!(ptx.stderr.starts_with("note: ") && ptx.stderr.contains("1 PTX"), "{}", ptx.stderr);
    let inside = occupant(&format!("inspect {}", folder.display()));
    assert_eq!(inside.status, 2, "a broken binary in a directory is told: {}", inside.stderr);
    let said: Vec<&str> = inside.stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
    assert_eq!(said.len(), 1, "and files that are no binaries are not: {}", inside.stderr);
    assert!(inside.stderr.contains("kernel.ptx is PTX or LTO-IR without a cubin"), "{}", inside.stderr);
}

/// With `--json` too, a problem is one line on standard error, and standard output is empty or one document that names it.
#[test]
fn every_command_tells_a_missing_file_in_json_too() {
    for (command, in_the_document) in [
        ("inspect nothere.so", true),
        ("need nothere.so --gpu h100-sxm", true),
        ("verdict nothere.ncu-rep", true),
        ("fit nothere.so --gpu h100-sxm", false),
        ("sweep block nothere.so --gpu h100-sxm", false),
        ("budget nothere.so --gpu h100-sxm", false),
        ("probe nothere.so --gpu h100-sxm", false),
        ("probe --reports nothere.csv", false),
        ("explain nothere.log", false),
        ("strip nothere.ncu-rep -o unwritten.ncu-rep", false),
        ("calc --gpu nosuch --registers 32", false),
        ("launch --gpu sm_90 --registers 32 --grid 10", false),
        ("gpus nosuch", false),
    ] {
        let run = occupant(&format!("{command} --json"));
        assert_eq!(run.status, 2, "{command}: {}", run.stderr);
        let problems = run.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(problems, 1, "{command}: {}", run.stderr);
        if in_the_document {
            let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            let diagnostics = document["diagnostics"].as_array().unwrap();
            assert_eq!(diagnostics.len(), 1, "{command}: {document:#}");
            let message = diagnostics[0]["message"].as_str().unwrap();
            assert!(run.stderr.contains(message), "{command}: {}", run.stderr);
        } else {
            assert_eq!(run.stdout, "", "{command}");
        }
    }
}

#[test]
#[cfg(unix)]
fn what_is_no_regular_file() {
    let run = occupant("inspect /dev/null plain.sm_90.cubin");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("the file is empty") && run.stdout.contains("plain_shared"), "{}", run.stderr);
    let bytes = fs::read(fixtures().join("plain.sm_90.cubin")).unwrap();
    let fed = occupant_fed("inspect -", &bytes);
    assert_eq!(fed.status, 0, "{}", fed.stderr);
    assert!(fed.stdout.contains("plain_shared"));
}

#[test]
fn wrong_flags_are_usage_errors() {
    for arguments in [
        "inspect",
        "inspect plain.sm_90.cubin --gpu h1000",
        "inspect plain.sm_90.cubin --gpu 9.9",
        "inspect plain.sm_90.cubin --kernel (",
        "inspect plain.sm_90.cubin --block 0",
        "inspect plain.sm_90.cubin --shared-dynamic 48X",
        "inspect plain.sm_90.cubin --launches missing.csv",
        "calc --gpu h100 --block 0",
        "calc --gpu h100 --carveout 101%",
        "calc --gpu h100 --carveout 300K",
        "calc --gpu h100 --registers -1",
        "calc --gpu sm_110 --rules 12.9",
        "calc --batch missing.csv --gpu h100",
        "calc",
        "gpus no-such-thing",
        "man nothing",
        "frobnicate",
    ] {
        let run = occupant(arguments);
        assert_eq!(run.status, 2, "{arguments}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.starts_with("error: ") || run.stderr.contains("Usage:"), "{arguments}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{arguments}: {}", run.stdout);
    }
}

/// An argument beyond any sense is named by its start and end.
#[test]
fn long_arguments_are_shown_in_short() {
    let long = "x".repeat(100_000);
    for arguments in [
        "calc --gpu",
        "inspect a.so --arch",
        "calc --gpu h100 --block",
        "calc --gpu h100 --carveout",
        "gpus --",
        "calc --",
    ] {
        let given =
            if arguments.ends_with("--") { format!("{arguments}{long}") } else { format!("{arguments} {long}") };
        let run = support::occupant(&given);
        assert_eq!(run.status, 2, "{arguments}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains("xxxx"), "{arguments}: {}", run.stderr);
        assert!(run.stderr.len() < 1000, "{arguments}: {} bytes", run.stderr.len());
    }
}
