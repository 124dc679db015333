//! What people asked in public threads, as the commands that answer it. Each test names its thread; numbers were
//! recomputed with NVIDIA's header or by hand. Where a thread is disputed, the answer has to state both readings.
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

mod support;

use serde_json::Value;
use support::{asks, json, occupant, occupant_fed, says, words};

#[track_caller]
fn explains(text: &str, flags: &str, parts: &[&str]) {
    says(&occupant_fed(&format!("explain {flags}"), text.as_bytes()), 0, parts);
}

#[track_caller]
fn blocks_and_percent(arguments: &str) -> (u64, f64) {
    let found = &json(arguments)["occupancy"];
    (found["blocks_per_sm"].as_u64().unwrap(), found["percent"].as_f64().unwrap())
}

/// xmartlabs/cuda-calculator#1: a web calculator and a spreadsheet differ.
#[test]
fn d01_both_readings_of_partitioned_caching() {
    assert_eq!(blocks_and_percent("calc --gpu 5.0 --registers 85 --block 128").0, 5);
    asks(
        "calc --gpu 5.2 --registers 85 --block 128",
        0,
        &[
            "5 blocks per SM",
            "partitioned caching of global loads is taken as off; with it on (-Xptxas -dlcm=ca), 4 blocks fit",
        ],
    );
    assert_eq!(blocks_and_percent("calc --gpu 5.2 --registers 85 --block 128 --partitioned-caching on").0, 4);
}

/// kokkos/kokkos#5624: 41 registers became 43.
#[test]
fn d02_a_change_inside_an_allocation_unit_is_none() {
    assert_eq!(blocks_and_percent("calc --gpu a100 --registers 41 --block 256"), (5, 62.5));
    assert_eq!(blocks_and_percent("calc --gpu a100 --registers 43 --block 256"), (5, 62.5));
    asks(
        "fit --gpu a100 --registers 43 --block 256",
        0,
        &["41 to 48 registers are the same to the hardware: it gives 48"],
    );
}

/// dmlc/dgl#4363: which block size for 40 registers?
#[test]
fn d03_block_sizes_compared() {
    for gpu in ["a100", "v100"] {
        assert_eq!(blocks_and_percent(&format!("calc --gpu {gpu} --registers 40 --block 1024")), (1, 50.0));
        assert_eq!(blocks_and_percent(&format!("calc --gpu {gpu} --registers 40 --block 256")), (6, 75.0));
    }
    asks(
        "fit --gpu a100 --registers 40 --block 1024",
        0,
        &["best block sizes: 768, 512, 384, 256, 192, 128, 96, 64 (48 warps, 75 %)"],
    );
}

/// brian-team/brian2cuda#208: is 0.75 a limit or a bug?
#[test]
fn d04_three_quarters_is_right() {
    assert_eq!(blocks_and_percent("calc --gpu 6.1 --registers 36 --block 768"), (2, 75.0));
}

/// NVIDIA/cuCollections#672: 75 % for the sake of four registers.
#[test]
fn d05_four_registers_to_the_next_step() {
    let found = json("fit --gpu a100 --registers 36 --block 256 --blocks 8");
    assert_eq!(found["occupancy"]["percent"], 75.0);
    let first = &found["solutions"][0];
    assert_eq!(first["change"]["registers"], serde_json::json!({"from": 36, "to": 32}));
    assert_eq!((&first["blocks_per_sm"], &first["percent"]), (&Value::from(8), &Value::from(100.0)));
    asks("fit --gpu a100 --registers 36 --block 256", 0, &["more blocks are no gain by themselves"]);
}

/// forums.developer.nvidia.com/t/69656: where do 1536 registers go?
#[test]
fn d06_registers_are_rounded() {
    let found = json("calc --gpu 7.0 --registers 162 --block 256");
    assert_eq!(found["occupancy"]["allocated"]["registers_per_thread"], 168);
    assert_eq!(found["occupancy"]["allocated"]["registers_per_block"], 43008);
}

