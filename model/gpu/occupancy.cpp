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

TileNeeds tile_needs(const Gpu& gpu, DataType type, const CtaTile& tile, double in_bytes) {
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
    TileNeeds needs;
    needs.fit = std::min({registers, shared, slots});
    needs.by = needs.fit == slots       ? "slots"
               : needs.fit == registers ? "registers"
                                        : "shared memory";
    needs.ctas = static_cast<int>(std::min(needs.fit, 1024.0));
    const double per_sm = macs_per_cycle(gpu, type) / gpu.sms;
    needs.one = sums * pipe.k_of_instruction;
    needs.filled = per_sm * pipe.latency;
    return needs;
}

Occupancy occupancy_with(const TileNeeds& needs, double in_turn) {
    const double held = std::max(1.0, std::min(needs.fit, in_turn));
    return {needs.ctas, needs.by, std::min(1.0, held * needs.one / needs.filled)};
}

Occupancy occupancy_of(const Gpu& gpu, DataType type, const CtaTile& tile, double in_bytes,
                       double in_turn) {
    return occupancy_with(tile_needs(gpu, type, tile, in_bytes), in_turn);
}

} // namespace eyeroof::model
