#include "analysis/calibrate/error_bands.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

constexpr double kTail = 0.1;

// Order statistic at `rank`, counted from one, between the neighbours where it is not whole.
double at_rank(const std::vector<double>& ascending, double rank) {
    const double position =
        std::clamp(rank - 1.0, 0.0, static_cast<double>(ascending.size()) - 1.0);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    const double part = position - static_cast<double>(below);
    return ascending[below] * (1.0 - part) + ascending[above] * part;
}

} // namespace

Band band_of(std::vector<double> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const double next = static_cast<double>(ratios.size()) + 1.0;
    return {at_rank(ratios, kTail * next), at_rank(ratios, (1.0 - kTail) * next)};
}

} // namespace eyeroof::analysis
