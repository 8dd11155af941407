#include "model/fuse/products.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace eyeroof::model::fuse {

namespace {

std::vector<Count> divisors(Count n) {
    std::vector<Count> all;
    for (Count d = 1; d * d <= n; ++d) {
        if (n % d == 0) {
            all.push_back(d);
            if (d * d != n) {
                all.push_back(n / d);
            }
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

struct Loop {
    Count trips = 1;
    int axis = 0;
};

// Advances of the loops, outermost first, that move an operand which depends on `axes`.
template <std::size_t N> Count moves(const std::array<Loop, N>& loops, unsigned axes) {
    Count product = 1;
    bool inner_run = true;
    for (std::size_t i = N; i-- > 0;) {
        const bool relevant = (axes >> loops[i].axis & 1U) != 0;
        if (loops[i].trips == 1 || (inner_run && !relevant)) {
            continue;
        }
        inner_run = false;
        product *= loops[i].trips;
    }
    return product;
}

class Front {
  public:
    void add(Count words, Count traffic) {
        const auto [at, fresh] = least_.try_emplace(words, traffic);
        at->second = std::min(at->second, traffic);
    }
    std::vector<Point> points() const {
        std::vector<Point> front;
        for (const auto& [words, traffic] : least_) {
            if (front.empty() || traffic < front.back().traffic) {
                front.push_back({words, traffic});
            }
        }
        return front;
    }

  private:
    std::map<Count, Count> least_;
};

constexpr unsigned kM = 1, kN = 2, kK = 4;

} // namespace

std::vector<Point> front_of(const Product& p) {
    Front front;
    std::array<int, 3> order{0, 1, 2};
    const auto ms = divisors(p.m);
    const auto ns = divisors(p.n);
    const auto ks = divisors(p.k);
    for (const Count m : ms) {
        for (const Count n : ns) {
            for (const Count k : ks) {
                const std::array<Count, 3> trips{p.m / m, p.n / n, p.k / k};
                Count least = 0;
                do {
                    std::array<Loop, 3> loops;
                    for (std::size_t i = 0; i < 3; ++i) {
                        loops[i] = {trips[static_cast<std::size_t>(order[i])], order[i]};
                    }
                    const Count updates = m * n * moves(loops, kM | kN);
                    const Count traffic = m * k * moves(loops, kM | kK) +
                                          k * n * moves(loops, kN | kK) + 2 * updates - p.m * p.n;
                    least = least == 0 ? traffic : std::min(least, traffic);
                } while (std::next_permutation(order.begin(), order.end()));
                front.add(m * k + k * n + m * n, least);
            }
        }
    }
    return front.points();
}

std::vector<Point> front_of(const Pair& p) {
    Front front;
    const auto ms = divisors(p.m);
    const auto ls = divisors(p.l);
    for (const Count m : ms) {
        for (const Count l : ls) {
            const Loop over_m{p.m / m, 0};
            const Loop over_l{p.l / l, 1};
            const Count steps = over_m.trips * over_l.trips;
            for (const bool m_outside : {true, false}) {
                const std::array<Loop, 2> loops =
                    m_outside ? std::array{over_m, over_l} : std::array{over_l, over_m};
                const Count by_m = moves(loops, 1);
                const Count by_l = moves(loops, 2);
                for (unsigned held = 0; held < 16; ++held) {
                    const bool a = held & 1U, b = held & 2U, d = held & 4U, e = held & 8U;
                    const Count slabs = (a ? m * p.k : 0) + (b ? p.k * l : 0) + (d ? l * p.n : 0) +
                                        (e ? m * p.n : 0);
                    // Tiles of one word along k and n are enough for what streams.
                    const Count first = (a ? 0 : m) + (b ? 0 : l);
                    const Count second = (d ? 0 : l) + (e ? 0 : m);
                    const Count updates = m * p.n * (e ? by_m : steps);
                    const Count traffic = m * p.k * (a ? by_m : steps) +
                                          p.k * l * (b ? by_l : steps) +
                                          l * p.n * (d ? by_l : steps) + 2 * updates - p.m * p.n;
                    front.add(m * l + slabs + std::max(first, second), traffic);
                }
            }
        }
    }
    return front.points();
}

std::optional<Count> least_traffic(const std::vector<Point>& front, Count words) {
    std::optional<Count> least;
    for (const Point& point : front) {
        if (point.words <= words) {
            least = point.traffic;
        }
    }
    return least;
}

} // namespace eyeroof::model::fuse
