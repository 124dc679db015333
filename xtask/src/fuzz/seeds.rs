//! What fuzzing starts from: the fixtures, alone and in archives made of them, and short texts of every kind that is read.
//! What fuzzing finds beside them stays in `fuzz/corpus`. Not for: running targets.

mod archives;

use std::fs;
use std::path::Path;

use anyhow::Context;
use occupant_binary::Cubin;
use occupant_profile::ncu::{
    Device, Instance, Launch, Message, Metric, Module, Private, Report, ReportWriter, Rule, Session, SourceFile, Value,
};
use occupant_sass::Family;

use crate::paths;

/// Mangled names of forms that the fixtures have no kernels of: expressions, packs, lambdas, callees, statics.
const MANGLED: [&str; 10] = [
    "_Z1fIXadL_Z1gvEEEvv",
    "_ZN1a1bclIJiEEEDTcl1fspfp_EEDpT_",
    "_ZZ1fvENKUlT_T0_E_clIifEEDaS_S0_",
    "_Z1fIPFvPKciEEvT_",
    "_Z1fIiEvNSt9enable_ifIXsr3std7is_sameIT_iEE5valueEiE4typeE",
    "_Z1kDv4_fDF16_Dn",
    "_Z5applyIfJidPKcEEvT_DpT0_",
    "_ZN7cutlass6KernelIN4cute5tupleIJNS1_1CILi128EEENS3_ILin64EEEEEEEEvNT_6ParamsE",
    "$recursion$_Z9ackermannii",
    "__nv_static_34__aabd6a4f_14_x_cu_linked__Z12linked_localPf",
];

/// A name of each scheme whose shape is read.
const SHAPES: [&str; 14] = [
    "sm90_xmma_gemm_f16f16_f16f32_f32_nt_n_tilesize64x128x64_stage3_cgasize2x1x1_warpgroupsize1x1x1_execute_split_k_kernel",
    "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_64x128x64_2x1x1_0_tnn_align8_warpspecialized_pingpong_epi_tma",
    "cutlass_80_tensorop_bf16_s16816gemm_bf16_grouped_128x64_64x3_align8",
    "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT",
    "ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_tn",
    "void cutlass::Kernel2<cutlass::gemm::kernel::DefaultGemm<cutlass::gemm::GemmShape<128, 128, 64>, int> >(int)",
    "void k<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, P>, cute::tuple<cute::C<64>, cute::C<128>, cute::C<64> >, float> >()",
    "k<flash::CollectiveMainloopFwdSm80<8, 1, true, cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, 128>",
    "void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<128, 64, 80, 4, false, false, cutlass::half_t> >(int)",
    "void attention_kernel_batched_impl<AttentionKernel<float, cutlass::arch::Sm50, false, 32, 128, 1024, false> >(int)",
    "void marlin::Marlin<__half, (long)562949953487106, 256, 1, 8, 4, true, 3, -1, false>(int4 const*)",
    "void fused_moe::run_global<fused_moe::Fused_Moe_Kernel_sm80<h, h, h, 16, 128, 64, 3, (A)4> >(int)",
    "void gemm_4bit_sm80_m16n8k16<__half, 64, 32, 128>(__half const*)",
    "cumm::conv::main::Simt_f32f32f32f32f32ntt_m32n128k16m32n32k8A1_210_C321LLL_SK::conv_kernel(int)",
];

