//! The model on our own kernels: what a warp moves is known from their source, and so is which of two needs fewer warps.
#![allow(clippy::disallowed_methods, reason = "a test opens its own files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use occupant_binary::Cubin;
use occupant_hardware::{ComputeCapability, gpus};
use occupant_need::{
    Constants, Execution, Guarded, Machine, Memory, Model, NotModelled, Resource, Scenario, Scope, Sources, model,
};
use occupant_sass::{Analysis, Code, Decoder, Known};
use proptest::prelude::*;

fn kernels(name: &str) -> BTreeMap<String, Analysis> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bin").join(name);
    let bytes = fs::read(path).unwrap();
    let bytes = bytes.as_slice();
    let cubin = Cubin::parse(&bytes).unwrap();
    let decoder = Decoder::new(cubin.architecture.capability).unwrap();
    let analysed = cubin.functions.iter().map(|function| {
        let code = function.read_code(&bytes).unwrap();
        (function.name.clone(), Analysis::new(&Code::new(decoder, &code), &Known::default()))
    });
    analysed.collect()
}

fn machine(id: &str) -> Machine {
    Machine::of(gpus().iter().find(|gpu| gpu.id == id).unwrap()).unwrap()
}

fn ask(analysis: &Analysis, gpu: &str, memory: Memory) -> Result<Model, NotModelled> {
    let (machine, constants, execution) = (machine(gpu), Constants::fitted(), Execution::default());
    let sources = Sources { analysis, machine: &machine, constants: &constants, execution: &execution };
    model(sources, Scenario { memory, guarded: Guarded::Executed })
}

const BOTH: [(&str, &str); 2] = [("80", "a100-sxm4-80gb"), ("90", "h100-sxm")];

#[test]
fn streams_move_what_their_source_says() {
    // Bytes of a warp of 32 FP64 elements: read and written. Neighbours of a stencil are the same sectors.
    let moved = [
        ("init", 0.0, 256.0),
        ("read", 256.0, 0.0),
        ("scale", 256.0, 256.0),
        ("triad3", 512.0, 256.0),
        ("triad", 768.0, 256.0),
        ("stencil3", 256.0, 256.0),
        ("stencil5", 256.0, 256.0),
    ];
    for (sm, gpu) in BOTH {
        let kernels = kernels(&format!("streams.sm_{sm}.cubin"));
        for (name, read, written) in moved {
            let found = ask(&kernels[name], gpu, Memory::Dram).unwrap();
            assert_eq!((found.demand.stream.read, found.demand.stream.written), (read, written), "{name} sm_{sm}");
            assert_eq!((found.scope, found.untraced), (Scope::Flat, 0), "{name} sm_{sm}");
            assert_eq!(found.demand.binding().unwrap().0, Resource::Dram, "{name} sm_{sm}");
        }
    }
}

#[test]
fn sectors_are_those_of_the_source() {
    // Bytes of a warp, read and written: 32 lanes of 4 bytes side by side are 128.
    let moved = [
        ("side_by_side", 128.0, 128.0),
        ("stride2", 256.0, 128.0),
        ("stride32", 1024.0, 128.0),
        ("backwards", 128.0, 128.0),
        ("same_for_all", 32.0, 128.0),
        ("neighbours", 128.0, 128.0),
        ("structure_in", 384.0, 128.0),
        ("structure_out", 128.0, 384.0),
        ("divided", 256.0, 128.0),
        ("in_place", 128.0, 128.0),
        ("rows_of_lanes", 1024.0, 1024.0),
        ("plane", 128.0, 128.0),
        ("stretches", 1024.0, 1024.0),
        ("early_end", 128.0, 128.0),
    ];
    for (sm, gpu) in [("80", "a100-sxm4-80gb"), ("90", "h100-sxm"), ("120", "rtx-5090")] {
        let kernels = kernels(&format!("accesses.sm_{sm}.cubin"));
        for (name, read, written) in moved {
            let found = ask(&kernels[name], gpu, Memory::Dram).unwrap_or_else(|why| panic!("{name} sm_{sm}: {why}"));
            assert_eq!((found.demand.stream.read, found.demand.stream.written), (read, written), "{name} sm_{sm}");
            assert_eq!(found.untraced, 0, "{name} sm_{sm}");
            assert_eq!(found.timeline.bytes_in_flight, read, "{name} sm_{sm}");
        }
        for name in ["gather", "search"] {
            assert_eq!(ask(&kernels[name], gpu, Memory::Dram).unwrap_err().code(), "gather", "{name} sm_{sm}");
        }
    }
}

