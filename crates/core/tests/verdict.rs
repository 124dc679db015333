//! Verdicts on reports that are made here: what real GPUs printed must come back, and made counts and samples must give
//! what arithmetic says.
#![allow(clippy::disallowed_methods, reason = "tests read their data and fixtures")]

use occupant_advice::verdict::Label;
use occupant_binary::Cubin;
use occupant_core::report::VerdictRecord;
use occupant_core::strip;
use occupant_core::verdict::{VerdictOptions, verdicts};
use occupant_profile::ncu::{Device, Instance, Launch, Metric, Module, Private, Report, ReportWriter, Session, Value};
use serde::Deserialize;

/// A row of what the profiler printed on a real GPU.
#[derive(Debug, Deserialize)]
struct Row {
    gpu: String,
    cc: String,
    ncu_version: String,
    kernel: String,
    block_size: u32,
    grid_size: Option<u32>,
    regs_per_thread: u32,
    smem_static: u32,
    smem_dynamic: u32,
    smem_config: Option<u32>,
    barrier_count: Option<u32>,
    limit_sm: u32,
    limit_regs: u32,
    /// `nan` in profilers of 2018 where no shared memory is used.
    limit_smem: String,
    limit_warps: u32,
    limit_barriers: Option<u32>,
    theo_warps: f64,
    theo_occ_pct: f64,
    achieved_occ_pct: Option<f64>,
    waves_per_sm: Option<f64>,
    exactness: String,
}

fn metric(name: &str, value: f64) -> Metric<'_> {
    Metric { name, value: Value::Double(value), instances: Vec::new() }
}

fn session<'a>(gpu: &'a str, version: &'a str) -> Session<'a> {
    let device = Device { number: 0, name: gpu, attributes: Vec::new() };
    Session { devices: vec![device], versions: vec![("Nsight Compute Target", version)] }
}

/// The verdicts on a report after a trip through bytes, private facts and all; stripping changes none of them.
#[track_caller]
fn judged(report: &Report<'_>) -> Vec<VerdictRecord> {
    let private = Private { host: "host", program: "/home/someone/a.out", command_line: "ncu", ..Private::default() };
    let bytes = ReportWriter::new(report).private(private).bytes();
    let of = |bytes: &[u8]| {
        let (records, diagnostics) = verdicts("made", bytes, VerdictOptions::default(), &|_, _| true).unwrap();
        assert_eq!(diagnostics, []);
        records
    };
    let records = of(&bytes);
    assert_eq!(of(&strip(&bytes, true).unwrap().bytes), records);
    records
}

fn launch_of(row: &Row) -> Launch<'_> {
    let (major, minor) = row.cc.split_once('.').unwrap();
    let value = |value: u32| Some(f64::from(value));
    let metrics = [
        ("device__attribute_compute_capability_major", major.parse().ok()),
        ("device__attribute_compute_capability_minor", minor.parse().ok()),
        ("launch__block_size", value(row.block_size)),
        ("launch__grid_size", row.grid_size.map(f64::from)),
        ("launch__registers_per_thread", value(row.regs_per_thread)),
        ("launch__shared_mem_per_block_static", value(row.smem_static)),
        ("launch__shared_mem_per_block_dynamic", value(row.smem_dynamic)),
        ("launch__shared_mem_config_size", row.smem_config.map(f64::from)),
        ("launch__barrier_count", row.barrier_count.map(f64::from)),
        ("launch__occupancy_limit_blocks", value(row.limit_sm)),
        ("launch__occupancy_limit_registers", value(row.limit_regs)),
        ("launch__occupancy_limit_shared_mem", row.limit_smem.parse().ok()),
        ("launch__occupancy_limit_warps", value(row.limit_warps)),
        ("launch__occupancy_limit_barriers", row.limit_barriers.map(f64::from)),
        ("launch__waves_per_multiprocessor", row.waves_per_sm),
        ("sm__maximum_warps_per_active_cycle_pct", Some(row.theo_occ_pct)),
        ("sm__warps_active.avg.pct_of_peak_sustained_active", row.achieved_occ_pct),
    ];
    Launch {
        mangled: &row.kernel,
        function: &row.kernel,
        demangled: &row.kernel,
        grid: [row.grid_size.map_or(1, u64::from), 1, 1],
        block: [u64::from(row.block_size), 1, 1],
        metrics: metrics.into_iter().filter_map(|(name, value)| Some(metric(name, value?))).collect(),
        ..Launch::default()
    }
}

