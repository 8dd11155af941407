// The metric files among the program's data.
#pragma once

#include "cli/context.hpp"
#include "formats/metric_family.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

// From `folder`, or else from the first data folder that has metrics/. Errors: "unavailable" when
// there is none; those of a file that is broken.
Result<std::vector<profiles::MetricFamily>> load_metric_files(const Context& context,
                                                              const std::string& folder = {});

} // namespace eyeroof::cli
