// Features of a candidate: named numbers, the input of a cost model's trees.
// Search tasks and chains compute them.
#pragma once

#include "base/checked.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::tune {

inline double real(Count count) {
    return static_cast<double>(count);
}

// log2(value + 1): 0 stays 0.
inline float log_of(double value) {
    return static_cast<float>(std::log2(std::max(value, 0.0) + 1.0));
}

// log2 of what may lie below 1.
inline float log_ratio(double value) {
    constexpr double kLeast = 1e-6;
    return static_cast<float>(std::log2(std::max(value, kLeast)));
}

} // namespace eyeroof::analysis::tune
