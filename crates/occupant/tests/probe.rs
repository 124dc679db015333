//! `occupant probe` as people use it: plans, readings of measurements that are made up, and what it refuses.
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

mod support;

use insta::assert_snapshot;
use support::{Run, asks, fixtures, json, occupant, occupant_fed, says};

/// Made-up measurements of one kernel, as `ncu --csv --page raw` prints them.
fn reports(names: &str) -> String {
    let path = |name: &str| format!("../../crates/occupant/tests/probe/{name}.csv");
    names.split(' ').map(path).collect::<Vec<_>>().join(" ")
}

fn shown(arguments: &str, run: &Run) -> String {
    format!("$ occupant {arguments}\n{}{}exit status {}\n", run.stdout, run.stderr, run.status)
}

macro_rules! shows {
    ($($name:ident: $arguments:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let arguments: String = $arguments.into();
                assert_snapshot!(stringify!($name), shown(&arguments, &occupant(&arguments)));
            }
        )*
    };
}

shows! {
    plan: "probe --gpu h100-sxm --registers 64 --block 256 --shared-static 1K --width 80";
    plan_wide: "probe kernels.sm_90a.cubin --kernel ^saxpy$ --gpu h100-sxm --block 256 --shared-dynamic 2K --width 160";
    plan_pascal: "probe --gpu gtx-1080 --registers 32 --block 256 --shared-static 1K --width 80";
    plan_cluster: "probe --gpu b200 --registers 168 --block 384 --cluster 2 --width 100";
    plan_of_a_report: format!("probe {} --width 100", reports("now"));
    plan_json: "probe --gpu rtx-4090 --registers 128 --block 256 --json";
    plan_csv: "probe --gpu h100-sxm --registers 64 --block 256 --format csv";
    plan_markdown: "probe --gpu sm_75 --registers 128 --block 256 --format markdown";
    reading: format!("probe --reports {} --width 80", reports("now three_blocks two_blocks one_block"));
    reading_wide: format!("probe --reports {} --width 160", reports("now three_blocks two_blocks one_block"));
    reading_flat: format!("probe --reports {} --width 100", reports("now three_blocks two_blocks"));
    reading_json: format!("probe --reports {} --json", reports("now one_block"));
    reading_csv: format!("probe --reports {} --format csv", reports("now three_blocks one_block"));
    one_occupancy: format!("probe --reports {} --width 80", reports("now now"));
}

#[test]
fn timings() {
    let arguments = "probe --timings - --width 80";
    let csv = "blocks_per_sm,time\n8,1.00\n8,1.01ms\n8,1002us\n4,1.02\n4,1.03\n2,1.4\n1,2.6\n";
    assert_snapshot!("timings", shown(arguments, &occupant_fed(arguments, csv.as_bytes())));
    let csv = "shared_dynamic,time\n0,120us\n57472,131us\n115840,260us\n";
    let of = "probe kernels.sm_90a.cubin --kernel ^saxpy$ --gpu h100-sxm --block 256 --timings - --width 100";
    let rising = ["saxpy on h100-sxm (9.0): the time falls up to the highest", "64 warps are all that an SM holds"];
    says(&occupant_fed(of, csv.as_bytes()), 0, &rising);
    says(&occupant_fed(arguments, csv.as_bytes()), 2, &["shared_dynamic becomes an occupancy with the rest", "--gpu"]);
    says(&occupant_fed(arguments, b"blocks_per_sm,time\n8,soon\n"), 2, &["line 2: `soon` is no time"]);
    let one = occupant_fed(&format!("{arguments} --json"), b"blocks_per_sm,time\n8,1\n");
    says(&one, 2, &["can't tell: only one occupancy was measured"]);
    assert!(
        one.stderr.starts_with("error: -: can't tell: only one") && one.stderr.lines().count() == 1,
        "{}",
        one.stderr
    );
}

#[test]
fn measurements_of_no_experiment() {
    let refused = |names: &str, parts: &[&str]| asks(&format!("probe --reports {}", reports(names)), 2, parts);
    refused(
        "now two_blocks_fast",
        &["can't tell: the SM clocks differ: 1485 MHz in", "1755 MHz", "--clock-control base"],
    );
    refused("now other_grid", &["the grids differ: 8192x1x1", "4096x1x1", "only dynamic shared memory may differ"]);
    refused("now other_registers", &["the registers differ: 64 in", "62 in"]);
    refused("two_kernels one_block", &["the kernels differ: stencil", "reduce(float *)", "name it with --kernel"]);
    asks(&format!("probe --kernel nosuch --reports {}", reports("now")), 2, &["no launches", "--kernel"]);
    let narrowed = format!("probe --kernel stencil --reports {}", reports("two_kernels one_block"));
    asks(&narrowed, 0, &["the time falls up to the highest", "more than 32 warps was not measured"]);
    let launch = format!("probe --launch 0 --reports {}", reports("two_kernels one_block"));
    asks(&launch, 0, &["8 warps take 70.2 % longer than 32 warps"]);
    let found = json(&format!("probe --reports {}", reports("now other_grid")));
    assert_eq!(found["reading"]["reason_code"], "grids_differ");
    assert!(found["reading"]["answer"].is_null() && found["plan"].is_null(), "{found}");
}

