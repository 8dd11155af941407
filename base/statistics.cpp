#include "base/statistics.hpp"

#include <algorithm>
#include <cstddef>

namespace eyeroof {

double median(std::vector<double> values, double of_none) {
    if (values.empty()) {
        return of_none;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const double upper = *middle;
    return values.size() % 2 == 1 ? upper
                                  : (*std::max_element(values.begin(), middle) + upper) / 2.0;
}

} // namespace eyeroof
