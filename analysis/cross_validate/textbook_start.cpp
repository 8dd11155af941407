// Round values that fits start from, which no data chose.
#include "analysis/cross_validate/cross_folds.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace eyeroof::analysis {

using model::GpuCalibration;
using model::KernelClass;

namespace {

struct Start {
    std::string_view term;
    double value;
};

// clang-format off
constexpr std::array kProducts = {
    Start{"peak_share", 0.9},      Start{"half_intensity", 5.0}, Start{"ramp_k", 16.0},
    Start{"ramp_cycles", 500.0},   Start{"ramp_occupancy", 0.1}, Start{"slice_cost", 0.05},
    Start{"dram_share", 0.8},      Start{"l2_share", 1.0},       Start{"overlap", 3.0},
    Start{"split_s", 5e-6},        Start{"sustained_clock", 1.0}, Start{"settle_s", 3e-4},
    Start{"reuse", 1.0},           Start{"scattered_dram", 0.2}, Start{"tlb_reach_mib", 64.0},
    Start{"tlb_cost", 5.0},        Start{"resident_l2", 0.0},    Start{"resident_gain", 0.8},
    Start{"resident_sharpness", 4.0}, Start{"issue_share", 0.85}, Start{"fp8_share", 0.85},
    Start{"int8_share", 1.0},      Start{"int8_s", 5e-6},        Start{"quantise_s", 5e-6},
    Start{"quantise_pass", 1.0},   Start{"cast_cycles", 2.0},    Start{"fused_cast_s", 2e-6}};
// A batch's weights are small, and so are its rows: docs/gpu-model.md, "not carry over", and the
// ablations in docs/dev/errors.md.
constexpr std::array kBatched = {Start{"reuse", 0.0}, Start{"ramp_cycles", 0.0},
                                 Start{"tlb_cost", 0.0}};
constexpr std::array kTensorGemm = {Start{"ramp_k", 32.0}, Start{"resident_l2", 1.0},
                                    Start{"dram_start_s", 1e-6}};
constexpr std::array kTensorConv = {Start{"ramp_k", 32.0}};
constexpr std::array kConvolutions = {
    Start{"fwd_cost", 1.0},     Start{"bwd_data_cost", 1.0},   Start{"bwd_weight_cost", 1.0},
    Start{"layout_share", 0.5}};
constexpr std::array kMemory = {
    Start{"dram_share", 0.8},   Start{"start_s", 1e-7},        Start{"resident_l2", 0.4},
    Start{"resident_gain", 0.8}, Start{"resident_sharpness", 4.0}, Start{"softmax_pass", 1.0},
    Start{"norm_pass", 1.0},    Start{"norm_cache", 1.0},      Start{"norm_cycles", 0.5},
    Start{"function_cycles", 0.4}, Start{"gated_cycles", 0.8}, Start{"rope_cycles", 0.6},
    Start{"gather_cycles", 1.5}, Start{"row_s", 1e-8},         Start{"host_s", 1e-5},
    Start{"host_tail_s", 1.5e-5}, Start{"host_scalar_s", 5e-6}, Start{"host_softmax_s", 1e-5},
    Start{"host_norm_s", 2e-5}, Start{"host_overlap", 4.0}};
// A gradient's tile: of 28 shapes that NVIDIA/cudnn-frontend@3929da2 ran both ways on GB200 the
// median gradient takes 1.31 times what 1.2 gives beside the forward. Tables of gradients may move it.
constexpr std::array kAttention = {Start{"backward_cost", 1.57}};
// clang-format on

void begin(GpuCalibration& c, KernelClass kernel_class, std::span<const Start> values) {
    const auto terms = model::calibration_terms(c, kernel_class);
    for (const Start& start : values) {
        if (const auto term = terms.find(std::string(start.term)); term != terms.end()) {
            *term->second = start.value; // kernels of the class have it
        }
    }
}

} // namespace

GpuCalibration textbook_start() {
    GpuCalibration c;
    for (const KernelClass products : {KernelClass::linear, KernelClass::batched, KernelClass::conv,
                                       KernelClass::tensor_gemm, KernelClass::tensor_conv}) {
        begin(c, products, kProducts);
    }
    begin(c, KernelClass::batched, kBatched);
    begin(c, KernelClass::tensor_gemm, kTensorGemm);
    begin(c, KernelClass::tensor_conv, kTensorConv);
    begin(c, KernelClass::conv, kConvolutions);
    begin(c, KernelClass::tensor_conv, kConvolutions);
    begin(c, KernelClass::memory, kMemory);
    begin(c, KernelClass::attention, kAttention);
    for (model::ClassRecord& record : c.records) {
        record.launch = {5e-5, 6e-6, 3.5e-6, 4.5e-6};
    }
    c.record(KernelClass::memory).launch = {0.0, 4e-6, 2e-6, 3e-6};
    return c;
}

} // namespace eyeroof::analysis
