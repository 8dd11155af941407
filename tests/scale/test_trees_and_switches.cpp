// Double binary trees and reduction in the switch against messages simulated one by one.
#include "analysis/scale/collectives.hpp"
#include "tests/scale/simulate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace test_scale_trees_and_switches {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::tests;

namespace {

class Draw {
  public:
    explicit Draw(unsigned seed) : random_(seed) {}
    std::size_t below(unsigned n) { return static_cast<std::size_t>(random_() % n); }
    double spread(double low, double high) {
        return low * std::pow(high / low, static_cast<double>(random_()) / 4294967295.0);
    }

  private:
    std::mt19937 random_;
};

CollectiveTime closed(const SimSystem& system, Algorithm algorithm, double bytes) {
    const model::Fabric fabric = fabric_of(system);
    const auto n = static_cast<Count>(system.members());
    const auto time = collective_time(fabric, place_group(fabric, n, 1, n), Collective::all_reduce,
                                      bytes, algorithm, 0);
    REQUIRE(time);
    return *time;
}

SimSystem random_system(Draw& draw) {
    SimSystem system;
    system.inside = 4 + draw.below(13);
    system.inner_bytes_per_s = draw.spread(1e9, 4e11);
    system.inner_latency_s = draw.spread(1e-7, 3e-5);
    return system;
}

void split_in_units(SimSystem& system, Draw& draw) {
    system.inside = 2 + draw.below(4);
    system.outside = 2 + draw.below(4);
    system.outer_bytes_per_s = system.inner_bytes_per_s / draw.spread(1.0, 20.0);
    system.outer_latency_s = system.inner_latency_s * draw.spread(1.0, 20.0);
}

void check_links(const SimResult& simulated, const CollectiveTime& formula, std::size_t levels) {
    CHECK(simulated.most_loaded <= 1.0 + 1e-9);
    for (std::size_t l = 0; l < levels; ++l) {
        CHECK(std::abs(formula.level_bytes[l] / simulated.level_bytes[l] - 1.0) < 1e-9);
    }
}

} // namespace

TEST_CASE("a switch that adds up takes what packets through it take, on 100 random systems") {
    Draw draw(23);
    double worst = 0.0;
    for (int i = 0; i < 100; ++i) {
        SimSystem system = random_system(draw);
        if (draw.below(2) == 0) {
            split_in_units(system, draw);
        }
        system.reduces = true;
        system.reduced_base_s = draw.spread(1e-7, 3e-5);
        const double bytes = draw.spread(1e4, 1e8);
        const SimResult simulated =
            simulate(system, Collective::all_reduce, Algorithm::in_switch, bytes);
        const CollectiveTime formula = closed(system, Algorithm::in_switch, bytes);
        CAPTURE(system.inside);
        CAPTURE(system.outside);
        const double difference = std::abs(formula.time_s() / simulated.time_s - 1.0);
        CHECK(difference <= 0.02);
        worst = std::max(worst, difference);
        check_links(simulated, formula, system.outside == 1 ? 1 : 2);
    }
    MESSAGE("worst difference ", worst);
}

// Ports serve what comes first, so that they lose a little to one another.
TEST_CASE("two trees bound by bandwidth take what their pieces take, within 8 %, 2 % on average") {
    Draw draw(29);
    double worst = 0.0;
    double sum = 0.0;
    constexpr int cases = 60;
    for (int i = 0; i < cases; ++i) {
        SimSystem system = random_system(draw);
        system.chunk_bytes = draw.spread(3e4, 6e5);
        const double busy = system.chunk_bytes / system.inner_bytes_per_s;
        system.inner_latency_s = busy * draw.spread(0.01, 0.3);
        system.overhead_s = busy * draw.spread(0.01, 0.5);
        const double bytes = 2.0 * system.chunk_bytes * draw.spread(30.0, 120.0);
        const SimResult simulated =
            simulate(system, Collective::all_reduce, Algorithm::double_tree, bytes);
        const CollectiveTime formula = closed(system, Algorithm::double_tree, bytes);
        CAPTURE(system.inside);
        const double difference = std::abs(formula.time_s() / simulated.time_s - 1.0);
        CHECK(difference <= 0.08);
        worst = std::max(worst, difference);
        sum += difference;
        check_links(simulated, formula, 1);
    }
    CHECK(sum / cases <= 0.02);
    MESSAGE("worst difference ", worst, ", mean ", sum / cases);
}

TEST_CASE("two trees bound by latency go up and down once, within 2 %, on 60 random systems") {
    Draw draw(31);
    for (int i = 0; i < 60; ++i) {
        SimSystem system = random_system(draw);
        const double bytes = draw.spread(100.0, 1e5); // one piece in each tree
        system.inner_latency_s = bytes / system.inner_bytes_per_s * draw.spread(60.0, 600.0);
        const SimResult simulated =
            simulate(system, Collective::all_reduce, Algorithm::double_tree, bytes);
        const CollectiveTime formula = closed(system, Algorithm::double_tree, bytes);
        CAPTURE(system.inside);
        CHECK(std::abs(formula.time_s() / simulated.time_s - 1.0) <= 0.02);
        check_links(simulated, formula, 1);
    }
}

TEST_CASE("between the two, in a few pieces on their way at once, trees are within 40 %") {
    Draw draw(37);
    double worst = 0.0;
    for (int i = 0; i < 60; ++i) {
        SimSystem system = random_system(draw);
        system.chunk_bytes = draw.spread(3e4, 6e5);
        const double busy = system.chunk_bytes / system.inner_bytes_per_s;
        system.inner_latency_s = busy * draw.spread(0.01, 30.0);
        const double bytes = 2.0 * system.chunk_bytes * draw.spread(1.0, 30.0);
        const double formula = closed(system, Algorithm::double_tree, bytes).time_s();
        const double simulated =
            simulate(system, Collective::all_reduce, Algorithm::double_tree, bytes).time_s;
        CAPTURE(system.inside);
        const double difference = std::abs(formula / simulated - 1.0);
        CHECK(difference <= 0.4);
        worst = std::max(worst, difference);
    }
    MESSAGE("worst difference ", worst);
}

} // namespace test_scale_trees_and_switches
