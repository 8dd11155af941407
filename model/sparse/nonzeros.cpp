#include "model/sparse/nonzeros.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace eyeroof::model::sparse {

namespace {

// Beyond so many deviations from the mean a whole number has no probability that a double adds.
constexpr double kDeviations = 12.0;
// A longer window is taken as its mean.
constexpr Count kLongestWindow = 65'536;
// Sums of distributions longer than this are taken as normal.
constexpr Count kLongestSum = 4096;

double log_choose(double n, double k) {
    return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

struct Window {
    Count first = 0, last = 0;

    bool too_long() const { return last - first > kLongestWindow; }
};

Window window(double mean, double variance, Count least, Count most) {
    const double reach = kDeviations * std::sqrt(std::max(variance, 0.0)) + 2.0;
    return {std::max(least, static_cast<Count>(std::floor(mean - reach))),
            std::min(most, static_cast<Count>(std::ceil(mean + reach)))};
}

template <class LogP> std::vector<double> probabilities(Window w, LogP log_p) {
    std::vector<double> p;
    p.reserve(static_cast<std::size_t>(w.last - w.first + 1));
    for (Count k = w.first; k <= w.last; ++k) {
        p.push_back(std::exp(log_p(static_cast<double>(k))));
    }
    return p;
}

double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

double normal_share(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> sum(a.size() + b.size() - 1, 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            sum[i + j] += a[i] * b[j];
        }
    }
    return sum;
}

} // namespace

NonZeros::NonZeros(Count first, std::vector<double> p) : first_(first), p_(std::move(p)) {
    const double all = std::accumulate(p_.begin(), p_.end(), 0.0);
    assert(!p_.empty() && all > 0.0);
    for (double& share : p_) {
        share /= all;
    }
}

NonZeros NonZeros::exactly(Count k) {
    return {k, {1.0}};
}

NonZeros NonZeros::independent(Count tile, double density) {
    if (density <= 0.0 || density >= 1.0 || tile == 0) {
        return exactly(density >= 1.0 ? tile : 0);
    }
    const auto n = static_cast<double>(tile);
    const Window w = window(n * density, n * density * (1.0 - density), 0, tile);
    if (w.too_long()) {
        return exactly(std::llround(n * density));
    }
    const double kept = std::log(density);
    const double lost = std::log1p(-density);
    return {w.first, probabilities(w, [&](double k) {
                return log_choose(n, k) + k * kept + (n - k) * lost;
            })};
}

NonZeros NonZeros::uniform(Count tensor, Count nonzeros, Count tile) {
    if (nonzeros == 0 || nonzeros == tensor || tile == 0 || tile == tensor) {
        return exactly(nonzeros == tensor ? tile : tile == tensor ? nonzeros : 0);
    }
    const auto n = static_cast<double>(tensor);
    const auto z = static_cast<double>(nonzeros);
    const auto t = static_cast<double>(tile);
    const double d = z / n;
    const Window w =
        window(t * d, t * d * (1.0 - d) * (n - t) / (n - 1.0),
               std::max<Count>(0, tile - (tensor - nonzeros)), std::min(tile, nonzeros));
    if (w.too_long()) {
        return exactly(std::llround(t * d));
    }
    const double all = log_choose(n, t);
    return {w.first, probabilities(w, [&](double k) {
                return log_choose(z, k) + log_choose(n - z, t - k) - all;
            })};
}

NonZeros NonZeros::structured(Count group, Count kept, Count tile) {
    const Count rest = tile % group;
    NonZeros part = uniform(group, kept, rest);
    part.first_ += tile / group * kept;
    return part;
}

NonZeros NonZeros::counted(const std::vector<double>& tiles_with) {
    return {0, tiles_with};
}

double NonZeros::mean() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < p_.size(); ++i) {
        sum += p_[i] * static_cast<double>(i);
    }
    return static_cast<double>(first_) + sum;
}

double NonZeros::variance() const {
    const double middle = mean() - static_cast<double>(first_);
    double sum = 0.0;
    for (std::size_t i = 0; i < p_.size(); ++i) {
        const double away = static_cast<double>(i) - middle;
        sum += p_[i] * away * away;
    }
    return sum;
}

double NonZeros::at(Count k) const {
    return k < least() || k > most() ? 0.0 : p_[static_cast<std::size_t>(k - first_)];
}

Count NonZeros::quantile(double share) const {
    double seen = 0.0;
    for (std::size_t i = 0; i < p_.size(); ++i) {
        seen += p_[i];
        if (seen >= share * (1.0 - 1e-12)) {
            return first_ + static_cast<Count>(i);
        }
    }
    return most();
}

NonZeros NonZeros::steps(Count lanes) const {
    const Count first = ceil_div(first_, lanes);
    std::vector<double> p(static_cast<std::size_t>(ceil_div(most(), lanes) - first + 1), 0.0);
    for (Count k = least(); k <= most(); ++k) {
        p[static_cast<std::size_t>(ceil_div(k, lanes) - first)] += at(k);
    }
    return {first, std::move(p)};
}

double NonZeros::slowest(Count count) const {
    // E[max] = first + sum over k of P(max > k) = first + sum (1 - F(k)^count).
    double expected = static_cast<double>(first_);
    double below = 0.0;
    for (std::size_t i = 0; i + 1 < p_.size(); ++i) {
        below += p_[i];
        expected += 1.0 - std::pow(std::min(below, 1.0), static_cast<double>(count));
    }
    return expected;
}

NonZeros NonZeros::sum_of(Count count) const {
    if (p_.size() == 1 || count == 1) {
        NonZeros same = *this;
        same.first_ *= count;
        return same;
    }
    if (static_cast<Count>(p_.size()) * count <= kLongestSum) {
        std::vector<double> sum{1.0};
        for (Count i = 0; i < count; ++i) {
            sum = convolved(sum, p_);
        }
        return {first_ * count, std::move(sum)};
    }
    const double middle = mean() * static_cast<double>(count);
    const double spread = std::sqrt(variance() * static_cast<double>(count));
    const Window w = window(middle, spread * spread, least() * count, most() * count);
    if (w.too_long()) {
        return exactly(std::llround(middle));
    }
    std::vector<double> p;
    for (Count k = w.first; k <= w.last; ++k) {
        const double x = static_cast<double>(k) - middle;
        p.push_back(normal_share((x + 0.5) / spread) - normal_share((x - 0.5) / spread));
    }
    return {w.first, std::move(p)};
}

double slowest_of_normals(Count count) {
    if (count <= 1) {
        return 0.0;
    }
    constexpr double reach = 10.0;
    constexpr int points = 4000;
    constexpr double step = 2.0 * reach / points;
    const auto n = static_cast<double>(count);
    double sum = 0.0;
    for (int i = 0; i < points; ++i) {
        const double x = -reach + (i + 0.5) * step;
        sum += x * n * normal_density(x) * std::pow(normal_share(x), n - 1.0) * step;
    }
    return sum;
}

} // namespace eyeroof::model::sparse