/// forums.developer.nvidia.com/t/237752: 10 registers or 16, and what is driver shared memory?
#[test]
fn d07_unit_and_reserve() {
    let found = json("calc --gpu 8.6 --registers 10 --block 512");
    assert_eq!(found["occupancy"]["allocated"]["registers_per_thread"], 16);
    assert_eq!(found["occupancy"]["allocated"]["shared_per_block"], 1024);
    asks(
        "calc --gpu 8.6 --registers 10 --block 512 --by-hand",
        0,
        &["registers 8,192 (10 per thread, given 16)", "1,024 B (0 asked for)"],
    );
}

/// EnzymeAD/Enzyme-JAX#2895: error 701; the thread says that 489 threads would do.
#[test]
fn d08_the_largest_block_that_launches() {
    explains(
        "CUDA error 701: too many resources requested for launch",
        "--gpu 12.0 --registers 134 --block 8x8x8",
        &[
            "69632 needed, 65536 allowed: 4096 over",
            "blocks of 384 threads (128 fewer)",
            "128 registers per thread (6 fewer); compile with __launch_bounds__(512)",
        ],
    );
    for (threads, status) in [(384, 0), (416, 1), (448, 1), (480, 1), (489, 1), (512, 1)] {
        asks(&format!("calc --gpu 12.0 --registers 134 --block {threads}"), status, &[]);
    }
}

/// google-deepmind/mujoco_warp#1524: fails on Ada only, whose image has more registers.
#[test]
fn d09_one_kernel_two_images() {
    asks("calc --gpu l40s --registers 153 --block 512", 1, &["can't launch"]);
    assert_eq!(blocks_and_percent("calc --gpu 12.0 --registers 99 --block 512").0, 1);
    explains(
        "too many resources requested for launch",
        "--gpu l40s --registers 153 --block 512",
        &["blocks of 256 threads can't fail for registers: 256 x 255 <= 65536"],
    );
    asks("calc --gpu l40s --registers 255 --block 256", 0, &["1 block per SM"]);
}

/// openucx/ucc#1166: why does it fail instead of spilling?
#[test]
fn d10_spilling_is_decided_when_compiling() {
    explains(
        "cudaErrorLaunchOutOfResources",
        "--gpu b300 --registers 156 --block 512",
        &[
            "81920 needed, 65536 allowed",
            "the compiler fixed the registers without knowing the block size",
            "__launch_bounds__(512) caps registers at 128",
        ],
    );
    assert_eq!(blocks_and_percent("calc --gpu b300 --registers 156 --block 256").0, 1);
}

/// halide/Halide#9284: a block of 32 threads spills, since nobody said that it is so small.
#[test]
fn d11_no_bound_means_1024_threads_to_some_compilers() {
    let log = "\
ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    24 bytes stack frame, 20 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 64 registers, 400 bytes cmem[0]
";
    explains(
        log,
        "--block 16x2",
        &["20+16", "64 registers are all that blocks of 1024 threads leave", "__launch_bounds__(32), which gives 255"],
    );
}

/// NVIDIA/thrust#1051: 39 registers became 57 under bounds of (128, 1).
#[test]
fn d12_a_minimum_of_one_block_caps_nothing() {
    assert_eq!(blocks_and_percent("calc --gpu v100 --registers 39 --block 128"), (12, 75.0));
    assert_eq!(blocks_and_percent("calc --gpu v100 --registers 57 --block 128"), (8, 50.0));
    let room = &json("fit --gpu v100 --registers 57 --block 128")["room"];
    assert_eq!((&room[0]["blocks"], &room[0]["register_cap"]), (&Value::from(1), &Value::from(255)));
    assert_eq!((&room[11]["blocks"], &room[11]["register_cap"]), (&Value::from(12), &Value::from(40)));
}

const MIN_BLOCKS: &str =
    "ptxas warning : Value of threads per SM for entry _Z1k is out of range. .minnctapersm will be ignored";

/// kokkos/kokkos#7191: bounds of (512, 4) on 8.6.
#[test]
fn d13_a_minimum_that_is_ignored() {
    explains(
        MIN_BLOCKS,
        "--gpu 8.6 --launch-bounds 512,4",
        &[
            "threads of an SM (512 x 4) on 8.6: 2048 needed, 1536 allowed",
            "__launch_bounds__(512, 3), the largest minimum that counts there; caps registers at 40",
        ],
    );
    explains(MIN_BLOCKS, "", &["add --launch-bounds THREADS,BLOCKS", "add --gpu G"]);
}

