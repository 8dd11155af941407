// Lower bounds of a program's time beside its prediction, as text, JSON, and HTML.
#pragma once

#include "analysis/bound/bound.hpp"

#include <string>

namespace eyeroof::report {

std::string bound_text(const analysis::bound::BoundReport& report);
// eyeroof/bound/1
std::string bound_json(const analysis::bound::BoundReport& report,
                       const analysis::Question& question);
std::string bound_html(const analysis::bound::BoundReport& report);

} // namespace eyeroof::report
