// How alike two orders are.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace eyeroof::tests {

// Places in ascending order; equal values share their mean place.
inline std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i;
        while (end < order.size() && values[order[end]] == values[order[i]]) {
            ++end;
        }
        for (std::size_t n = i; n < end; ++n) {
            ranks[order[n]] = 0.5 * static_cast<double>(i + end - 1);
        }
        i = end;
    }
    return ranks;
}

// Spearman's rank correlation, ties at their mean rank; 0 for fewer than two or all equal values.
inline double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> x = ranks_of(a);
    const std::vector<double> y = ranks_of(b);
    if (x.size() < 2 || x.size() != y.size()) {
        return 0.0;
    }
    const double mean = 0.5 * static_cast<double>(x.size() - 1);
    double xy = 0.0, xx = 0.0, yy = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0.0 && yy > 0.0 ? xy / std::sqrt(xx * yy) : 0.0;
}

} // namespace eyeroof::tests
