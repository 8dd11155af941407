// A trace's own answer: objects of the exam's JSON, "trace" and "ranks" of several traces, each
// absent where the pointer is null, and tables for people.
#pragma once

#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"
#include "report/answer/answer.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

AnswerTable trace_table(const analysis::Traced* traced);
AnswerTable ranks_table(const analysis::Ranks* ranks);

// The share of the kernels that belongs to operators of known work.
std::string traced_sentence(const analysis::Traced& traced);
// Device time, critical path, operators, kernels by name alone, comparisons, modules, changes.
// Operators are for text: pages have them beside the timeline.
std::vector<AnswerTable> traced_tables(const analysis::Traced& traced);
// Ranks, their collectives, and who waits for whom.
std::vector<AnswerTable> ranks_tables(const analysis::Ranks& ranks);

} // namespace eyeroof::report
