// Nominal 80 % intervals of measured / predicted, valid for small samples.
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

// The same for rows of another day: what one GPU and library moves from day to day is added,
// squared, to the distances from the median.
Band another_day(const std::vector<double>& ratios);

// For a GPU that is not among those: each GPU's rows, in ln, are its own offset (their median) and
// a scatter about it. What the constants lie off on a GPU that they have not seen is as often above
// as below, so that offsets are counted about zero, and few GPUs tell their size badly: it is drawn
// towards that of all kinds of rows (kUsualOffset) as if kUsualGpus more had been seen, and counts
// with what so many tell of one more, t(0.9, n) sqrt(1 + 1/n) standard deviations. Every GPU weighs
// the same. Then the band is held against the GPUs themselves (cross-conformal prediction): each
// one's rows are scored by the band of the others, in half widths from its middle, and the band's
// width is multiplied by the 80 % quantile of the scores to the power n / (n + kUsualGpus), since
// few GPUs say little about it, too. `gpus` is not empty and neither is any of its members.
inline constexpr double kUsualOffset = 0.14; // ln; see docs/gpu-model.md, "Intervals"
inline constexpr double kUsualGpus = 3.0;
Band band_of_gpus(const std::vector<std::vector<double>>& gpus);

// Twice as wide in ln: for layers of a kind, or GPUs of a vendor, that nothing
// was measured of.
Band doubled(const Band& band);

} // namespace eyeroof::analysis
