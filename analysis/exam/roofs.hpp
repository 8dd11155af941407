// The roofs of a machine: its peak arithmetic rate and the bandwidth of each memory level, for
// plots and for comparison with measured ceilings.
#pragma once

#include "model/machine/machine.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

enum class RoofKind { compute, memory };

// The memory of a GPU or a host processor that a report's outer_bytes cross.
inline constexpr const char* kGpuMemory = "DRAM";

// A multiply-accumulate counts as two operations, so compute roofs are 2 x MAC/s.
struct Roof {
    std::string id;      // unique in the plot: "eyeriss-v1/memory/DRAM"
    std::string machine; // its id
    std::string name;    // "DRAM", "fp16 tensor"
    RoofKind kind = RoofKind::compute;
    std::string key;       // compute: the precision it is for, empty for any; memory: the level
    double value = 0.0;    // FLOP/s or bytes/s
    bool measured = false; // otherwise what the machine's description says
    std::string source;    // "Chen et al. 2017 (paper)"

    bool operator==(const Roof&) const = default;
};

struct PlotMachine {
    std::string id;
    std::string name;
    std::vector<Roof> roofs; // memory roofs outermost first

    bool operator==(const PlotMachine&) const = default;
};

// The roofs of a machine: its arithmetic, and each level's bandwidth towards the next. A level
// whose bandwidth is not limited has none.
PlotMachine roofs_of(const model::Machine& machine);

} // namespace eyeroof::analysis
