//! `occupant need` as scripts and people use it: flags, exit statuses, numbers that have to agree with each other.
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

mod support;

use support::{asks, json};

#[test]
fn a_need_wants_a_model() {
    asks("need ladder.sm_90.cubin --gpu sm_90", 2, &["sm_90 is an architecture", "--gpu", "h100"]);
    asks("need ladder.sm_90.cubin --gpu rtx-2080", 2, &["no memory latency of rtx-2080 is known"]);
    asks("need ladder.sm_90.cubin", 2, &["which GPU?", "--gpu h100-sxm"]);
    asks("need --gpu h100-sxm", 2, &["of what?", "--bytes-per-thread"]);
    asks("need --gpu h100-sxm --op ffma --target 100", 2, &["from 1 to 99.9"]);
}

#[test]
fn a_family_is_each_of_its_models() {
    let told =
        "note: h100 stands for 3 models that differ in SMs, clocks, latencies or bandwidth, and each is answered for";
    asks("need --gpu h100 --bytes-per-thread 16 --ilp 4", 0, &[told, "h100-sxm", "h100-pcie", "h100-nvl"]);
    let gpus = |arguments: &str| -> Vec<String> {
        let kernels = json(arguments)["kernels"].as_array().unwrap().clone();
        kernels.iter().map(|kernel| kernel["gpu"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let named = "need ladder.sm_90.cubin --kernel ^copy1$ --gpu h100-sxm --gpu h100-pcie --gpu h100-nvl";
    assert_eq!(gpus("need ladder.sm_90.cubin --kernel ^copy1$ --gpu h100"), gpus(named));
    // One that is in two sets is answered for once.
    assert_eq!(gpus("need ladder.sm_90.cubin --kernel ^copy1$ --gpu h100-pcie --gpu h100").len(), 3);
    asks("need --gpu rtx-2080 --gpu h100 --op ffma --ilp 1", 0, &["3 of 4 GPUs can be answered for"]);
}

#[test]
fn flags_that_mean_nothing_are_told() {
    asks("need --gpu h100-sxm --op ffma --curve", 2, &["--curve is about the kernels of a file"]);
    asks("need --gpu h20 --op hmma", 2, &["the rate of hmma on h20 is not known"]);
    let unused = ["note: no kernel takes dynamic shared memory", "--launches"];
    asks("need ladder.sm_90.cubin --gpu h100-sxm --shared-dynamic 200K", 0, &unused);
    asks("need ladder.sm_90.cubin --gpu h100-sxm --kernel nosuch", 0, &["--kernel leaves none"]);
    asks("need ladder.sm_90.cubin --gpu h100-sxm --curve", 0, &["a curve is drawn for one kernel"]);
    asks("need plain.ptx.fatbin --gpu rtx-5090", 0, &["no compiled kernels, only"]);
    let refused = ["not modelled: can't launch: 1025 threads per block"];
    asks("need ladder.sm_90.cubin --gpu h100-sxm --kernel ^copy1$ --block 1025", 0, &refused);
}

#[test]
fn sentence_numbers_and_blocks_of_a_need_agree() {
    let found = json("need streams.sm_90.cubin ladder.sm_90.cubin --gpu h100-pcie --block 192 --curve");
    for kernel in found["kernels"].as_array().unwrap() {
        let need = &kernel["need"];
        let exact = need["needed"]["exact_warps"].as_f64().unwrap();
        let (warps, blocks) = (need["needed"]["warps"].as_u64().unwrap(), need["needed"]["blocks"].as_u64().unwrap());
        assert!(warps == blocks * 6 && warps as f64 >= exact && (warps as f64) < exact + 6.0, "{need}");
        let band = &need["band"];
        assert!(band["low"].as_f64().unwrap() <= exact && exact <= band["high"].as_f64().unwrap(), "{need}");
        assert!(need["says"].as_str().unwrap().contains(&format!("needs {}", exact.ceil())), "{need}");
        let percents: Vec<f64> =
            need["curve"].as_array().unwrap().iter().map(|point| point["percent"].as_f64().unwrap()).collect();
        assert!(percents.is_sorted() && percents.len() == 65, "{percents:?}");
        let have = need["have_warps"].as_u64().unwrap() as usize;
        assert!((percents[have] - need["throughput_percent"].as_f64().unwrap()).abs() < 0.011, "{need}");
        assert_eq!(need["have_warps"], kernel["occupancy"]["warps_per_sm"]);
    }
}
