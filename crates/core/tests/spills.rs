//! Spill bytes of every fixture against what ptxas said when it compiled them.
#![allow(clippy::disallowed_methods, reason = "tests read fixtures")]

use std::collections::BTreeMap;
use std::convert::identity;
use std::fs;
use std::path::PathBuf;

use occupant_core::report::KernelRecord;
use occupant_core::{Event, File, InspectOptions, Memory, inspect};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn kernels(name: &str) -> BTreeMap<String, KernelRecord> {
    let bytes = fs::read(fixtures().join("bin").join(format!("{name}.cubin"))).unwrap();
    let file = File { name, source: &bytes, companion: None };
    let mut kernels = BTreeMap::new();
    let outcome = inspect(&file, &Memory, &InspectOptions::default(), &identity, &mut |event| {
        if let Event::Kernels(records) = event {
            kernels.extend(records.into_iter().map(|record| (record.name.to_string(), record)));
        }
    });
    assert_eq!(outcome.diagnostics, [], "{name}");
    kernels
}

/// Rows of ptxas that give spills: name of the kernel, bytes stored and loaded by it and by the functions it calls.
fn expected(name: &str) -> Vec<(String, [u32; 4])> {
    let text = fs::read_to_string(fixtures().join("expected").join(format!("{name}.csv"))).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse().ok();
        Some((fields[0].to_owned(), [number(5)?, number(6)?, number(7)?, number(8)?]))
    };
    text.lines().skip(1).filter_map(row).collect()
}

fn names() -> Vec<String> {
    let files = fs::read_dir(fixtures().join("expected")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap().trim_end_matches(".csv").to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn sums_equal_ptxas_for_every_kernel_and_its_callees() {
    let mut compared = 0;
    for name in names() {
        let kernels = kernels(&name);
        for (kernel, [store, load, callee_store, callee_load]) in expected(&name) {
            let spills = &kernels[&kernel].spills;
            let listed = (spills.store_bytes.unwrap(), spills.load_bytes.unwrap());
            let unlisted = spills.unlisted_bytes.unwrap();
            // Functions that are called by pointer or by themselves save without a word from the compiler.
            let by_pointer = matches!(kernel.as_str(), "recursion" | "indirect_call");
            match spills.source.unwrap() {
                "annotations" if by_pointer => {
                    assert_eq!(listed, (store, load), "{name} {kernel}");
                    // The slow paths of square root and division save 8 bytes each besides.
                    let slow_paths = if kernel == "indirect_call" { 16 } else { 0 };
                    assert_eq!(unlisted, callee_store + callee_load + slow_paths, "{name} {kernel}");
                }
                "annotations" => {
                    assert_eq!(listed, (store + callee_store, load + callee_load), "{name} {kernel}");
                    assert_eq!(unlisted, 0, "{name} {kernel}");
                }
                "stack_accesses" if !by_pointer => {
                    assert_eq!(listed, (store + callee_store, load + callee_load), "{name} {kernel}");
                }
                other => assert_eq!(other, "stack_accesses"),
            }
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

#[test]
fn spills_are_placed_in_loops() {
    for name in ["kernels.sm_80", "kernels.sm_90a", "kernels.sm_100a", "kernels.sm_120"] {
        let spill = &kernels(name)["spill"].spills;
        let all = spill.store_bytes.unwrap() + spill.load_bytes.unwrap();
        let in_loops = spill.in_loops_bytes.unwrap();
        // Most of its values live across the rounds' loop, and some are spilled before it only.
        assert!(in_loops > 0 && in_loops < all, "{name}: {in_loops} of {all}");
        assert!(spill.innermost_bytes.unwrap() <= in_loops);
    }
}
