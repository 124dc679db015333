//! Source lines of the fixtures with a line table against what nvdisasm prints (`fixtures/lines`), and what is damaged.
#![allow(clippy::disallowed_methods, reason = "a test reads its fixtures")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use occupant_binary::{Cubin, LineOf, line_at, lines};
use serde::Deserialize;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn cubin(stem: &str) -> Vec<u8> {
    fs::read(fixtures().join(format!("bin/{stem}.cubin"))).unwrap()
}

/// The lines of every function, by name.
fn all_lines(bytes: &[u8]) -> BTreeMap<String, Vec<LineOf>> {
    let functions = Cubin::parse(&bytes).unwrap().functions;
    functions.into_iter().map(|function| (function.name.clone(), lines(&bytes, &function).unwrap())).collect()
}

#[derive(Deserialize)]
struct Row {
    function: String,
    offset: String,
    file: String,
    line: Option<u32>,
}

#[test]
fn every_line_is_the_one_that_nvdisasm_prints() {
    let mut instructions = 0;
    for entry in fs::read_dir(fixtures().join("lines")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let ours = all_lines(&cubin(&stem));
        for row in csv::Reader::from_path(&path).unwrap().deserialize() {
            let row: Row = row.unwrap();
            let offset = u32::from_str_radix(&row.offset, 16).unwrap();
            let found = line_at(&ours[&row.function], offset).map(|line| (&*line.file, line.line));
            let expected = row.line.map(|line| (row.file.as_str(), line));
            assert_eq!(found, expected, "{stem} {} {}", row.function, row.offset);
            instructions += 1;
        }
    }
    assert!(instructions > 200, "{instructions}");
}

#[test]
fn a_cubin_without_a_line_table_has_no_lines() {
    for found in all_lines(&cubin("plain.sm_90")).values() {
        assert_eq!(found, &[]);
    }
}

#[test]
fn damage_is_an_error_or_fewer_lines() {
    for stem in ["plain.debug.sm_86", "linked.lineinfo.sm_90"] {
        let original = cubin(stem);
        let functions = Cubin::parse(&original.as_slice()).unwrap().functions;
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let mut bytes = original.clone();
            let at = (seed % bytes.len() as u64) as usize;
            bytes[at] ^= 1 << (seed >> 61);
            for function in &functions {
                // Whatever comes out, it is sorted and inside the function.
                let Ok(found) = lines(&bytes, function) else { continue };
                let size = function.code.end - function.code.start;
                assert!(
                    found.is_sorted_by(|a, b| a.offset < b.offset) && found.iter().all(|l| u64::from(l.offset) < size)
                );
            }
        }
        for end in (0..original.len()).step_by(61) {
            functions.iter().for_each(|function| drop(lines(&&original[..end], function)));
        }
    }
}
