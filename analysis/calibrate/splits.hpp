// Splits measured layers into rows for the fit and held-out rows for its evaluation.
#pragma once

#include "model/workload/layer.hpp"

namespace eyeroof::analysis {

// Half of all shapes, by a hash (FNV-1a) of operator, direction and sizes: equal shapes fall on the
// same side whatever their data type, place in a file, GPU or number of repetitions.
bool is_held_out(const model::Layer& layer);

} // namespace eyeroof::analysis
