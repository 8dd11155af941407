// The value of each parameter of a machine: the gain of 10 % more of it, and the parameter behind
// each of the seven steps of a layer.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/what_if/parameters.hpp"
#include "analysis/what_if/trials.hpp"
#include "base/progress.hpp"

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

inline constexpr double kSensitivityFactor = 1.1;
inline constexpr double kDoubled = 2.0;

struct Sensitivity {
    std::string key, name; // of the parameter
    double factor = 1.1;   // it was multiplied by; counts take at least one more
    double speedup = 1.0;  // time before over time after

    bool operator==(const Sensitivity&) const = default;
};

// Of the whole network, one for each parameter, in the machine's order. A parameter whose changed
// machine is illegal or cannot run the network is skipped. Accelerators map by the dataflow's
// rules, without a search, unless `examine` does otherwise. Errors: those of run() on the machine
// itself.
Result<std::vector<Sensitivity>> sensitivities(const Question& question, std::stop_token stop = {},
                                               const ProgressCallback& progress = {},
                                               Examine examine = {});

// For one layer: the parameter behind each step, and the parameter that would help.
struct LayerHelp {
    // By step 1 … 7, index 0 is step 1: the key of the parameter that the step's limit names ("y
    // axis"), or else of the one that, doubled, raises most what the step leaves of the step before
    // it. Of steps 6 and 7, which are transfers, it is the one that shortens most what they take
    // beside the units' own time, in seconds: a faster clock alone hardly does. nullopt where none
    // does so by a thousandth.
    std::array<std::optional<std::string>, model::kSteps> behind;
    std::vector<Sensitivity> gains; // +10 % each, most helpful first
};

// `layer` as a report has it. Errors: those of run().
Result<LayerHelp> help_for(const model::Layer& layer, const Question& question,
                           std::stop_token stop = {}, Examine examine = {});

// "10 % more DRAM bandwidth makes this layer 8.9 % faster"; empty when nothing helps by a
// thousandth.
std::string best_help_text(const std::vector<Sensitivity>& gains);

} // namespace eyeroof::analysis
