#include "model/gpu/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace eyeroof::model {

namespace {

constexpr std::array<std::string_view, 11> kArchNames = {"kepler",    "maxwell", "pascal", "volta",
                                                         "turing",    "ampere",  "ada",    "hopper",
                                                         "blackwell", "amd",     "host"};

// L2 to SM transfers a cycle that a whole GPU sustains, bytes per SM; see l2_bandwidth.
constexpr double kPortShare = 0.65;
constexpr double kL2BytesPerSmCycle = kPortShare * 32.0;
constexpr double kWideL2BytesPerSmCycle = 0.55 * 64.0;

// Data-centre parts since the A100: an L2 of two partitions with wide ports.
bool has_wide_l2(const Gpu& gpu) {
    const std::string& cc = gpu.compute_capability;
    return cc == "8.0" || cc == "9.0" || cc.rfind("10.", 0) == 0;
}

constexpr std::array<std::string_view, 5> kMemoryNames = {"unknown", "DDR", "LPDDR", "GDDR", "HBM"};

} // namespace

std::string_view memory_type_name(MemoryType type) {
    return kMemoryNames[static_cast<std::size_t>(type)];
}

MemoryType memory_type_from_name(std::string_view name) {
    constexpr int kLetterCase = 0x20;
    for (const MemoryType type :
         {MemoryType::ddr, MemoryType::lpddr, MemoryType::gddr, MemoryType::hbm}) {
        const std::string_view family = memory_type_name(type);
        const bool begins = name.size() >= family.size() &&
                            std::equal(family.begin(), family.end(), name.begin(),
                                       [](char a, char b) { return a == (b & ~kLetterCase); });
        if (begins) {
            return type;
        }
    }
    return MemoryType::unknown;
}

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

double pipe_clock_hz(const Gpu& gpu, DataType type) {
    const bool tensor = gpu.rate(type).pipe == Pipe::tensor && gpu.tensor_hz > 0.0;
    return tensor ? gpu.tensor_hz : gpu.boost_hz;
}

double fitting_peak(const Gpu& gpu, DataType type) {
    const Rate& rate = gpu.rate(type);
    if (rate.flops_per_s <= 0.0) {
        return 0.0;
    }
    const double cycles = gpu.sms * pipe_clock_hz(gpu, type);
    const double lanes = cycles * gpu.fp32_lanes * 2.0;
    const bool beyond_lanes = rate.flops_per_s > (1.0 + kPeakTolerance) * lanes;
    const bool matrix_cores = gpu.arch == GpuArch::amd && beyond_lanes; // they serve fp32 too
    if (type == DataType::fp32 && rate.pipe != Pipe::tensor && !matrix_cores) {
        return lanes;
    }
    return cycles * std::exp2(std::round(std::log2(rate.flops_per_s / cycles)));
}

bool peak_fits(const Gpu& gpu, DataType type) {
    const double fitting = fitting_peak(gpu, type);
    return std::fabs(gpu.rate(type).flops_per_s - fitting) <= kPeakTolerance * fitting;
}

double macs_per_cycle(const Gpu& gpu, DataType type) {
    return gpu.rate(type).flops_per_s / 2.0 / pipe_clock_hz(gpu, type);
}

bool lanes_fill_issue(const Gpu& gpu) {
    constexpr int kFullLanes = 128;
    const bool single = gpu.arch == GpuArch::ampere || gpu.arch == GpuArch::ada ||
                        gpu.arch == GpuArch::hopper || gpu.arch == GpuArch::blackwell;
    return single && gpu.fp32_lanes >= kFullLanes;
}

double l2_bandwidth(const Gpu& gpu) {
    if (gpu.l2_bytes_per_s > 0.0) {
        return gpu.l2_bytes_per_s;
    }
    const double each = has_wide_l2(gpu) ? kWideL2BytesPerSmCycle : kL2BytesPerSmCycle;
    return std::max(each * gpu.sms * gpu.boost_hz, gpu.dram_bytes_per_s);
}

double tile_bandwidth(const Gpu& gpu) {
    return std::max(kPortShare * gpu.near_l2_bytes_per_s, l2_bandwidth(gpu));
}

std::optional<double> lowest_rent(const GpuPrice& price) {
    if (price.usd_per_hour_low || price.rents.empty()) {
        return price.usd_per_hour_low;
    }
    return std::ranges::min_element(price.rents, {}, &Rent::usd_per_hour)->usd_per_hour;
}

double l2_port_bandwidth(const Gpu& gpu) {
    constexpr double port = 64.0; // B per SM and cycle
    const double ports = gpu.arch == GpuArch::host ? 0.0 : port * gpu.sms * gpu.boost_hz;
    return std::max({ports, l2_bandwidth(gpu), gpu.near_l2_bytes_per_s});
}

double l2_reach_bytes(const Gpu& gpu) {
    return has_wide_l2(gpu) ? gpu.l2_bytes / 2.0 : gpu.l2_bytes;
}

bool lacks_nothing(const Gpu& more, const Gpu& less) {
    const auto amounts = [](const Gpu& gpu) {
        std::vector<double> all = {static_cast<double>(gpu.sms),
                                   static_cast<double>(gpu.fp32_lanes),
                                   gpu.boost_hz,
                                   gpu.dram_bytes,
                                   gpu.dram_bytes_per_s,
                                   gpu.l2_bytes,
                                   l2_bandwidth(gpu),
                                   gpu.shared_bytes_per_sm,
                                   gpu.registers_bytes_per_sm,
                                   gpu.pcie_bytes_per_s,
                                   gpu.link_bytes_per_s,
                                   gpu.tdp_w};
        for (const Rate& rate : gpu.rates) {
            all.push_back(rate.flops_per_s);
        }
        return all;
    };
    return more.arch == less.arch && more.compute_capability == less.compute_capability &&
           std::ranges::equal(amounts(more), amounts(less), std::ranges::greater_equal());
}

double ridge_flop_per_byte(const Gpu& gpu, DataType type) {
    return gpu.rate(type).flops_per_s / gpu.dram_bytes_per_s;
}

} // namespace eyeroof::model
