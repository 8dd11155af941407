// A trace's own answer as members of the exam's JSON: "trace", and "ranks" of several. Computes
// nothing.
#pragma once

#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"

#include <nlohmann/json_fwd.hpp>

namespace eyeroof::report {

nlohmann::ordered_json traced_json(const analysis::Traced& traced);
nlohmann::ordered_json ranks_json(const analysis::Ranks& ranks);

} // namespace eyeroof::report
