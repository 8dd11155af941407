// Answers of tuning as text, JSON, CSV and SVG.
// Called by the command.
// Computes nothing but units.
#pragma once

#include "study/tune/tuner.hpp"

namespace eyeroof::study::tune {

std::string tune_text(const TuneResult& result, bool details);
std::string tune_json(const TuneResult& result); // schema eyeroof/tune/1
std::string tune_csv(const TuneResult& result);  // every trial: cost and best so far
std::string tune_svg(const TuneResult& result);  // best so far against trials

} // namespace eyeroof::study::tune