#[test]
fn what_lanes_do_by_themselves_is_not_claimed_to_be_the_same() {
    for (sm, gpu) in [("80", "a100-sxm4-80gb"), ("90", "h100-sxm"), ("120", "rtx-5090")] {
        let kernels = kernels(&format!("accesses.sm_{sm}.cubin"));
        for name in ["by_bits", "by_choice", "by_quotient", "by_third", "by_table", "by_stack"] {
            let found = ask(&kernels[name], gpu, Memory::Dram).unwrap();
            let traced = found.untraced == 0 && found.demand.stream.read > 0.0;
            assert!(!traced, "{name} sm_{sm}: {} bytes read", found.demand.stream.read);
        }
    }
}

#[test]
fn groups_of_copies_stay_in_flight_until_they_are_waited_for() {
    for (sm, gpu) in BOTH {
        let found = ask(&kernels(&format!("ladder.sm_{sm}.cubin"))["staged"], gpu, Memory::Dram).unwrap();
        assert_eq!((found.timeline.loads_in_flight, found.timeline.bytes_in_flight), (3, 1536.0), "sm_{sm}");
        // Of three in flight one comes back each pass: about a third of the latency a pass.
        let latency = machine(gpu).dram_latency;
        assert!((latency * 0.3..latency * 0.5).contains(&found.timeline.cycles), "sm_{sm}: {}", found.timeline.cycles);
    }
}

#[test]
fn code_without_optimisation_is_refused() {
    let kernels = kernels("ladder.O0.sm_90.cubin");
    for (name, analysis) in &kernels {
        let code = ask(analysis, "h100-sxm", Memory::Dram).map_err(|why| why.code());
        assert_eq!(code.map(|found| found.knee.warps), Err("debug_build"), "{name}");
    }
}

#[test]
fn a_load_that_is_compared_for_equality_ends_its_warp() {
    // `read` stores only where an element has one certain value: its warps live as long as one load.
    let found = ask(&kernels("streams.sm_90.cubin")["read"], "h100-sxm", Memory::Dram).unwrap();
    let machine = machine("h100-sxm");
    let beyond =
        found.timeline.cycles - machine.dram_latency - Constants::fitted().turnover * machine.clock_mhz / 1000.0;
    assert!((20.0..150.0).contains(&beyond), "{beyond}");
}

#[test]
fn each_rung_has_more_in_flight_and_needs_fewer_warps() {
    for (sm, gpu) in BOTH {
        let kernels = kernels(&format!("ladder.sm_{sm}.cubin"));
        let rungs = ["copy1", "copy2", "copy4", "copy8"].map(|name| ask(&kernels[name], gpu, Memory::Dram).unwrap());
        assert_eq!(rungs.each_ref().map(|rung| rung.timeline.loads_in_flight), [1, 2, 4, 8], "sm_{sm}");
        assert!(rungs.is_sorted_by(|a, b| a.knee.warps > b.knee.warps), "sm_{sm}");
        // Four independent loads need about a quarter of the warps.
        let quarter = rungs[0].knee.warps / rungs[2].knee.warps;
        assert!((3.0..4.5).contains(&quarter), "sm_{sm}: {quarter}");
        let wide = ask(&kernels["copy1x4"], gpu, Memory::Dram).unwrap();
        assert_eq!((wide.timeline.bytes_in_flight, wide.demand.stream.read), (512.0, 512.0));
        let [one, four] = ["chain1", "chain4"].map(|name| ask(&kernels[name], gpu, Memory::Dram).unwrap().knee.warps);
        assert!(four < one * 0.6, "sm_{sm}: {four} {one}");
    }
}

#[test]
fn l2_needs_fewer_cycles_and_dram_fewer_bytes() {
    let kernels = kernels("ladder.sm_90.cubin");
    let [dram, l2] = [Memory::Dram, Memory::L2].map(|memory| ask(&kernels["copy1"], "h100-sxm", memory).unwrap());
    assert!(l2.timeline.cycles < dram.timeline.cycles);
    assert!(l2.demand.cycles.iter().all(|(resource, _)| *resource != Resource::Dram));
}

