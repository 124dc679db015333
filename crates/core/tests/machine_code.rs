//! The machine code of fixtures whose sources say what must be found in it.
#![allow(clippy::disallowed_methods, reason = "tests read fixtures")]

use std::convert::identity;
use std::fs;
use std::path::PathBuf;

use occupant_core::report::{KernelRecord, LoopFor, LoopRecord, MachineCode};
use occupant_core::{Event, File, InspectOptions, Memory, ReadCode, inspect};

fn kernel(file: &str, name: &str) -> KernelRecord {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(file);
    let bytes = fs::read(path).unwrap();
    let source = File { name: file, source: &bytes, companion: None };
    let options = InspectOptions { code: ReadCode::All, ..InspectOptions::default() };
    let mut kernels = Vec::new();
    let outcome = inspect(&source, &Memory, &options, &identity, &mut |event| {
        if let Event::Kernels(records) = event {
            kernels.extend(records);
        }
    });
    assert_eq!(outcome.diagnostics, [], "{file}");
    kernels.into_iter().find(|kernel| &*kernel.name == name).unwrap_or_else(|| panic!("{name} in {file}"))
}

fn code(kernel: &KernelRecord) -> &MachineCode {
    kernel.machine_code.as_deref().unwrap()
}

fn hot(code: &MachineCode) -> &LoopRecord {
    &code.loops[code.hot_loop.as_ref().unwrap().number as usize]
}

fn count(found: &LoopRecord, what: &str) -> u32 {
    found.work.iter().find(|work| work.what == what).map_or(0, |work| work.count)
}

#[test]
fn the_hot_loop_of_a_tiled_product_loads_multiplies_and_meets_at_barriers() {
    for arch in ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"] {
        let kernel = kernel(&format!("bin/kernels.{arch}.cubin"), "matmul_tiled");
        let found = hot(code(&kernel));
        let tiles = count(found, "barrier") / 2;
        assert!(tiles >= 1, "{arch}");
        // Two elements of the tiles each, 16 multiplications, and two barriers a tile.
        assert_eq!(count(found, "global load"), 2 * tiles, "{arch}");
        assert_eq!(found.global_load_bytes, 8 * tiles, "{arch}");
        assert_eq!(count(found, "shared store"), 2 * tiles, "{arch}");
        assert!(count(found, "FP32") == 16 * tiles, "{arch}");
    }
}

#[test]
fn a_remainder_is_told_from_the_unrolled_loop() {
    let kernel = kernel("bin/kernels.sm_90a.cubin", "tensor_core");
    let code = code(&kernel);
    let remainder = code.loops.iter().find(|found| found.remainder_of.is_some()).unwrap();
    let large = &code.loops[remainder.remainder_of.unwrap() as usize];
    assert_eq!((count(large, "tensor-core"), count(remainder, "tensor-core")), (4, 1));
    assert_eq!(remainder.unrolled, Some(4));
    assert_eq!(hot(code), large);
    // Every load of the unrolled loop is under way before the first product waits for three of them.
    let block = code.blocks.iter().find(|block| block.offset == large.header).unwrap();
    let first = block.instructions.iter().find(|instruction| instruction.waits_for_loads > 0).unwrap();
    assert_eq!((first.waits_for_loads, first.loads_in_flight), (3, 12));
    assert!(code.irregular.is_empty(), "{:?}", code.irregular);
}

#[test]
fn producers_and_consumers_are_told_with_their_places() {
    let hopper = kernel("bin/pipeline.sm_90a.cubin", "pipeline");
    let signs = code(&hopper).warp_specialised.join("; ");
    for part in
        ["raised to 232", "released down to 40", "only moves data: 1 asynchronous copy", "computes: 1 tensor-core"]
    {
        assert!(signs.contains(part), "{part}: {signs}");
    }
    assert_eq!(count(hot(code(&hopper)), "tensor-core"), 1);
    let blackwell = kernel("bin/pipeline.sm_100a.cubin", "pipeline");
    let signs = code(&blackwell).warp_specialised.join("; ");
    assert!(signs.contains("only moves data") && signs.contains("computes") && !signs.contains("registers"), "{signs}");
    assert_eq!(blackwell.tensor_columns, Some(64));
    let kinds = |kind| code(&blackwell).loops.iter().filter(|found| found.kind == kind).count();
    assert_eq!((kinds(LoopFor::Work), kinds(LoopFor::Elect)), (2, 4));
    for kernel in [&hopper, &blackwell] {
        let text: Vec<&str> = code(kernel)
            .blocks
            .iter()
            .flat_map(|block| &block.instructions)
            .map(|instruction| instruction.text.as_str())
            .collect();
        assert!(
            text.iter().any(|text| text.contains("UTMALDG")) && text.iter().any(|text| text.contains("SYNCS.wait"))
        );
        assert_eq!(code(kernel).unknown_opcodes, 0);
    }
    // A plain kernel shows none of this.
    let plain = kernel("bin/kernels.sm_90a.cubin", "matmul_tiled");
    assert!(code(&plain).warp_specialised.is_empty());
}

#[test]
fn columns_of_tensor_memory_are_traced_to_constants() {
    for (name, columns) in [
        ("tensor_memory_fixed", Some(128)),
        ("tensor_memory_twice", Some(320)),
        ("tensor_memory_pair", Some(256)),
        ("tensor_memory_variable", None),
    ] {
        for file in
            ["bin/blackwell.sm_100a.cubin", "bin/blackwell.sm_100f.cubin", "bin/blackwell.sm_100a.ptxas-12.9.cubin"]
        {
            let kernel = kernel(file, name);
            assert_eq!(kernel.tensor_columns, columns, "{file} {name}");
            let ceiling = kernel.occupancy.as_ref().and_then(|found| found.ceilings.tensor_memory);
            assert_eq!(ceiling, columns.map(|columns| 512 / columns), "{file} {name}");
        }
    }
}

#[test]
fn functions_in_a_section_are_named_and_local_arrays_are_no_spills() {
    let recursion = kernel("bin/kernels.sm_90a.cubin", "recursion");
    let functions: Vec<&str> =
        code(&recursion).functions.iter().map(|function| function.name.as_deref().unwrap_or("")).collect();
    assert_eq!(functions, ["recursion", "ackermann"]);
    let local = kernel("bin/kernels.sm_90a.cubin", "local_array");
    assert_eq!(local.spills.store_bytes, Some(0), "a local array is no spill");
}
