// The least traffic of a front with at most so many words.
#pragma once

#include "model/fuse/products.hpp"

#include <optional>
#include <vector>

namespace eyeroof::tests {

// Nothing where not even the least tiles fit.
inline std::optional<Count> least_traffic(const std::vector<model::fuse::Point>& front,
                                          Count words) {
    std::optional<Count> least;
    for (const model::fuse::Point& point : front) {
        if (point.words <= words) {
            least = point.traffic;
        }
    }
    return least;
}

} // namespace eyeroof::tests
