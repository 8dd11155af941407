// Convolutions on a GPU: the algorithm a library that tries them all would pick, and its time.
#pragma once

#include "model/gpu/gpu.hpp"
#include "model/gpu/matmul.hpp"

#include <string_view>

namespace eyeroof::model {

enum class ConvAlgorithm { implicit_gemm, winograd, winograd_nonfused, depthwise, columns };
std::string_view conv_algorithm_name(ConvAlgorithm algorithm);
// cuDNN's Winograd takes half and float, as recalled: neither fp64 nor 8 bits.
bool has_winograd(DataType type);

struct ConvTime {
    ConvAlgorithm algorithm = ConvAlgorithm::implicit_gemm;
    MatmulTime product;      // of the implicit or of the batched product
    double macs = 0.0;       // that the algorithm multiplies, padding of tiles not counted
    double dram_bytes = 0.0; // compulsory and the algorithm's own intermediates
    double body_s = 0.0;
    bool passes = false; // kernels before and after it change the layout of its tensors
};

// Least body over the algorithms that apply; `first_library`: see is_first_library; `transposes`:
// on tensor cores, kernels before and after the product change the layout of what it reads and
// writes (channels first for the caller, last for the product): two passes (layout_pass_s). cuDNN
// does so on an H100 (nchwToNhwc, AMD-AGI/TraceLens@171dd74); cuDNN 7 in a bare loop took the small
// part of a pass that layout_share states. `early`: Library::until_10. Its
// kernels on tensor cores take whole chunks of channels; later ones have kernels for the few
// channels of an image, padded to 4 or 8 elements (NVIDIA's deep-learning performance guide).
//   implicit:   (c_dir compute)^3 + dram^3 joined; tensor cores add layout passes.
//               fwd m,n,k = N P Q, K, C R S; bwd_weight K, C R S, N P Q; bwd_data N H W, C, K R S,
//               with strides one product for each phase of the input that the filter reaches:
//               N ceil(H/sh) ceil(W/sw), C, K ceil(R/sh) ceil(S/sw), min(R,sh) min(S,sw) of them.
//               A weight gradient adds the traffic of its fp32 sums, a number of bytes a weight.
//   Winograd F(2x2,3x3) fused: blocks of 32 tiles of 2x2 outputs by 32 channels, 16 points.
//   F(4x4,3x3) and F(4x4,5x5) non-fused: 36 or 64 products over tiles, between two transforms that
//   pass through memory.
//   columns: data gradients of at most 4 channels: a product into N P Q x C R S, scattered
//   (col2im).
// Groups: each group's product in turn, batched. Source: own; cuDNN's algorithm names, see
// docs/gpu-model.md; Lavin and Gray, arXiv:1509.09308, for the point counts.
ConvTime conv_time(const Gpu& gpu, DataType type, const ConvTerms& terms, const ConvShape& shape,
                   Direction direction, double element_bytes, bool first_library = false,
                   bool transposes = false, bool early = false);

} // namespace eyeroof::model
