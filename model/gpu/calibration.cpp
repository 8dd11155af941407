#include "model/gpu/calibration.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

constexpr std::array<std::string_view, kKernelClasses> kClassNames = {
    "linear", "batched", "tensor_gemm", "conv", "tensor_conv", "memory"};
constexpr std::array<std::string_view, kLaunchModes> kLaunchNames = {"eager", "stream", "kernel",
                                                                     "graph"};

using Terms = std::map<std::string, double*>;

void add_matmul(MatmulTerms& m, Terms& terms) {
    terms.insert({{"peak_share", &m.peak_share},
                  {"half_intensity", &m.half_intensity},
                  {"ramp_k", &m.ramp_k},
                  {"ramp_occupancy", &m.ramp_occupancy},
                  {"slice_cost", &m.slice_cost},
                  {"dram_share", &m.dram_share},
                  {"l2_share", &m.l2_share},
                  {"overlap", &m.overlap},
                  {"split_s", &m.split_s},
                  {"sustained_clock", &m.sustained_clock},
                  {"settle_s", &m.settle_s},
                  {"reuse", &m.reuse},
                  {"tlb_reach_mib", &m.tlb_reach_mib},
                  {"tlb_cost", &m.tlb_cost},
                  {"scattered_dram", &m.scattered_dram},
                  {"resident_l2", &m.resident_l2},
                  {"resident_gain", &m.resident_gain},
                  {"resident_sharpness", &m.resident_sharpness},
                  {"issue_share", &m.issue_share},
                  {"quantise_s", &m.quantise_s},
                  {"quantise_pass", &m.quantise_pass}});
}

void add_conv(ConvTerms& c, Terms& terms) {
    add_matmul(c.matmul, terms);
    terms.insert({{"fwd_cost", &c.fwd_cost},
                  {"bwd_data_cost", &c.bwd_data_cost},
                  {"bwd_weight_cost", &c.bwd_weight_cost},
                  {"stride_waste", &c.stride_waste},
                  {"weight_sums", &c.weight_sums},
                  {"weight_product", &c.weight_product},
                  {"fused_share", &c.fused_share},
                  {"fused_ramp_k", &c.fused_ramp_k},
                  {"fused_tail", &c.fused_tail},
                  {"fused_s", &c.fused_s},
                  {"product_cost", &c.product_cost},
                  {"transform_share", &c.transform_share},
                  {"transform_l2", &c.transform_l2},
                  {"transform_s", &c.transform_s},
                  {"layout_share", &c.layout_share},
                  {"layout_s", &c.layout_s}});
}

void add_memory(MemoryTerms& m, Terms& terms) {
    terms.insert({{"dram_share", &m.dram_share},
                  {"start_s", &m.start_s},
                  {"resident_l2", &m.resident_l2},
                  {"resident_gain", &m.resident_gain},
                  {"resident_sharpness", &m.resident_sharpness},
                  {"softmax_pass", &m.softmax_pass},
                  {"norm_pass", &m.norm_pass},
                  {"norm_cache", &m.norm_cache},
                  {"gated_pass", &m.gated_pass},
                  {"gather_cycles", &m.gather_cycles},
                  {"rope_pass", &m.rope_pass},
                  {"row_s", &m.row_s},
                  {"host_s", &m.host_s},
                  {"host_tail_s", &m.host_tail_s},
                  {"host_scalar_s", &m.host_scalar_s},
                  {"host_softmax_s", &m.host_softmax_s},
                  {"host_norm_s", &m.host_norm_s},
                  {"host_overlap", &m.host_overlap}});
}

} // namespace

std::string_view kernel_class_name(KernelClass kernel_class) {
    return kClassNames[static_cast<std::size_t>(kernel_class)];
}

std::optional<KernelClass> kernel_class_from_name(std::string_view name) {
    const auto found = std::find(kClassNames.begin(), kClassNames.end(), name);
    if (found == kClassNames.end()) {
        return std::nullopt;
    }
    return static_cast<KernelClass>(found - kClassNames.begin());
}

std::string_view launch_name(Launch launch) {
    return kLaunchNames[static_cast<std::size_t>(launch)];
}

std::map<std::string, double*> calibration_terms(GpuCalibration& calibration, KernelClass c) {
    Terms terms;
    switch (c) {
    case KernelClass::linear:
        add_matmul(calibration.linear, terms);
        break;
    case KernelClass::batched:
        add_matmul(calibration.batched, terms);
        break;
    case KernelClass::tensor_gemm:
        add_matmul(calibration.tensor_gemm, terms);
        break;
    case KernelClass::conv:
        add_conv(calibration.conv, terms);
        break;
    case KernelClass::tensor_conv:
        add_conv(calibration.tensor_conv, terms);
        break;
    case KernelClass::memory:
        add_memory(calibration.memory, terms);
        break;
    }
    return terms;
}

} // namespace eyeroof::model
