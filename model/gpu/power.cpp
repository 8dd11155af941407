// The clock that a board's power sustains.
#include "model/gpu/gpu.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

// pJ per FLOP of a busy pipe at the boost clock, by architecture. Vector: 14.4 on 12 nm is what the
// T4's sustained 0.45 of 8.1 TFLOP/s at 70 W gives (DeepBench@da81ba7, NeuSight@6945927) when its
// kernels reach 0.93 of their clock's peak; the others scale with the node's name (28, 16, 7, 5
// nm), which P100 and A100 bear out within their scatter. Pascal's 16 nm take 13.8: P4's second
// session sustains 0.79 of 5.44 TFLOP/s at 75 W (NeuSight's test shapes), and a GTX 1080 Ti its
// whole boost clock at 250 W (DeepBench). Tensor: T4's 0.70 at 70 W gives 1.25,
// A100's 0.87 at 400 W (ml-engineering@744d01e) 1.1, L40S's 0.68 at 350 W 1.15; Hopper and
// Blackwell are recalled. AMD's matrix cores until CDNA 2 are taken as A100's, of the same node;
// the same table's 668 and 785 TFLOP/s of MI300X and MI325X at 750 and 1000 W give 0.67 and 0.77,
// where kernels reach 0.75 of their clock's peak, the 1565 of MI355X at 1400 W 0.64, where they
// reach 0.9.
struct Energy {
    double vector_pj;
    double tensor_pj;
};

Energy of_amd(std::string_view compute_capability) {
    return compute_capability == "gfx942"   ? Energy{8.8, 0.72}
           : compute_capability == "gfx950" ? Energy{8.8, 0.64}
                                            : Energy{8.8, 1.1};
}

Energy energy_per_flop(const Gpu& gpu) {
    switch (gpu.arch) {
    case GpuArch::kepler:
        return {42.0, 42.0};
    case GpuArch::maxwell:
        return {33.6, 33.6};
    case GpuArch::pascal:
        return {13.8, 10.0};
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
        return of_amd(gpu.compute_capability);
    case GpuArch::host:
        return {0.0, 0.0};
    }
    return {0.0, 0.0};
}

constexpr double kShareForPipes = 0.8; // of TDP; the rest goes to memory and leakage
// A multiplier's energy grows with the square of its operands' width: fp32 on units specified
// at 16 bits.
constexpr double kTwiceAsWide = 4.0;
constexpr double kUnknownBaseShare = 0.5;

// AMD's products in fp32 run on the matrix cores where there are any, not on the lanes.
bool on_matrix_cores(const Gpu& gpu, DataType type) {
    return gpu.arch == GpuArch::amd && type == DataType::fp32 &&
           gpu.rate(DataType::fp16).pipe == Pipe::tensor;
}

double pj_per_flop(const Gpu& gpu, DataType type) {
    const Energy energy = energy_per_flop(gpu);
    return on_matrix_cores(gpu, type)            ? kTwiceAsWide * energy.tensor_pj
           : gpu.rate(type).pipe == Pipe::tensor ? energy.tensor_pj
                                                 : energy.vector_pj;
}

} // namespace

double sustained_clock_share(const Gpu& gpu, DataType type) {
    const double demand_w = pj_per_flop(gpu, type) * 1e-12 * gpu.rate(type).flops_per_s;
    if (demand_w <= 0.0 || gpu.tdp_w <= 0.0) {
        return 1.0;
    }
    const double base = gpu.base_hz > 0.0 ? gpu.base_hz / gpu.boost_hz : kUnknownBaseShare;
    return std::clamp(kShareForPipes * gpu.tdp_w / demand_w, base, 1.0);
}

} // namespace eyeroof::model
