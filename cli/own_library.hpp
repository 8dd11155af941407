// Finds a library of this project that is opened at run time, and says when.
#pragma once

#include "cli/context.hpp"

#include <optional>

namespace eyeroof::cli {

// Given by the user, or beside the data: <prefix>/lib/eyeroof where installed, profiles/<folder>
// where it was built.
std::optional<std::filesystem::path> find_own_library(const Context& context,
                                                      const std::string& given,
                                                      const std::string& name,
                                                      const std::string& folder);

// ISO 8601, UTC.
std::string utc_now();
std::string utc_today(); // the date alone

} // namespace eyeroof::cli
