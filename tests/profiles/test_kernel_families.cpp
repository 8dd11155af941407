// What kernels' names say: families, communication, tiles; and marks of inference engines' steps.
#include "profiles/kernel_names.hpp"
#include "profiles/step_marks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace test_profiles_kernel_families {

using namespace eyeroof::profiles;

TEST_CASE("communication is told by whose kernel it is") {
    for (const auto& [kernel, whose] : {
             std::pair{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                       "NCCL"},
             {"void deep_ep::internode::dispatch<false, 8>(int4*, float*)", "DeepEP"},
             {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(int4*)", "DeepEP"},
             {"void deep_ep::internode_ll::combine<true>(void*)", "DeepEP"},
             {"void deep_ep::intranode::notify_dispatch<8>(int const*)", "DeepEP"},
             {"void deep_ep::internode::cached_notify<true, 4>(int)", "DeepEP"},
             {"nvshmemi_alltoall_kernel", "NVSHMEM"},
             {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
              "custom all-reduce"},
             {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel<8>()",
              "custom all-reduce"},
             {"mscclpp::allreduce7", "MSCCL++"},
             {"symm_mem::all_gather_kernel", "symmetric memory"},
             {"kernel_dispatch_token_intra_node", "Triton-distributed"},
             {"EpDispatchIntraNodeKernel", "expert parallelism"},
             {"void deep_ep::layout::get_dispatch_layout<256>(long const*)", ""},
             {"flash_fwd_splitkv_combine_kernel", ""},
             {"allgather_gemm_consumer_kernel", ""},
             {"void moe::dev::finalize::finalizeKernel<bf16>", ""},
             {"void at::native::reduce_kernel<512, 1>", ""},
         }) {
        CAPTURE(std::string(kernel));
        CHECK(communication_of(kernel) == std::string_view(whose));
    }
}

TEST_CASE("families of inference engines' kernels") {
    for (const auto& [kernel, family] : {
             std::pair{"void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>",
                       KernelCategory::normalization},
             {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<…>", KernelCategory::attention},
             {"kernel_unified_attention_2d", KernelCategory::attention},
             {"fused_moe_kernel", KernelCategory::experts},
             {"void vllm::moe::topkGatingSoftmax<8, 128>", KernelCategory::experts},
             {"void per_token_group_quant_8bit_kernel<c10::BFloat16>",
              KernelCategory::quantization},
             {"void vllm::act_and_mul_kernel<c10::BFloat16>", KernelCategory::elementwise},
             {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>", KernelCategory::rope},
             {"Cijk_Alik_Bljk_BBS_BH_MT128x128x64", KernelCategory::gemm},
             {"void Marlin<half, 1ll>", KernelCategory::gemm},
             {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>",
              KernelCategory::copy},
             {"create_flashinfer_kv_indices_triton", KernelCategory::copy},
             {"void flashinfer::AppendPagedKVCacheKernel<128u, 8u>", KernelCategory::copy},
             {"_fwd_grouped_kernel_stage1", KernelCategory::attention},
             {"_fwd_kernel", KernelCategory::attention},
             {"deep_gemm::sm90_fp8_paged_mqa_logits<64u>", KernelCategory::attention},
             {"bmm_Bfloat16_E4m3E4m3_Fp32_t128x8x128u2_s6", KernelCategory::gemm},
             {"void tensorrt_llm::kernels::cutlass_kernels::expandInputRowsKernel<half>",
              KernelCategory::experts},
             {"void tensorrt_llm::kernels::cutlass_kernels::doActivationKernel<half>",
              KernelCategory::elementwise},
             {"void cudnn::ops::nhwcToNchwKernel<__half>", KernelCategory::copy},
             {"igemm_fwd_gtcx3_nhwc_fp16_bx0", KernelCategory::conv},
             {"void mul_mat_vec_q<(ggml_type)12, 1>", KernelCategory::gemm},
             {"void soft_max_f32<true, 1024>", KernelCategory::softmax},
             {"void wvSplitK_hf_sml_<__half, 64>", KernelCategory::gemm},
             {"void at::native::multi_tensor_apply_kernel<>", KernelCategory::elementwise},
             {"void cublasLt::splitKreduce_kernel<32, 16>", KernelCategory::gemm},
             {"triton_poi_fused_add_silu_mm_0", KernelCategory::elementwise},
             {"triton_red_fused__to_copy_mean_pow_rms_norm_1", KernelCategory::normalization},
             {"triton_tem_fused_mm_3", KernelCategory::gemm},
         }) {
        CAPTURE(std::string(kernel));
        CHECK(std::string(category_name(category_of(kernel))) == category_name(family));
    }
}

TEST_CASE("tiles stand in kernels' names") {
    CHECK(tile_of("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT") == KernelTile{128, 256, 64});
    CHECK(tile_of("Cijk_Alik_Bljk_BBS_BH_MT256x128x64_MI16x16x16") == KernelTile{256, 128, 64});
    CHECK(tile_of("ampere_fp16_s16816gemm_fp16_128x64_ldg8") == KernelTile{128, 64, 0});
    CHECK(tile_of("sm90_xmma_gemm_bf16bf16_bf16f32_tn_n_tilesize128x128x64_warpgroup") ==
          KernelTile{128, 128, 64});
    CHECK_FALSE(tile_of("void at::native::reduce_kernel<512, 1>"));
}

TEST_CASE("engines mark prefill and decode steps") {
    CHECK(step_kind("execute_context_1(1024)_generation_0(0)") == "prefill");
    CHECK(step_kind("execute_context_0(0)_generation_4(4)") == "decode");
    CHECK(step_kind("execute_context_2(512)_generation_4(4)") == "mixed");
    CHECK(step_kind("step[EXTEND bs=1 toks=1024]") == "prefill");
    CHECK(step_kind("step[DECODE bs=4]") == "decode");
    CHECK(step_kind("step[TARGET_VERIFY bs=4]") == "target_verify");
    CHECK(step_kind("[Executor] _forward_step 12: 1 ctx reqs, 3 gen reqs") == "mixed");
    CHECK(step_kind("[Executor] _forward_step 13: 0 ctx reqs, 3 gen reqs") == "decode");
    CHECK_FALSE(step_kind("ProfilerStep#3"));
    CHECK_FALSE(step_kind("execute_model"));
    CHECK_FALSE(step_kind("step 3"));
    CHECK(innermost_range("a > b > c") == "c");
    CHECK(outer_ranges("a > b > c") == "a > b");
    CHECK(joined_range("a", "") == "a");
    CHECK(joined_range("", "b") == "b");
}

} // namespace test_profiles_kernel_families
