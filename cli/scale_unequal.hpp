// A request or a training step divided over devices that differ.
#pragma once

#include "cli/scenario_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace eyeroof::cli {

struct UnequalOptions {
    analysis::Scenario scenario;
    std::vector<std::string> machines;
    std::string fabric; // empty: each GPU's PCIe, through the host
    std::int64_t microbatches = 8;
    OutputOptions output;
};

Exit scale_unequal(Context& context, const UnequalOptions& options);

} // namespace eyeroof::cli
