// Reads profiles/metrics/*.yaml: which counters of a chip family give operations, bytes and time.
#pragma once

#include "profiles/metric_family.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::formats {

// Errors: every broken rule of the file, with line and column.
Result<profiles::MetricFamily> parse_metric_family(std::string text, std::string file);
// All families of a folder, by file name. Errors of all files together; "cannot-open" for a folder
// that is none.
Result<std::vector<profiles::MetricFamily>>
read_metric_families(const std::filesystem::path& folder);

} // namespace eyeroof::formats
