//! Files made to cost more than they weigh: structures that lie over each other, names and bytes that many share. Each is
//! bounded, what is left out is said, and the rest is read.
#![allow(clippy::disallowed_methods, reason = "tests write files and start the program")]

mod support;

use std::convert::identity;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;

use occupant_core::report::Severity;
use occupant_core::{File, InspectOptions, Memory, Outcome, inspect};
use support::{fixtures, occupant, program};

fn looked_into(bytes: &[u8]) -> Outcome {
    let file = File { name: "bomb", source: &bytes, companion: None };
    inspect(&file, &Memory, &InspectOptions::default(), &identity, &mut |_| {})
}

/// Messages of errors.
fn errors(outcome: &Outcome) -> Vec<String> {
    let errors = outcome.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(|diagnostic| format!("{}: {}", diagnostic.code, diagnostic.message)).collect()
}

#[track_caller]
fn said(outcome: &Outcome, part: &str) {
    let errors = errors(outcome);
    assert!(
        errors.iter().any(|error| error.contains(part)),
        "`{part}` is missing in {:?}",
        &errors[..errors.len().min(5)]
    );
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn cubin() -> Vec<u8> {
    fs::read(fixtures().join("plain.sm_90.cubin")).unwrap()
}

const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;
const INFO: u32 = 0x7000_0000;

/// A section of an ELF file; `at` puts it over bytes that are there already.
#[derive(Default)]
struct Section {
    name: Vec<u8>,
    kind: u32,
    flags: u64,
    data: Vec<u8>,
    link: u32,
    info: u32,
    at: Option<(u64, u64)>,
}

fn section(name: &str, kind: u32, data: Vec<u8>) -> Section {
    Section { name: name.as_bytes().to_vec(), kind, data, ..Section::default() }
}

/// An ELF file of these sections, from number 1 on; names that are the same stand there once.
fn elf(machine: u16, flags: u32, sections: &[Section]) -> Vec<u8> {
    let mut names = vec![0];
    let mut body = vec![0; 64];
    let mut headers = vec![0; 64];
    let mut last: (&[u8], u32) = (&[], 0);
    let mut header = |name: u32, kind: u32, flags: u64, place: (u64, u64), link: u32, info: u32| {
        headers.extend(name.to_le_bytes());
        headers.extend(kind.to_le_bytes());
        for wide in [flags, 0, place.0, place.1] {
            headers.extend(wide.to_le_bytes());
        }
        headers.extend(link.to_le_bytes());
        headers.extend(info.to_le_bytes());
        headers.extend([0; 16]);
    };
    for section in sections {
        if last.0 != section.name {
            last = (&section.name, names.len() as u32);
            names.extend(&section.name);
            names.push(0);
        }
        let own = (body.len() as u64, section.data.len() as u64);
        body.extend(&section.data);
        header(last.1, section.kind, section.flags, section.at.unwrap_or(own), section.link, section.info);
    }
    header(0, STRTAB, 0, (body.len() as u64, names.len() as u64), 0, 0);
    body.extend(names);
    let count = headers.len() as u64 / 64;
    // Beyond 65,279 sections the numbers stand in the first header.
    let large = count >= 0xff00;
    if large {
        headers[32..40].copy_from_slice(&count.to_le_bytes());
        headers[40..44].copy_from_slice(&(count as u32 - 1).to_le_bytes());
    }
    let table = body.len() as u64;
    body.extend(headers);
    body[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x41");
    body[16..18].copy_from_slice(&2_u16.to_le_bytes());
    body[18..20].copy_from_slice(&machine.to_le_bytes());
    body[40..48].copy_from_slice(&table.to_le_bytes());
    body[48..52].copy_from_slice(&flags.to_le_bytes());
    body[58..60].copy_from_slice(&64_u16.to_le_bytes());
    body[60..62].copy_from_slice(&(if large { 0 } else { count as u16 }).to_le_bytes());
    body[62..64].copy_from_slice(&(if large { 0xffff } else { count as u16 - 1 }).to_le_bytes());
    body
}

fn symbol(name: u32, section: u16, kernel: bool) -> Vec<u8> {
    let kind = if kernel { [0x12, 0x10] } else { [0, 0] };
    [&name.to_le_bytes()[..], &kind, &section.to_le_bytes(), &[0; 16]].concat()
}

/// A cubin whose code section has so many kernels, all of one name, and more sections; the first is number 4.
fn shared(kernels: usize, name: &[u8], more: Vec<Section>) -> Vec<u8> {
    let mut symbols = vec![0; 24];
    (0..kernels).for_each(|_| symbols.extend(symbol(1, 1, true)));
    symbols.extend(symbol(1, 0, false));
    let code = Section { flags: 6, ..section(".text.k", PROGBITS, Vec::new()) };
    let names = section(".strtab", STRTAB, [&[0], name, &[0]].concat());
    let symbols = Section { link: 2, ..section(".symtab", SYMTAB, symbols) };
    let mut sections = vec![code, names, symbols];
    sections.extend(more);
    elf(190, 0x0600_5a04, &sections)
}

fn attribute(code: u8, payload: &[u8]) -> Vec<u8> {
    [&[4, code][..], &(payload.len() as u16).to_le_bytes(), payload].concat()
}

#[test]
fn names_that_symbols_share_are_bounded() {
    let outcome = looked_into(&shared(3, b"kernel", Vec::new()));
    assert_eq!((outcome.totals.read, outcome.totals.kernels, errors(&outcome)), (1, 3, Vec::new()));
    let outcome = looked_into(&shared(20_000, &[b'k'; 65_535], Vec::new()));
    assert_eq!((outcome.totals.images, outcome.totals.failed), (1, 1));
    said(&outcome, "over_limit: size of names that symbols share");
    let callees = attribute(0x0f, &1001_u32.to_le_bytes().repeat(64));
    let info = Section { info: 1, ..section(".nv.info.k", INFO, callees) };
    let outcome = looked_into(&shared(1000, &[b'k'; 65_535], vec![info]));
    said(&outcome, "over_limit: size of names that symbols share");
}

#[test]
fn attributes_that_lie_over_each_other_are_bounded() {
    let attributes = attribute(0x2f, &[1, 0, 0, 0, 32, 0, 0, 0]).repeat(1000);
    let at = Some((64, attributes.len() as u64));
    let own = section(".nv.info", INFO, attributes);
    let over = |_| Section { at, ..section(".nv.info", INFO, Vec::new()) };
    let outcome = looked_into(&shared(1, b"k", [own].into_iter().chain((0..5000).map(over)).collect()));
    assert_eq!((outcome.totals.images, outcome.totals.failed), (1, 1));
    said(&outcome, "over_limit: size of attributes");
}

#[test]
fn faults_of_a_cubin_are_counted_beyond_a_number() {
    let name = format!(".nv.info.{}", "x".repeat(60_000));
    let broken = |_| Section { info: 1, ..section(&name, INFO, vec![0xff]) };
    let outcome = looked_into(&shared(100, b"k", (0..50).map(broken).collect()));
    assert_eq!((outcome.totals.read, outcome.totals.kernels), (1, 100));
    let errors = errors(&outcome);
    assert_eq!(errors.len(), 101);
    assert!(errors.iter().all(|error| error.len() < 300), "{}", errors[0]);
    said(&outcome, "and 4900 more attribute streams");
}

#[test]
fn a_hundred_thousand_sections_are_no_work() {
    let data = section(".data", PROGBITS, vec![0; 800_000]);
    let device =
        |number: u64| Section { at: Some((64 + number * 8, 8)), ..section(".nv_fatbin", PROGBITS, Vec::new()) };
    let bytes = elf(62, 0, &[data].into_iter().chain((0..100_000).map(device)).collect::<Vec<_>>());
    assert_eq!(looked_into(&bytes).diagnostics[0].code, "no_device_code");
    // All of them in one place: what can't be read is counted, not told one by one.
    let over = |_| Section { at: Some((64, 16)), ..section(".nv_fatbin", PROGBITS, Vec::new()) };
    let data = section(".data", PROGBITS, vec![1; 800_000]);
    let bytes = elf(62, 0, &[data].into_iter().chain((0..5000).map(over)).collect::<Vec<_>>());
    let outcome = looked_into(&bytes);
    assert!((1000..1005).contains(&outcome.diagnostics.len()), "{}", outcome.diagnostics.len());
    said(&outcome, "more");
}

/// What has no images is named for what it is.
#[test]
fn a_place_for_device_code_without_any() {
    let empty = [&0xba55_ed50_u32.to_le_bytes()[..], &1_u16.to_le_bytes(), &16_u16.to_le_bytes(), &0_u64.to_le_bytes()];
    let empty = empty.concat();
    let so = |data: Vec<u8>| elf(62, 0, &[section(".nv_fatbin", PROGBITS, data)]);
    for bytes in [so(Vec::new()), so(vec![0; 64]), so(empty.clone()), so([empty.clone(), empty.clone()].concat())] {
        said(&looked_into(&bytes), "no CUDA device code: a binary whose .nv_fatbin holds no images");
    }
    let debug = Section { kind: 8, at: Some((64, 1 << 20)), ..section(".nv_fatbin", 8, Vec::new()) };
    said(&looked_into(&elf(62, 0, &[debug])), "a binary whose .nv_fatbin holds no images");
    let other = looked_into(&elf(62, 0, &[section(".text", PROGBITS, vec![0; 64])]));
    said(&other, "an ELF file without .nv_fatbin");
    said(&looked_into(&empty), "a fatbin that holds no images");
}

/// An entry of a fatbin: its header of 64 bytes, and more of it, and what it holds.
struct Entry {
    kind: u16,
    packed: u32,
    target: u32,
    tail: Vec<u8>,
    data: Vec<u8>,
}

impl Entry {
    fn of(data: Vec<u8>) -> Self {
        Self { kind: 2, packed: 0, target: 90, tail: Vec::new(), data }
    }

    fn bytes(&self) -> Vec<u8> {
        let stored = self.data.len().next_multiple_of(8);
        let mut bytes = [self.kind.to_le_bytes(), 0x101_u16.to_le_bytes()].concat();
        bytes.extend((64 + self.tail.len() as u32).to_le_bytes());
        bytes.extend((stored as u64).to_le_bytes());
        for word in [self.packed, 0, 0, self.target] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([0; 32]);
        bytes.extend(&self.tail);
        bytes.extend(&self.data);
        bytes.resize(bytes.len() + stored - self.data.len(), 0);
        bytes
    }
}

fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    [&0xba55_ed50_u32.to_le_bytes()[..], &[1, 0, 16, 0], &(body.len() as u64).to_le_bytes(), &body].concat()
}

#[test]
fn a_bad_entry_does_not_hide_those_behind_it() {
    let good = Entry::of(cubin()).bytes();
    let bad_target = Entry { target: u32::MAX, ..Entry::of(cubin()) }.bytes();
    let bad_packing = Entry { packed: 64, ..Entry::of(cubin()) }.bytes();
    for (bad, part) in [(bad_target, "fatbin entry architecture"), (bad_packing, "fatbin entry flags")] {
        let outcome = looked_into(&fatbin(&[bad.clone(), good.clone(), bad, good.clone()]));
        let totals = &outcome.totals;
        assert_eq!((totals.images, totals.read, totals.failed), (4, 2, 2), "{:?}", outcome.diagnostics);
        said(&outcome, part);
        let places: Vec<&str> = outcome.diagnostics.iter().filter_map(|found| found.place.as_deref()).collect();
        assert_eq!(places, ["1", "3"]);
    }
}

#[test]
fn images_over_the_same_bytes_are_bounded() {
    let cubin = cubin();
    let mut row = [0; 64];
    row[0] = 2;
    row[8..16].copy_from_slice(&(cubin.len() as u64).to_le_bytes());
    row[28] = 90;
    let tail = [&1000_u32.to_le_bytes()[..], &(64_008_u32).to_le_bytes(), &row.repeat(1000)].concat();
    let outcome = looked_into(&fatbin(&[Entry { kind: 0x100, tail, ..Entry::of(cubin) }.bytes()]));
    let totals = &outcome.totals;
    assert_eq!((totals.images, totals.read, totals.failed), (1000, 4, 996));
    said(&outcome, "over_limit: size of images that lie over each other");
}

#[test]
fn blobs_inside_blobs_are_bounded() {
    // Each entry holds the header of another blob, which goes on for ever, and of an entry that leads to the next.
    let mut link = [0; 128];
    link[..16].copy_from_slice(&Entry { tail: vec![0; 64], kind: 1, ..Entry::of(Vec::new()) }.bytes()[..16]);
    link[28] = 90;
    link[64..80].copy_from_slice(&fatbin(&[])[..16]);
    link[72..80].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    link[80..96].copy_from_slice(&[1, 0, 1, 1, 64, 0, 0, 0, 112, 0, 0, 0, 0, 0, 0, 0]);
    link[108] = 90;
    let bytes = fatbin(&[link.repeat(20_000), vec![0xff; 128]]);
    let outcome = looked_into(&bytes);
    said(&outcome, "over_limit: size of fatbin entries that lie over each other");
    assert!(outcome.totals.images < 400_000 && outcome.diagnostics.len() <= 1001, "{:?}", outcome.totals);
}

/// A zip of these members, each over the bytes at an offset: name, method, offset, sizes and checksum.
fn zip_over(local: &[u8], members: &[(String, u16, u32, [u32; 3])]) -> Vec<u8> {
    let mut bytes = local.to_vec();
    for (name, method, offset, [packed, size, crc]) in members {
        bytes.extend(b"PK\x01\x02\x14\x00\x14\x00\x00\x00");
        bytes.extend(method.to_le_bytes());
        bytes.extend([0, 0, 0x21, 0]);
        [*crc, *packed, *size].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0; 12]);
        bytes.extend(offset.to_le_bytes());
        bytes.extend(name.as_bytes());
    }
    let directory = (bytes.len() - local.len()) as u32;
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    let count = (members.len() as u16).to_le_bytes();
    bytes.extend([count, count].concat());
    bytes.extend(directory.to_le_bytes());
    bytes.extend((local.len() as u32).to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn local(name: &str, method: u16, packed: &[u8], sizes: [u32; 3]) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04\x14\x00\x00\x00".to_vec();
    bytes.extend(method.to_le_bytes());
    bytes.extend([0, 0, 0x21, 0]);
    let [packed_size, size, crc] = sizes;
    [crc, packed_size, size].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(name.as_bytes());
    bytes.extend(packed);
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[test]
fn members_over_the_same_bytes_are_refused() {
    let cubin = cubin();
    let size = cubin.len() as u32;
    let sizes = [size, size, crc(&cubin)];
    let members: Vec<_> = (0..3000).map(|number| (format!("{number:04}.cubin"), 0, 0, sizes)).collect();
    let zip = zip_over(&local("a", 0, &cubin, sizes), &members);
    let outcome = looked_into(&zip);
    // The directory makes the file larger than one member, so a few more than one are believed.
    assert!((1..100).contains(&outcome.totals.read), "{:?}", outcome.totals);
    said(&outcome, "another's bytes");
    said(&outcome, "more");
    assert!(outcome.diagnostics.len() <= 1001);
}

/// Deflated data that is long and stands for nothing: empty blocks, and an end.
fn nothing(bytes: usize) -> Vec<u8> {
    let mut packed = [0, 0, 0, 0xff, 0xff].repeat(bytes / 5);
    packed.extend([1, 0, 0, 0xff, 0xff]);
    packed
}

#[test]
fn packed_members_over_the_same_bytes_are_bounded() {
    let packed = nothing(1 << 20);
    let sizes = [packed.len() as u32, 0, 0];
    let start = local("a", 8, &packed, sizes);
    // 60,000 times a megabyte would be read, and nothing come out of it.
    for name in [|number: u32| format!("{number:05}"), |_| "x".to_owned(), |_| "folder/".to_owned()] {
        let members: Vec<_> = (0..60_000).map(|number| (name(number), 8, 0, sizes)).collect();
        let outcome = looked_into(&zip_over(&start, &members));
        said(&outcome, "over_limit: size of all that is unpacked");
        assert!(outcome.diagnostics.len() < 10, "told once: {:?}", errors(&outcome));
    }
}

#[test]
fn names_that_library_members_share_are_bounded() {
    let header = |name: &str, size: usize| format!("{name:<48}{size:<10}`\n").into_bytes();
    let names = [vec![b'n'; 1 << 20], b"/\n".to_vec()].concat();
    let mut library = [b"!<arch>\n".to_vec(), header("//", names.len()), names].concat();
    for _ in 0..60_000 {
        library.extend(header("/0", 0));
    }
    let outcome = looked_into(&library);
    said(&outcome, "over_limit: size of names that members share");
    assert_eq!(outcome.diagnostics.len(), 1);
}

#[test]
fn what_stands_beside_a_member_is_not_unpacked_for_what_is_no_cubin() {
    let zeros = vec![0; 4 << 20];
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&zeros).unwrap();
    let packed = packed.finish().unwrap();
    let json = [packed.len() as u32, zeros.len() as u32, crc(&zeros)];
    let start = local("j", 8, &packed, json);
    let small = [1, 1, crc(b"x")];
    let offset = start.len() as u32;
    let pair = |number| [(format!("{number}.cubin"), 0, offset, small), (format!("{number}.json"), 8, 0, json)];
    let members: Vec<_> = (0..20_000).flat_map(pair).collect();
    // 80 GB would be unpacked.
    let outcome = looked_into(&zip_over(&[start, local("c", 0, b"x", small)].concat(), &members));
    assert_eq!(outcome.totals.images, 0);
}

