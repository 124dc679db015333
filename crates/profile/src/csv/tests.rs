//! Tests of the CSV as a whole. Fixtures are in the layouts that Nsight Compute prints, with values made up.

use occupant_hardware::ComputeCapability;
use proptest::prelude::*;

use super::*;
use crate::ncu::SpeedupKind;

const SHARE: &str = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

fn all(text: &str) -> Text {
    let read = read(text).expect("a table");
    assert_eq!(read.faults, []);
    read
}

/// Rows of the details page with the columns before the metric filled in.
fn details(rows: &[&str]) -> String {
    let header = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup""#;
    let mut text = format!("{header}\n");
    for row in rows {
        let (id, rest) = row.split_once('|').expect("a number and the rest");
        text.push_str(&format!(
            "\"{id}\",\"31\",\"app\",\"127.0.0.1\",\"void saxpy<float, 4>(T1 *, \"\"x\"\")\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\"0\",\"9.0\",{rest}\n"
        ));
    }
    text
}

#[test]
fn details_with_rules_between_the_metrics() {
    let text = details(&[
        r#"0|"GPU Speed Of Light Throughput","Memory Throughput","%","21.68","#,
        r#"0|"GPU Speed Of Light Throughput","Duration","us","777.95","#,
        r#"0|"GPU Speed Of Light Throughput","DRAM Frequency","Ghz","2.62","#,
        r#"0|"SpeedOfLight","","","","SOLBottleneck","OPT","Low use, ""latency"" then.","","""#,
        r#"0|"Launch Statistics","Dynamic Shared Memory Per Block","Kbyte/block","73.73","#,
        r#"0|"Launch Statistics","Function Cache Configuration","","CachePreferNone","#,
        r#"0|"Launch Statistics","Threads","thread","1,048,576","#,
        r#"0|"Memory Workload Analysis","Memory Throughput","Gbyte/s","1.94","#,
        r#"0|"LaunchStats","","","","LaunchConfiguration","OPT","A partial wave.","global","50""#,
        r#"1|"Occupancy","Achieved Occupancy","%","n/a","#,
        r#"1|"Occupancy","Theoretical Occupancy","%","62.50","#,
    ]);
    let read = all(&text);
    assert_eq!(read.measurements.len(), 2);
    let first = &read.measurements[0];
    assert_eq!(first.flavour, Flavour::CsvDetails);
    assert_eq!(first.name, "void saxpy<float, 4>(T1 *, \"x\")");
    assert_eq!((first.block, first.grid), (Some([256, 1, 1]), Some([4096, 1, 1])));
    assert_eq!(first.capability, Some(ComputeCapability::new(9, 0)));
    assert_eq!(first.gpu, None);
    assert_eq!(first.get(SHARE), Some(21.68));
    assert_eq!(first.get("dram__bytes.sum.per_second"), Some(1.94e9));
    assert_eq!(first.get("gpu__time_duration.sum"), Some(777_950.0));
    assert_eq!(first.get("dram__cycles_elapsed.avg.per_second"), Some(2.62e9));
    assert_eq!(first.get("launch__shared_mem_per_block_dynamic"), Some(73_728.0));
    assert_eq!(first.get("launch__thread_count"), Some(1_048_576.0));
    assert_eq!(first.metrics.len(), 6);
    let said: Vec<_> = first.said.iter().map(|said| (said.rule.as_str(), said.text.as_str(), said.speedup)).collect();
    assert_eq!(
        said,
        [
            ("SOLBottleneck", "Low use, \"latency\" then.", None),
            ("LaunchConfiguration", "A partial wave.", Some((SpeedupKind::Global, 50.0))),
        ]
    );
    let second = &read.measurements[1];
    assert_eq!(second.get("sm__warps_active.avg.pct_of_peak_sustained_active"), None);
    assert_eq!(second.get("sm__maximum_warps_per_active_cycle_pct"), Some(62.5));
}

