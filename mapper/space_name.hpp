// What proofs hold for, in words.
#pragma once

#include "mapper/problem_space.hpp"

#include <string>

namespace eyeroof::mapper {

// All operands that a level keeps are tiled by the same loops ("even"), but for those in `uneven`
// stores, by factors that divide or by any.
inline std::string space_name(Factors factors, const std::string& uneven = {}) {
    return (uneven.empty() ? "even mappings, "
                           : "even mappings and uneven ones of " + uneven + ", ") +
           (factors == Factors::perfect ? "perfect factors" : "any factors");
}

} // namespace eyeroof::mapper
