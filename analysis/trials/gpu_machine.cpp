#include "analysis/trials/gpu_machine.hpp"

#include <array>
#include <cstdlib>

namespace eyeroof::analysis::tune {

namespace {

struct Limits {
    int capability, lanes, max_threads, max_ctas;
    Count sm_shared_kib, cta_shared_kib;
};

constexpr std::array<Limits, 10> kLimits = {{
    {70, 64, 2048, 32, 96, 96},
    {72, 64, 2048, 32, 96, 96},
    {75, 64, 1024, 16, 64, 64},
    {80, 64, 2048, 32, 164, 163},
    {86, 128, 1536, 16, 100, 99},
    {87, 128, 1536, 16, 164, 163},
    {89, 128, 1536, 24, 100, 99},
    {90, 128, 2048, 32, 228, 227},
    {100, 128, 2048, 32, 228, 227},
    {120, 128, 1536, 24, 100, 99},
}};

} // namespace

GpuMachine with_limits_of(int capability, GpuMachine machine) {
    Limits limits = kLimits.front();
    for (const Limits& known : kLimits) {
        limits = known.capability <= capability ? known : limits;
    }
    machine.capability = capability;
    machine.lanes = limits.lanes;
    machine.max_threads = limits.max_threads;
    machine.max_ctas = limits.max_ctas;
    machine.sm_shared_bytes = limits.sm_shared_kib << 10;
    machine.cta_shared_bytes = limits.cta_shared_kib << 10;
    return machine;
}

std::optional<GpuMachine> gpu_machine_of(const model::Gpu& gpu, const std::string& name) {
    char* end = nullptr;
    const long major = std::strtol(gpu.compute_capability.c_str(), &end, 10);
    const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
    if (major < 7 || major > 99 || minor < 0 || minor > 9) {
        return std::nullopt;
    }
    GpuMachine machine;
    machine.name = name;
    machine = with_limits_of(static_cast<int>(10 * major + minor), machine);
    machine.sms = gpu.sms;
    machine.lanes = gpu.fp32_lanes;
    machine.clock_hz = gpu.boost_hz;
    machine.l2_bytes = static_cast<Count>(gpu.l2_bytes);
    machine.l2_bytes_per_s = model::l2_bandwidth(gpu);
    machine.dram_bytes_per_s = gpu.dram_bytes_per_s;
    return machine;
}

} // namespace eyeroof::analysis::tune