#[test]
fn long_paths_lose_their_middle() {
    let broken = fatbin(&vec![Entry::of(b"\x7fELFxxxx".to_vec()).bytes(); 2000]);
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("n".repeat(60_000), options).unwrap();
    zip.write_all(&broken).unwrap();
    zip.start_file("k.cubin", options).unwrap();
    zip.write_all(&cubin()).unwrap();
    let outcome = looked_into(&zip.finish().unwrap().into_inner());
    let totals = &outcome.totals;
    assert_eq!((totals.images, totals.read, totals.failed), (2001, 1, 2000));
    assert_eq!(outcome.diagnostics.len(), 1001);
    said(&outcome, "and 1000 more, which are only counted");
    assert!(outcome.diagnostics.iter().all(|found| found.place.as_ref().is_none_or(|place| place.len() < 1100)));
}

#[test]
fn a_size_that_stands_in_a_pax_header_alone_is_told() {
    let entry = |kind, path: &str, size: u64, data: &[u8]| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_path(path).unwrap();
        header.set_size(size);
        header.set_cksum();
        [header.as_bytes().as_slice(), data, &vec![0; data.len().next_multiple_of(512) - data.len()]].concat()
    };
    let cubin = cubin();
    let records = format!("{} size={}\n", 7 + cubin.len().to_string().len() + 2, cubin.len());
    for (size, status) in [(0, 1), (cubin.len() as u64, 0)] {
        let header = entry(tar::EntryType::XHeader, "x", records.len() as u64, records.as_bytes());
        let outcome =
            looked_into(&[header, entry(tar::EntryType::Regular, "k.cubin", size, &cubin), vec![0; 1024]].concat());
        assert_eq!(errors(&outcome).len(), status, "{:?}", outcome.diagnostics);
        assert_eq!(outcome.totals.read, 1 - status as u32);
        if status > 0 {
            said(&outcome, "the size of k.cubin stands in a pax header alone");
        }
    }
}

