// Fronts and capacity curves as text, JSON, CSV and pictures.
// Called by cli.
// Searches nothing.
#pragma once

#include "study/search/trade_offs.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string front_to_text(const FrontReport& report, const model::Accelerator& accelerator,
                          bool nests);
std::string front_to_json(const FrontReport& report,
                          const model::Accelerator& accelerator); // eyeroof/front/1
std::string front_to_csv(const FrontReport& report);              // a line a point
std::string front_to_svg(const FrontReport& report);
std::string curve_to_text(const CurveReport& report);
std::string curve_to_json(const CurveReport& report); // eyeroof/capacity/1
std::string curve_to_csv(const CurveReport& report);  // a line a point
std::string curve_to_svg(const CurveReport& report);

} // namespace eyeroof::study
