// Advice for measured layers, as rules over their counters: what the counters say, the step of the
// prediction that they contradict, what to do, and the estimated gain.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

struct CounterAdvice {
    std::size_t layer = 0;    // row of the report
    std::string kernel;       // the longest of its kernels
    std::size_t step = 0;     // 1 … 7: whose prediction the counter contradicts
    std::string counters_say; // "DRAM bytes are 61 MB, 30 MB were predicted"
    std::string advice;       // what to do
    // Of all executions of the layer, s: what the surplus adds to the time. Where the counter is a
    // symptom, at most what no other counter accounts for; `at_most` then.
    double gain_s = 0.0;
    bool at_most = false;
    double speedup = 1.0; // of the layer, without gain_s

    bool operator==(const CounterAdvice&) const = default;
};

// Of every disagreement that costs time, the largest gain first. Empty without counters.
//   gain = count x accounts_s, or count x max(0, remaining_s) of a symptom
std::vector<CounterAdvice> counter_advice(const Report& report);

} // namespace eyeroof::analysis
