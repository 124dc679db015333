//! The reader against `fixtures/expected`, which NVIDIA's tools measured, and against what each container holds.
#![allow(clippy::disallowed_methods, reason = "a test reads its fixtures")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use occupant_binary::{Artifact, Cubin, DynamicShared, ImageKind, Source, Workspace};
use serde::Deserialize;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn read(name: &str) -> Vec<u8> {
    fs::read(fixtures().join("bin").join(name)).unwrap()
}

fn cubin(name: &str) -> Cubin {
    Cubin::parse(&read(name)).unwrap()
}

#[derive(Debug, Deserialize)]
struct Expected {
    kernel: String,
    registers: u32,
    stack: String,
    shared: u32,
    barriers: Option<u32>,
    spill_store_bytes: Option<u32>,
    callee_spill_store_bytes: Option<u32>,
}

#[test]
fn every_cubin_equals_what_nvidias_tools_print() {
    let (mut files, mut kernels) = (0, 0);
    for entry in fs::read_dir(fixtures().join("expected")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let cubin = cubin(&format!("{stem}.cubin"));
        assert!(cubin.faults.is_empty(), "{stem}: {:?}", cubin.faults);
        let mut ours: BTreeMap<&str, _> =
            cubin.functions.iter().filter(|f| f.is_kernel).map(|f| (f.name.as_str(), f)).collect();
        for row in csv::Reader::from_path(&path).unwrap().deserialize() {
            let row: Expected = row.unwrap();
            let function = ours.remove(row.kernel.as_str()).unwrap_or_else(|| panic!("{stem} lacks {}", row.kernel));
            assert_eq!(function.registers, Some(row.registers), "{stem} {}", row.kernel);
            // Before linking no stack is settled; cuobjdump prints 0 there.
            let unknown = if cubin.relocatable { "0" } else { "unknown" };
            let stack = function.stack.map_or(unknown.to_owned(), |stack| stack.to_string());
            assert_eq!(stack, row.stack, "{stem} {}", row.kernel);
            assert_eq!(function.shared_section, row.shared, "{stem} {}", row.kernel);
            assert!(row.barriers.is_none_or(|barriers| barriers == function.barriers), "{stem} {}", row.kernel);
            if let (Some(own), Some(callees), Some(count)) =
                (row.spill_store_bytes, row.callee_spill_store_bytes, function.spills.count())
            {
                // Saves of a callee that is recursive or called through a pointer are in no list (docs/accuracy.md).
                assert!(own == 0 || count > 0, "{stem} {}", row.kernel);
                assert!(count == 0 || own + callees > 0, "{stem} {}", row.kernel);
            }
            kernels += 1;
        }
        assert!(ours.is_empty(), "{stem} has more kernels: {:?}", ours.keys());
        files += 1;
    }
    assert!(files >= 20 && kernels > 200, "{files} files, {kernels} kernels");
}

#[test]
fn targets_are_told_apart() {
    for (name, target) in [
        ("hopper.sm_90.cubin", "sm_90"),
        ("hopper.sm_90a.cubin", "sm_90a"),
        ("hopper.sm_90a.ptxas-12.4.cubin", "sm_90a"),
        ("hopper.sm_120a.cubin", "sm_120a"),
        ("blackwell.sm_100a.ptxas-12.9.cubin", "sm_100a"),
        ("blackwell.sm_100f.cubin", "sm_100f"),
        ("kernels.sm_75.cubin", "sm_75"),
        ("kernels.sm_80.ptxas-12.4.cubin", "sm_80"),
    ] {
        assert_eq!(cubin(name).architecture.to_string(), target, "{name}");
    }
}

#[test]
fn launch_facts_are_read() {
    let hopper = cubin("hopper.sm_90a.cubin");
    let function = |name: &str| hopper.functions.iter().find(|f| f.name == name).unwrap();
    assert!(function("warp_specialised").setmaxnreg);
    assert_eq!(function("warp_specialised").max_threads, Some([384, 1, 1]));
    assert!(function("required_block").required_threads.is_some());
    assert!(function("cluster_bound").cluster.unwrap().max_blocks.is_some());
    assert!(function("cluster_fixed").cluster.unwrap().blocks.is_some());

    let blackwell = cubin("blackwell.sm_100a.cubin");
    assert!(blackwell.functions.iter().any(|f| f.tensor_memory && f.virtual_resources == 128));

    let general = cubin("kernels.sm_90a.cubin");
    let printing = general.functions.iter().find(|f| f.name == "print").unwrap();
    assert_eq!(printing.externals, ["vprintf"]);
    let local = general.functions.iter().find(|f| f.name == "_Z10file_localPf").unwrap();
    assert!(local.is_local && local.is_kernel);
}

