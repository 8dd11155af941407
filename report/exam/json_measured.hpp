// The measured part of a report as JSON, of schema "eyeroof/exam/1". Computes nothing.
#pragma once

#include "analysis/exam/report.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof::report {

nlohmann::ordered_json measured_json(const analysis::LayerMeasurement& measured);
nlohmann::ordered_json measured_json(const analysis::Measurement& all);
nlohmann::ordered_json ceilings_json(const std::vector<analysis::CeilingRow>& ceilings);

} // namespace eyeroof::report
