// One candidate of the template "gpu-tiled/1": how a GPU computes a workload, and the space of all
// of them.
// Made from a point of the space; read by the generator, the closed form and the features.
#pragma once

#include "analysis/trials/gpu_machine.hpp"
#include "analysis/trials/space.hpp"
#include "analysis/trials/workload.hpp"

namespace eyeroof::analysis::tune {

inline constexpr const char* kGpuTemplate = "gpu-tiled/1";

// A CTA makes block_m x block_n results (pixels x output channels) from slices of block_k of the
// sum, which stand in shared memory in `stages` copies; its warps make warp_m x warp_n of them, a
// thread thread_m x thread_n. Convolutions are implicit products: the sum runs over taps and
// channels.
struct GpuPlan {
    Count block_m = 64, block_n = 64, block_k = 8;
    Count warp_m = 32, warp_n = 32;
    Count thread_m = 8, thread_n = 4;
    Count stages = 2;    // 1: loads and sums take turns
    Count vector_in = 1; // floats of one load of the input …
    Count vector_w = 1;  // … and of the weights
    Count split_k = 1;   // CTAs that share one tile's sum
    Count pad = 0;       // vectors behind each row of the input in shared memory
    bool spread = false; // a thread's results lie a warp apart, not side by side
    Count group = 1;     // rows of tiles that CTAs go through together, for L2
    Count unroll = 4;    // of the loop over a slice
    Count min_ctas = 1;  // resident per SM; limits the registers
    // Of the workload and the machine, not of the point:
    bool taps_uniform = true; // a slice lies in one tap
    bool product = true;      // there is one tap, and no stride
    bool async = false;       // copies that pass by the registers (compute capability 8.0)

    Count threads() const { return 32 * (block_m / warp_m) * (block_n / warp_n); }
    Count row_floats() const { return block_k + pad * vector_in; } // of the input, in shared memory
    Count stage_floats() const { return block_m * row_floats() + block_k * block_n; }
    Count shared_bytes() const { return 4 * stages * stage_floats(); }
    // A thread's, estimated: results, fragments, what is on its way, addresses.
    Count registers() const;
    bool operator==(const GpuPlan&) const = default;
};

// Rules, by name: "warp" (32 threads make its tile), "CTA" (whole warps, 32 to 1024 threads),
// "shared memory" (a CTA's), "registers" (255 a thread, and those of min_ctas CTAs on one SM).
// Vector loads are offered where channels and outputs are multiples of them.
Space gpu_space(const Workload& work, const GpuMachine& machine);

GpuPlan gpu_plan(const Space& space, const Point& point, const Workload& work,
                 const GpuMachine& machine);

// "CTA 128x64x16, warp 64x32, thread 8x8, 3 stages, …": for people.
std::string plan_text(const GpuPlan& plan);

} // namespace eyeroof::analysis::tune
