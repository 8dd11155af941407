// Optimizations of a step, as text and JSON.
#pragma once

#include "analysis/step/improve.hpp"

#include <string>

namespace eyeroof::report {

std::string improve_text(const analysis::step::Improvement& found, const std::string& words,
                         Count limit);
std::string improve_json(const analysis::step::Improvement& found,
                         const analysis::Question& question,
                         Count limit); // eyeroof/improve/1

} // namespace eyeroof::report
