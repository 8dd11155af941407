// The difference of two measured runs: kernel by kernel, operator by operator, or range by range,
// and where the time changed.
#pragma once

#include "analysis/diff/both_sides.hpp"
#include "analysis/exam/gate.hpp"
#include "profiles/measurement.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// What launches belong together by: names of kernels differ between GPUs and libraries, those of
// the framework's operators (with their shapes) and of ranges do not.
// layer: the layers that a trace's step is made of (formats/trace_network.hpp).
enum class RunPart { kernel, op, range, layer };
inline constexpr std::pair<std::string_view, RunPart> kRunParts[] = {{"kernel", RunPart::kernel},
                                                                     {"operator", RunPart::op},
                                                                     {"range", RunPart::range},
                                                                     {"layer", RunPart::layer}};
std::string_view run_part_name(RunPart part);

struct RunRow {
    std::string name;
    BothSides calls, time_s; // of all calls

    double adds_s() const { return time_s.b - time_s.a; }
    bool operator==(const RunRow&) const = default;
};

struct RunDiff {
    std::string name_a, name_b; // file and GPU
    RunPart by = RunPart::kernel;
    BothSides calls, time_s;
    BothSides untimed;              // launches without a known duration, in no row
    BothSides window_s;             // first start to last end on the device; 0: not known of both
    std::vector<RunRow> rows;       // what adds or saves most first
    std::vector<RunRow> categories; // of layers: "GEMM", "norm", …; empty for other parts

    bool operator==(const RunDiff&) const = default;
};

// Which category each part belongs to, by its name.
using PartCategories = std::map<std::string, std::string>;

// Launches that no operator or range tells of stand together as "(none)".
RunDiff diff_runs(const profiles::Profile& a, const std::string& name_a, const profiles::Profile& b,
                  const std::string& name_b, RunPart by, const PartCategories& categories = {});

// For --fail-if, of the whole and of each row: time_s_a, time_s_b, time_change, and so for calls.
const GateKeys& run_gate_keys();
GateFigures run_gate_figures(const RunDiff& diff);

} // namespace eyeroof::analysis
