// Optimizations of a step, as text, CSV, and JSON.
#pragma once

#include "analysis/step/improve.hpp"

#include <string>

namespace eyeroof::report {

std::string improve_text(const analysis::step::Improvement& found, const std::string& words,
                         Count limit);
// "changes,alone,time_s,low_s,high_s,batch,gain,peak_bytes,fits": the step as it is, each change
// alone, then the front of several.
std::string improve_csv(const analysis::step::Improvement& found);
std::string improve_json(const analysis::step::Improvement& found,
                         const analysis::Question& question,
                         Count limit); // eyeroof/improve/1

} // namespace eyeroof::report
