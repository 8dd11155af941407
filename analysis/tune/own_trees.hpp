// eyeroof's own boosted trees, beside XGBoost's behind one door.
// Called by fit_trees.
#pragma once

#include "analysis/tune/trees.hpp"

namespace eyeroof::analysis::tune {

std::unique_ptr<const Trees> fit_own_trees(const Lesson& lesson, const TreeOptions& options);
// nullptr when it was not built in.
std::unique_ptr<const Trees> fit_xgboost(const Lesson& lesson, const TreeOptions& options);

} // namespace eyeroof::analysis::tune
