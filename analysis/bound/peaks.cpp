#include "analysis/bound/peaks.hpp"

#include "analysis/exam/residency.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis::bound {

namespace {

// Registers, and the most shared memory and L1, of an SM, bytes: where a file does not say.
constexpr double kRegisterBytes = 262144.0;
constexpr double kSharedBytes = 262144.0;

// Of a kernel of products: see bound.hpp.
double product_start_s(const model::Gpu& gpu) {
    struct Start {
        double seconds = 1.2e-6;
        double clock_hz = 0.0; // at which the rows ran; 0: none is known
    };
    const Start start = gpu.arch == model::GpuArch::ampere      ? Start{2.2e-6, 1.41e9}
                        : gpu.arch == model::GpuArch::hopper    ? Start{2.2e-6, 1.98e9}
                        : gpu.arch == model::GpuArch::ada       ? Start{1.5e-6, 2.52e9}
                        : gpu.arch == model::GpuArch::blackwell ? Start{1.35e-6, 1.92e9}
                                                                : Start{};
    const bool faster = start.clock_hz > 0.0 && gpu.boost_hz > start.clock_hz;
    return start.seconds * (faster ? start.clock_hz / gpu.boost_hz : 1.0);
}

} // namespace

Peaks peaks_of(const Question& question, const MachineSummary& machine) {
    Peaks peaks;
    peaks.gpu = std::get_if<model::Gpu>(&question.machine.kind);
    peaks.outer_bytes_per_s = machine.outer_bytes_per_s;
    if (peaks.gpu != nullptr) {
        const model::Gpu& gpu = *peaks.gpu;
        peaks.cache_bytes = gpu.l2_bytes;
        peaks.port_bytes_per_s = model::l2_port_bandwidth(gpu);
        const bool host = gpu.arch == model::GpuArch::host;
        peaks.start_s = host ? 0.0 : product_start_s(gpu);
        peaks.chip_bytes =
            gpu.l2_bytes + (host ? 0.0
                                 : gpu.sms * (std::max(gpu.registers_bytes_per_sm, kRegisterBytes) +
                                              std::max(gpu.shared_bytes_per_sm, kSharedBytes)));
        return peaks;
    }
    peaks.accelerator = &std::get<model::Accelerator>(question.machine.kind);
    return peaks;
}

std::string assumptions_of(const Peaks& peaks) {
    if (peaks.gpu == nullptr) {
        const std::string common =
            "no mapping does better (step 7 of the machine's chain); data as wide as the machine "
            "stores them; ";
        return common + (weight_keeper(*peaks.accelerator) != nullptr
                             ? "what stays on the chip between layers and runs is the exam's "
                               "schedule of weights and activations; weights that stay are not read"
                             : "activations that fit a level which keeps them stay on the chip "
                               "between layers, the network's input and output too; no weights "
                               "are kept");
    }
    const std::string start =
        peaks.start_s > 0.0
            ? fmt::format(", and {} for the start of a kernel of products, set below the shortest "
                          "recorded ones",
                          format_si(peaks.start_s, "s"))
            : std::string();
    return fmt::format("data sheet peaks at {}, {} to memory, a last-level cache of {} that may "
                       "hold data from the run before{}",
                       format_si(peaks.gpu->boost_hz, "Hz"),
                       format_si(peaks.outer_bytes_per_s, "B/s"), format_si(peaks.cache_bytes, "B"),
                       start);
}

} // namespace eyeroof::analysis::bound
