// What would help: every parameter of a machine raised by 10 %, doubled, and to the next value that
// helps at all; and the time of the network with one ideal step.
#pragma once

#include "analysis/exam/run.hpp"
#include "base/progress.hpp"

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

inline constexpr double kHelps = 1.001; // a speed-up below it is none

// Speed-ups are time before over time after, of all layers together. Counts take at least one more.
struct ParameterHelp {
    std::string key, name; // of the parameter
    std::string now;       // its value in the machine's unit: "64 KiB"
    double tenth = 1.0;    // +10 %
    double doubled = 1.0;  // x2
    // As next_helpful() finds it.
    std::optional<std::string> next = {};
    double with_next = 1.0;

    bool operator==(const ParameterHelp&) const = default;
};

struct Helps {
    double time_s = 0.0;                         // as it is
    std::vector<ParameterHelp> parameters;       // those that help most when doubled first
    std::array<double, model::kSteps> without{}; // seconds if that step alone were ideal
    bool by_search = false;                      // were the mappings searched before?

    bool operator==(const Helps&) const = default;
};

// Searches start from the mappings of the machine as it is (run_near), so that the time starts
// where an exam's does and a gain is the machine's and not the search's. Errors: those of run();
// "cancelled".
Result<Helps> what_would_help(const Question& question, std::stop_token stop = {},
                              const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
