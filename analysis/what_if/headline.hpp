// The headline of an answer: the one resource of the machine or its host of which twice as much
// gains most when the scenario is examined again with it. The same in every view.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"
#include "base/result.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// Twice of each resource alone: the host's launches, and every count, size, bandwidth, and rate of
// the machine but its clock, which quickens all that is on the chip and names nothing. Each is
// examined; on accelerators under the mappings of `now`, or better ones that a short search or the
// dataflow's rules find. Those that gain most first; none below a thousandth.
std::vector<Headline> doubled_resources(const Question& question, const Report& now,
                                        const std::stop_token& stop = {});

// Sets the report's headline to the first of them.
void find_headline(Report& report, const Question& question, const std::stop_token& stop = {});

// "Bound by DRAM bandwidth"; "Bound by no single resource: …" where none gains.
std::string bound_by_text(const Headline& headline);
// "Largest saving: 1.22 ms (17.9 %) with twice the host's speed (--host-speed 2)"; empty where none
// gains.
std::string largest_saving_text(const Headline& headline, double time_s);

} // namespace eyeroof::analysis
