// eyeroof's own boosted trees, with the same interface as XGBoost's.
#pragma once

#include "analysis/tune/trees.hpp"

namespace eyeroof::analysis::tune {

std::unique_ptr<const Trees> fit_own_trees(const TrainingSet& training_set,
                                           const TreeOptions& options);
// nullptr when it was not built in.
std::unique_ptr<const Trees> fit_trees(const TrainingSet& training_set, const TreeOptions& options);

} // namespace eyeroof::analysis::tune