/// pytorch/pytorch#161376: which bounds are legal on 12.0?
#[test]
fn d14_threads_and_blocks_both_bound() {
    explains(
        MIN_BLOCKS,
        "--gpu rtx-5090 --launch-bounds 32,48",
        &["blocks of an SM on rtx-5090 (12.0): 48 needed, 24 allowed"],
    );
    asks("fit --gpu rtx-5090 --block 32 --blocks 48", 1, &["an SM of 12.0 holds 24 blocks at most"]);
    asks("fit --gpu rtx-5090 --block 64 --blocks 24", 0, &["24 blocks fit already"]);
    asks("fit --gpu rtx-5090 --block 128 --blocks 12", 0, &["12 blocks fit already"]);
}

/// acts-project/traccc#1037: blocks of 64 threads on 8.6.
#[test]
fn d15_block_slots_bound_small_blocks() {
    assert_eq!(blocks_and_percent("calc --gpu 8.6 --registers 32 --block 64"), (16, 66.67));
    assert_eq!(
        json("calc --gpu 8.6 --registers 32 --block 64")["occupancy"]["limiters"],
        serde_json::json!(["blocks"])
    );
    for (gpu, percent) in [("8.6", 66.67), ("8.0", 50.0), ("9.0", 50.0)] {
        assert_eq!(blocks_and_percent(&format!("calc --gpu {gpu} --registers 64 --block 128")), (8, percent));
    }
}

/// NVIDIA/cutlass#2007: 24, 232, 232 hangs though its sum is below the pool; disputed.
#[test]
fn d16_both_readings_of_the_budget() {
    asks(
        "budget --gpu h800 --warpgroups 24,232,232 --launch-bounds 384,1",
        0,
        &[
            "LEGAL",
            "3 x 168 = 504; the requests add up to 488",
            "every warp of a warpgroup executes its request",
            "the requests should add up to exactly 504",
            "40 instead of 24",
        ],
    );
    asks("budget --gpu h800 --warpgroups 24,232,232 --launch-bounds 384 --registers 122", 1, &["IGNORED", "C7508"]);
}

/// NVIDIA/cutlass#3406: requests have no effect, and nothing says so.
#[test]
fn d17_requests_that_the_compiler_drops() {
    let note = "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.";
    explains(
        note,
        "--gpu b200 --launch-bounds 384",
        &[
            "setmaxnreg has no effect (C7508)",
            "unable to determine register count at entry",
            "__launch_bounds__(384, 1); min_blocks_per_mp=1 in CuTe DSL",
        ],
    );
    asks("budget kernels.sm_90a.cubin --kernel saxpy", 1, &["IGNORED", "its machine code has no setmaxnreg"]);
    asks("budget pipeline.sm_90a.cubin", 0, &["LEGAL", "40, 232"]);
}

/// tile-ai/tilelang#2406: 24 and 240 at 512 threads.
#[test]
fn d18_more_warpgroups_less_each() {
    asks(
        "budget --gpu 12.0 --warpgroups 24,240,240,240",
        1,
        &["HANG RISK", "4 x 128 = 512; the requests add up to 744"],
    );
    for (warpgroups, sum) in [("24,240,240", 64512), ("24,24,224,224", 63488), ("24,160,160,160", 64512)] {
        let found = json(&format!("budget --gpu 12.0 --warpgroups {warpgroups}"));
        assert_eq!((&found["verdict"], &found["requested"]), (&Value::from("LEGAL"), &Value::from(sum)));
    }
}

/// pytorch/helion#3620: one raised, none lowered.
#[test]
fn d19_nothing_given_back() {
    asks("budget --gpu b200 --warpgroups keep,168,keep,keep", 1, &["HANG RISK", "no warpgroup gives any back"]);
    asks("budget --gpu b200 --warpgroups 80,168,168,88", 0, &["LEGAL", "the requests add up to 504"]);
}

