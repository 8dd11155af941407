#include "model/sparse/work.hpp"

#include <algorithm>
#include <cassert>

namespace eyeroof::model::sparse {

namespace {

Count count_of(const std::vector<bool>& row) {
    return static_cast<Count>(std::count(row.begin(), row.end(), true));
}

} // namespace

Count effectual_macs(const Mask& a, const Mask& b) {
    return column_cycles(a, b, 1);
}

Count column_cycles(const Mask& inputs, const Mask& weights, Count lanes) {
    assert(inputs.size() == weights.size());
    Count sum = 0;
    for (std::size_t c = 0; c < inputs.size(); ++c) {
        sum += count_of(inputs[c]) * ceil_div(count_of(weights[c]), lanes);
    }
    return sum;
}

double column_cycles(double inputs, double input_density, const NonZeros& column, Count lanes) {
    return inputs * input_density * column.steps(lanes).mean();
}

} // namespace eyeroof::model::sparse