#[test]
fn occupancy_of_real_launches() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../occupancy/tests/data/ncu_truth.csv");
    let (mut rows, mut explained) = (0, 0);
    for row in csv::Reader::from_path(path).unwrap().deserialize() {
        let row: Row = row.unwrap();
        if !row.exactness.contains("exact") {
            continue;
        }
        let report = Report {
            session: session(&row.gpu, &row.ncu_version),
            launches: vec![launch_of(&row)],
            ..Report::default()
        };
        let [record] = &judged(&report)[..] else { panic!("{row:?}") };
        assert_eq!(record.gpu.as_ref().map(|gpu| gpu.compute_capability.as_str()), Some(row.cc.as_str()));
        assert_eq!(record.profiler.as_deref().unwrap_or_default(), row.ncu_version);
        let have = record.have.as_ref().unwrap();
        assert_eq!(f64::from(have.warps_per_sm), row.theo_warps, "{row:?}");
        assert!((have.percent - row.theo_occ_pct).abs() < 0.01, "{row:?}");
        let ceilings = &have.ceilings;
        assert_eq!((ceilings.blocks, ceilings.warps), (row.limit_sm, row.limit_warps), "{row:?}");
        assert_eq!(ceilings.registers, Some(row.limit_regs), "{row:?}");
        // The carve-out that the driver chose lowers the limit of shared memory, and nothing else differs.
        for reconciled in &record.reconcile {
            assert_eq!(reconciled.what, "shared_memory", "{row:?}: {reconciled:?}");
            assert!(reconciled.explained.as_ref().is_some_and(|why| why.contains("carve-out")), "{reconciled:?}");
            explained += 1;
        }
        rows += 1;
    }
    assert_eq!((rows, explained), (51, 34));
}

/// Measurements that leave every unit idle, and a mix of reasons to wait.
fn idle(stalls: [(&'static str, f64); 4], more: &[(&'static str, f64)]) -> Launch<'static> {
    let mut metrics = vec![
        metric("device__attribute_compute_capability_major", 9.0),
        metric("device__attribute_compute_capability_minor", 0.0),
        metric("launch__sm_count", 132.0),
        metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", 20.0),
        metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 30.0),
    ];
    metrics.extend(stalls.map(|(name, value)| metric(name, value)));
    metrics.extend(more.iter().map(|(name, value)| metric(name, *value)));
    Launch { demangled: "made", block: [256, 1, 1], grid: [1320, 1, 1], metrics, ..Launch::default() }
}

const LOADS: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const BARRIER: &str = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
const SELECTED: &str = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio";
const WAVES: &str = "launch__waves_per_multiprocessor";
const THEORETICAL: &str = "sm__maximum_warps_per_active_cycle_pct";
const ACHIEVED: &str = "sm__warps_active.avg.pct_of_peak_sustained_active";

