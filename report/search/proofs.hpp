// How far a report's searches for mappings got: what is proved, and the worst gap. Computes nothing
// but the summary.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>

namespace eyeroof::report {

// "mappings of 19 of 21 layers are proven optimal; CONV2 is open: at most 3.1 % above";
// empty where none was searched for.
std::string proofs_text(const analysis::Report& report);

} // namespace eyeroof::report
