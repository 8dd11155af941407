// `exam --advice` on accelerators: the table of what would help, in each format. Runs nothing.
#pragma once

#include "analysis/what_if/helps.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace eyeroof::cli {

std::string helps_text(const analysis::Helps& helps);
std::string helps_markdown(const analysis::Helps& helps);
// The member "what_would_help" of the report's JSON.
nlohmann::ordered_json helps_json(const analysis::Helps& helps);

} // namespace eyeroof::cli
