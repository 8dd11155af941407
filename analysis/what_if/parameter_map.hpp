// Beyond 10 %: the next value of a parameter that helps, and the time over two parameters.
#pragma once

#include "analysis/what_if/trials.hpp"
#include "base/progress.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

inline constexpr double kWorthAStep = 1.01;   // times as fast, to step there
inline constexpr double kFarthest = 64.0;     // times the present value
inline constexpr std::size_t kMostCells = 17; // of a map, along a side

// The first value above the present one, in thirds of an octave (of whole counts: every one up to
// 32 more, then so), with which the network is faster by kWorthAStep, and of the twelfths of an
// octave below it the least that does so, too; nullopt when nothing up to kFarthest times is.
// Accelerators map by the dataflow's rules, unless `examine` does otherwise. Errors: those of
// run(); "unknown-parameter"; "cancelled".
struct NextValue {
    double value = 0.0;
    double speedup = 1.0;

    bool operator==(const NextValue&) const = default;
};
Result<std::optional<NextValue>> next_helpful(const Question& question, const std::string& key,
                                              std::stop_token stop = {},
                                              const ProgressCallback& progress = {},
                                              Examine examine = {});
// The same of trials that have begun. Stopped: nullopt.
std::optional<NextValue> next_helpful(const Trials& trials, const Parameter& parameter,
                                      const ProgressCallback& progress = {});

// Seconds of the network over two parameters, each from a quarter to four times its present value.
struct ParameterMap {
    Parameter x, y;
    std::vector<double> x_values, y_values; // rising
    // [y][x]; nullopt where the machine would not be legal or cannot run the network.
    std::vector<std::vector<std::optional<double>>> time_s;
    double now_s = 0.0; // at the present values
};
// `examine` as in sensitivities(). Errors: as above; "bad-value" for a side below 2 or above
// kMostCells, or one parameter twice.
Result<ParameterMap> parameter_map(const Question& question, const std::string& x,
                                   const std::string& y, std::size_t side = 9,
                                   std::stop_token stop = {}, const ProgressCallback& progress = {},
                                   Examine examine = {});

} // namespace eyeroof::analysis
