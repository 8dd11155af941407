// A MemoryFit as an object of JSON documents: `memory` of docs/json.md.
// Shared by the writers of one examination and of several.
#pragma once

#include "report/exam/memory_fit.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof::report {

nlohmann::ordered_json memory_fit_json(const analysis::MemoryFit& fit);

} // namespace eyeroof::report
