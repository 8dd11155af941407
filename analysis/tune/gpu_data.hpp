// A workload's operands in the layout of the GPU template, and its correct result.
// The GPU target makes them once per workload.
#pragma once

#include "analysis/trials/workload.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace eyeroof::analysis::tune {

// Inputs are multiples of 1/8 within ±1: every sum is exact in fp32, so results must be equal in
// whatever order they were added.
struct GpuData {
    Workload work;
    std::vector<float> in;           // [images][padded height][padded width][depth]
    std::vector<std::int32_t> pixel; // [rows]: where each pixel's first tap begins in `in`
    std::vector<float> w;            // [taps][depth][cols]
    std::vector<float> wanted;       // [rows][cols]

    std::int32_t step_r() const; // floats from one tap to the next, down …
    std::int32_t step_s() const; // … and across
};

// Error "cancelled": `stopped`, which is asked once a row, said so.
Result<GpuData> gpu_data(const Workload& work, const std::function<bool()>& stopped = {});

} // namespace eyeroof::analysis::tune
