//! Names as libraries have them.

use super::*;

fn shape(name: &str) -> NameShape {
    let demangled = crate::demangle(name);
    name_shape(name, &demangled).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn names_of_cublas() {
    let xmma =
        shape("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel");
    assert_eq!((xmma.tile, xmma.stages, xmma.cluster.len()), (vec![128, 128, 32], Some(4), 0));
    let hopper = shape(
        "sm90_xmma_gemm_f16f16_f16f32_f32_nt_n_tilesize64x128x64_cgasize2x1x1_warpgroupsize1x1x1_aux_f16_execute_split_k_kernel__5x_cublas",
    );
    assert_eq!((hopper.tile, hopper.stages), (vec![64, 128, 64], None));
    assert_eq!((hopper.cluster, hopper.schedule), (vec![2, 1, 1], vec!["split_k"]));
    let classic = shape("ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_tn");
    assert_eq!((classic.tile, classic.stages), (vec![256, 128, 32], Some(3)));
    assert_eq!(shape("volta_sgemm_int8_128x64_lower_nt").tile, [128, 64]);
    assert_eq!(shape("ampere_s1688gemm_bf16_64x64_sliced1x4_ldg8_relu_f2f_tt").tile, [64, 64]);
    let jet = shape("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT");
    assert_eq!((jet.tile, jet.stages, jet.cluster), (vec![128, 256, 64], Some(4), vec![2, 1]));
    assert_eq!(jet.schedule, ["cooperative"]);
}

#[test]
fn a_name_of_a_million_words_is_read_in_one_pass() {
    let long = format!("ampere_{}128x64_tn", "gemm_".repeat(1_000_000));
    assert_eq!(shape(&long).tile, [128, 64]);
    assert_eq!(name_shape(&format!("ampere_{}tn", "gemm_".repeat(1_000_000)), ""), None);
}

#[test]
fn names_of_cutlass() {
    let blackwell = shape(
        "cutlass3x_sm100_tensorop_s128x64x16gemm_f16_f16_f32_f16_f16_128x64x64_0_ntn_align8_2sm_epi_tma_bias_f16_stream_k",
    );
    assert_eq!((blackwell.tile, blackwell.stages), (vec![128, 64, 64], None));
    assert_eq!(blackwell.schedule, ["2sm", "stream_k"]);
    let pingpong = shape(
        "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_64x128x64_2x1x1_0_tnn_align8_warpspecialized_pingpong_epi_tma",
    );
    assert_eq!((pingpong.tile, pingpong.cluster), (vec![64, 128, 64], vec![2, 1, 1]));
    assert_eq!(pingpong.schedule, ["pingpong", "warp_specialized"]);
    let two = name_shape(
        "_Z",
        "void cutlass::Kernel2<cutlass::gemm::kernel::DefaultGemm<cutlass::gemm::GemmShape<128, 128, 64>, cutlass::gemm::GemmShape<64, 32, 64> > >(int)",
    );
    assert_eq!(two.unwrap().tile, [128, 128, 64]);
    let three = name_shape(
        "_Z",
        "void k<cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, cutlass::gemm::KernelTmaWarpSpecializedPingpong>, cute::tuple<cute::C<64>, cute::C<128>, cute::C<64> >, float> >()",
    );
    let three = three.unwrap();
    assert_eq!((three.tile, three.stages, three.cluster), (vec![64, 128, 64], Some(4), vec![2, 1, 1]));
    let blackwell = name_shape(
        "_Z",
        "k<MainloopSm100TmaUmmaWarpSpecialized<17, 2, 4, cute::tuple<cute::C<2>, cute::C<2>, cute::C<1> > >, cute::tuple<cute::C<256>, cute::C<128>, cute::C<64> >, cutlass::float_e4m3_t>",
    );
    let blackwell = blackwell.unwrap();
    assert_eq!((blackwell.tile, blackwell.stages, blackwell.cluster), (vec![256, 128, 64], Some(17), vec![2, 2, 1]));
    let flash = name_shape(
        "_Z",
        "k<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<80>, cute::C<256> >, 256>",
    );
    let flash = flash.unwrap();
    assert_eq!((flash.family, flash.tile, flash.stages), ("flash_attention", vec![128, 80, 256], Some(2)));
    let flash = name_shape(
        "_Z",
        "k<flash::CollectiveMainloopFwdSm80<8, 1, true, cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, 128>",
    );
    assert_eq!(flash.unwrap().stages, Some(1));
}

fn demangled(text: &str) -> NameShape {
    name_shape("_Z", text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn names_of_cutlass_2() {
    let grouped =
        "_ZN7cutlass7Kernel2I67cutlass_80_tensorop_bf16_s16816gemm_bf16_grouped_128x64_64x3_align8EEvNT_6ParamsE";
    let grouped = shape(grouped);
    assert_eq!((grouped.family, grouped.tile, grouped.stages), ("cutlass", vec![128, 64, 64], Some(3)));
    let simt = shape("cutlass_80_simt_sgemm_forwardCompat_128x256_8x4_tt_align1");
    assert_eq!((simt.tile, simt.stages), (vec![128, 256, 8], Some(4)));
    let wmma = demangled(
        "void cutlass::Kernel2<cutlass_80_wmma_tensorop_i161616gemm_s8_forwardCompat_128x128_32x2_nn_align4>(int)",
    );
    assert_eq!((wmma.tile, wmma.stages), (vec![128, 128, 32], Some(2)));
    // Before 2.0 names had no K where there were two stages.
    assert_eq!(name_shape("cutlass_simt_sgemm_128x128_nn_align1", ""), None);
    let gradient =
        shape("cutlass3x_sm100_tensorop_s256x256x16gemm_bgradb_f16_f16_f32_f16_f16_256x256x16_ttn_align8_2sm");
    assert_eq!((gradient.tile, gradient.stages, gradient.schedule), (vec![256, 256, 16], None, vec!["2sm"]));
    let batched = shape("maxwell_sgemmBatched_128x64_raggedMn_nn");
    assert_eq!((batched.family, batched.tile), ("cublas", vec![128, 64]));
}

#[test]
fn names_of_attention() {
    let flash = demangled(
        "void onnxruntime::flash::flash_fwd_kernel<onnxruntime::flash::Flash_fwd_kernel_traits<128, 64, 80, 4, false, false, cutlass::bfloat16_t, onnxruntime::flash::Flash_kernel_traits<128, 64, 80, 4, cutlass::bfloat16_t> >, true, false>(int)",
    );
    assert_eq!((flash.family, flash.tile, flash.stages), ("flash_attention", vec![64, 80, 128], None));
    let of_torch = demangled(
        "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<96, 64, 128, 8, 2, 4, 4, true, false, cutlass::half_t> >(int)",
    );
    assert_eq!(of_torch.tile, [64, 128, 96]);
    let efficient = "fmha_cutlassF_f16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t, cutlass::arch::Sm80, true, 64, 128, 128, true, true>::Params)";
    assert_eq!((demangled(efficient).family, demangled(efficient).tile), ("mem_eff_attention", vec![64, 128]));
    let efficient = "void attention_kernel_batched_impl<AttentionKernel<float, cutlass::arch::Sm50, false, 32, 128, 1024, false, true, DefaultToBatchHook> >(int)";
    assert_eq!(demangled(efficient).tile, [32, 128]);
    for other in [
        // Its tile is not that of the kernel whose results it combines.
        "void flash::flash_fwd_splitkv_combine_kernel<flash::Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::half_t> , 4, 7, false>(int)",
        // SageAttention's: stages in the fourth place.
        "void flash_fwd_kernel<flash::Flash_fwd_kernel_traits<128, 128, 128, 3, 1, false> >(int)",
        "void flash::flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<96, 64, 128, 8, 2, 4, 4, true, false> >(int)",
    ] {
        assert_eq!(name_shape("_Z", other), None, "{other}");
    }
}

#[test]
fn names_of_attention_on_blackwell() {
    const BACKWARD: &str = "_ZN7cutlass13device_kernelINS_4fmha6kernel39Sm100FmhaBwdMlaKernelTmaWarpSpecializedIN4cute5tupleIJiiiiNS5_IJiiEEEEEENS_10bfloat16_tEfNS5_IJNS4_1CILi64EEENS9_ILi128EEENS9_ILi192EEESB_EEENS1_10collective23ResidualMaskForBackwardEEEEEvNT_6ParamsE";
    const FORWARD: &str = "_ZN7cutlass13device_kernelINS_4fmha6kernel36Sm100FmhaFwdKernelTmaWarpspecializedIN4cute5tupleIJiiiNS5_IJNS5_IJiiEEEiEEEEEENS1_10collective38Sm100FmhaFwdMainloopTmaWarpspecializedINS_10bfloat16_tEffNS5_IJNS4_1CILi256EEENSC_ILi128EEESE_EEENS5_IJiNSC_ILi1EEES7_EEENS5_IJiSG_NS5_IJNS5_IJNSC_ILi0EEEiEEEiEEEEEESL_NS9_12ResidualMaskENS5_IJNSC_ILi2EEESG_SG_EEENSC_ILb0EEEEENS9_38Sm100FmhaFwdEpilogueTmaWarpspecializedISB_fNS5_IJSE_SE_SE_EEESH_NS5_IJSG_S7_EEESP_EENS2_23PersistentTileSchedulerENS2_41Sm100FmhaCtxKernelWarpspecializedScheduleEEEEEvNT_6ParamsE";
    const FORWARD_LATENT: &str = "_ZN7cutlass13device_kernelINS_4fmha6kernel36Sm100FmhaFwdKernelTmaWarpspecializedIN4cute5tupleIJiiNS5_IJiiEEENS5_IJS6_iEEEEEENS1_10collective37Sm100MlaFwdMainloopTmaWarpspecializedINS_10bfloat16_tEffNS5_IJNS4_1CILi256EEENSC_ILi128EEENS5_IJSE_NSC_ILi64EEEEEEEEENS5_IJiNSC_ILi1EEES7_EEENS5_IJiSI_NS5_IJNS5_IJNSC_ILi0EEEiEEEiEEEEEESN_NS9_12ResidualMaskENS5_IJNSC_ILi2EEESI_SI_EEENSC_ILb1EEEEENS9_38Sm100FmhaFwdEpilogueTmaWarpspecializedISB_fNS5_IJSE_SE_SE_EEESJ_NS5_IJSI_S7_EEESR_EENS2_23PersistentTileSchedulerENS2_43Sm100MlaFwdCtxKernelWarpspecializedScheduleEEEEEvNT_6ParamsE";
    const LATENT: &str = "_ZN7cutlass13device_kernelINS_4fmha6kernel36Sm100FmhaMlaKernelTmaWarpspecializedIN4cute5tupleIJNS4_1CILi128EEES7_NS5_IJNS6_ILi512EEENS6_ILi64EEEEEEEEENS_12float_e4m3_tEfSC_fNS2_31Sm100MlaIndividualTileSchedulerELb1EEEEEvNT_6ParamsE";
    let found = |name| {
        let shape = shape(name);
        assert_eq!((shape.family, shape.stages, shape.cluster), ("cutlass", None, vec![]));
        (shape.tile, shape.schedule)
    };
    assert_eq!(found(BACKWARD), (vec![64, 128, 192], vec!["warp_specialized"]));
    assert_eq!(found(FORWARD), (vec![256, 128, 128], vec!["warp_specialized"]));
    assert_eq!(found(FORWARD_LATENT), (vec![256, 128], vec!["warp_specialized"]));
    assert_eq!(found(LATENT), (vec![128, 128], vec!["2sm", "warp_specialized"]));
    for other in [
        // Adds up what the splits of another gave.
        "_ZN7cutlass13device_kernelINS_4fmha6kernel27Sm100FmhaMlaReductionKernelINS_12float_e4m3_tEffLm128ELm512ELi256EEEEEvNT_6ParamsE",
        "_ZN7cutlass13device_kernelINS_4fmha6kernel19FmhaKernelBwdSumOdOIN4cute5tupleIJiiiiNS5_IJiiEEEEEENS_10bfloat16_tEfEEEEvNT_6ParamsE",
    ] {
        assert_eq!(name_shape(other, &crate::demangle(other)), None, "{other}");
    }
    // A copy of the class whose tiles are those of half a block.
    let split =
        crate::demangle(FORWARD).replace(", cute::tuple<int, cute::C<1>", ", cute::tuple<cute::C<128>, cute::C<1>");
    assert_eq!(name_shape("_Z", &split), None);
}

#[test]
fn a_number_that_is_none_makes_no_tile() {
    for text in [
        "k<MainloopSm100TmaUmmaWarpSpecialized<17, 2, 4, cute::tuple<cute::C<2>, cute::C<2>, cute::C<1> > >, cute::tuple<cute::C<99999999999>, cute::C<128>, cute::C<64> >, t>",
        "k<flash::CollectiveMainloopFwdSm80<8, 1, true, cute::tuple<cute::C<99999999999>, cute::C<128>, cute::C<128> >, 128>",
        "k<cutlass::gemm::GemmShape<x, 128, 128, 64>, int>",
    ] {
        assert_eq!(name_shape("_Z", text), None, "{text}");
    }
}

#[test]
fn names_of_quantised_and_sparse_multiplies() {
    let found = |text: &str| {
        let shape = demangled(text);
        (shape.family, shape.tile, shape.stages)
    };
    let marlin =
        "void marlin::Marlin<__nv_bfloat16, (long)1125899906843648, 128, 4, 4, 8, false, 4, 4, true>(int4 const*)";
    assert_eq!(found(marlin), ("marlin", vec![64, 64, 128], Some(4)));
    let half = "void marlin_moe_wna16::Marlin<__half, (long)562949953487106, (long)2814749767106568, 256, 1, 8, 4, true, 3, -1, false>(int4 const*)";
    assert_eq!(found(half), ("marlin", vec![8, 128, 64], Some(3)));
    let moe = "void fused_moe::run_global<fused_moe::Fused_Moe_Kernel_sm80<cutlass::half_t, cutlass::half_t, cutlass::half_t, 16, 128, 64, 3, (fused_moe::Activation_Type)4> >(int)";
    assert_eq!(found(moe), ("fused_moe", vec![16, 128, 64], Some(3)));
    let four_bits = "void gemm_4bit_sm80_m16n8k16<__half, 64, 32, 128>(__half const*)";
    assert_eq!(found(four_bits), ("bitsandbytes", vec![64, 32, 128], None));
    assert_eq!(found("void gemm_4bit_sm75_m16n8k8<__half, 32, 64>(int)").1, [32, 64]);
    let sparse = "_ZN4cumm4gemm4main58Volta_f16f16f16f32f32ntt_m128n256k32m64n64k32A1T884_210_S211gemm_kernelENS1_60gpVolta_f16f16f16f32f32ntt_m128n256k32m64n64k32A1T884_210_S210GemmParamsE";
    assert_eq!(found(&crate::demangle(sparse)), ("cumm", vec![128, 256, 32], Some(2)));
    let convolution = "cumm::conv::main::Simt_f32f32f32f32f32ntt_m32n128k16m32n32k8A1_210_C321LLL_SK::conv_kernel(int)";
    assert_eq!(found(convolution), ("cumm", vec![32, 128, 16], Some(2)));
}

#[test]
fn other_names_say_nothing() {
    for name in
        ["saxpy", "_Z6kernelPf", "my_gemm_kernel", "nvjet_hsh", "cutlass3x_sm90", "_tilesize", "cutlass_80_", ""]
    {
        assert_eq!(name_shape(name, &crate::demangle(name)), None, "{name}");
    }
    let more_flags = "void marlin::Marlin<__half, (long)1, 256, 4, 16, 4, false, 4, false, false, -1, false>(int)";
    for text in [
        more_flags,
        "void Marlin<>(int)",
        "conv_kernel(int)",
        "a::b_c_m1::gemm_kernel()",
        "void flash_fwd<",
        "Kernel<cutlass_",
    ] {
        assert_eq!(name_shape("_Z", text), None, "{text}");
    }
}
