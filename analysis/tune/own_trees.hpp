// eyeroof's own boosted trees, with the same interface as XGBoost's.
#pragma once

#include "analysis/tune/trees.hpp"

namespace eyeroof::analysis::tune {

std::unique_ptr<const Trees> fit_own_trees(const Lesson& lesson, const TreeOptions& options);
// nullptr when it was not built in.
std::unique_ptr<const Trees> fit_xgboost(const Lesson& lesson, const TreeOptions& options);

} // namespace eyeroof::analysis::tune