#[test]
fn dynamic_shared_memory_is_excluded_only_where_the_file_proves_it() {
    let none = |name: &str| -> Vec<String> {
        let functions = cubin(name).functions;
        let mut names: Vec<String> = functions
            .into_iter()
            .filter(|f| f.is_kernel && f.shared_dynamic == DynamicShared::None)
            .map(|f| f.name)
            .collect();
        names.sort();
        names
    };
    // No kernel of this module has `extern __shared__`, and the file shows it.
    assert_eq!(none("plain.sm_90.cubin"), ["plain", "plain_shared"]);
    assert_eq!(none("plain.sm_86.cubin"), ["plain", "plain_shared"]);
    // One kernel of this module has it, so the compiler marks all.
    assert!(none("kernels.sm_90a.cubin").is_empty());
    assert!(none("kernels.sm_80.cubin").is_empty());
    // Before linking, nothing is certain: the user of dynamic shared memory has no section yet.
    assert!(none("relocatable.sm_90.cubin").is_empty());
    // Linked code marks the user alone.
    assert!(none("linked.sm_90.cubin").contains(&"linked".to_owned()));
    assert!(!none("linked.sm_90.cubin").contains(&"linked_dynamic".to_owned()));
}

/// Kernels of every ELF image of a file, as `place number target kernels`, and the other images.
fn contents(name: &str) -> Vec<String> {
    let bytes = read(name);
    let artifact = Artifact::open(&bytes).unwrap();
    assert!(artifact.faults.is_empty(), "{name}: {:?}", artifact.faults);
    let mut lines = Vec::new();
    for module in &artifact.modules {
        for entry in &module.entries {
            let mut workspace = Workspace::default();
            let is_elf = entry.images.iter().any(|i| i.kind == ImageKind::Elf);
            let unpacked = is_elf.then(|| entry.unpack(&bytes, &mut workspace).unwrap());
            for image in &entry.images {
                let what = match (&unpacked, image.kind) {
                    (Some(unpacked), ImageKind::Elf) => {
                        let window = unpacked.image(image).unwrap();
                        let cubin = Cubin::parse(&window).unwrap_or_else(|e| panic!("{name} {}: {e}", image.number));
                        assert_eq!(cubin.architecture, image.architecture, "{name} {}", image.number);
                        assert!(window.size() > 0);
                        format!("{} kernels", cubin.functions.iter().filter(|f| f.is_kernel).count())
                    }
                    (_, kind) => format!("{kind:?}"),
                };
                lines.push(
                    format!("{} {} {}: {what}", module.place, image.number, image.architecture).trim().to_owned(),
                );
            }
        }
    }
    lines
}

#[test]
fn every_container_gives_all_its_images() {
    for name in ["plain.default.fatbin", "plain.none.fatbin", "plain.speed.fatbin"] {
        let found = contents(name);
        assert_eq!(found.iter().filter(|line| line.ends_with("2 kernels")).count(), found.len() - 1, "{found:?}");
        assert_eq!(found.iter().filter(|line| line.ends_with("Ptx")).count(), 1, "{found:?}");
    }
    let concatenated = contents("plain.concat.fatbin");
    for target in ["sm_86", "sm_90:", "sm_90a", "sm_100", "sm_120"] {
        assert!(
            concatenated.iter().any(|line| line.contains(target) && line.ends_with("2 kernels")),
            "{concatenated:?}"
        );
    }
    assert_eq!(contents("plain.ptx.fatbin").len(), 1);
    assert!(contents("plain.lto.fatbin").iter().all(|line| line.ends_with("LtoIr")));
    for name in ["kernels.lz4.fatbin", "kernels.zstd.fatbin", "kernels.concat.fatbin"] {
        assert!(contents(name).iter().any(|line| line.ends_with("26 kernels")), "{name}: {:?}", contents(name));
    }
    let targets = contents("hopper.targets.fatbin");
    for target in ["sm_90:", "sm_90a:", "sm_100a:", "sm_100f:"] {
        assert!(targets.iter().any(|line| line.contains(target)), "{targets:?}");
    }
    assert!(contents("libkernels.so").iter().all(|line| line.starts_with(".nv_fatbin ")));
    assert!(contents("relocatable.o").iter().all(|line| line.starts_with("__nv_relfatbin ")));
}