/// NVIDIA/cutlass#3372: tiles whose accumulators do not fit.
#[test]
fn d20_accumulators_by_schedule() {
    let with = |schedule| format!("budget --gpu h100-sxm --warpgroups 40,232,232 --tile 128x256 --schedule {schedule}");
    assert_eq!(json(&with("cooperative"))["accumulators"]["registers"], 128);
    assert_eq!(json(&with("pingpong"))["accumulators"]["registers"], 256);
    asks(&with("pingpong"), 0, &["256 accumulators are more than a thread can have: they spill"]);
    asks(&with("cooperative"), 0, &["128 of the 232 registers asked for hold accumulators, 104 are left"]);
}

/// triton-lang/triton#11358: 576 columns.
#[test]
fn d21_tensor_memory_columns() {
    explains(
        "out of resource: tensor memory, Required: 576, Hardware limit: 512.",
        "--gpu gb300",
        &["tensor-memory columns of a block: 576 needed, 512 allowed: 64 over", "BLOCK_N"],
    );
    asks(
        "calc --gpu gb300 --registers 128 --block 256 --tensor-columns 576",
        1,
        &["576 tensor-memory columns, an SM has 512"],
    );
}

/// NVIDIA/cutlass#3144: 100 KiB on a DGX Spark.
#[test]
fn d22_the_limit_of_a_block_is_not_the_sm_s() {
    let error = "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 102400) failed with invalid argument";
    explains(error, "--gpu dgx-spark", &["102400 B needed, 101376 B allowed: 1024 B over", "an SM holds 1 KiB more"]);
    asks("calc --gpu dgx-spark --registers 128 --block 384 --shared-dynamic 102400", 1, &["can't launch"]);
    assert_eq!(json("calc --gpu dgx-spark --block 384 --shared-dynamic 101376")["launchable"], true);
}

/// flashinfer-ai/flashinfer#3528: 48 B of padding too much on Turing.
#[test]
fn d23_padding_over_the_limit() {
    for (bytes, status) in [(65584, 1), (65568, 1), (65536, 0), (50192, 0)] {
        asks(&format!("calc --gpu 7.5 --block 128 --shared-dynamic {bytes}"), status, &[]);
    }
    assert_eq!(blocks_and_percent("calc --gpu 7.5 --block 128 --shared-dynamic 65536").0, 1);
    explains(
        "CUDA error: invalid value",
        "--gpu 7.5 --shared-dynamic 65584",
        &["65584 B needed, 65536 B allowed: 48 B over"],
    );
}

/// pytorch/pytorch#180278, #198224, #133254: which knob?
#[test]
fn d24_flex_attention_on_99_kib() {
    let fits = ["fits on: a100-sxm4-80gb", "not on: t4, a10g, rtx-3090, l4, l40s, rtx-4090"];
    let triton = |required: u32| {
        format!(
            "OutOfResources: out of resource: shared memory, Required: {required}, Hardware limit: 101376. Reducing block sizes or `num_stages` may help."
        )
    };
    explains(
        &triton(139_776),
        "",
        &["139776 B needed, 101376 B allowed: 38400 B over", "num_stages: 2 -> 1, 3 -> 2", fits[0], fits[1]],
    );
    explains(&triton(114_688), "", &["114688 B needed, 101376 B allowed: 13312 B over", "8.6, 8.9, 12.0"]);
    let inductor = "No valid triton configs. OutOfMemoryError: out of resource: triton_flex_attention Required: 262144 Hardware limit:232448 \
                    Reducing block sizes or `num_stages` may help. for benchmark choice TritonTemplateCaller(x, num_stages=2, num_warps=8)";
    explains(inductor, "", &["num_stages 1 instead of 2", "\"BLOCK_M\": 64, \"BLOCK_N\": 64"]);
}

/// FLAMEGPU/FLAMEGPU2#560: registers over releases of the compiler.
#[test]
fn d25_what_a_release_costs() {
    for (registers, blocks) in [(60, 4), (70, 3), (170, 1)] {
        assert_eq!(blocks_and_percent(&format!("calc --gpu v100 --registers {registers} --block 256")).0, blocks);
    }
}

