// A trace's own answer as objects of the exam's JSON: "trace", and "ranks" of several traces; each
// absent where the pointer is null.
#pragma once

#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

AnswerTable trace_table(const analysis::Traced* traced);
AnswerTable ranks_table(const analysis::Ranks* ranks);

} // namespace eyeroof::report
