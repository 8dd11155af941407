// What every cost model of a sparse machine refuses, in one place and in the same words.
#pragma once

#include "model/sparse/step.hpp"
#include "model/workload/layer.hpp"

#include <initializer_list>

namespace eyeroof::model::sparse {

// Those of validate(); "not-sparse-op" for an operator or a direction that the machine does not
// run; "density" for one outside 0 … 1.
Diagnostics problems(const Layer& layer, const Densities& densities,
                     std::initializer_list<Op> runs);

} // namespace eyeroof::model::sparse
