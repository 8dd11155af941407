// Adds a profile to a report: the step below seven, *unexplained*, and the steps whose counters
// disagree with the prediction.
//
// For each layer, of one execution (mean over all that were measured):
//   measured      = kernel times (+ the gaps before and between them, where starts are known)
//   unexplained   = measured - predicted
// The predicted time is taken apart as body(a, m) + rest + launches, with a = arithmetic (step 5),
// m = predicted bytes over the outermost bandwidth, at most step 6, body = max(a, m, step 6). What
// was counted takes the predicted place one by one (operations, bytes, clock, gaps); what the time
// changes by is what that counter accounts for; `remaining` is what no counter accounts for. By
// construction unexplained = sum of accounts_s + remaining.
#pragma once

#include "analysis/exam/report.hpp"
#include "profiles/metric_family.hpp"

#include <vector>

namespace eyeroof::analysis {

// Differences below these shares of the predicted figure are not reported.
inline constexpr double kTellQuantity = 0.10; // bytes, operations, tensor pipe
inline constexpr double kTellClock = 0.03;
// Longer pauses on the device are the program's (reading input, printing), not a launch's.
inline constexpr double kLongestGap_s = 1e-3;

// Fills `measured` of the report and of every layer that the profile has launches of, and gives the
// match of every launch. `family` may be null: then only neutral counters are known. Warns
// ("no-match") when no launch belongs to a layer. Errors: those of matching.
Result<profiles::MatchResult>
lay_profile(Report& report, const profiles::Profile& profile, const profiles::MetricFamily* family,
            const std::vector<profiles::ManualAssignment>& assignments = {});

// What is known of the run, one fact a text: GPU, driver, clocks, command, date.
std::vector<std::string> facts_of(const profiles::RunInfo& run);

} // namespace eyeroof::analysis
