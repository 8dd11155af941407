// Nominal 80 % intervals of measured / predicted, valid for small samples.
// examples/measurements/bands.py has those of other days and of other GPUs.
#pragma once

#include <vector>

namespace eyeroof::analysis {

// The 10 % and 90 % quantiles of measured / predicted.
struct Band {
    double low = 0.0, high = 0.0;
    bool holds(double ratio) const { return ratio >= low && ratio <= high; }
    bool operator==(const Band&) const = default;
};

// For one more row of the same kind and GPU: the order statistics at 0.1 (n + 1) and 0.9 (n + 1),
// interpolated, so that 80 % of further rows lie between them for any n >= 9 (split conformal
// prediction); fewer rows give their extremes. `ratios` is not empty.
Band band_of(std::vector<double> ratios);

} // namespace eyeroof::analysis
