//! Tests of the traces. Fixtures are in Kineto's documented layout.

use proptest::prelude::*;

use super::*;

const TRACE: &str = r#"{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42297786368, "computeMajor": 8, "computeMinor": 0,
     "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
     "sharedMemPerBlock": 49152, "numSms": 108, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 167936}
  ],
  "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
    {"ph": "X", "cat": "cpu_op", "name": "launch a kernel", "dur": "later", "args": {"grid": "none"}},
    {"ph": "X", "cat": "kernel", "name": "void gemm<float, 4>(T1 const*)", "ts": 1.0, "dur": 10.5, "args": {
      "queued": 0, "device": 0, "stream": 7, "registers per thread": 128, "shared memory": 49152, "blocks per SM": 1.5,
      "warps per SM": 12, "grid": [162, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 25}},
    {"ph": "X", "cat": "kernel", "name": "void gemm<float, 4>(T1 const*)", "ts": 2.0, "dur": 11.5, "args": {
      "device": 0, "registers per thread": 128, "shared memory": 49152, "blocks per SM": 1.5,
      "warps per SM": 12, "grid": [162, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 25}},
    {"ph": "X", "cat": "kernel", "name": "void gemm<float, 4>(T1 const*)", "ts": 3.0, "dur": 4, "args": {
      "device": 0, "registers per thread": 128, "shared memory": 49152, "grid": [81, 1, 1], "block": [256, 1, 1],
      "blocks per SM": "inf", "est. achieved occupancy %": -1, "occupancy": {"activeBlocksPerMultiprocessor": 2,
      "limitingFactors": "REGS", "blockLimitRegs": 2, "blockLimitSharedMem": 3, "blockLimitWarps": 8}}},
    null, 7, "kernel"
  ],
  "traceName": "trace.json"
}"#;

#[test]
fn kernels_alike_are_one_measurement() {
    let read = read_trace(TRACE).expect("a trace");
    assert_eq!(read.faults, []);
    assert_eq!(read.measurements.len(), 2);
    let first = &read.measurements[0];
    assert_eq!(first.name, "void gemm<float, 4>(T1 const*)");
    assert_eq!((first.flavour, first.launches, first.mangled.as_deref()), (Flavour::Trace, 2, None));
    assert_eq!((first.grid, first.block), (Some([162, 1, 1]), Some([256, 1, 1])));
    assert_eq!(first.get("gpu__time_duration.sum"), Some(11_000.0));
    assert_eq!(first.get("launch__registers_per_thread"), Some(128.0));
    assert_eq!(first.get("launch__shared_mem_per_block"), Some(49_152.0));
    assert_eq!(first.gpu.as_deref(), Some("NVIDIA A100-SXM4-40GB"));
    assert_eq!(first.capability, Some(ComputeCapability::new(8, 0)));
    assert_eq!(first.get("device__attribute_multiprocessor_count"), Some(108.0));
    assert_eq!(first.get("device__attribute_max_registers_per_multiprocessor"), Some(65_536.0));
    assert_eq!(read.measurements[1].launches, 1);
    assert_eq!(read.measurements[1].grid, Some([81, 1, 1]));
}

#[test]
fn an_estimate_is_never_achieved_occupancy() {
    let read = read_trace(TRACE).expect("a trace");
    let first = &read.measurements[0];
    assert_eq!(first.get("kineto__estimated_occupancy"), Some(25.0));
    assert_eq!(first.get("kineto__blocks_per_sm"), Some(1.5));
    assert_eq!(first.get("kineto__warps_per_sm"), Some(12.0));
    assert_eq!(first.get("sm__warps_active.avg.pct_of_peak_sustained_active"), None);
    assert_eq!(first.get("sm__maximum_warps_per_active_cycle_pct"), None);
    // The other one has an infinite number, a negative one, and limits.
    let other: Vec<_> = read.measurements[1].metrics.iter().filter(|(name, _)| name.starts_with("kineto")).collect();
    assert_eq!(
        other,
        [
            (&"kineto__block_limit_registers".to_owned(), &2.0),
            (&"kineto__block_limit_shared_mem".to_owned(), &3.0),
            (&"kineto__block_limit_warps".to_owned(), &8.0),
        ]
    );
}

#[test]
fn more_shared_memory_than_kineto_calculates_with_has_no_estimate() {
    let text = r#"[{"cat":"kernel","name":"k","dur":0,"args":{"shared memory":188636,"warps per SM":12.0,
        "est. achieved occupancy %":0,"occupancy":{"blockLimitSharedMem":0}}}]"#;
    let metrics = &read_trace(text).expect("events").measurements[0].metrics;
    let names: Vec<&str> = metrics.keys().map(String::as_str).collect();
    assert_eq!(names, ["kineto__warps_per_sm", "launch__shared_mem_per_block"]);
}

#[test]
fn a_trace_that_is_cut_off_gives_what_is_there() {
    let cut = TRACE.find("\"ts\": 3.0").expect("the third kernel");
    let read = read_trace(&TRACE[..cut]).expect("the kernels before the cut");
    assert_eq!(read.measurements.len(), 1);
    assert_eq!(read.measurements[0].launches, 2);
    assert!(matches!(&read.faults[..], [ProfileError::Text { line: 17, .. }]), "{:?}", read.faults);
    assert!(read_trace("{\"traceEvents\": [").is_err());
}

#[test]
fn a_kernel_that_does_not_parse_is_a_fault_and_loses_no_other() {
    let text = r#"[{"ph":"M"},
        {"cat":"kernel","name":"bad","args":{"grid":"wide"}},{"cat":"Kernel","name":"_Z4goodv","dur":1}]"#;
    let read = read_trace(text).expect("events");
    assert!(matches!(&read.faults[..], [ProfileError::Text { line: 2, .. }]), "{:?}", read.faults);
    assert_eq!(read.measurements.len(), 1);
    assert_eq!(read.measurements[0].mangled.as_deref(), Some("_Z4goodv"));
}

#[test]
fn numbers_of_other_vendors_are_no_compute_capability() {
    let text = r#"{"deviceProperties":[{"id":0,"name":"AMD Instinct MI300X","computeMajor":9,"computeMinor":4}],
        "traceEvents":[{"cat":"kernel","name":"k","dur":1,"args":{"device":0}}]}"#;
    let read = read_trace(text).expect("a trace");
    assert_eq!(read.measurements[0].capability, None);
    assert_eq!(read.measurements[0].gpu.as_deref(), Some("AMD Instinct MI300X"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}", at in 0_usize..2000) {
        let _ = read_trace(&text);
        if let (Some(start), Some(end)) = (TRACE.get(..at), TRACE.get(at..)) {
            let _ = read_trace(&format!("{start}{text}{end}"));
        }
    }
}