#[test]
fn what_the_program_prints_is_skipped() {
    let table = details(&[r#"0|"Occupancy","Block Limit Registers","block","5","#]);
    let row = table.lines().nth(1).expect("a row").replace("Block Limit Registers", "Block Limit Warps");
    let text = format!(
        "loading, please wait\n==PROF== Connected to process 31 (/app)\n==PROF== Profiling \"saxpy\" - 0: 0%....100% - 9 passes\n\
         loss = 0.5, step 1\n{table}==WARNING== Found outstanding GPU clock reset\nstep 2, loss = 0.25\n\n{row}\ndone\n"
    );
    let read = all(&text);
    assert_eq!(read.measurements.len(), 1);
    assert_eq!(read.measurements[0].get("launch__occupancy_limit_registers"), Some(5.0));
    assert_eq!(read.measurements[0].get("launch__occupancy_limit_warps"), Some(5.0));
}

#[test]
fn a_header_behind_output_and_lines_that_are_indented() {
    let table = details(&[
        r#"0|"Occupancy","Block Limit Registers","block","5","#,
        r#"1|"Occupancy","Block Limit Registers","block","6","#,
    ]);
    let indented: String = table.lines().map(|line| format!("    {line}\n")).collect();
    for text in [format!("finished in 3 s{table}"), indented] {
        let read = all(&text);
        let limits: Vec<_> = read.measurements.iter().map(|one| one.get("launch__occupancy_limit_registers")).collect();
        assert_eq!(limits, [Some(5.0), Some(6.0)]);
    }
}

#[test]
fn a_bad_line_is_a_fault_and_loses_nothing_else() {
    let mut text = details(&[
        r#"0|"Occupancy","Block Limit Registers","block","5","#,
        r#"0|"Occupancy","Block Limit Warps","block","many","#,
        r#"0|"Occupancy","Block Limit SM","block","32","#,
    ]);
    text.push_str("\"0\",\"31\",\"app\"\n\"x\",\"31\"\n\"a quote without its end\n");
    text.push_str(details(&[r#"0|"Occupancy","Block Limit Shared Mem","block","8","#]).lines().nth(1).expect("a row"));
    let read = read(&text).expect("a table");
    let lines: Vec<u64> =
        read.faults.iter().map(|fault| if let ProfileError::Text { line, .. } = fault { *line } else { 0 }).collect();
    assert_eq!(lines, [5, 6, 7, 3], "{:?}", read.faults);
    assert_eq!(read.measurements.len(), 1);
    let metrics: Vec<_> = read.measurements[0].metrics.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(
        metrics,
        [
            ("launch__occupancy_limit_blocks", 32.0),
            ("launch__occupancy_limit_registers", 5.0),
            ("launch__occupancy_limit_shared_mem", 8.0),
        ]
    );
}

#[test]
fn the_forms_of_2018_to_2020() {
    let head = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value""#;
    let row = |rest: &str| {
        format!("\"0\",\"28\",\"cfd\",\"127.0.0.1\",\"flux(int,float*)\",\"2020-May-29 12:02:46\",\"1\",\"7\",{rest}\n")
    };
    let text = [
        format!("{head}\n\n"),
        row(r#""GPU Speed Of Light","Memory Frequency","cycle/second","768683274.02""#),
        row(r#""GPU Speed Of Light","SOL FB","%","46.47""#),
        row(r#""GPU Speed Of Light","SOL TEX","%","11.33""#),
        row(r#""GPU Speed Of Light","SM [%]","%","22.48""#),
        row(r#""GPU Speed Of Light","Memory [%]","%","46.47""#),
        row(r#""GPU Speed Of Light","Duration","usecond","8.99""#),
        row(r#""Occupancy","Theoretical Active Warps per SM","warp/cycle","60""#),
    ]
    .concat();
    let read = all(&text);
    let first = &read.measurements[0];
    assert_eq!((first.grid, first.block, first.capability), (None, None, None));
    assert_eq!(first.get("dram__cycles_elapsed.avg.per_second"), Some(768_683_274.02));
    assert_eq!(first.get("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), Some(46.47));
    assert_eq!(first.get("l1tex__throughput.avg.pct_of_peak_sustained_active"), Some(11.33));
    assert_eq!(first.get("sm__throughput.avg.pct_of_peak_sustained_elapsed"), Some(22.48));
    assert_eq!(first.get(SHARE), Some(46.47));
    assert_eq!(first.get("gpu__time_duration.sum"), Some(8990.0));
    assert_eq!(first.get("sm__maximum_warps_avg_per_active_cycle"), Some(60.0));
}

#[test]
fn metrics_asked_for_by_name() {
    let text = details(&[
        r#"0|"Command line profiler metrics","gpu__time_duration.sum","nsecond","203264""#,
        r#"0|"Command line profiler metrics","dram__bytes_read.sum","Mbyte","134.22""#,
        r#"0|"Command line profiler metrics","branch_inst_executed","","32505856""#,
    ]);
    let read = all(&text);
    let first = &read.measurements[0];
    assert_eq!(first.get("gpu__time_duration.sum"), Some(203_264.0));
    assert_eq!(first.get("dram__bytes_read.sum"), Some(134_220_000.0));
    assert_eq!(first.get("branch_inst_executed"), Some(32_505_856.0));
}

#[test]
fn the_raw_page() {
    let text = r#"==PROF== Disconnected
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","device__attribute_display_name","gpu__time_duration.sum","launch__shared_mem_config_size","launch__func_cache_config","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","","","","","","","","","us","Kbyte","","%"
"0","7","app","host","void f<int, 2>(int *)","1","7","(128, 1, 1)","(64, 2, 1)","0","8.9","NVIDIA GeForce RTX 4090","3.456000","102.400000","CachePreferNone","50.250000"
"1","7","app","host","g","1","7","(128, 1, 1)","(1, 1, 1)","0","8.9","NVIDIA GeForce RTX 4090","1,234.500000","8.192000","CachePreferNone","n/a"
"2","7","app"
"#;
    let read = read(text).expect("a table");
    assert!(matches!(&read.faults[..], [ProfileError::Text { line: 6, .. }]), "{:?}", read.faults);
    assert_eq!(read.measurements.len(), 2);
    let first = &read.measurements[0];
    assert_eq!((first.flavour, first.name.as_str()), (Flavour::CsvRaw, "void f<int, 2>(int *)"));
    assert_eq!((first.block, first.grid), (Some([128, 1, 1]), Some([64, 2, 1])));
    assert_eq!(first.gpu.as_deref(), Some("NVIDIA GeForce RTX 4090"));
    assert_eq!(first.get("gpu__time_duration.sum"), Some(3456.0));
    assert_eq!(first.get("launch__shared_mem_config_size"), Some(102_400.0));
    assert_eq!(first.metrics.len(), 3);
    assert_eq!(read.measurements[1].get("gpu__time_duration.sum"), Some(1_234_500.0));
    assert_eq!(read.measurements[1].get("sm__warps_active.avg.pct_of_peak_sustained_active"), None);
}

#[test]
fn raw_columns_alone_and_without_units() {
    let text = "gpu__time_duration.sum,launch__block_size\nmsecond,-\n17.61,1024\n18.54,512\n";
    let read = all(text);
    assert_eq!(read.measurements.len(), 2);
    assert_eq!(read.measurements[1].get("gpu__time_duration.sum"), Some(18_540_000.0));
    assert_eq!(read.measurements[1].threads(), Some(512));
    let text = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"f\",\"17\"\n";
    let read = super::read(text).expect("a table");
    assert_eq!(read.measurements[0].get("gpu__time_duration.sum"), Some(17.0));
    assert!(read.faults[0].to_string().contains("no row of units"), "{:?}", read.faults);
}

#[test]
fn a_summary_stands_for_its_launches() {
    let head = r#""Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device","CC","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average""#;
    let row = |grid: &str, rest: &str| {
        format!("\"9\",\"app\",\"h\",\"saxpy\",\"(256, 1, 1)\",\"{grid}\",\"0\",\"11.0\",{rest}\n")
    };
    let text = [
        format!("{head}\n"),
        row("(4096, 1, 1)", r#""14","Occupancy","Achieved Occupancy","%","73.56","79.38","74.92""#),
        row("(4096, 1, 1)", r#""14","GPU Speed Of Light Throughput","Duration","us","1.00","3.00","2.00""#),
        row("(8, 1, 1)", r#""1,200","Occupancy","Achieved Occupancy","%","27.46","30.08","28.52""#),
    ]
    .concat();
    let read = all(&text);
    assert_eq!(read.measurements.len(), 2);
    let first = &read.measurements[0];
    assert_eq!((first.flavour, first.launches), (Flavour::CsvSummary, 14));
    assert_eq!(first.get("sm__warps_active.avg.pct_of_peak_sustained_active"), Some(74.92));
    assert_eq!(first.get("gpu__time_duration.sum"), Some(2000.0));
    assert_eq!(read.measurements[1].launches, 1200);
    assert_eq!(read.measurements[1].grid, Some([8, 1, 1]));
    let over_all = super::read("\"Invocations\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n")
        .expect("a table");
    assert_eq!(over_all.measurements, []);
    assert!(over_all.faults[0].to_string().contains("per-kernel"));
}

#[test]
fn decimals_of_the_locale() {
    let text = details(&[
        r#"0|"Occupancy","Theoretical Occupancy","%","62,50","#,
        r#"0|"GPU Speed Of Light Throughput","Elapsed Cycles","cycle","1.187.722","#,
        r#"0|"Launch Statistics","Threads","thread","270.336","#,
    ]);
    let read = all(&text);
    assert_eq!(read.measurements[0].get("sm__maximum_warps_per_active_cycle_pct"), Some(62.5));
    assert_eq!(read.measurements[0].get("gpc__cycles_elapsed.max"), Some(1_187_722.0));
    assert_eq!(read.measurements[0].get("launch__thread_count"), Some(270_336.0));
}

#[test]
fn tables_joined_and_a_session_page_behind() {
    let one = details(&[r#"0|"Occupancy","Block Limit Registers","block","5","#]);
    let two = details(&[r#"0|"Occupancy","Block Limit Registers","block","6","#]);
    let text = format!(
        "{one}{two}\n\"Device Attribute\",\"Device 0\"\n\"display_name\",\"NVIDIA H100 PCIe\"\n\n\"x\",\"y\"\n{one}"
    );
    let read = all(&text);
    let limits: Vec<_> = read.measurements.iter().map(|one| one.get("launch__occupancy_limit_registers")).collect();
    assert_eq!(limits, [Some(5.0), Some(6.0), Some(5.0)]);
    assert!(read.measurements.iter().all(|one| one.gpu.as_deref() == Some("NVIDIA H100 PCIe")));
}

#[test]
fn rules_of_several_lines_and_launches_without_numbers() {
    let text = details(&[r#"0|"Occupancy","","","","Occupancy","WRN","First.
Second, with a ""quote"".","local","12.5""#]);
    let said = &all(&text).measurements[0].said[0];
    assert_eq!(said.text, "First.\nSecond, with a \"quote\".");
    assert_eq!(said.speedup, Some((SpeedupKind::Local, 12.5)));
    let text =
        "Kernel Name;Metric Name;Metric Unit;Metric Value\nk;Duration;us;1,5\nk;Threads;thread;64\nk;Duration;us;2,5\n";
    let read = all(text);
    let times: Vec<_> = read.measurements.iter().map(|one| one.get("gpu__time_duration.sum")).collect();
    assert_eq!(times, [Some(1500.0), Some(2500.0)]);
}

#[test]
fn text_without_a_table_says_what_was_expected() {
    let error = read("hello\nworld\n").expect_err("no table");
    assert!(error.to_string().starts_with("line 1: no table of Nsight Compute"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(lines in prop::collection::vec("[\"0-9a-zA-Z,;.=() é_\n-]{0,60}", 0..12)) {
        let _ = read(&lines.concat());
        let table = details(&[r#"0|"Occupancy","Block Limit Registers","block","5","#]);
        let read = read(&format!("{}{}{}", lines.concat(), table, lines.concat()));
        prop_assert!(read.is_ok() || !lines.concat().is_empty());
    }

    #[test]
    fn damage_loses_no_other_line(at in 0_usize..900, byte in "[\"\n,a]") {
        let mut text = details(&[
            r#"0|"Occupancy","Block Limit Registers","block","5","#,
            r#"1|"Occupancy","Block Limit Registers","block","6","#,
        ]);
        let first = text.find('\n').unwrap_or(0);
        let second = text[first + 1..].find('\n').unwrap_or(0);
        if at < second {
            text.insert_str(first + 1 + at, &byte);
        }
        let read = read(&text).expect("a table");
        let last = read.measurements.last().and_then(|last| last.get("launch__occupancy_limit_registers"));
        prop_assert_eq!(last, Some(6.0));
    }
}
