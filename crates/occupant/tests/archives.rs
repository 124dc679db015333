//! Archives: the same kernels however they are packed, and nothing lost where one member is broken.
#![allow(clippy::disallowed_methods, reason = "tests write archives and start the program")]

mod support;

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use support::{fixtures, occupant};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures().join(name)).unwrap()
}

fn zipped(method: CompressionMethod, members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tarred(members: &[(impl AsRef<Path>, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A tar whose one member says that it is sparse.
fn sparse() -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNUSparse);
    header.set_path("a.so").unwrap();
    header.set_size(0);
    header.set_cksum();
    [header.as_bytes().as_slice(), &[0; 1024]].concat()
}

/// The same in the newer form: a pax header before a regular member.
fn sparse_pax() -> Vec<u8> {
    let records = b"22 GNU.sparse.major=1\n22 GNU.sparse.name=b.so\n";
    let entry = |kind, path: &str, data: &[u8]| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_path(path).unwrap();
        header.set_size(data.len() as u64);
        header.set_cksum();
        let padding = vec![0; data.len().next_multiple_of(512) - data.len()];
        [header.as_bytes().as_slice(), data, &padding].concat()
    };
    let header = entry(tar::EntryType::XHeader, "x", records);
    let member = entry(tar::EntryType::Regular, "GNUSparseFile.0/b.so", b"\x7fELF");
    [header, member, vec![0; 1024]].concat()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The kernels of a file without `file`, and with the part of `entry` after `prefix`.
fn kernels(path: &Path, prefix: &str, flags: &str) -> Vec<Value> {
    let run = occupant(&format!("inspect {} --format jsonl {flags}", path.display()));
    assert_eq!(run.status, 0, "{}: {}", path.display(), run.stderr);
    let line = |line: &str| {
        let mut kernel: Value = serde_json::from_str(line).unwrap();
        let entry = kernel["entry"].as_str().unwrap().to_owned();
        let inside = entry.strip_prefix(prefix).unwrap_or_else(|| panic!("{entry} is not in {prefix}"));
        kernel["entry"] = Value::from(inside);
        let member = kernel["member"].as_str().map_or_else(String::new, |member| format!("{member}/"));
        assert!(prefix.is_empty() || member == prefix, "{member}");
        let fields = kernel.as_object_mut().unwrap();
        fields.remove("file");
        fields.remove("member");
        kernel
    };
    run.stdout.lines().map(line).collect()
}

#[test]
fn the_same_kernels_however_they_are_packed() {
    let folder = scratch("packed");
    let library = fixture("libkernels.so");
    let members: &[(&str, &[u8])] = &[("foo/__init__.py", b"import this\n"), ("foo/libfoo.so", &library)];
    let wheel = zipped(CompressionMethod::Deflated, members);
    let tar = tarred(members);
    let forms: &[(&str, &str, Vec<u8>)] = &[
        ("a.whl", "foo/libfoo.so/", wheel.clone()),
        ("stored.zip", "foo/libfoo.so/", zipped(CompressionMethod::Stored, members)),
        ("a.tar", "foo/libfoo.so/", tar.clone()),
        ("a.tar.gz", "foo/libfoo.so/", gzipped(&tar)),
        ("a.tar.zst", "foo/libfoo.so/", zstd::encode_all(tar.as_slice(), 1).unwrap()),
        ("libfoo.so.gz", "", gzipped(&library)),
        ("padded.so.gz", "", [gzipped(&library), vec![0; 512]].concat()),
        ("libfoo.so.zst", "", zstd::encode_all(library.as_slice(), 1).unwrap()),
        ("nested.tar.gz", "dist/a.whl/foo/libfoo.so/", gzipped(&tarred(&[("dist/a.whl", &wheel)]))),
        ("nested.zip", "a.tar/foo/libfoo.so/", zipped(CompressionMethod::Deflated, &[("a.tar", &tar)])),
    ];
    let plain = kernels(&fixtures().join("libkernels.so"), "", "");
    assert_eq!(plain.len(), 56);
    for (name, prefix, bytes) in forms {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        for threads in ["--threads 1", "--threads 2", "--threads 7"] {
            assert_eq!(kernels(&path, prefix, threads), plain, "{name} {threads}");
        }
    }
}

#[test]
fn a_static_library_gives_the_kernels_of_every_member() {
    let objects = ["relocatable.o", "relocatable_far.o"].map(|name| kernels(&fixtures().join(name), "", ""));
    let library = kernels(&fixtures().join("librelocatable.a"), "", "");
    assert_eq!(library.len(), objects.iter().map(Vec::len).sum::<usize>());
    assert!(
        library.iter().all(|kernel| kernel["entry"].as_str().unwrap().starts_with("relocatable.o/__nv_relfatbin/"))
    );
}

/// Archives of one set of members, by the ending of their names.
fn archives(members: &[(&str, &[u8])]) -> [(&'static str, Vec<u8>); 5] {
    let tar = tarred(members);
    [
        ("pt2", zipped(CompressionMethod::Deflated, members)),
        ("stored.zip", zipped(CompressionMethod::Stored, members)),
        ("tar.gz", gzipped(&tar)),
        ("tar.zst", zstd::encode_all(tar.as_slice(), 1).unwrap()),
        ("tar", tar),
    ]
}

#[test]
fn a_triton_cache_is_exact_as_a_directory_and_in_archives() {
    let folder = scratch("triton");
    let cache = fixtures().join("../triton/sm_90");
    let (cubin, json) = (fs::read(cache.join("matmul.cubin")).unwrap(), fs::read(cache.join("matmul.json")).unwrap());
    let alone = kernels(&cache.join("matmul.cubin"), "", "");
    let (cubin, json) = (("x/matmul.cubin", cubin.as_slice()), ("x/matmul.json", json.as_slice()));
    let other = ("y/matmul.json", b"{\"num_warps\": 1}".as_slice());
    for (order, members) in [("after", [other, cubin, json]), ("before", [json, cubin, other])] {
        for (ending, bytes) in archives(&members) {
            let path = folder.join(format!("{order}.{ending}"));
            fs::write(&path, bytes).unwrap();
            assert_eq!(kernels(&path, "x/matmul.cubin/", ""), alone, "{order} {ending}");
        }
    }
    // What tar makes of `.` and `x`, one after the other. The writer above would leave the dot out.
    let mut dotted = tar::Builder::new(Vec::new());
    for (name, bytes) in [("./x/matmul.cubin", cubin.1), json] {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        dotted.append(&header, bytes).unwrap();
    }
    let path = folder.join("dotted.tar");
    fs::write(&path, dotted.into_inner().unwrap()).unwrap();
    assert_eq!(kernels(&path, "./x/matmul.cubin/", ""), alone);
    let kernel = &alone[0];
    assert_eq!(kernel["occupancy"]["basis"], "exact");
    assert_eq!(kernel["launch"]["shared_dynamic_from"], "metadata");
    assert_eq!((&kernel["launch"]["shared_dynamic"], &kernel["launch"]["block"]), (&65536.into(), &256.into()));
    assert_eq!(kernel["from_name"]["stages"], 3);
}

/// `bytes` with every `from` made `to`, which is as long: writers of zip files refuse names that come twice.
/// A kernel without an image for the GPU stays one, whatever else in the archive has its name.
#[test]
fn kernels_of_one_name_in_two_binaries_are_two() {
    let folder = scratch("two_targets");
    let cubins = ["sm_90", "sm_100"].map(|target| {
        (
            format!("{target}/matmul.cubin"),
            fs::read(fixtures().join("../triton").join(target).join("matmul.cubin")).unwrap(),
        )
    });
    let members: Vec<(&str, &[u8])> = cubins.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    for (ending, bytes) in archives(&members) {
        let path = folder.join(format!("cache.{ending}"));
        fs::write(&path, bytes).unwrap();
        let run = occupant(&format!("inspect {} --format jsonl --gpu b200", path.display()));
        let told: Vec<(String, bool)> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .map(|kernel: Value| (kernel["member"].as_str().unwrap().to_owned(), kernel["registers"].is_null()))
            .collect();
        let expected = [("sm_90/matmul.cubin".to_owned(), true), ("sm_100/matmul.cubin".to_owned(), false)];
        assert_eq!(told, expected, "{ending}");
    }
}

fn renamed(mut bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    bytes
}

#[test]
fn members_of_one_name_are_all_read_and_told_apart() {
    let folder = scratch("twice");
    let cache = fixtures().join("../triton/sm_90");
    let (cubin, json) = (fs::read(cache.join("matmul.cubin")).unwrap(), fs::read(cache.join("matmul.json")).unwrap());
    let less = String::from_utf8(json.clone()).unwrap().replace("65536", "32768");
    let plain = fixture("plain.sm_90.cubin");
    // Written as p and q, read as p twice.
    let members: &[(&str, &[u8])] = &[
        ("x/kernel_p.cubin", &cubin),
        ("x/kernel_q.cubin", &cubin),
        ("libp.so", &plain),
        ("x/kernel_p.json", &json),
        ("libq.so", &plain),
        ("x/kernel_q.json", less.as_bytes()),
    ];
    for (ending, bytes) in archives(members) {
        let bytes = match ending {
            "tar" => tarred(&members.iter().map(|(name, bytes)| (name.replace('q', "p"), *bytes)).collect::<Vec<_>>()),
            "tar.gz" | "tar.zst" => continue,
            _ => renamed(renamed(bytes, "kernel_q", "kernel_p"), "libq", "libp"),
        };
        let path = folder.join(format!("a.{ending}"));
        fs::write(&path, bytes).unwrap();
        let found = support::json(&format!("inspect {}", path.display()));
        let kernels = found["kernels"].as_array().unwrap();
        let of = |place: &str| {
            let inside = |kernel: &&Value| kernel["entry"].as_str().unwrap().starts_with(&format!("{place}/"));
            kernels.iter().filter(inside).collect::<Vec<_>>()
        };
        for (place, shared) in [("x/kernel_p.cubin", 65536), ("x/kernel_p.cubin#2", 32768)] {
            let [kernel] = of(place)[..] else { panic!("{ending} {place}: {found:#}") };
            assert_eq!(kernel["launch"]["shared_dynamic"], shared, "{ending} {place}");
        }
        assert!(!of("libp.so").is_empty() && of("libp.so").len() == of("libp.so#2").len(), "{ending}: {found:#}");
        let totals = &found["totals"];
        assert_eq!((&totals["images"], &totals["kernels"]), (&4.into(), &kernels.len().into()), "{ending}");
        assert_eq!(found["diagnostics"], Value::Array(Vec::new()), "{ending}");
    }
}

#[test]
fn rows_say_which_binary_of_an_archive_they_are_of() {
    let folder = scratch("members");
    let (one, other) = (fixture("plain.sm_90.cubin"), fixture("plain.sm_86.cubin"));
    let wheel = folder.join("a.whl");
    fs::write(&wheel, zipped(CompressionMethod::Deflated, &[("x/one.cubin", &one), ("x/other.cubin", &other)]))
        .unwrap();
    let wheel = wheel.display();
    let listed = occupant(&format!("inspect {wheel} --width 80")).stdout;
    assert!(listed.contains(&format!("\n{wheel}/x/one.cubin:\nplain")), "{listed}");
    assert!(listed.contains(&format!("\n{wheel}/x/other.cubin:\nplain")), "{listed}");
    let of_one = occupant(&format!("inspect {wheel} --arch sm_90 --width 80")).stdout;
    assert!(of_one.contains(&format!("\n{wheel}/x/one.cubin:\n")), "{of_one}");
    let sorted = occupant(&format!("inspect {wheel} --sort name --width 80")).stdout;
    assert!(sorted.contains("  file         ") && !sorted.contains("a.whl"), "{sorted}");
    let summary = occupant(&format!("inspect {wheel} --summary --width 80")).stdout;
    assert!(summary.contains("  one.cubin    plain") && summary.contains("  other.cubin  plain"), "{summary}");
    let document: Value = serde_json::from_str(&occupant(&format!("inspect {wheel} --json")).stdout).unwrap();
    assert_eq!(document["kernels"][0]["member"], "x/one.cubin");
}

/// What is asked of a kernel in an archive names the binary, as the list does.
#[test]
fn fit_and_need_say_which_binary_of_an_archive_they_are_of() {
    let folder = scratch("members_asked");
    let streams = fixture("streams.sm_90.cubin");
    let wheel = folder.join("a.whl");
    fs::write(&wheel, zipped(CompressionMethod::Deflated, &[("x/one.cubin", &streams), ("x/other.cubin", &streams)]))
        .unwrap();
    let wheel = wheel.display();
    let both = [format!("{wheel}/x/one.cubin:\nread"), format!("{wheel}/x/other.cubin:\nread")];
    let fits = occupant(&format!("fit {wheel} --kernel ^read$ --gpu h100-sxm --width 100")).stdout;
    assert!(both.iter().all(|place| fits.contains(place)), "{fits}");
    let fits = occupant(&format!("fit {wheel} --kernel ^read$ --gpu h100-sxm --format csv")).stdout;
    assert!(fits.lines().next().unwrap().ends_with(",member"), "{fits}");
    assert!(fits.lines().any(|line| line.ends_with(",x/one.cubin")), "{fits}");
    let needs = occupant(&format!("need {wheel} --kernel ^read$ --gpu h100-sxm --width 100")).stdout;
    assert!(needs.contains("  one.cubin  ") && needs.contains("  other.cubin  "), "{needs}");
    let needs = occupant(&format!("need {wheel} --kernel ^read$ --gpu h100-sxm --format csv")).stdout;
    assert!(needs.lines().next().unwrap().ends_with(",file,member"), "{needs}");
    assert!(needs.lines().any(|line| line.ends_with("a.whl,x/other.cubin")), "{needs}");
    fs::write(folder.join("one.whl"), zipped(CompressionMethod::Deflated, &[("x/one.cubin", &streams)])).unwrap();
    for command in ["fit", "need"] {
        let one = folder.join("one.whl");
        let one = one.display();
        let alone = occupant(&format!("{command} {one} --kernel ^read$ --gpu h100-sxm")).stdout;
        assert!(alone.starts_with(&format!("{one}/x/one.cubin:\nread\n")), "{alone}");
    }
}

/// Only one of two files of a name has an extreme: it could be taken for the other.
#[test]
fn extremes_name_files_as_far_as_the_folder_needs() {
    let folder = scratch("extremes");
    for (name, fixture_name) in [("a/k.cubin", "kernels.sm_90a.cubin"), ("b/k.cubin", "plain.sm_90.cubin")] {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), fixture(fixture_name)).unwrap();
    }
    let summary = occupant(&format!("inspect {} --summary --width 100", folder.display())).stdout;
    let spills = summary.split("most spill bytes").nth(1).unwrap();
    assert!(spills.contains("  a/k.cubin  spill") && !spills.contains("b/k.cubin"), "{summary}");
}

#[test]
fn a_broken_member_is_named_and_the_others_done() {
    let folder = scratch("broken");
    let (good, cut) = (fixture("plain.sm_90.cubin"), fixture("plain.default.fatbin"));
    let members: &[(&str, &[u8])] = &[("good.cubin", &good), ("cut.fatbin", &cut[..cut.len() - 4000])];
    for (name, bytes) in [
        ("a.zip", zipped(CompressionMethod::Deflated, members)),
        ("a.tar", tarred(members)),
        ("a.tar.gz", gzipped(&tarred(members))),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let run = occupant(&format!("inspect {}", folder.join(name).display()));
        assert_eq!(run.status, 2, "{name}: {}", run.stderr);
        assert!(run.stdout.contains("plain_shared"), "{name}: {}", run.stdout);
        assert!(run.stderr.contains("cut.fatbin"), "{name}: {}", run.stderr);
    }
}

#[test]
fn archives_without_device_code_cut_and_too_deep() {
    let folder = scratch("empty");
    let mut nested = zipped(CompressionMethod::Deflated, &[("plain.cubin", &fixture("plain.sm_90.cubin"))]);
    for depth in 0..12 {
        nested = zipped(CompressionMethod::Stored, &[(&format!("{depth}.zip"), &nested)]);
    }
    let wheel = zipped(CompressionMethod::Deflated, &[("libfoo.so", &fixture("libkernels.so"))]);
    for (name, bytes, said) in [
        ("text.zip", zipped(CompressionMethod::Deflated, &[("a.txt", b"text")]), "an archive without binaries"),
        ("cut.zip", wheel[..wheel.len() / 2].to_vec(), "zip: the directory at its end is missing: the file is cut"),
        ("cut.tar.gz", gzipped(&tarred(&[("a", &wheel)]))[..9000].to_vec(), "error"),
        ("deep.zip", nested, "depth of archives in archives"),
        ("sparse.tar", sparse(), "a.so: tar: a sparse member"),
        ("sparse_pax.tar", sparse_pax(), "b.so: tar: a sparse member"),
        ("a.tar.bz2", b"BZh91AY&SY".to_vec(), "neither bzip2 nor xz"),
        ("bad.gz", b"\x1f\x8bnot gzip at all".to_vec(), "packed file"),
        ("bad.a", b"!<arch>\nbroken header".to_vec(), "static library"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let run = occupant(&format!("inspect {} plain.sm_90.cubin", folder.join(name).display()));
        assert_eq!(run.status, 2, "{name}: {}", run.stderr);
        assert!(run.stderr.contains(said) && run.stdout.contains("plain_shared"), "{name}: {}", run.stderr);
    }
}

/// What gzip itself says of such files: members follow each other, other bytes behind them are passed over, a wrong checksum
/// or size is an error, and so is a member that breaks off.
#[test]
fn gzip_is_checked_member_by_member() {
    let folder = scratch("gzip");
    let cubin = fixture("plain.sm_90.cubin");
    let plain = kernels(&fixtures().join("plain.sm_90.cubin"), "", "");
    let (first, second) = cubin.split_at(1000);
    let (whole, halves) = (gzipped(&cubin), [gzipped(first), gzipped(&[]), gzipped(second)].concat());
    let with = |bytes: &[u8], tail: &[u8]| [bytes, tail].concat();
    for (name, bytes) in [
        ("members.gz", halves.clone()),
        ("junk.gz", with(&whole, b"junk")),
        ("one_byte.gz", with(&whole, &[0x1f])),
        ("long_junk.gz", with(&halves, &[b'x'; 70_000])),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        assert_eq!(kernels(&folder.join(name), "", ""), plain, "{name}");
    }
    let flipped = |bytes: &[u8], from_end: usize| {
        let mut bytes = bytes.to_vec();
        let at = bytes.len() - from_end;
        bytes[at] ^= 1;
        bytes
    };
    for (name, bytes, why) in [
        ("checksum.gz", flipped(&whole, 8), "checksum"),
        ("size.gz", flipped(&whole, 1), "checksum"),
        ("first_of_two.gz", with(&flipped(&gzipped(first), 8), &gzipped(second)), "checksum"),
        ("tar.gz", flipped(&gzipped(&tarred(&[("a.cubin", &cubin)])), 8), "checksum"),
        ("begun.gz", with(&whole, &whole[..20]), "incomplete deflate stream"),
        ("cut.gz", whole[..whole.len() - 4].to_vec(), "unexpected end of file"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let run = occupant(&format!("inspect {}", folder.join(name).display()));
        assert_eq!(run.status, 2, "{name}: {}", run.stderr);
        assert!(run.stderr.contains(why) && run.stderr.lines().count() == 1, "{name}: {}", run.stderr);
        // The members of a tar were read and listed before the checksum came.
        assert_eq!(run.stdout.contains("plain_shared"), name == "tar.gz", "{name}: {}", run.stdout);
    }
}

/// Applications that Python runs are zips behind a line for the system, or behind a program's own.
#[test]
fn a_zip_behind_other_data_is_read() {
    let folder = scratch("prepended");
    let library = fixture("libkernels.so");
    let plain = kernels(&fixtures().join("libkernels.so"), "", "");
    let members: &[(&str, &[u8])] = &[("__main__.py", b"import foo\n"), ("foo/libfoo.so", &library)];
    for method in [CompressionMethod::Deflated, CompressionMethod::Stored] {
        let zip = zipped(method, members);
        for (name, before) in [("a.pex", "#!/usr/bin/env python3\n".to_owned()), ("b.pex", "x".repeat(100_001))] {
            let path = folder.join(name);
            fs::write(&path, [before.as_bytes(), &zip].concat()).unwrap();
            assert_eq!(kernels(&path, "foo/libfoo.so/", ""), plain, "{name} {method}");
        }
    }
    // In a directory by its first line; a script without a zip is none of these.
    fs::write(folder.join("install.sh"), "#!/bin/sh\necho PK\x05\x06\n").unwrap();
    fs::remove_file(folder.join("b.pex")).unwrap();
    let report = support::json(&format!("inspect {}", folder.display()));
    assert_eq!((&report["totals"]["files"], report["diagnostics"].as_array().unwrap().len()), (&1.into(), 0));
    assert_eq!(report["kernels"].as_array().unwrap().len(), plain.len());
    let script = occupant(&format!("inspect {}", folder.join("install.sh").display()));
    assert!(script.status == 2 && script.stderr.contains("neither a binary nor an archive"), "{}", script.stderr);
}

/// Metadata of more than is read is told as too large where it comes from an archive, too.
#[test]
fn metadata_beyond_the_limit_is_told() {
    let folder = scratch("large_metadata");
    let cubin = fs::read(fixtures().join("../triton/sm_90/matmul.cubin")).unwrap();
    let large = [b"{\"num_warps\": 8, \"hash\": \"".as_slice(), &vec![b'x'; 4 << 20], b"\"}"].concat();
    for (ending, bytes) in archives(&[("k.cubin", &cubin), ("k.json", &large)]) {
        let path = folder.join(format!("a.{ending}"));
        fs::write(&path, bytes).unwrap();
        let run = occupant(&format!("inspect {}", path.display()));
        assert_eq!(run.status, 0, "{ending}: {}", run.stderr);
        assert!(
            run.stderr.contains("the .json beside it is not used: it has more than 4194304 bytes"),
            "{}",
            run.stderr
        );
    }
}
