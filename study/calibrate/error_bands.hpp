// Nominal 80 % intervals of measured / predicted, from samples as small as they are.
// Called by the cross-validation.
// Knows no layer, no fit and no file.
#pragma once

#include <vector>

namespace eyeroof::study {

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

// For a GPU that is not among those: each GPU's rows, in ln, are its own offset and a scatter. The
// pooled quantiles are stretched about the median so that the offsets count with what n of them
// tell of one more: t(0.9, n-1)/z(0.9) sqrt(1 + 1/n) standard deviations. One GPU alone tells
// nothing of offsets: its band is twice as wide in ln. Every GPU weighs the same. `gpus` is not
// empty and neither is any of its members.
Band band_of_gpus(const std::vector<std::vector<double>>& gpus);

// Twice as wide in ln: for layers of a kind that nothing was measured of.
Band doubled(const Band& band);

} // namespace eyeroof::study