#[test]
fn every_label() {
    let loads = [(LOADS, 9.0), (BARRIER, 0.5), (WAIT, 2.0), (SELECTED, 1.0)];
    let barriers = [(LOADS, 1.0), (BARRIER, 9.0), (WAIT, 1.0), (SELECTED, 1.0)];
    let half = [(WAVES, 10.0), (THEORETICAL, 50.0), (ACHIEVED, 48.0)];
    let with = |more: &[(&'static str, f64)]| idle(loads, &[&half[..], more].concat());
    let launches = vec![
        with(&[("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 93.0)]),
        idle(loads, &[("launch__grid_size", 16.0), (WAVES, 0.03), (THEORETICAL, 50.0), (ACHIEVED, 12.0)]),
        idle(loads, &[(WAVES, 1.3), (THEORETICAL, 100.0), (ACHIEVED, 60.0)]),
        with(&[]),
        idle(barriers, &half),
        with(&[("smsp__issue_active.avg.per_cycle_active", 0.75), ("smsp__warps_eligible.avg.per_cycle_active", 2.0)]),
        Launch { demangled: "made", ..Launch::default() },
    ];
    let report = Report { session: session("NVIDIA H100", "2025.1.0.0"), launches, ..Report::default() };
    let records = judged(&report);
    let found: Vec<(&str, &str)> = records.iter().map(|record| (record.verdict, record.occupancy_would_help)).collect();
    let helps = |label: Label| match label {
        Label::LatencyBoundWarpsHelp => "yes",
        Label::CannotTell => "unknown",
        _ => "no",
    };
    assert_eq!(found, Label::ALL.map(|label| (label.name(), helps(label))));
    assert!(records.iter().all(|record| !record.says.is_empty()));
    assert!(records[6].missing.len() >= 4, "{:?}", records[6].missing);
}

/// Values of instructions of a kernel that lies at `start`.
fn by_instruction<'a>(name: &'a str, start: u64, values: &[(u64, u64)]) -> Metric<'a> {
    let at = |(offset, value): &(u64, u64)| Instance {
        correlation: Value::Unsigned64(start + offset),
        value: Value::Unsigned64(*value),
    };
    let sum = values.iter().map(|(_, value)| value).sum();
    Metric { name, value: Value::Unsigned64(sum), instances: values.iter().map(at).collect() }
}

#[test]
fn waits_are_arithmetic() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bin/streams.sm_90.cubin");
    let bytes = std::fs::read(path).unwrap();
    let cubin = Cubin::parse(&bytes).unwrap();
    let function = cubin.functions.iter().find(|function| function.is_kernel).unwrap();
    let registers = function.registers.unwrap();
    let instructions = (function.code.end - function.code.start) / 16;
    assert!(instructions > 24, "{instructions}");
    // Every instruction once a warp, from the eighth on twice as often; samples at four of them and a few everywhere.
    let (start, warps, sms, cycles, resident) = (0x7f00_0000_u64, 8448_u64, 132.0, 20_000.0, 16.0);
    let count = |number: u64| warps * if number < 8 { 1 } else { 2 };
    let counts: Vec<(u64, u64)> = (0..instructions).map(|number| (number * 16, count(number))).collect();
    let heavy = |number: u64| match number {
        3 => 4000,
        9 => 3000,
        17 => 2000,
        20 => 1000,
        _ => 1,
    };
    let samples: Vec<(u64, u64)> = (0..instructions).map(|number| (number * 16, heavy(number))).collect();
    let all: u64 = samples.iter().map(|(_, samples)| samples).sum();
    let metrics = vec![
        metric("device__attribute_compute_capability_major", 9.0),
        metric("device__attribute_compute_capability_minor", 0.0),
        metric("launch__sm_count", sms),
        metric("launch__registers_per_thread", f64::from(registers.max(16))),
        metric("launch__shared_mem_per_block_static", f64::from(function.shared_static)),
        metric("sm__warps_active.avg.per_cycle_active", resident),
        metric("sm__cycles_active.avg", cycles),
        by_instruction("launch__function_pcs", start, &[(0, start)]),
        by_instruction("inst_executed", start, &counts),
        by_instruction("smsp__pcsamp_sample_count", start, &samples),
        by_instruction("smsp__pcsamp_warps_issue_stalled_long_scoreboard", start, &samples),
    ];
    let launch = Launch {
        mangled: &function.name,
        function: &function.name,
        demangled: &function.name,
        grid: [warps / 8, 1, 1],
        block: [256, 1, 1],
        module: Some(1),
        metrics,
        ..Launch::default()
    };
    let module = Module { reference: 1, cubin: Some(&bytes), capability: Some((9, 0)), ..Module::default() };
    let report = Report {
        session: session("NVIDIA H100 PCIe", "2025.1.0.0"),
        modules: vec![module],
        launches: vec![launch],
        faults: Vec::new(),
    };
    let [record] = &judged(&report)[..] else { panic!("one launch") };
    assert_eq!(record.waits.iter().map(|wait| wait.offset / 16).collect::<Vec<_>>(), [3, 9, 17, 20]);
    for wait in &record.waits {
        let number = u64::from(wait.offset) / 16;
        let share = heavy(number) as f64 / all as f64;
        let lifetime = resident * cycles * sms / warps as f64;
        let visit = share * lifetime * warps as f64 / count(number) as f64;
        assert!((wait.cycles_per_visit.unwrap() - visit).abs() <= 0.01, "{wait:?}: {visit}");
        assert!((wait.samples_percent - share * 100.0).abs() <= 0.01, "{wait:?}");
        assert_eq!(wait.executions_per_warp, count(number) as f64 / warps as f64);
        assert_eq!(wait.reason, Some("long_scoreboard"));
        assert!(!wait.instruction.is_empty());
    }
    assert!(record.reconcile.iter().all(|reconciled| reconciled.explained.is_some()), "{:?}", record.reconcile);
}
