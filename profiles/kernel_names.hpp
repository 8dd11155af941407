// What a kernel's name tells of its work.
#pragma once

#include "model/workload/layer.hpp"

#include <cstdint>
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
    copy,
    communication,
    experts,
    quantization,
    rope,
    sampling
};
// What a kernel computes, by the words of its name; namespaces of libraries say nothing.
KernelCategory category_of(std::string_view kernel_name);
const char* category_name(KernelCategory category);

// Whose communication a kernel or operator is, by the words of its name: "NCCL", "DeepEP",
// "NVSHMEM", "custom all-reduce", …; empty for what computes, a GEMM with communication within
// included.
std::string_view communication_of(std::string_view name);

// The output tile of a matrix kernel's block, and how deep it reads at once (0: not said):
// "128x256_64x4", "MT128x128x64", "tilesize128x128x64".
struct KernelTile {
    std::int64_t rows = 0, columns = 0, depth = 0;

    bool operator==(const KernelTile&) const = default;
};
std::optional<KernelTile> tile_of(std::string_view kernel_name);

// Which gradient of a convolution a kernel computes ("dgrad", "wgrad"); nullopt where the name does
// not say, as for forward kernels and for the changes of layout around them.
std::optional<model::Direction> gradient_of(std::string_view kernel_name);

// A kernel that only changes the order of a tensor's elements: "nchwToNhwcKernel",
// "batched_transpose_32x32_half".
bool changes_layout(std::string_view kernel_name);

} // namespace eyeroof::profiles
