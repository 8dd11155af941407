#include "model/accelerator/type_rate.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

// As many bytes per second at `faster` times the clock.
void slow_by(double faster, Accelerator& a) {
    for_each_per_cycle(a, [&](double& figure, bool) { figure /= faster; });
    if (a.vector_unit) {
        for (VectorRate& rate : a.vector_unit->rates) {
            rate.elements_per_lane /= faster;
        }
    }
}

void lengthen(const std::string& axis, double times, Accelerator& a) {
    for (Level& level : a.levels) {
        for (Axis& found : level.fanout) {
            found.size = found.name == axis ? found.size * static_cast<Count>(times) : found.size;
        }
    }
}

} // namespace

Accelerator with_type(Accelerator a, DataType type) {
    const auto rate = std::ranges::find(a.type_rates, type, &TypeRate::type);
    const double own = static_cast<double>(mac_units(a)) * a.clock_hz;
    if (rate == a.type_rates.end() || a.type == type || !(own > 0.0)) {
        return a;
    }
    const double ratio = rate->macs_per_s / own;
    const double times = std::max(1.0, std::exp2(std::round(std::log2(ratio))));
    lengthen(rate->axis, times, a);
    const double faster = ratio / times;
    a.clock_hz *= faster;
    slow_by(faster, a);
    a.word_bits[index(Operand::input)] = a.word_bits[index(Operand::weight)] = storage_bits(type);
    a.type = type;
    return a;
}

} // namespace eyeroof::model
