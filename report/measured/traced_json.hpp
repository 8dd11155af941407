// A trace's own answer in the exam's JSON: `trace`, and `ranks` of several. Computes nothing.
#pragma once

#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"

#include <string>

namespace eyeroof::report {

// The exam's document with what is not null.
std::string with_trace(std::string report_json, const analysis::Traced* traced,
                       const analysis::Ranks* ranks);

} // namespace eyeroof::report
