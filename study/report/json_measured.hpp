// The measured part of a report as JSON, of schema "eyeroof/exam/1".
// Used by json.cpp only.
// Computes nothing.
#pragma once

#include "study/exam/report.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof::study {

nlohmann::ordered_json measured_json(const LayerMeasurement& measured);
nlohmann::ordered_json measured_json(const Measurement& all);
nlohmann::ordered_json ceilings_json(const std::vector<CeilingRow>& ceilings);

} // namespace eyeroof::study
