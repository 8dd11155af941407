// Fronts and capacity curves as text, JSON, CSV and pictures. Searches nothing.
#pragma once

#include "analysis/search/trade_offs.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string front_to_text(const analysis::FrontReport& report,
                          const model::Accelerator& accelerator, bool nests);
std::string front_to_json(const analysis::FrontReport& report,
                          const model::Accelerator& accelerator); // eyeroof/front/1
std::string front_to_csv(const analysis::FrontReport& report);    // a line a point
std::string front_to_svg(const analysis::FrontReport& report);
std::string curve_to_text(const analysis::CurveReport& report);
std::string curve_to_json(const analysis::CurveReport& report); // eyeroof/capacity/1
std::string curve_to_csv(const analysis::CurveReport& report);  // a line a point
std::string curve_to_svg(const analysis::CurveReport& report);

} // namespace eyeroof::report
