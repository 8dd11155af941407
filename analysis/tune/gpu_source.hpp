// The CUDA C++ text of candidates.
#pragma once

#include "analysis/trials/gpu_plan.hpp"

#include <cstdint>
#include <string>

namespace eyeroof::analysis::tune {

// What a kernel is given; the text of a candidate declares the same. Addresses are the device's.
// in: the padded input; pixel[x]: where pixel x begins in it; w[k][n]: weights by tap, channel,
// output; out[x][n]. total: taps x depth.
struct GpuArgs {
    std::uint64_t in = 0, w = 0, out = 0, pixel = 0;
    std::int32_t rows = 0, cols = 0, depth = 0, total = 0, taps_w = 1, step_r = 0, step_s = 0;
    std::int32_t unused = 0;
};

inline constexpr const char* kGpuKernel = "eyeroof_kernel";

// A source with `extern "C" __global__ void eyeroof_kernel(Args)`: knobs are constants, sizes are
// arguments, so that one compiled kernel can be checked on odd sizes. Needs no header. With
// split_k above 1 results are added to what out holds. EYEROOF_EMULATED, when defined, leaves out
// what only a GPU has, and shared memory is what the host names eyeroof_shared.
std::string gpu_source(const GpuPlan& plan);

struct GpuGrid {
    Count ctas = 1, parts = 1; // of x and y; parts: split_k
};
GpuGrid gpu_grid(const GpuPlan& plan, Count rows, Count cols);

// A workload of odd sizes that keeps what the plan's vectors and taps ask of sizes.
Workload odd_workload(const Workload& work, const GpuPlan& plan);

} // namespace eyeroof::analysis::tune
