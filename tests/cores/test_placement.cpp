// Layers on cores of several kinds: placements against all that there are, and what none can beat.
#include "model/cores/pipeline.hpp"
#include "model/cores/placement.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace test_cores_placement {

using namespace eyeroof::model::cores;
using eyeroof::tests::near;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Draw {
  public:
    explicit Draw(unsigned seed) : random_(seed) {}
    int operator()(int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random_);
    }

  private:
    std::mt19937_64 random_;
};

struct Case {
    HeterogeneousCores cores;
    std::vector<PlacedLayer> layers;
};

Case drawn(Draw& draw, int most_layers, std::size_t parts) {
    Case c;
    const int kinds = draw(1, 3);
    for (int k = 0; k < kinds; ++k) {
        c.cores.counts.push_back(static_cast<std::size_t>(draw(1, 2)));
    }
    c.cores.link_bytes_per_s = draw(0, 1) * 4.0;
    c.cores.link_s = draw(0, 2) * 0.5;
    c.cores.outer_bytes_per_s = draw(0, 1) * 4.0;
    for (int n = draw(1, most_layers); n > 0; --n) {
        PlacedLayer layer;
        layer.bytes_out = draw(0, 40);
        for (int k = 0; k < kinds; ++k) {
            const bool runs = k == 0 || draw(0, 9) > 0;
            layer.whole.push_back({runs ? draw(1, 40) : kNever, static_cast<double>(draw(0, 60))});
            layer.parts.emplace_back();
            for (std::size_t p = 0; p < parts; ++p) {
                layer.parts.back().push_back(
                    {runs ? draw(1, 40) : kNever, static_cast<double>(draw(0, 60))});
            }
        }
        if (draw(0, 4) == 0) {
            layer.parts.clear();
        }
        c.layers.push_back(layer);
    }
    return c;
}

std::vector<std::size_t> kinds_of(const HeterogeneousCores& cores) {
    std::vector<std::size_t> kinds;
    for (std::size_t k = 0; k < cores.counts.size(); ++k) {
        kinds.insert(kinds.end(), cores.counts[k], k);
    }
    return kinds;
}

double over(double bytes, double rate) {
    return rate > 0.0 ? bytes / rate : 0.0;
}

// Every layer on every core: least interval, then least latency. Written from the definition.
std::pair<double, double> pipelined_by_hand(const Case& c) {
    const auto kinds = kinds_of(c.cores);
    std::pair<double, double> best{kNever, kNever};
    std::vector<std::size_t> on(c.layers.size(), 0);
    const std::function<void(std::size_t)> walk = [&](std::size_t l) {
        if (l < c.layers.size()) {
            for (on[l] = 0; on[l] < kinds.size(); ++on[l]) {
                walk(l + 1);
            }
            return;
        }
        std::vector<double> load(kinds.size(), 0.0);
        double memory = 0.0, link = 0.0, latency = 0.0;
        for (std::size_t i = 0; i < on.size(); ++i) {
            const OnKind& here = c.layers[i].whole[kinds[on[i]]];
            const double outer = over(here.outer_bytes, c.cores.outer_bytes_per_s);
            load[on[i]] += std::max(here.seconds, outer);
            latency += std::max(here.seconds, outer);
            memory += outer;
            if (i + 1 < on.size() && on[i] != on[i + 1]) {
                link += over(c.layers[i].bytes_out, c.cores.link_bytes_per_s);
                latency += over(c.layers[i].bytes_out, c.cores.link_bytes_per_s) + c.cores.link_s;
            }
        }
        const double interval =
            std::max({*std::max_element(load.begin(), load.end()), memory, link});
        best = std::min(best, std::pair(interval, std::max(latency, memory)));
    };
    walk(0);
    return best;
}

// All ways to deal out a layer's parts.
double spread_by_hand(const PlacedLayer& layer, const HeterogeneousCores& cores) {
    const auto kinds = kinds_of(cores);
    double best = kNever;
    const std::function<void(std::size_t, std::size_t, double, double)> walk =
        [&](std::size_t core, std::size_t left, double slowest, double bytes) {
            if (core == kinds.size()) {
                best = left == 0
                           ? std::min(best, std::max(slowest, over(bytes, cores.outer_bytes_per_s)))
                           : best;
                return;
            }
            walk(core + 1, left, slowest, bytes);
            for (std::size_t n = 1; n <= left; ++n) {
                const OnKind& part = layer.parts[kinds[core]][n - 1];
                walk(core + 1, left - n, std::max(slowest, part.seconds), bytes + part.outer_bytes);
            }
        };
    if (!layer.parts.empty()) {
        walk(0, layer.parts.front().size(), 0.0, 0.0);
    }
    return best;
}

