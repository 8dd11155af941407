// A MemoryFit as the object that stands in JSON documents: `memory` of docs/json.md.
// Shared by the writers of one examination and of several.
#pragma once

#include "study/report/memory_fit.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof::study {

nlohmann::ordered_json memory_fit_json(const MemoryFit& fit);

} // namespace eyeroof::study