/// Writes the seeds of every target under `corpus/TARGET`.
pub(super) fn write(corpus: &Path) -> anyhow::Result<()> {
    let of = |target: &str| corpus.join(target);
    for target in super::TARGETS {
        fs::create_dir_all(of(target.name))?;
    }
    for entry in fs::read_dir(paths::root().join("fixtures/bin"))? {
        let path = entry?.path();
        let name = path.file_name().context("a name")?;
        fs::copy(&path, of("file").join(name))?;
        if path.extension().is_some_and(|extension| extension == "cubin") {
            fs::copy(&path, of("cubin").join(name))?;
            seed_code(&path, &of("sass"))?;
            seed_report(&path, &of("report"))?;
        }
    }
    seed_names(&of("names"), &of("shapes"))?;
    let json = fs::read(paths::root().join("fixtures/triton/sm_100/matmul.json"))?;
    fs::write(of("companion").join("matmul"), &json)?;
    fs::write(of("companion").join("least"), r#"{"num_warps":8,"shared":1,"name":"matmul","cluster_dims":[2,1,1]}"#)?;
    for (name, bytes) in archives::archives(&json)? {
        fs::write(of("containers").join(name), &bytes)?;
        fs::write(of("file").join(name), &bytes)?;
    }
    for (name, bytes) in archives::frames()? {
        fs::write(of("zstd_frames").join(name), bytes)?;
    }
    fs::write(of("tables").join("batch"), "cc,registers,block,shared_dynamic,carveout\n9.0,128,256,48K,50%\n")?;
    fs::write(of("tables").join("launches"), "kernel,block,shared_dynamic\nsaxpy,16x16,48K\n")?;
    seed_text(&of("profile_text"))
}

/// The names of the fixtures' kernels, and forms that these lack.
fn seed_names(names: &Path, shapes: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(paths::root().join("fixtures/expected"))? {
        for row in csv::Reader::from_path(entry?.path())?.records() {
            let name = row?.get(0).unwrap_or("").to_owned();
            fs::write(names.join(&name), &name)?;
        }
    }
    for (number, name) in MANGLED.iter().enumerate() {
        fs::write(names.join(format!("form{number}")), name)?;
    }
    for (number, name) in SHAPES.iter().enumerate() {
        fs::write(shapes.join(format!("scheme{number}")), name)?;
    }
    Ok(())
}

/// What profilers print: a table of each kind, and a trace.
fn seed_text(corpus: &Path) -> anyhow::Result<()> {
    let raw = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\",\"launch__registers_per_thread\",\"gpu__time_duration.sum\"\n\
               \"\",\"\",\"\",\"\",\"\",\"register/thread\",\"us\"\n\
               \"0\",\"k(int)\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"8.6\",\"40\",\"1,024.5\"\n";
    let details = "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                   \"0\",\"k\",\"Occupancy\",\"Achieved Occupancy\",\"%\",\"43.21\"\n";
    let trace = r#"{"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB","numSms":108}],"traceEvents":[
        {"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2.5,"args":{"grid":[8,1,1],"block":[128,1,1],"registers per thread":32}}]}"#;
    for (name, text) in [("raw", raw), ("details", details), ("trace", trace)] {
        fs::write(corpus.join(name), text)?;
    }
    Ok(())
}

/// A report of the first kernel of a cubin, with one of everything that a report can hold.
fn seed_report(path: &Path, corpus: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(path)?;
    let cubin = Cubin::parse(&bytes)?;
    let Some(function) = cubin.functions.first() else { return Ok(()) };
    let metric = |name, value| Metric { name, value: Value::Double(value), instances: Vec::new() };
    let at =
        |number| Instance { correlation: Value::Unsigned64(0x7f00 + number * 16), value: Value::Unsigned64(number) };
    let capability = cubin.architecture.capability;
    let said = Message { title: Some("Limited"), text: "at /home/someone/x.cu:3", kind: 3 };
    let launch = Launch {
        mangled: &function.name,
        demangled: &function.name,
        grid: [64, 1, 1],
        block: [256, 1, 1],
        module: Some(1),
        metrics: vec![
            metric("device__attribute_compute_capability_major", f64::from(capability.major)),
            metric("device__attribute_compute_capability_minor", f64::from(capability.minor)),
            metric("launch__registers_per_thread", 32.0),
            metric("launch__sm_count", 100.0),
            metric("launch__function_pcs", f64::from(0x7f00)),
            metric("sm__warps_active.avg.per_cycle_active", 20.0),
            metric("sm__cycles_active.avg", 9000.0),
            Metric { instances: (0..9).map(at).collect(), ..metric("inst_executed", 9.0) },
            Metric { instances: (0..9).map(at).collect(), ..metric("smsp__pcsamp_sample_count", 9.0) },
        ],
        rules: vec![Rule { identifier: "TheoreticalOccupancy", messages: vec![said], ..Rule::default() }],
        ..Launch::default()
    };
    let device = Device { number: 0, name: "NVIDIA H100 PCIe", attributes: Vec::new() };
    let report = Report {
        session: Session { devices: vec![device], versions: vec![("Nsight Compute Target", "2025.1.0.0")] },
        modules: vec![Module {
            reference: 1,
            cubin: Some(&bytes),
            files: vec![SourceFile { path: "/home/someone/x.cu", text: Some("text") }],
            ..Module::default()
        }],
        launches: vec![launch],
        faults: Vec::new(),
    };
    let private = Private { host: "host", program: "/home/someone/a.out", range: "range", ..Private::default() };
    let stem = path.file_stem().unwrap_or_default();
    fs::write(corpus.join(stem), ReportWriter::new(&report).private(private).bytes())?;
    Ok(())
}

/// The code of each function, behind a byte that chooses its family.
fn seed_code(path: &Path, corpus: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(path)?;
    let cubin = Cubin::parse(&bytes)?;
    let family = Family::of(cubin.architecture.capability)? as u8;
    for function in &cubin.functions {
        let code = function.read_code(&bytes)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        fs::write(corpus.join(format!("{stem}.{}", function.name)), [&[family], code.as_ref()].concat())?;
    }
    Ok(())
}
