// The headline of an answer: the one resource of the machine or its host of which twice as much
// gains most when the scenario is examined again with it, or the power cap in force whose end gains
// more; where no single one gains a twentieth, two resources of the first five that together gain
// that and twice as much as one. The same in every view.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"
#include "base/result.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// The end of a power cap that is in force, and twice of each resource alone: the host's launches,
// and every count, size, bandwidth, and rate of the machine but its clock, which quickens all that
// is on the chip and names nothing. Power limits and latencies are not doubled. Each is examined;
// on accelerators under the mappings of `now`, or better ones that a short search or the dataflow's
// rules find. An option names the doubled value where the machine is changed already, else "x2".
// Those that gain most first; none below a thousandth.
std::vector<Headline> doubled_resources(const Question& question, const Report& now,
                                        const std::stop_token& stop = {});

// Sets the report's headline to the first of them, or to such a pair.
void find_headline(Report& report, const Question& question, const std::stop_token& stop = {});

// "DRAM bandwidth"; "no single resource" where none gains a twentieth.
std::string bound_by_name(const Headline& headline);
// "Bound by DRAM bandwidth"; "Bound by no single resource: …"; "Bound by no single resource under
// the power cap: …". Shares that are said to be the most are rounded up.
std::string bound_by_text(const Headline& headline);
// "Largest saving: 1.22 ms (17.9 %) with twice the host's speed (--host-speed 2)"; empty where none
// gains.
std::string largest_saving_text(const Headline& headline, double time_s);

} // namespace eyeroof::analysis
