#include "profiles/kernel_names.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace eyeroof::profiles {

namespace {

struct NamePart {
    std::string_view part;
    KernelCategory category;
};
// The first part found in the lower-case name decides; the more telling come first.
constexpr NamePart kNameParts[] = {
    {"flash", KernelCategory::attention},
    {"fmha", KernelCategory::attention},
    {"attention", KernelCategory::attention},
    {"softmax", KernelCategory::softmax},
    {"layer_norm", KernelCategory::normalization},
    {"layernorm", KernelCategory::normalization},
    {"batch_norm", KernelCategory::normalization},
    {"bn_fw", KernelCategory::normalization},
    {"bn_bw", KernelCategory::normalization},
    {"rms_norm", KernelCategory::normalization},
    {"fbgemm_gpu", KernelCategory::unknown}, // a namespace of embeddings
    {"winograd", KernelCategory::conv},
    {"implicit_gemm", KernelCategory::conv},
    {"fprop", KernelCategory::conv},
    {"dgrad", KernelCategory::conv},
    {"wgrad", KernelCategory::conv},
    {"conv", KernelCategory::conv},
    {"cudnn", KernelCategory::conv},
    {"gemm", KernelCategory::gemm},
    {"gemv", KernelCategory::gemm},
    {"cublas", KernelCategory::gemm},
    {"cutlass", KernelCategory::gemm},
    {"xmma", KernelCategory::gemm},
    {"nvjet", KernelCategory::gemm},
    {"matmul", KernelCategory::gemm},
    {"pool", KernelCategory::pooling},
    {"reduce", KernelCategory::reduction},
    {"elementwise", KernelCategory::elementwise},
    {"memcpy", KernelCategory::copy},
    {"memset", KernelCategory::copy},
    {"copy", KernelCategory::copy},
    {"transpose", KernelCategory::copy},
    {"nchwtonhwc", KernelCategory::copy},
};

} // namespace

KernelCategory category_of(std::string_view kernel_name) {
    const std::string lower = lowered(kernel_name);
    for (const NamePart& entry : kNameParts) {
        if (lower.find(entry.part) != std::string::npos) {
            return entry.category;
        }
    }
    return KernelCategory::unknown;
}

const char* category_name(KernelCategory category) {
    constexpr const char* kNames[] = {"unknown",     "gemm",      "conv",          "attention",
                                      "elementwise", "reduction", "normalization", "softmax",
                                      "pooling",     "copy"};
    return kNames[static_cast<std::size_t>(category)];
}

std::optional<model::Direction> gradient_of(std::string_view kernel_name) {
    const std::string lower = lowered(kernel_name);
    const auto says = [&](const char* part) { return lower.find(part) != std::string::npos; };
    if (says("wgrad") || says("backward_filter") || says("bwd_filter")) {
        return model::Direction::bwd_weight;
    }
    if (says("dgrad") || says("backward_data") || says("bwd_data")) {
        return model::Direction::bwd_data;
    }
    return std::nullopt;
}

bool changes_layout(std::string_view kernel_name) {
    const std::string lower = lowered(kernel_name);
    const auto says = [&](const char* part) { return lower.find(part) != std::string::npos; };
    return says("nchwtonhwc") || says("nhwctonchw") || says("batched_transpose");
}

} // namespace eyeroof::profiles
