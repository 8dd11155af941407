// The answer of an exam in lines, as every document begins with it: totals, bottleneck, savings.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// Seconds of all runs of all layers.
double layers_time(const analysis::Report& report);

// "142 ms (120 ms … 170 ms)", "7.7 % utilization", …: the totals.
std::vector<std::string> total_parts(const analysis::Report& report);

// "Bound by DRAM link (step 6): 88 % of the time, 3 of 12 layers"; empty without layers.
std::string bottleneck_text(const analysis::Report& report);

// "Largest saving: 142 ms (50.9 %) in FC6 without its step 6 loss (DRAM link)"; empty without one.
std::string largest_saving_text(const analysis::Report& report);

// Measured beside predicted, of a trace or a profile; empty without.
std::string measured_line(const analysis::Report& report);

// What was measured, the bottleneck, the largest saving, and the share without cost: each where
// there is one.
std::vector<std::string> answer_lines(const analysis::Report& report);

// What else holds for the whole network: launches, active PEs, proofs, memory.
std::vector<std::string> further_parts(const analysis::Report& report);
std::vector<std::string> machine_parts(const analysis::Report& report);
// "kernels of vllm 0.24.0, 0.25.0: query, down": which layers a serving library's own constants
// give, and which other products, attention, and experts those of their class. Empty without any.
std::vector<std::string> library_lines(const analysis::Report& report);
// "Unsourced values of this machine: clock."; empty without any.
std::string weak_sources_text(const analysis::Report& report);

// Losses of equal layers are one saving, under the first layer's name.
struct Saving {
    analysis::Loss loss;
    std::size_t equal = 1; // layers
};
std::vector<Saving> savings_of(const analysis::Report& report);

// "CONV1 (and 2 equal layers): 1.2 ms (4.0 %), step 6 average bandwidth, DRAM link".
std::string saving_text(const analysis::Report& report, const Saving& saving);
const std::string& saving_reason(const analysis::Report& report, const Saving& saving);

} // namespace eyeroof::report
