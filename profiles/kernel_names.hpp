// What a kernel's name tells of its work.
#pragma once

#include "model/workload/layer.hpp"

#include <optional>
#include <string_view>

namespace eyeroof::profiles {

enum class KernelCategory {
    unknown,
    gemm,
    conv,
    attention,
    elementwise,
    reduction,
    normalization,
    softmax,
    pooling,
    copy
};
KernelCategory category_of(std::string_view kernel_name);
const char* category_name(KernelCategory category);

// Which gradient of a convolution a kernel computes ("dgrad", "wgrad"); nullopt where the name does
// not say, as for forward kernels and for the changes of layout around them.
std::optional<model::Direction> gradient_of(std::string_view kernel_name);

// A kernel that only changes the order of a tensor's elements: "nchwToNhwcKernel",
// "batched_transpose_32x32_half".
bool changes_layout(std::string_view kernel_name);

} // namespace eyeroof::profiles
