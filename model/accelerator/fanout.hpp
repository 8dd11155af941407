// How many instances a level feeds.
#pragma once

#include "model/accelerator/accelerator.hpp"

namespace eyeroof::model {

// Instances of the next inner level below one of this one: the product of its axes.
inline Count fanout_of(const Level& level) {
    Count units = 1;
    for (const Axis& axis : level.fanout) {
        units *= axis.size;
    }
    return units;
}

} // namespace eyeroof::model
