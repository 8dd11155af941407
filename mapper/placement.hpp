// The trips in space of a whole mapping, put on the axes in every way that may change what it
// costs.
//
// Under eyeroof's counting the way with the fewest hops through the array is best. Under Timeloop's
// a unit passes input windows on to the units beside it: how many depends on which trips lie on
// which axis, and on their order there.
#pragma once

#include "mapper/exact.hpp"

#include <functional>

namespace eyeroof::mapper {

// Calls `judge` for one mapping of each kind. False: there are more ways on a level than
// kMostPlacements, of which only the first were looked at.
bool place_all(const Task& task, const Space& space,
               const std::array<std::uint32_t, kGroups>& chains, model::Mapping& mapping,
               const std::function<void(const model::Mapping&)>& judge);

} // namespace eyeroof::mapper