#[test]
fn wrong_flags() {
    for (arguments, part) in [
        ("probe", "which GPU?"),
        ("probe --gpu h100", "which launch?"),
        ("probe --gpu current --registers 64", "an experiment runs on one GPU"),
        ("probe --gpu h100 --registers 64 --kernel a", "name the file, or leave --kernel away"),
        ("probe kernels.sm_90a.cubin --gpu h100-sxm", "an experiment is of one kernel"),
        ("probe kernels.sm_90a.cubin --kernel nosuch --gpu h100-sxm", "no kernel matches"),
        ("probe kernels.sm_90a.cubin --kernel ^saxpy$", "which GPU?"),
        ("probe kernels.sm_90a.cubin --kernel ^saxpy$ --gpu a100", "sm_90a"),
        (
            "probe kernels.sm_90a.cubin --kernel ^saxpy$ --gpu h100-sxm --registers 32",
            "--registers comes from the kernel",
        ),
        ("probe kernels.sm_90a.cubin --gpu h100-sxm --launch 1", "--launch counts the launches of a report"),
        ("probe --gpu sm_120 --registers 134 --block 512", "it can't launch as it is"),
        ("probe --reports", "a value is required"),
        ("probe --reports missing.ncu-rep", "missing.ncu-rep"),
        ("probe --reports plain.sm_90.cubin", "an ELF binary"),
        ("probe plain.sm_90.cubin --reports a.ncu-rep", "cannot be used with"),
        ("probe --timings missing.csv", "missing.csv"),
        ("probe --gpu h100-sxm --registers 32 --block 128 --barriers 17", "needs 17 named barriers, it can name 16"),
        ("probe missing.ncu-rep", "missing.ncu-rep"),
    ] {
        let run = occupant(arguments);
        assert!(run.stdout.is_empty(), "{arguments}: {}", run.stdout);
        says(&run, 2, &[part]);
    }
    let report = reports("now");
    for (flags, part) in [("--gpu h100-sxm", "leave --gpu away"), ("--block 128", "comes from the report")] {
        asks(&format!("probe {report} {flags}"), 2, &[part]);
    }
    asks(&format!("probe {}", reports("two_kernels")), 2, &["and 2 match: narrow it with --kernel or --launch"]);
    asks(&format!("probe {} --launch 1", reports("two_kernels")), 0, &["reduce on 9.0: 256 threads"]);
}

/// A report in several frames of zstd under a name that says nothing; a report and a cubin through standard input and a pipe
/// with a name.
#[test]
fn what_is_named_is_told_by_its_content() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("probe-content");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let report = std::fs::read(fixtures().join("../reports/streams.ncu-rep")).unwrap();
    let cubin = std::fs::read(fixtures().join("kernels.sm_90a.cubin")).unwrap();
    let (first, second) = report.split_at(report.len() / 2);
    let packed = [first, second].map(|half| zstd::encode_all(half, 1).unwrap()).concat();
    let of_report = "--launch 1";
    let of_cubin = "--kernel ^saxpy$ --gpu h100-sxm --block 256";
    let expected = |run: &Run| (run.status, run.stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    let whole = |path: &str, flags: &str| occupant(&format!("probe {path} {flags} --format csv"));
    for (bytes, named, flags) in [
        (&report, "../reports/streams.ncu-rep", of_report),
        (&packed, "../reports/streams.ncu-rep", of_report),
        (&cubin, "kernels.sm_90a.cubin", of_cubin),
    ] {
        let asked = whole(named, flags);
        assert_eq!(asked.status, 0, "{}", asked.stderr);
        let path = folder.join("x.csv");
        std::fs::write(&path, bytes).unwrap();
        let renamed = whole(&path.display().to_string(), flags);
        assert_eq!(expected(&renamed), expected(&asked), "{}", renamed.stderr);
        let piped = occupant_fed(&format!("probe - {flags} --format csv"), bytes);
        assert_eq!(expected(&piped), expected(&asked), "{}", piped.stderr);
        #[cfg(target_os = "linux")]
        {
            let piped = occupant_fed(&format!("probe /dev/stdin {flags} --format csv"), bytes);
            assert_eq!(expected(&piped), expected(&asked), "{}", piped.stderr);
        }
    }
    let verdict = occupant_fed("verdict - --format csv", &packed);
    assert_eq!(verdict.stdout.lines().count(), 3, "both halves are read: {}", verdict.stderr);
    let timings = occupant_fed("probe - --timings -", b"percent,time\n50,1\n");
    says(&timings, 2, &["PATH and --timings can't both be standard input"]);
}

#[test]
fn each_step_agrees_with_calc() {
    let found = json("probe --gpu a100-sxm4-80gb --registers 40 --block 192 --shared-static 3000");
    let steps = found["plan"]["steps"].as_array().unwrap();
    assert!(steps.len() > 5, "{found}");
    for step in steps {
        let dynamic = step["shared_dynamic"].as_u64().unwrap();
        let calc = format!(
            "calc --gpu a100-sxm4-80gb --registers 40 --block 192 --shared-static 3000 --shared-dynamic {dynamic}"
        );
        let now = json(&calc);
        assert_eq!(now["occupancy"]["blocks_per_sm"], step["blocks_per_sm"]);
        assert_eq!(now["requires"].as_array().unwrap().is_empty(), step["opt_in"] == false, "{step}");
        let carveout = json(&format!("{calc} --carveout {}", step["carveout"]));
        assert_eq!(carveout["occupancy"]["blocks_per_sm"], step["blocks_per_sm"], "{step}");
    }
}
