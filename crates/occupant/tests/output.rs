//! What people see, as snapshots: every fixture inspected, and the other commands.
#![allow(clippy::disallowed_methods, reason = "tests start the program and read their fixtures")]

mod support;

use insta::assert_snapshot;
use support::{fixtures, occupant};

/// One snapshot a binary of the fixtures: its kernels at 160 columns, and what is said on standard error.
#[test]
fn every_fixture() {
    let mut names: Vec<String> =
        std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for name in names {
        let run = occupant(&format!("inspect {name} --width 160"));
        assert_snapshot!(
            format!("inspect__{name}"),
            format!("{}{}exit status {}\n", run.stdout, run.stderr, run.status)
        );
    }
}

macro_rules! shows {
    ($($name:ident: $arguments:literal;)*) => {
        $(
            #[test]
            fn $name() {
                let run = occupant($arguments);
                let shown = format!("$ occupant {}\n{}{}exit status {}\n", $arguments, run.stdout, run.stderr, run.status);
                assert_snapshot!(stringify!($name), shown);
            }
        )*
    };
}

shows! {
    inspect_narrow: "inspect libkernels.so --width 80";
    inspect_one_gpu: "inspect hopper.targets.fatbin --gpu h100-sxm --width 100";
    inspect_two_gpus: "inspect plain.default.fatbin --gpu a100 --gpu rtx-4090 --width 100";
    inspect_gpu_without_image: "inspect kernels.sm_90a.cubin --gpu b200 --top 3 --width 100";
    inspect_ptx_only_for_gpu: "inspect kernels.lz4.fatbin --gpu rtx-5090 --kernel saxpy --width 100";
    inspect_exact: "inspect kernels.sm_90a.cubin --block 128 --shared-dynamic 64K --kernel shared --width 100";
    inspect_triton: "inspect ../triton --width 100";
    inspect_names: "inspect ../triton/sm_90/matmul.cubin kernels.sm_90a.cubin --names --kernel matmul --width 120";
    inspect_sass: "inspect kernels.sm_90a.cubin --kernel tensor_core --sass --width 100";
    inspect_sass_narrow: "inspect pipeline.sm_90a.cubin --sass --width 80";
    inspect_sass_spills: "inspect kernels.sm_80.cubin --kernel ^spill_in_callee$ --sass --width 160";
    inspect_sass_all: "inspect plain.sm_86.cubin --kernel ^plain$ --sass=all --width 100";
    inspect_sass_json: "inspect plain.sm_86.cubin --kernel ^plain$ --sass --json";
    inspect_sass_csv: "inspect plain.sm_86.cubin --kernel ^plain$ --sass --format csv";
    inspect_sass_too_old: "inspect kernels.sm_75.cubin plain.ptx.fatbin --kernel nosuch --sass --width 80";
    inspect_summary: "inspect libkernels.so --gpu h100 --summary --width 100";
    inspect_summary_narrow: "inspect libkernels.so --summary --width 60";
    inspect_summary_without_image: "inspect kernels.sm_90a.cubin plain.default.fatbin --gpu b200 --summary --width 80";
    inspect_summary_some_images: "inspect kernels.sm_90a.cubin plain.default.fatbin --gpu h100 --gpu a100 --summary --width 80";
    inspect_summary_some_images_markdown: "inspect kernels.sm_90a.cubin plain.default.fatbin --gpu h100 --gpu a100 --summary --format markdown";
    inspect_summary_json: "inspect kernels.sm_90a.cubin --gpu b200 --summary --json";
    inspect_gpus_without_image: "inspect kernels.sm_90a.cubin plain.default.fatbin --gpu h100 --gpu b200 --sort registers --top 2 --width 80";
    inspect_markdown_without_image: "inspect kernels.sm_90a.cubin plain.default.fatbin --gpu rtx-3090 --format markdown";
    inspect_directory_of_one: "inspect ../triton/sm_90 --width 80";
    inspect_sorted_across_files: "inspect plain.sm_86.cubin plain.sm_90.cubin --sort name --width 80";
    inspect_full_names: "inspect kernels.sm_90a.cubin --kernel fixture --full-names --width 80";
    inspect_names_without_any: "inspect plain.sm_90.cubin --names --width 80";
    inspect_block_too_large: "inspect kernels.sm_90a.cubin --block 2000 --kernel bounds|stream --width 80";
    inspect_very_narrow: "inspect libkernels.so --gpu h100 --width 40";
    inspect_too_narrow: "inspect plain.sm_90.cubin --width 20";
    inspect_no_match: "inspect plain.sm_90.cubin --kernel nosuch --width 80";
    inspect_no_arch: "inspect plain.sm_90.cubin --arch sm_75 --width 80";
    calc_matrix_by_hand: "calc --gpu h100 --gpu rtx-4090 --regs 45 --block 96 --by-hand --width 80";
    need_of_a_file: "need streams.sm_90.cubin --gpu h100-pcie --block 256 --width 100";
    need_narrow: "need streams.sm_90.cubin ladder.sm_90.cubin --gpu h100-sxm --gpu gh200-96gb --kernel copy|scale --width 80";
    need_measured: "need streams.sm_90.cubin --gpu h100-pcie --kernel ^triad$ --block 64 --width 100";
    verdict_several: "verdict ../reports/streams.ncu-rep --width 160";
    verdict_several_narrow: "verdict ../reports/streams.ncu-rep --width 80";
    verdict_one: "verdict ../reports/streams.ncu-rep --launch 1 --width 160";
    verdict_one_narrow: "verdict ../reports/streams.ncu-rep --kernel triad --width 80";
    verdict_csv: "verdict ../reports/streams.ncu-rep --format csv";
    verdict_markdown: "verdict ../reports/streams.ncu-rep --format markdown";
    verdict_json: "verdict ../reports/streams.ncu-rep --launch 1 --target 80 --json";
    verdict_no_match: "verdict ../reports/streams.ncu-rep --kernel nosuch --width 80";
    verdict_no_report: "verdict streams.sm_90.cubin --width 80";
    inspect_launches_of_a_report: "inspect streams.sm_90.cubin --launches ../reports/streams.ncu-rep --kernel ^triad$|^read$ --width 100";
    need_curve: "need ladder.sm_90.cubin --gpu h200-sxm --kernel ^copy2$ --block 32 --curve --width 80";
    need_curve_wide: "need ladder.sm_90.cubin --gpu h200-sxm --kernel ^copy2$ --block 32 --curve --width 160";
    need_json: "need ladder.sm_80.cubin --gpu a100-sxm4-80gb --kernel ^copy4$ --block 128 --curve --json";
    need_csv: "need streams.sm_80.cubin --gpu a100-sxm4-40gb --block 128 --format csv";
    need_markdown: "need pipeline.sm_90a.cubin --gpu h100-sxm --format markdown";
    need_refused: "need pipeline.sm_90a.cubin --gpu h100-sxm --stages 4 --tile-bytes 32K --width 100";
    need_too_old: "need plain.default.fatbin --gpu rtx-2070 --width 100";
    need_no_image: "need ladder.sm_90.cubin --gpu b200-sxm --width 100";
    need_bytes: "need --gpu h100-sxm --gpu a100-sxm4-80gb --bytes-per-thread 8 --ilp 2 --target 95 --width 100";
    need_operation: "need --gpu l40 --op dfma --ilp 2 --width 100";
    need_roofline: "need --gpu h100-sxm --flops 2e12 --bytes 8e9 --width 80";
    need_numbers_csv: "need --gpu h100-sxm --op ffma --bytes-per-thread 4 --flops 1e9 --bytes 1e9 --format csv";
    calc_generation: "calc --gpu hopper --regs 64 --block 16x16 --width 80";
    gpus_capability: "gpus sm_101 --width 80";
    fit: "fit --gpu h100-sxm --registers 90 --block 256 --width 100";
    fit_narrow: "fit --gpu h100-sxm --registers 90 --block 256 --shared-dynamic 90K --blocks 4 --width 80";
    fit_refused: "fit --gpu rtx-5090 --registers 134 --block 8x8x8 --width 100";
    fit_present_parts: "fit --registers 96 --block 256 --shared-dynamic 100K --width 100";
    fit_stages: "fit --gpu h100-sxm --registers 168 --block 384 --tile-bytes 48K --shared-dynamic 8K --width 100";
    fit_carveout: "fit --gpu a100 --registers 32 --block 128 --shared-dynamic 8K --carveout 25% --blocks 12 --width 100";
    fit_kernel: "fit kernels.sm_90a.cubin --kernel saxpy --block 256 --width 100";
    fit_matrix_of_kernel: "fit libkernels.so --kernel saxpy --block 256 --width 100";
    fit_json: "fit --gpu sm_75 --registers 70 --block 512 --json";
    fit_csv: "fit --gpu sm_75 --registers 70 --block 512 --format csv";
    sweep_registers: "sweep registers --gpu h100-sxm --block 256 --registers 90 --width 100";
    sweep_two_gpus: "sweep block --gpu h100-sxm --gpu rtx-4090 --registers 40 --width 80";
    sweep_shared: "sweep shared --gpu a100 --block 128 --width 80";
    sweep_svg: "sweep barriers --gpu h100-sxm --block 64 --registers 32 --svg -";
    sweep_csv: "sweep registers --gpu sm_75 --block 512 --format csv";
    launch: "launch --gpu h100-sxm --grid 608 --registers 128 --block 256 --width 80";
    launch_tiles: "launch --gpu h100-sxm --problem 4096x4096 --tile 128x128@2 --tile 128x256 --blocks-per-sm 1 --width 80";
    launch_cluster: "launch --gpu h100-sxm --grid 16x38 --blocks-per-sm 1 --cluster 4x2 --width 100";
    launch_cooperative: "launch --gpu p100-sxm2-16gb --grid 128 --block 1024 --registers 32 --cooperative --width 80";
    launch_json: "launch --gpu h100-sxm --grid 608 --registers 128 --block 256 --json";
    budget: "budget --gpu h100-sxm --warpgroups 40,232,232 --tile 128x256 --schedule pingpong --width 100";
    budget_kernel: "budget pipeline.sm_90a.cubin --width 80";
    budget_json: "budget --gpu b200 --warpgroups keep,168,keep,keep --json";
    inspect_sorted: "inspect kernels.sm_90a.cubin --block 256 --shared-dynamic 0 --sort occupancy --top 5 --width 100";
    inspect_functions: "inspect linked.sm_90.cubin --functions --width 100";
    inspect_json: "inspect plain.sm_90.cubin --json";
    inspect_jsonl: "inspect plain.sm_90.cubin --format jsonl";
    inspect_csv: "inspect plain.sm_90.cubin --format csv";
    inspect_markdown_names: "inspect ../triton --format markdown --names";
    inspect_markdown: "inspect plain.sm_90.cubin --format markdown";
    calc: "calc --gpu h100-sxm --registers 128 --block 256 --shared-dynamic 48K --width 80";
    calc_json: "calc --gpu h100-sxm --registers 128 --block 256 --shared-dynamic 48K --json";
    calc_by_hand: "calc --gpu rtx-3090 --regs 45 --block 96 --shared-static 7000 --by-hand --width 80";
    calc_refused: "calc --gpu sm_120 --registers 134 --block 512 --width 80";
    calc_blackwell: "calc --gpu b200 --regs 168 --block 384 --tensor-columns 512 --virtual-resources 128 --cluster 16 --grid 512 --width 80";
    calc_matrix: "calc --gpu h100 --gpu a100 --gpu rtx-4090 --gpu b200 --regs 80 --block 384 --shared-dynamic 100K --width 80";
    calc_without_gpu: "calc --regs 32";
    gpus_one: "gpus h100-sxm --width 100";
    gpus_family: "gpus h100 --width 80";
    gpus_unknown: "gpus h1000-smx";
}
