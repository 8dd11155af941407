// What a roofline plot is made from: machines with their roofs, and points predicted or measured.
// Filled from machines, reports and profiles; read by make_scene.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/exam/roofs.hpp"
#include "model/machine/machine.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::report {

struct LevelBytes {
    std::string level;
    double bytes = 0.0;    // one execution
    bool at_least = false; // a lower bound: tiles that are read again are not counted

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
    // Several layers may have one name: these tell them apart.
    std::optional<std::size_t> layer = {}; // row of its machine's report; none for other kernels
    std::size_t nth = 0;                   // among the points of this name, machine and kind
    std::string run = {}; // of several measured runs the one that it is of; empty: there is one

    double total_s() const { return time_s * count; }
    double flops_per_s() const { return time_s > 0.0 ? flops / time_s : 0.0; }
    // FLOP per byte at a level, the outermost when empty; 0 when it is not known.
    double intensity(std::string_view level = {}) const;
    // Without operations, time or bytes it is in tables and totals only.
    bool has_place() const { return flops > 0.0 && time_s > 0.0 && intensity() > 0.0; }

    bool operator==(const PlotPoint&) const = default;
};

struct PlotInput {
    std::string title;
    std::vector<analysis::PlotMachine> machines;
    std::vector<PlotPoint> points;
    // By machine, and whether it was measured: seconds of a whole step, where it is known. Shares
    // are of it; else of all points of that machine and kind.
    std::map<std::pair<std::string, bool>, double> step_s = {};

    bool operator==(const PlotInput&) const = default;
};

// The layers of a report, one point each, also those without a place on a plot.
std::vector<PlotPoint> points_of(const analysis::Report& report);

// Adds the machine, unless it is there, and the report's points; where a profile was laid over the
// report, beside each measured layer what was measured of it, under the same name.
void add_report(PlotInput& input, const model::Machine& machine, const analysis::Report& report);

// By machine: which of several measured runs is laid over its report. Its points come first.
std::map<std::string, std::string> compared_runs(const PlotInput& input);

const analysis::PlotMachine* find_machine(const PlotInput& input, std::string_view id);

// The highest rate that a machine's roofs allow at the point's intensities: the least of its
// compute roof (of the point's precision; the highest of all where it has none of it and that one
// is among those that count: arithmetic of an unknown rate has no roof) and bandwidth x intensity
// of every level the point knows. Measured roofs stand in for described ones of the same key where
// both are there. `by` names the roof that won; no roofs at all give nullopt. `visible`: ids of the
// roofs that count; null: all.
struct RoofLimit {
    double flops_per_s = 0.0;
    const analysis::Roof* by = nullptr;
};
std::optional<RoofLimit> limit_of(const analysis::PlotMachine& machine, const PlotPoint& point,
                                  const std::set<std::string>* visible = nullptr);

} // namespace eyeroof::report
