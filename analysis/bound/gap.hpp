// The gap between a program's fused bound and its prediction or measurement, by causes.
#pragma once

#include "analysis/bound/bound.hpp"

#include <vector>

namespace eyeroof::analysis::bound {

// From the bound upwards: traffic that fusion would spare, kernels above their own bounds,
// launches, and what is left. None is negative. `of_layer`: the bound of one run of each layer.
std::vector<GapPart> gap_of(const BoundReport& made, const std::vector<Bound>& of_layer,
                            const Report& report);

} // namespace eyeroof::analysis::bound
