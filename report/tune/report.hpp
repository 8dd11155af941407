// Results of tuning as text, JSON, CSV and SVG. Computes nothing but units.
#pragma once

#include "analysis/tune/tuner.hpp"

namespace eyeroof::report {

std::string tune_text(const analysis::tune::TuneResult& result, bool details);
std::string tune_json(const analysis::tune::TuneResult& result); // schema eyeroof/tune/1
std::string tune_csv(const analysis::tune::TuneResult& result); // every trial: cost and best so far
std::string tune_svg(const analysis::tune::TuneResult& result); // best so far against trials

} // namespace eyeroof::report