/// Dao-AILab/flash-attention#1410: do these spills hurt? The author: no.
#[test]
fn d26_spills_are_not_bad_by_themselves() {
    let log = "\
ptxas info    : Compiling entry function 'flash' for 'sm_90a'
ptxas info    : Function properties for flash
    40 bytes stack frame, 96 bytes spill stores, 132 bytes spill loads
ptxas info    : Used 168 registers, used 16 barriers
";
    explains(log, "--block 384 --shared-dynamic 200K", &["96+132", "spills are not bad by themselves", "in loops"]);
}

/// forums.developer.nvidia.com/t/349301: local memory without spills.
#[test]
fn d27_a_stack_is_no_spill() {
    let log = "\
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 16 barriers, 512 bytes smem
";
    explains(
        log,
        "--block 128",
        &[
            "64 B of stack and no spills: local arrays with computed indices or frames of calls",
            "16 named barriers of an SM's 64 let 4 blocks reside",
        ],
    );
}

/// thu-ml/SageAttention#379: a persistent grid of 170 blocks on other cards.
#[test]
fn d28_a_grid_made_for_another_card() {
    let launch = |gpu| json(&format!("launch --gpu {gpu} --grid 170 --blocks-per-sm 1"));
    let (small, large) = (launch("rtx-5080"), launch("rtx-pro-5000-blackwell"));
    assert_eq!((&small["waves"], &small["efficiency_percent"]), (&Value::from(2.024), &Value::from(67.5)));
    assert_eq!((&large["waves"], &large["efficiency_percent"]), (&Value::from(1.545), &Value::from(77.3)));
    asks("launch --gpu rtx-5080 --grid 170 --blocks-per-sm 1", 0, &["the number of SMs of another card (rtx-5090"]);
    let own = occupant("launch --gpu rtx-5090 --grid 170 --blocks-per-sm 1");
    assert!(!own.stdout.contains("another card"));
}

/// NVIDIA/cutlass#1921: clusters of 8 do not reach every SM.
#[test]
fn d29_clusters_are_an_upper_bound() {
    let found = json("launch --gpu h100-sxm --grid 4096 --blocks-per-sm 1 --cluster 4x2");
    assert_eq!(found["cluster"]["upper_bound"], 16);
    assert_eq!(found["cluster"]["settled_by"], "cudaOccupancyMaxActiveClusters");
    asks(
        "launch --gpu h100-sxm --grid 4096 --blocks-per-sm 1 --cluster 8",
        0,
        &["clusters at once, at most 16 (128 blocks)", "differs from chip to chip"],
    );
}

/// openxla/xla#47468: an AMD GPU is refused rather than guessed.
#[test]
fn d30_other_vendors_are_refused() {
    for name in ["mi300x", "MI300", "gfx942", "Instinct", "rx-7900"] {
        asks(
            &format!("calc --gpu {name} --registers 133 --block 256"),
            2,
            &["is a GPU of AMD", "those of NVIDIA only"],
        );
    }
}

/// NVIDIA's rules give blocks to a shape with more barriers than a block can name; no launch can have them.
#[test]
fn seventeen_barriers() {
    let shape = "--gpu h100-sxm --gpu a100 --registers 32 --block 64 --barriers 17";
    asks(&format!("calc {shape}"), 1, &["a block needs 17 named barriers, it can name 16"]);
    asks(&format!("launch {shape} --grid 8"), 1, &["a block needs 17 named barriers, it can name 16"]);
    let found = json("fit --gpu h100-sxm --registers 32 --block 64 --barriers 17");
    assert_eq!(found["launchable"], false);
    assert_eq!(found["solutions"][0]["change"]["barriers"], serde_json::json!({"from": 17, "to": 16}), "{found:#}");
    asks(
        "sweep registers --gpu h100-sxm --block 64 --barriers 17",
        0,
        &["can't launch on h100-sxm whatever the amount"],
    );
    let along = occupant("sweep barriers --gpu h100-sxm --block 64 --barriers 17");
    assert!(along.status == 0 && !along.stdout.contains("can't launch"), "{}", along.stdout);
}

