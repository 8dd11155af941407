// The clock that a board's power sustains.
#include "model/gpu/gpu.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

// pJ per FLOP of a busy pipe at the boost clock, by architecture. Vector: 14.4 on 12 nm is what the
// T4's sustained 0.45 of 8.1 TFLOP/s at 70 W gives (DeepBench@da81ba7, NeuSight@6945927) when its
// kernels reach 0.93 of their clock's peak; the others scale with the node's name (28, 16, 7, 5
// nm), which P4, P100 and A100 bear out within their scatter. Tensor: T4's 0.70 at 70 W gives 1.25,
// A100's 0.87 at 400 W (ml-engineering@744d01e) 1.1, L40S's 0.68 at 350 W 1.15; Hopper and
// Blackwell are recalled.
struct Energy {
    double vector_pj;
    double tensor_pj;
};

Energy energy_per_flop(GpuArch arch) {
    switch (arch) {
    case GpuArch::kepler:
        return {42.0, 42.0};
    case GpuArch::maxwell:
        return {33.6, 33.6};
    case GpuArch::pascal:
        return {18.6, 10.0};
    case GpuArch::volta:
    case GpuArch::turing:
        return {14.4, 1.25};
    case GpuArch::ampere:
        return {8.8, 1.1};
    case GpuArch::ada:
        return {6.0, 1.15};
    case GpuArch::hopper:
        return {6.0, 0.75};
    case GpuArch::blackwell:
        return {5.1, 0.55};
    case GpuArch::amd:
        return {8.8, 1.1};
    case GpuArch::host:
        return {0.0, 0.0};
    }
    return {0.0, 0.0};
}

constexpr double kShareForPipes = 0.8; // of TDP; the rest goes to memory and leakage
constexpr double kUnknownBaseShare = 0.5;

} // namespace

double sustained_clock_share(const Gpu& gpu, DataType type) {
    const Rate& rate = gpu.rate(type);
    const Energy energy = energy_per_flop(gpu.arch);
    const double pj = rate.pipe == Pipe::tensor ? energy.tensor_pj : energy.vector_pj;
    const double demand_w = pj * 1e-12 * rate.flops_per_s;
    if (demand_w <= 0.0 || gpu.tdp_w <= 0.0) {
        return 1.0;
    }
    const double base = gpu.base_hz > 0.0 ? gpu.base_hz / gpu.boost_hz : kUnknownBaseShare;
    return std::clamp(kShareForPipes * gpu.tdp_w / demand_w, base, 1.0);
}

} // namespace eyeroof::model
