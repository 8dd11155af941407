#include "model/gpu/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace eyeroof::model {

namespace {

constexpr std::array<std::string_view, 11> kArchNames = {"kepler",    "maxwell", "pascal", "volta",
                                                         "turing",    "ampere",  "ada",    "hopper",
                                                         "blackwell", "amd",     "host"};

// L2 to SM transfers a cycle that a whole GPU sustains, bytes per SM. Fitted by eye on the cache
// curves of te42kyfo/gpu-benches@1c36d509 (V100, A100, L40) and the estimates of gpu_specs.
constexpr double kL2BytesPerSmCycle = 0.65 * 32.0;

void check_positive(double value, const char* field, bool may_be_zero, Diagnostics& found) {
    const bool good = std::isfinite(value) && (value > 0.0 || (may_be_zero && value == 0.0));
    if (!good) {
        found.error("bad-number", std::string(field) + " must be a positive number", {}, {}, field);
    }
}

} // namespace

std::string_view gpu_arch_name(GpuArch arch) {
    return kArchNames[static_cast<std::size_t>(arch)];
}

std::optional<GpuArch> gpu_arch_from_name(std::string_view name) {
    const auto found = std::find(kArchNames.begin(), kArchNames.end(), name);
    if (found == kArchNames.end()) {
        return std::nullopt;
    }
    return static_cast<GpuArch>(found - kArchNames.begin());
}

std::vector<std::string_view> gpu_arch_names() {
    return {kArchNames.begin(), kArchNames.end()};
}

Diagnostics validate(const Gpu& gpu) {
    Diagnostics found;
    check_positive(gpu.sms, "sms", false, found);
    check_positive(gpu.fp32_lanes, "fp32_lanes", false, found);
    check_positive(gpu.boost_hz, "boost", false, found);
    check_positive(gpu.base_hz, "base", true, found);
    check_positive(gpu.tensor_hz, "tensor", true, found);
    check_positive(gpu.dram_bytes_per_s, "dram.bandwidth", false, found);
    check_positive(gpu.l2_bytes, "l2.capacity", true, found);
    check_positive(gpu.tdp_w, "tdp", true, found);
    if (gpu.base_hz > gpu.boost_hz) {
        found.error("bad-clock", "the base clock is above the boost clock", {}, {}, "clocks.base");
    }
    const bool any = std::any_of(gpu.rates.begin(), gpu.rates.end(),
                                 [](const Rate& r) { return r.flops_per_s > 0.0; });
    if (!any) {
        found.error("no-rate", "the GPU serves no data type", "give at least peaks.fp32", {},
                    "peaks");
    }
    return found;
}

double pipe_clock_hz(const Gpu& gpu, DataType type) {
    const bool tensor = gpu.rate(type).pipe == Pipe::tensor && gpu.tensor_hz > 0.0;
    return tensor ? gpu.tensor_hz : gpu.boost_hz;
}

double macs_per_cycle(const Gpu& gpu, DataType type) {
    return gpu.rate(type).flops_per_s / 2.0 / pipe_clock_hz(gpu, type);
}

double l2_bandwidth(const Gpu& gpu) {
    if (gpu.l2_bytes_per_s > 0.0) {
        return gpu.l2_bytes_per_s;
    }
    return std::max(kL2BytesPerSmCycle * gpu.sms * gpu.boost_hz, gpu.dram_bytes_per_s);
}

double l2_reach_bytes(const Gpu& gpu) {
    const std::string& cc = gpu.compute_capability;
    const bool halves = cc == "8.0" || cc == "9.0" || cc.rfind("10.", 0) == 0;
    return halves ? gpu.l2_bytes / 2.0 : gpu.l2_bytes;
}

double ridge_flop_per_byte(const Gpu& gpu, DataType type) {
    return gpu.rate(type).flops_per_s / gpu.dram_bytes_per_s;
}

} // namespace eyeroof::model