/// Nonsense gets one clear line and exit 2.
#[test]
fn nonsense_is_refused_by_name() {
    let known = [
        ("fit --gpu h100 --registers -3", "-3"),
        ("fit --gpu h100 --block 0", "a block has at least 1 thread"),
        ("fit --gpu h100 --block 256 --blocks 0", "--blocks takes 1 or more, found 0"),
        ("fit --gpu h100 --block 256 --tile-bytes 0", "--tile-bytes takes 1 or more, found 0"),
        ("fit --gpu h100 --registers 99999999999", "99999999999"),
        ("fit --gpu nosuch --registers 32", "names no one GPU"),
        ("fit --gpu h100 --barriers 4097", "a block can name 16 barriers"),
        ("calc --gpu h100 --barriers -1", "-1"),
        ("calc --gpu h100 --block 8x8x65", "at most 64 threads along z"),
        ("fit nosuch.so --gpu h100", "nosuch.so"),
        ("fit plain.sm_86.cubin --registers 32", "--registers comes from the kernel"),
        ("fit plain.sm_86.cubin --kernel nosuch", "no kernel matches"),
        ("sweep registers --block 256", "which GPU?"),
        ("sweep colours --gpu h100", "colours"),
        ("sweep registers --gpu all --block 256", "do not fit on one plot"),
        ("launch --gpu h100-sxm --grid 0", "a grid has at least 1 block"),
        ("launch --gpu sm_90 --grid 608 --block 256", "how many SMs? sm_90 does not say"),
        ("launch --gpu h100-sxm --grid 608 --blocks-per-sm 0", "--blocks-per-sm takes 1 to 32, found 0"),
        ("launch --gpu h100-sxm --grid 99999999999x99999999999", "write blocks such as 608"),
        ("launch --gpu h100-sxm --problem 0x5 --tile 128x128", "write rows and columns"),
        ("budget --gpu h100 --warpgroups 16,232,232", "24 to 256 registers in steps of 8, found 16: the nearest is 24"),
        ("budget --gpu h100 --warpgroups 40,232,a", "or keep"),
        ("budget --gpu a100 --warpgroups 40,232,232", "setmaxnreg needs compute capability 9.0"),
        ("budget --gpu h100 --warpgroups 40,40,40,40,40,40,40,40,40", "takes 1 to 1024, found 1152"),
        ("budget --gpu h100 --warpgroups 40,232,232 --launch-bounds 256,1", "the launch bounds allow 256"),
        ("budget --gpu h100", "which requests?"),
        ("explain zu viele Ressourcen angefordert", "not a message that is known"),
        ("explain mkdir: invalid argument", "not a message that is known"),
        ("explain nosuch.log", "no such file"),
        ("launch --gpu h100-sxm --grid 8 --blocks-per-sm 33", "--blocks-per-sm takes 1 to 32, found 33"),
        ("launch --gpu h100-sxm --grid 8 --block 64 --sms 133", "--sms takes 1 to 132, found 133"),
        ("launch --gpu h100-sxm --problem 512x512 --tile 128x128", "how many blocks per SM?"),
        ("budget --gpu h100 --warpgroups 40,232,232 --registers 200", "can't launch"),
        ("explain --gpu mi300x foo", "is a GPU of AMD"),
    ];
    for (arguments, part) in known {
        let run = occupant(arguments);
        assert_eq!(run.status, 2, "{arguments}: {}{}", run.stdout, run.stderr);
        assert!(words(&run.stderr).contains(part), "{arguments}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{arguments}: {}", run.stdout);
    }
    let empty = occupant_fed("explain", b"");
    says(&empty, 2, &["the text is empty"]);
    says(&occupant_fed("explain -", b"\x7fELF\0\0\0"), 2, &["that is no text"]);
}

