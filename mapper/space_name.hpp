// What proofs hold for, in words.
#pragma once

#include "mapper/problem_space.hpp"

#include <string>

namespace eyeroof::mapper {

// All operands that a level keeps are tiled by the same loops ("even"), by factors that divide or
// by any.
inline std::string space_name(Factors factors) {
    return factors == Factors::perfect ? "even mappings, perfect factors"
                                       : "even mappings, any factors";
}

} // namespace eyeroof::mapper
