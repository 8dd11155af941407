// What a roofline plot is made from: machines with their roofs, and points predicted or measured.
// Filled from machines, reports and profiles; read by make_scene.
// Knows nothing of axes, colours and pixels.
#pragma once

#include "model/machine/machine.hpp"
#include "study/exam/report.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::study {

enum class RoofKind { compute, memory };

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

struct LevelBytes {
    std::string level;
    double bytes = 0.0; // one execution

    bool operator==(const LevelBytes&) const = default;
};

struct PlotPoint {
    std::string id; // unique in the plot: "eyeriss-v1/predicted/0/conv1"
    std::string name;
    std::string machine; // its id
    bool measured = false;
    double flops = 0.0;  // one execution, 2 per MAC
    double time_s = 0.0; // one execution
    std::optional<double> low_s, high_s;
    double count = 1.0;            // executions
    std::vector<LevelBytes> bytes; // outermost level first
    std::string precision;         // "fp16"; empty when not known
    std::size_t limiter_step = 0;  // 1 … 7; 0 when not known
    std::string limiter;
    std::string source; // "predicted", "CUPTI counters"

    double total_s() const { return time_s * count; }
    double flops_per_s() const { return time_s > 0.0 ? flops / time_s : 0.0; }
    // FLOP per byte at a level, the outermost when empty; 0 when it is not known.
    double intensity(std::string_view level = {}) const;

    bool operator==(const PlotPoint&) const = default;
};

struct PlotInput {
    std::string title;
    std::vector<PlotMachine> machines;
    std::vector<PlotPoint> points;

    bool operator==(const PlotInput&) const = default;
};

// The roofs of a machine: its arithmetic, and each level's bandwidth towards the next. A level
// whose bandwidth is not limited has none.
PlotMachine roofs_of(const model::Machine& machine);

// The layers of a report, one point each; layers without operations are left out.
std::vector<PlotPoint> points_of(const Report& report);

// Adds the machine, unless it is there, and the report's points; where a profile was laid over the
// report, beside each measured layer what was measured of it, under the same name.
void add_report(PlotInput& input, const model::Machine& machine, const Report& report);

const PlotMachine* find_machine(const PlotInput& input, std::string_view id);

// The highest rate that a machine's roofs allow at the point's intensities: the least of its
// compute roof (of the point's precision, or the highest of all) and bandwidth x intensity of every
// level the point knows. Measured roofs stand in for described ones of the same key where both are
// there. `by` names the roof that won; no roofs at all give nullopt.
struct RoofLimit {
    double flops_per_s = 0.0;
    const Roof* by = nullptr;
};
std::optional<RoofLimit> limit_of(const PlotMachine& machine, const PlotPoint& point);

} // namespace eyeroof::study
