// Optimizations of a step, as text and JSON.
#pragma once

#include "study/step/improve.hpp"

#include <string>

namespace eyeroof::study::step {

std::string improve_text(const Improvement& found, const std::string& words, model::Count limit);
std::string improve_json(const Improvement& found, const Question& question,
                         model::Count limit); // eyeroof/improve/1

} // namespace eyeroof::study::step
