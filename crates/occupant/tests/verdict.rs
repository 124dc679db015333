//! `occupant verdict` on the made-up report of the fixtures and on what people pipe in.
#![allow(clippy::disallowed_methods, reason = "tests start the program and read the fixtures")]

mod support;

use support::{asks, fixtures, json, occupant_fed, says};

const REPORT: &str = "../reports/streams.ncu-rep";

fn launch(index: usize) -> serde_json::Value {
    json(&format!("verdict {REPORT} --launch {index}"))["launches"][0].clone()
}

#[test]
fn one_report_gives_have_need_and_measured() {
    let read = launch(1);
    assert_eq!(read["verdict"], "latency_bound_warps_help");
    assert_eq!(read["occupancy_would_help"], "yes");
    assert_eq!(read["have"]["blocks_per_sm"], 2);
    assert_eq!(read["have"]["limiters"][0], "shared_memory");
    assert_eq!(read["need"]["answer"], "short");
    assert_eq!(read["need"]["guided_by"], "counts");
    assert_eq!((&read["step"]["blocks_per_sm"], &read["step"]["then_blocks_per_sm"]), (&2.into(), &3.into()));
    let triad = launch(0);
    assert_eq!((&triad["verdict"], &triad["occupancy_would_help"]), (&"throughput_bound".into(), &"no".into()));
}

#[test]
fn cycles_of_a_visit_are_arithmetic_on_samples_and_counts() {
    let read = launch(1);
    let lifetime = read["need"]["lifetime"]["measured"].as_f64().unwrap();
    for wait in read["waits"].as_array().unwrap() {
        // Each instruction is executed once a warp, so that its share of the samples is its share of the lifetime.
        let (share, visit) = (wait["samples_percent"].as_f64().unwrap(), wait["cycles_per_visit"].as_f64().unwrap());
        assert!((visit - share / 100.0 * lifetime).abs() < 0.1, "{wait}");
    }
    // The load's wait shows at the first instruction that uses it.
    assert_eq!(read["waits"][0]["waits_for"]["instruction"], "LDG");
    assert_eq!(read["waits"][0]["reason"], "long_scoreboard");
}

#[test]
fn what_is_piped_in() {
    let report = std::fs::read(fixtures().join(REPORT)).unwrap();
    says(&occupant_fed("verdict -", &report), 0, &["2 launches", "latency bound warps help"]);
    let csv = "==PROF== Connected to process 1\n\
        \"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
        \"0\",\"saxpy\",\"(256, 1, 1)\",\"(10, 1, 1)\",\"0\",\"9.0\",\"Launch Statistics\",\"Waves Per SM\",\"\",\"0.01\"\n";
    says(&occupant_fed("verdict -", csv.as_bytes()), 0, &["saxpy", "grid too small: the grid of 10 blocks fills 1 %"]);
    says(&occupant_fed("verdict -", b""), 2, &["an empty file"]);
    says(&occupant_fed("verdict -", b"nothing of the kind\n"), 2, &[]);
    let trace = br#"{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "saxpy(int)", "ts": 1, "dur": 5, "args":
        {"grid": [80, 1, 1], "block": [128, 2, 1], "registers per thread": 16, "shared memory": 0}}]}"#;
    says(&occupant_fed("verdict -", trace), 0, &["cannot tell", "--section SpeedOfLight"]);
}

#[test]
fn wrong_flags_and_files() {
    asks("verdict", 2, &["REPORT"]);
    asks("verdict nosuch.ncu-rep", 2, &["nosuch.ncu-rep", "No such file"]);
    asks(&format!("verdict {REPORT} --target 100"), 2, &["above 0 and below 100"]);
    asks(&format!("verdict {REPORT} --kernel ("), 2, &["regex"]);
    asks(&format!("verdict {REPORT} nosuch --format jsonl"), 2, &["occupant.verdict_launch.v1", "nosuch"]);
    asks("verdict .", 2, &["a directory"]);
    for binary in ["libkernels.so", "plain.sm_90.cubin", "plain.default.fatbin", "librelocatable.a"] {
        asks(&format!("verdict {binary}"), 2, &["`occupant inspect FILE`"]);
    }
    let report = std::fs::read(fixtures().join(REPORT)).unwrap();
    for bytes in [report.clone(), zstd::encode_all(report.as_slice(), 1).unwrap()] {
        let run = occupant_fed("inspect -", &bytes);
        says(&run, 2, &["no CUDA device code: a profiler's report: `occupant verdict FILE` reads it"]);
    }
    asks(&format!("need {REPORT} --gpu h100-sxm"), 2, &["a profiler's report: `occupant verdict FILE`"]);
    asks(&format!("verdict {REPORT} --launch 7"), 0, &["leave none of its launches"]);
}