/// What the hardware refuses of a grid.
#[test]
fn grids_and_clusters_by_dimension() {
    let launch = |flags: &str| format!("launch --gpu h100-sxm --blocks-per-sm 1 {flags}");
    let refused = [
        ("--grid 43x32 --cluster 2x2", "a grid of 43 blocks along x is no multiple of the cluster's 2"),
        ("--grid 1x65536", "a grid of 65536 blocks along y, 65535 allowed"),
        ("--grid 2x1x70000", "a grid of 70000 blocks along z, 65535 allowed"),
        ("--grid 2147483648", "a grid of 2147483648 blocks along x, 2147483647 allowed"),
        ("--grid 18446744073709551615", "a grid of 18446744073709551615 blocks along x, 2147483647 allowed"),
        ("--grid 18446744073709551615 --cluster 2", "18446744073709551615 blocks is no multiple of the cluster's 2"),
        ("--grid 2147483647", ""),
    ];
    for (flags, reason) in refused {
        let answers = ["launch", "calc"].map(|command| json(&format!("{command} --gpu h100-sxm {flags}")));
        let [launch, calc] = answers.each_ref().map(|answer| (&answer["launchable"], &answer["reason"]));
        assert_eq!(launch, calc, "{flags}");
        assert_eq!(calc.0, reason.is_empty(), "{flags}");
        assert!(calc.1.as_str().unwrap_or_default().contains(reason), "{flags}: {}", calc.1);
        assert_eq!(answers[1]["input"]["grid"], answers[0]["grid"], "{flags}");
    }
    let invalid = |grid| format!("--grid {grid} --block 64");
    for (grid, parts) in [
        ("4294967296", &["blocks along x: 4294967296 needed, 2147483647 allowed", "loop inside the kernel"][..]),
        ("1x70000", &["blocks along y: 70000 needed, 65535 allowed", "put the largest dimension along x"]),
    ] {
        explains("invalid configuration argument", &invalid(grid), parts);
    }
    let tile = &json(&launch("--problem 8192x4096 --tile 192x224 --cluster 2x2"))["tiles"][0];
    assert_eq!(tile["grid"], 44 * 20, "43 x 19 tiles in whole clusters");
}

/// Refusals outside the ceilings are no fault of registers or block size.
#[test]
fn what_no_amount_mends() {
    let columns = "--gpu b200 --registers 64 --block 128 --tensor-columns 576";
    asks(&format!("fit {columns}"), 1, &["no way, a block needs 576 tensor-memory columns"]);
    asks("fit --gpu a100 --block 128 --cluster 2 --blocks 4", 1, &["no way, clusters need compute capability 9.0"]);
    asks(&format!("sweep registers {columns}"), 0, &["can't launch on b200"]);
}

/// Registers at launch: ptxas 13.5 gives 168 where nothing is raised, and the largest raise where that is less.
#[test]
fn budgets_of_keeps_and_caps() {
    for (warpgroups, registers) in [("24,keep,keep", 168), ("24,80,80", 80), ("40,232,232", 168), ("40,232", 232)] {
        let found = json(&format!("budget --gpu h100 --warpgroups {warpgroups}"));
        assert_eq!(found["launch_registers"], registers, "{warpgroups}");
    }
    let found = json("budget --gpu b200 --warpgroups keep,168,keep,keep");
    assert_eq!(found["split_roles"], serde_json::json!({"giving": 3, "taking": 1}));
}

/// Hundreds of one warning are one finding.
#[test]
fn the_same_warning_of_many_kernels_is_one() {
    let log: String = (0..300).map(|number| MIN_BLOCKS.replace("_Z1k", &format!("kernel{number}")) + "\n").collect();
    let parts = ["300 times", "and 299 other kernels", "__launch_bounds__(64, 24)"];
    explains(&log, "--gpu rtx-5090 --launch-bounds 64,32", &parts);
    explains(MIN_BLOCKS, "--gpu rtx-5090 --launch-bounds 64,24", &["(64, 24) is obeyed"]);
}

/// A limit of 48 KiB is that of a launch that did not opt in.
#[test]
fn fixes_fit_the_message() {
    let julia = "Amount of dynamic shared memory exceeds kernel limit (96.000 KiB > 48.000 KiB).";
    let opt_in = "fix 1: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304)";
    explains(julia, "--gpu a100", &[opt_in]);
    let refused = "ptxas error   : Entry function 'k' uses too much shared data (0x3a000 bytes, 0x38c00 max)";
    let run = occupant_fed("explain --gpu h100-sxm", refused.as_bytes());
    says(&run, 0, &["237568 B needed, 232448 B allowed", "fix 1: 5120 B less"]);
    assert!(!run.stdout.contains("fix 2"), "{}", run.stdout);
}

