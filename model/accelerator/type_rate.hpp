// An accelerator that computes with another data type than that of its words.
#pragma once

#include "model/accelerator/accelerator.hpp"

namespace eyeroof::model {

// Words of the type's width, and its rate: the axis k times as long, where k is the power of two
// nearest to the ratio of the rates and not below 1, and the clock for the rest. Bandwidths keep
// their bytes per second. The same machine where it has no rate of its own for the type, or
// computes with it already.
Accelerator with_type(Accelerator accelerator, DataType type);

} // namespace eyeroof::model