// All choices of one core or many for each layer.
double parallel_by_hand(const Case& c) {
    const std::size_t kinds = c.cores.counts.size();
    double best = kNever;
    const std::function<void(std::size_t, std::size_t, double)> walk = [&](std::size_t l,
                                                                           std::size_t before,
                                                                           double seconds) {
        if (l == c.layers.size()) {
            best = std::min(best, seconds);
            return;
        }
        for (std::size_t s = 0; s <= kinds; ++s) {
            double own = 0.0;
            if (s == kinds) {
                own = spread_by_hand(c.layers[l], c.cores);
            } else {
                const OnKind& on = c.layers[l].whole[s];
                own = std::max(on.seconds, over(on.outer_bytes, c.cores.outer_bytes_per_s));
            }
            if (l > 0 && (s != before || s == kinds)) {
                own += c.cores.link_s + over(c.layers[l - 1].bytes_out, c.cores.link_bytes_per_s);
            }
            walk(l + 1, s, seconds + own);
        }
    };
    walk(0, kinds, 0.0);
    return best;
}

} // namespace

TEST_CASE("pipelines over unequal cores equal all placements of 200 random small networks") {
    Draw draw(20);
    for (int i = 0; i < 200; ++i) {
        const Case c = drawn(draw, 6, 1);
        const auto found = place_pipelined(c.layers, c.cores, 10'000'000);
        const auto [interval, latency] = pipelined_by_hand(c);
        CAPTURE(i);
        REQUIRE(found);
        CHECK(found->proved);
        CHECK(found->interval_s == near(interval, 1e-9));
        CHECK(found->latency_s == near(latency, 1e-9));
        CHECK(found->bound_s == found->interval_s);
    }
}

TEST_CASE("parts on unequal cores equal all ways to deal them out in 200 random small networks") {
    Draw draw(21);
    for (int i = 0; i < 200; ++i) {
        const Case c = drawn(draw, 4, 4);
        const auto found = place_parallel(c.layers, c.cores);
        CAPTURE(i);
        REQUIRE(found);
        CHECK(found->latency_s == near(parallel_by_hand(c), 1e-9));
        double sum = 0.0;
        for (const ParallelLayer& layer : found->layers) {
            sum += layer.seconds + layer.crossing_s;
        }
        CHECK(sum == near(found->latency_s, 1e-9));
    }
}

TEST_CASE("a search that was cut short says a bound that the proved interval keeps") {
    Draw draw(22);
    int open = 0;
    for (int i = 0; i < 60; ++i) {
        const Case c = drawn(draw, 8, 1);
        const auto cut = place_pipelined(c.layers, c.cores, 3);
        const auto whole = place_pipelined(c.layers, c.cores, 10'000'000);
        REQUIRE(cut);
        REQUIRE(whole);
        CAPTURE(i);
        REQUIRE(whole->proved);
        CHECK(cut->bound_s <= whole->interval_s * (1.0 + 1e-9));
        CHECK(cut->interval_s >= whole->interval_s * (1.0 - 1e-9));
        CHECK(cut->gap() >= -1e-9);
        CHECK(cut->core_of.size() == c.layers.size());
        open += cut->proved ? 0 : 1;
    }
    CHECK(open > 10);
}

TEST_CASE("cores of one kind with free links are the pipeline of equal cores, or better") {
    Draw draw(23);
    for (int i = 0; i < 50; ++i) {
        HeterogeneousCores cores{{3}, 0.0, 0.0, 0.0};
        Package equal{{1}, 3, 0.0, 0.0, 0.0};
        std::vector<PlacedLayer> layers;
        std::vector<LayerTimes> times;
        for (int n = draw(1, 6); n > 0; --n) {
            const double seconds = draw(1, 30);
            layers.push_back({{{seconds, 0.0}}, {}, 0.0});
            times.push_back({{seconds}, 0.0, 0.0});
        }
        const auto placed = place_pipelined(layers, cores, 1'000'000);
        const auto neighbours = pipelined(times, equal);
        REQUIRE(placed);
        REQUIRE(neighbours);
        CHECK(placed->interval_s <= neighbours->interval_s); // layers need not be neighbours
        CHECK(place_parallel(layers, cores)->latency_s ==
              near(parallel(times, equal).latency_s, 1e-12));
    }
}

TEST_CASE("a fast and a slow core share a layer as their speeds are") {
    // Four parts: three on the core that is three times as fast.
    const PlacedLayer layer{{{4.0, 0.0}, {12.0, 0.0}},
                            {{{1.0, 0.0}, {2.0, 0.0}, {3.0, 0.0}, {4.0, 0.0}},
                             {{3.0, 0.0}, {6.0, 0.0}, {9.0, 0.0}, {12.0, 0.0}}},
                            0.0};
    const auto placed = place_parallel({layer}, {{1, 1}, 0.0, 0.0, 0.0});
    REQUIRE(placed);
    CHECK(placed->latency_s == 3.0);
    CHECK(placed->layers[0].parts == std::vector<std::size_t>{3, 1});
}

TEST_CASE("a layer that runs on no kind of core has no placement") {
    const std::vector<PlacedLayer> layers{{{{kNever, 0.0}}, {}, 0.0}};
    CHECK(!place_pipelined(layers, {{2}, 0.0, 0.0, 0.0}, 100));
    CHECK(!place_parallel(layers, {{2}, 0.0, 0.0, 0.0}));
}

} // namespace test_cores_placement
