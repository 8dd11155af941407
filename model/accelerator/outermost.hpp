// What limits are called that the outermost memory sets.
#pragma once

#include "model/accelerator/accelerator.hpp"

#include <string>

namespace eyeroof::model {

// The network below the outermost memory where all words cross the same one: "DRAM link". One
// resource has one name, whichever step or engine it slows. Several networks, or one without a
// name: "outermost memory".
inline std::string outermost_name(const Accelerator& accelerator) {
    const auto& channels = accelerator.levels.front().channels;
    const bool one = channels.size() == 1 && !channels.front().name.empty();
    return one ? channels.front().name : "outermost memory";
}

} // namespace eyeroof::model
