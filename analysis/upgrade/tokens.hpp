// Tokens of a sample, for costs per million tokens.
#pragma once

#include "model/workload/network.hpp"

#include <optional>

namespace eyeroof::analysis {

// Lookups in the largest embedding table, for each sample of the network's own batch. Nothing where
// the network has no such table, or no attention beside it: tables of a recommender hold no words.
std::optional<double> tokens_of_sample(const model::Network& network);

} // namespace eyeroof::analysis
