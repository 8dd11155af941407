// Mappings by a dataflow's own published rules, without a general search.
#pragma once

#include "base/result.hpp"
#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/problem.hpp"

#include <string>
#include <utility>
#include <vector>

namespace eyeroof::mapper {

struct Preset {
    model::Mapping mapping;
    // The dataflow's own parameters where it has names for them: m, n, e, p, q, r, t of RS.
    std::vector<std::pair<std::string, Count>> parameters;

    bool operator==(const Preset&) const = default;
};

// Errors: "no-mapping" when the rules place the problem nowhere, and why.
Result<Preset> preset_mapping(const model::Problem& problem, const model::Accelerator& accelerator,
                              const model::Dataflow& dataflow);

} // namespace eyeroof::mapper
