// Real layers on this processor: matrix products, a convolution through im2col, an elementwise
// pass.
#pragma once

#include "profiles/host/host_team.hpp"
#include "profiles/measurement.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::profiles {

struct HostLayer {
    std::string name; // "gemm 200x200x200 fp32"
    Operator op;
    std::string precision;
    double flops = 0.0;
    double bytes = 0.0; // every tensor once
    TeamWork work;      // owns its tensors
};

// The 200 and 2000 products of the data-transfer experiment in both precisions, two shapes that are
// not square, a 3x3 convolution, and an addition of vectors that no cache holds.
std::vector<HostLayer> host_layers(int threads, std::size_t largest_cache_bytes,
                                   const std::stop_token& stop);

} // namespace eyeroof::profiles
