#include "analysis/scale/split.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace eyeroof::analysis {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

ChainSplit split_chain(const std::vector<double>& layer_s, const std::vector<double>& cut_s,
                       std::size_t stages) {
    const std::size_t n = layer_s.size();
    stages = std::min(std::max<std::size_t>(stages, 1), n);
    std::vector<double> sum(n + 1, 0.0);
    std::partial_sum(layer_s.begin(), layer_s.end(), sum.begin() + 1);
    std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, kInfinity));
    std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(n + 1, 0));
    best[0][0] = 0.0;
    for (std::size_t q = 1; q <= stages; ++q) {
        for (std::size_t i = q; i <= n; ++i) {
            for (std::size_t j = q - 1; j < i; ++j) {
                const double received = j > 0 && j - 1 < cut_s.size() ? cut_s[j - 1] : 0.0;
                const double slowest = std::max(best[q - 1][j], sum[i] - sum[j] + received);
                if (slowest < best[q][i]) {
                    best[q][i] = slowest;
                    from[q][i] = j;
                }
            }
        }
    }
    ChainSplit split{std::vector<std::size_t>(stages), n == 0 ? 0.0 : best[stages][n]};
    for (std::size_t q = stages, i = n; q > 0; --q) {
        i = from[q][i];
        split.first[q - 1] = i;
    }
    return split;
}

ChainChoice choose_chain(const std::vector<std::vector<double>>& cost,
                         const std::vector<std::vector<std::vector<double>>>& change) {
    const std::size_t n = cost.size();
    ChainChoice choice{std::vector<std::size_t>(n), 0.0};
    if (n == 0) {
        return choice;
    }
    std::vector<std::vector<double>> best = {cost[0]};
    std::vector<std::vector<std::size_t>> from(n);
    for (std::size_t l = 1; l < n; ++l) {
        best.emplace_back(cost[l].size(), kInfinity);
        from[l].resize(cost[l].size());
        for (std::size_t b = 0; b < cost[l].size(); ++b) {
            for (std::size_t a = 0; a < cost[l - 1].size(); ++a) {
                const double total = best[l - 1][a] + change[l][a][b] + cost[l][b];
                if (total < best[l][b]) {
                    best[l][b] = total;
                    from[l][b] = a;
                }
            }
        }
    }
    const auto last = std::min_element(best[n - 1].begin(), best[n - 1].end());
    choice.cost = *last;
    choice.way[n - 1] = static_cast<std::size_t>(last - best[n - 1].begin());
    for (std::size_t l = n - 1; l > 0; --l) {
        choice.way[l - 1] = from[l][choice.way[l]];
    }
    return choice;
}

} // namespace eyeroof::analysis