/// X36 (huggingface/blog#3451, NVIDIA/nccl#181): "is low occupancy bad?" Not where a warp keeps enough in flight.
#[test]
fn low_occupancy_is_enough_with_enough_in_flight() {
    let with_200k = |kernel: &str| -> Value {
        // One block of 8 warps, an eighth of the slots.
        let launches = format!("kernel,block,shared_dynamic\n{kernel},256,200000\n");
        let asked = format!("need ladder.sm_90.cubin --gpu h100-sxm --kernel ^{kernel}$ --launches - --json");
        let run = occupant_fed(&asked, launches.as_bytes());
        let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr));
        found["kernels"][0]["need"].clone()
    };
    let wide = with_200k("copy4x4");
    assert_eq!((&wide["answer"], &wide["have_warps"]), (&"enough".into(), &8.into()), "{wide}");
    let narrow = with_200k("copy1");
    assert_eq!(narrow["answer"], "short", "{narrow}");
    let ways: Vec<&str> = narrow["ways"].as_array().unwrap().iter().filter_map(|way| way["way"].as_str()).collect();
    assert_eq!(ways, ["more_warps", "more_in_flight"]);
}

/// A family is what people have in mind: where its models differ in what is asked, each is answered for.
#[test]
fn a_family_is_launched_on_each_of_its_models() {
    let told =
        "note: h100 stands for 3 models that differ in SMs, and each is answered for: h100-sxm, h100-pcie, h100-nvl";
    asks("launch --gpu h100 --grid 608 --registers 64 --block 256", 0, &[told, "h100-pcie", "114"]);
    let found = json("launch --gpu h100 --grid 608 --registers 64 --block 256");
    let sms: Vec<u64> = found["results"].as_array().unwrap().iter().map(|one| one["sms"].as_u64().unwrap()).collect();
    assert_eq!(sms, [132, 114, 132]);
    // Where they agree, or the number is given, there is one answer.
    assert_eq!(json("launch --gpu a100 --grid 608 --registers 64 --block 256")["gpu"]["name"], "a100");
    assert_eq!(json("launch --gpu h100 --sms 100 --grid 608 --registers 64 --block 256")["gpu"]["name"], "h100");
}

/// A device function that `--kernel` names is an answer, though no kernel matches.
#[test]
fn a_device_function_is_found_by_name() {
    let run = occupant("inspect linked.sm_90.cubin --functions --kernel far_away");
    assert!(run.stdout.contains("far_away") && run.stdout.contains("100"), "{}", run.stdout);
    assert!(!run.stderr.contains("matches none"), "{}", run.stderr);
    let run = occupant("inspect linked.sm_90.cubin --kernel far_away --format jsonl");
    says(&run, 0, &["--kernel matches none of 3 kernels"]);
    let none = "--kernel matches none of 3 kernels and 1 device function";
    asks("inspect linked.sm_90.cubin --functions --kernel nosuch", 0, &[none]);
    // What there are none of is said of both.
    asks("inspect linked.sm_90.cubin --functions --kernel nosuch", 0, &["0 kernels and 0 device functions in 1 file"]);
    asks("inspect linked.sm_90.cubin --functions --kernel far_away", 0, &["0 kernels and 1 device function in 1 file"]);
    asks("inspect linked.sm_90.cubin --functions --top 2", 0, &["2 of 4 kernels and device functions in 1 file"]);
    let census = "0 kernels in 1 file; 1 device function, which a census does not count";
    asks("inspect relocatable_far.sm_90.cubin --functions --summary", 0, &[census]);
    let lines = occupant("inspect linked.sm_90.cubin --functions --kernel far_away --format jsonl");
    assert!(lines.stdout.contains("far_away") && lines.stderr.is_empty(), "{}", lines.stderr);
}
