// A chain on heterogeneous devices: contiguous parts that minimize the slowest device.
#pragma once

#include <cstddef>
#include <vector>

namespace eyeroof::analysis {

inline constexpr std::size_t kMostHeterogeneousDevices = 8;

// Layers 0 … n-1 in order, one stage a device at most.
struct HeterogeneousChain {
    std::vector<std::vector<double>> layer_s; // device x layer, seconds
    std::vector<double> cut_s;                // sending between layer i and i + 1; n - 1 of them
    std::vector<double> held_bytes;           // that a layer keeps on its device; empty: nothing
    // device x layer: what is there only while the layer runs, of a stage its largest; empty:
    // nothing
    std::vector<std::vector<double>> live_bytes;
    std::vector<double> entry_bytes; // that a stage which begins at a layer keeps; empty: nothing
    std::vector<double> capacity_bytes; // of each device; empty, or 0: no limit
};

struct HeterogeneousStage {
    std::size_t device = 0;
    std::size_t first = 0, end = 0; // layers [first, end)
    double time_s = 0.0;            // its layers, and receiving what the stage before made
    double memory_bytes = 0.0;      // what its layers and its beginning keep, and the most live

    bool operator==(const HeterogeneousStage&) const = default;
};

// The stages in the chain's order; devices may come in any order and stay unused. The slowest stage
// is within 1e-9 of the least possible: bisection over its time, each threshold decided exactly by
// which layers each set of devices can have finished. Nothing where no split fits the capacities.
// At most kMostHeterogeneousDevices devices; 2^d d^2 n steps a threshold.
std::vector<HeterogeneousStage> split_heterogeneous(const HeterogeneousChain& chain);
double slowest_of(const std::vector<HeterogeneousStage>& stages); // seconds

} // namespace eyeroof::analysis
