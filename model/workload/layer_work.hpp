// The work of a layer that is known to be valid: MACs, operations and compulsory traffic. Must not
// be given a layer that breaks a rule.
#pragma once

#include "model/workload/layer.hpp"

namespace eyeroof::model {

// nullopt when a count does not fit 63 bits. The layer's shape, dimensions and direction are valid.
std::optional<Work> count_work(const Layer& layer);

} // namespace eyeroof::model
