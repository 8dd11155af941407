#include "model/gpu/occupancy.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr double kRegisterBytes = 4.0;
constexpr double kRegistersBesideSums = 2.0;
constexpr double kStages = 2.0;
constexpr double kLeastThreads = 32.0, kMostThreads = 256.0; // of a slice
constexpr double kNoLimit = 1e9;

struct PipeFacts {
    double k_step, sums_per_thread, k_of_instruction, latency;
};

PipeFacts facts_of(const Gpu& gpu, bool tensor) {
    return tensor ? PipeFacts{32.0, 128.0, 16.0, 16.0}
                  : PipeFacts{8.0, 64.0, 1.0, gpu.arch < GpuArch::volta ? 6.0 : 4.0};
}

double how_many(double there_is, double one_needs) {
    return there_is > 0.0 ? std::floor(there_is / one_needs) : kNoLimit;
}

} // namespace

Occupancy occupancy_of(const Gpu& gpu, DataType type, const CtaTile& tile, double in_bytes,
                       double in_turn) {
    const bool tensor = gpu.rate(type).pipe == Pipe::tensor;
    const PipeFacts pipe = facts_of(gpu, tensor);
    const double slices = tile.slices;
    const double sums = static_cast<double>(tile.tm) * tile.tn * slices;
    const double threads =
        slices * std::clamp(sums / slices / pipe.sums_per_thread, kLeastThreads, kMostThreads);
    const double registers =
        how_many(gpu.registers_bytes_per_sm, sums * kRegisterBytes * kRegistersBesideSums);
    const double shared = how_many(gpu.shared_bytes_per_sm,
                                   kStages * (tile.tm + tile.tn) * pipe.k_step * slices * in_bytes);
    const double slots = how_many(gpu.max_threads_per_sm, threads);
    Occupancy o;
    const double fit = std::min({registers, shared, slots});
    o.by = fit == slots ? "slots" : fit == registers ? "registers" : "shared memory";
    o.ctas = static_cast<int>(std::min(fit, 1024.0));
    const double held = std::max(1.0, std::min(fit, in_turn));
    const double per_sm = macs_per_cycle(gpu, type) / gpu.sms;
    o.busy = std::min(1.0, held * sums * pipe.k_of_instruction / (per_sm * pipe.latency));
    return o;
}

} // namespace eyeroof::model
