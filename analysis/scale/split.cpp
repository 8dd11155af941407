#include "analysis/scale/split.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::analysis {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

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