#[test]
fn measured_counts_and_hit_rates_take_the_place_of_guesses() {
    let analysis = &kernels("streams.sm_90.cubin")["scale"];
    let (machine, constants) = (machine("h100-sxm"), Constants::fitted());
    let scenario = Scenario { memory: Memory::Dram, guarded: Guarded::Executed };
    let counts = vec![1.0; analysis.instructions.len()];
    let with = |execution: &Execution<'_>| {
        model(Sources { analysis, machine: &machine, constants: &constants, execution }, scenario).unwrap()
    };
    let cold = with(&Execution { counts: Some(&counts), hit_rates: Some((0.0, 0.0)) });
    let warm = with(&Execution { counts: Some(&counts), hit_rates: Some((0.0, 0.5)) });
    assert_eq!(cold.scope, Scope::Counted);
    let dram = |found: &Model| found.demand.cycles.iter().find(|(of, _)| *of == Resource::Dram).unwrap().1;
    assert!((dram(&warm) * 2.0 - dram(&cold)).abs() < 1e-9);
    assert!(warm.timeline.cycles < cold.timeline.cycles);
    // Twice the executions take twice the cycles, turnover aside.
    let twice = vec![2.0; analysis.instructions.len()];
    let twice = with(&Execution { counts: Some(&twice), hit_rates: Some((0.0, 0.0)) });
    let turnover = constants.turnover * machine.clock_mhz / 1000.0;
    let ratio = (twice.timeline.cycles - turnover) / (cold.timeline.cycles - turnover);
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    // One warp of four takes the way: a quarter of the cycles for each.
    let quarter = vec![0.25; analysis.instructions.len()];
    let quarter = with(&Execution { counts: Some(&quarter), hit_rates: Some((0.0, 0.0)) });
    let ratio = (quarter.timeline.cycles - turnover) / (cold.timeline.cycles - turnover);
    assert!((ratio - 0.25).abs() < 1e-9, "{ratio}");
}

#[test]
fn specialised_warps_are_refused_with_their_signs() {
    let kernels = kernels("pipeline.sm_90a.cubin");
    let refused: Vec<&str> = kernels
        .values()
        .filter_map(|analysis| ask(analysis, "h100-sxm", Memory::Dram).err())
        .map(|why| why.code())
        .collect();
    assert!(refused.contains(&"warp_specialised"), "{refused:?}");
}

/// Instructions of which some are loads, branches and waits, so that garbage has a path.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let real = prop::sample::select(
        ["streams.sm_90.cubin", "ladder.sm_90.cubin", "pipeline.sm_90a.cubin"]
            .iter()
            .flat_map(|name| kernels(name).into_values())
            .flat_map(|analysis| analysis.instructions.iter().map(|i| i.word.halves()).collect::<Vec<_>>())
            .collect::<Vec<_>>(),
    );
    let mutated = (real, any::<u64>(), any::<bool>()).prop_map(|([low, high], noise, keep)| {
        let noise = if keep { 0 } else { noise & noise.rotate_left(17) & noise.rotate_left(31) };
        [(low ^ (noise << 9)).to_le_bytes(), (high ^ (noise >> 3)).to_le_bytes()].concat()
    });
    prop::collection::vec(mutated, 0..120).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_code_has_a_number_or_a_reason(code in garbage(), l2 in any::<bool>(), skipped in any::<bool>()) {
        let decoder = Decoder::new(ComputeCapability::new(9, 0)).unwrap();
        let analysis = Analysis::new(&Code::new(decoder, &code), &Known::default());
        let (machine, constants, execution) = (machine("h100-sxm"), Constants::fitted(), Execution::default());
        let sources = Sources { analysis: &analysis, machine: &machine, constants: &constants, execution: &execution };
        let memory = if l2 { Memory::L2 } else { Memory::Dram };
        let guarded = if skipped { Guarded::Skipped } else { Guarded::Executed };
        match model(sources, Scenario { memory, guarded }) {
            Ok(found) => {
                prop_assert!(found.knee.warps.is_finite() && found.knee.warps > 0.0);
                prop_assert_eq!(found.timeline.loads_in_flight == 0, found.timeline.bytes_in_flight == 0.0);
                prop_assert!((0.0..=1.0).contains(&found.knee.share(8.0)));
            }
            Err(why) => prop_assert!(!why.to_string().is_empty()),
        }
    }
}