#[test]
fn a_broken_member_is_named_in_few_words() {
    let cubin = cubin();
    let size = cubin.len() as u32;
    let sizes = [size, size, crc(&cubin)];
    let members = [("lost.cubin".to_owned(), 0, 0x7fff_fff0, sizes), ("k.cubin".to_owned(), 0, 0, sizes)];
    let outcome = looked_into(&zip_over(&local("k.cubin", 0, &cubin, sizes), &members));
    assert_eq!((outcome.totals.read, outcome.diagnostics.len()), (1, 1), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.diagnostics[0].place.as_deref(), Some("lost.cubin"));
    let mut header = tar::Header::new_ustar();
    header.set_path("k.cubin").unwrap();
    header.set_size(cubin.len() as u64);
    header.set_cksum();
    let padding = vec![0; cubin.len().next_multiple_of(512) - cubin.len()];
    let outcome = looked_into(&[header.as_bytes().as_slice(), &cubin, &padding, &[0xff; 512]].concat());
    assert_eq!(outcome.totals.read, 1);
    assert!(errors(&outcome).iter().all(|error| error.len() < 300) && !errors(&outcome).is_empty());
}

#[test]
fn a_reader_that_is_gone_hides_no_error() {
    let mut child = program("inspect /nonexistent libkernels.so --format jsonl --gpu all")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("error: /nonexistent: "), "{told}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn names_move_no_cursor_in_any_format() {
    let folder = scratch("escapes");
    let name = "a\u{1b}[31m\u{7}\u{7f}\u{9b}1m\u{202e}\u{2028}b";
    let path = folder.join("k.cubin");
    fs::write(&path, shared(1, name.as_bytes(), Vec::new())).unwrap();
    for format in ["table", "csv", "markdown", "json", "jsonl"] {
        for more in ["", "--names", "--summary"] {
            let more = if more == "--names" && format != "table" { "" } else { more };
            let run = occupant(&format!("inspect {} --format {format} {more}", path.display()));
            assert_eq!(run.status, 0, "{}", run.stderr);
            let moves = |c: char| c.is_control() && c != '\n';
            assert!(!run.stdout.contains(moves), "{format} {more}: {:?}", run.stdout);
            if !format.starts_with("json") {
                assert!(!run.stdout.contains(['\u{202e}', '\u{2028}']), "{format} {more}: {:?}", run.stdout);
            }
        }
    }
    let line: serde_json::Value =
        serde_json::from_str(&occupant(&format!("inspect {} --format jsonl", path.display())).stdout).unwrap();
    assert_eq!(line["name"], name);
}

#[test]
#[cfg(unix)]
fn a_temporary_folder_that_is_not_there_is_named() {
    let mut child = program("inspect -")
        .env("TMPDIR", "/nonexistent-folder")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(&vec![0; 20 << 20]);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("temporary folder /nonexistent-folder"), "{told}");
}
