// What limits a layer: the three answers by hand, and that the shares add up whatever the pace.
#include "model/eyexam/limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace test_model_limits {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;

namespace {

// 100 units, 1000 MACs: 10 cycles at work.
Chain chain_of(const std::array<double, kSteps>& bounds) {
    Chain chain;
    for (std::size_t i = 0; i < kSteps; ++i) {
        chain[i].macs_per_cycle = bounds[i];
    }
    return chain;
}

double whole(const Limits& limits) {
    return std::accumulate(limits.share.begin(), limits.share.end(), limits.at_work);
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({1e-300, std::abs(a), std::abs(b)});
}

} // namespace

TEST_CASE("a layer at a bandwidth's roof is limited by it, however many units idle before") {
    // Step 4 leaves 20 of 100 units: 50 cycles; the memory needs 200.
    const NestCycles nest =
        nest_cycles_of(chain_of({1000, 1000, 100, 20, 20, 5, 5}), 100.0, 1000.0, 200.0);
    CHECK(near(nest.at_work, 10.0));
    CHECK(near(nest.factors[3], 5.0));
    CHECK(near(nest.moving, 200.0));
    CHECK(nest.added == 0.0);
    const Limits limits = limits_of({nest});
    CHECK(limits.binding == 6);
    CHECK(!limits.arithmetic);
    CHECK(near(limits.without[5], 50.0));  // without the memory the units' wall stands
    CHECK(near(limits.without[3], 200.0)); // without step 4 the memory still does
    CHECK(limits.saves_most() == 6);
    // Step 4 comes before step 6 in half of the orders and adds 40, else nothing; step 6 adds 150
    // after it and 190 before.
    CHECK(near(limits.share[3], 20.0));
    CHECK(near(limits.share[5], 170.0));
    CHECK(near(whole(limits), 200.0));
}

TEST_CASE("of equal cycles at the units and at the memory, the units bind") {
    const NestCycles units =
        nest_cycles_of(chain_of({1000, 1000, 100, 100, 100, 100, 100}), 100.0, 1000.0, 0.0);
    const auto with = [&](double work, double at_six) {
        return limits_of(
            {units, nest_cycles_of(chain_of({1000, 1000, 100, 100, 100, at_six, at_six}), 100.0,
                                   work, work / at_six)});
    };
    CHECK(with(500.0, 50.0).binding == 3); // 10 cycles at either
    CHECK(with(500.0, 49.0).binding == 6);
}

TEST_CASE("the units' own wall is arithmetic where they are busy, else the step that idles most") {
    // 80 of 100 units, a memory that would need 11 of the 12.5 cycles.
    const Limits busy = limits_of(
        {nest_cycles_of(chain_of({1000, 1000, 100, 80, 80, 80, 80}), 100.0, 1000.0, 11.0)});
    CHECK(busy.binding == 3);
    CHECK(busy.arithmetic);
    CHECK(near(busy.without[3], 11.0)); // then the memory is the wall
    CHECK(near(busy.without[5], 12.5));
    const Limits idle = limits_of(
        {nest_cycles_of(chain_of({1000, 1000, 100, 50, 20, 20, 20}), 100.0, 1000.0, 0.0)});
    CHECK(idle.binding == 5);
    CHECK(!idle.arithmetic);
    CHECK(near(idle.without[4], 20.0));
}

TEST_CASE("what is added on top binds where it is longer than either wall") {
    const Limits late = limits_of(
        {nest_cycles_of(chain_of({1000, 1000, 100, 100, 100, 100, 25}), 100.0, 1000.0, 5.0)});
    CHECK(late.binding == 7);
    CHECK(near(late.without[6], 10.0));
    CHECK(near(late.share[6], 30.0));
    CHECK(near(whole(late), 40.0));
}

TEST_CASE("a full machine loses nothing, and no step alone would save anything") {
    const Limits full = limits_of(
        {nest_cycles_of(chain_of({1000, 1000, 100, 100, 100, 100, 100}), 100.0, 1000.0, 10.0)});
    CHECK(full.binding == 3);
    CHECK(full.arithmetic);
    CHECK(full.saves_most() == 0);
    CHECK(near(full.at_work, 10.0));
}

TEST_CASE("nests run one after the other: their times add, and the longer wall binds") {
    const NestCycles memory =
        nest_cycles_of(chain_of({1000, 1000, 100, 50, 50, 5, 5}), 100.0, 1000.0, 200.0);
    const NestCycles units =
        nest_cycles_of(chain_of({1000, 1000, 100, 90, 90, 90, 90}), 100.0, 1000.0, 1.0);
    const Limits both = limits_of({memory, units});
    CHECK(both.binding == 6);
    CHECK(near(whole(both), 200.0 + 1000.0 / 90.0));
    CHECK(near(both.without[5], 20.0 + 1000.0 / 90.0));
}

TEST_CASE("shares add up to the time and no counterfactual exceeds it, over ten thousand paces") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> exponent(-3.0, 3.0);
    for (int i = 0; i < 10000; ++i) {
        NestCycles nest;
        nest.at_work = std::pow(10.0, exponent(random));
        for (double& factor : nest.factors) {
            factor = 1.0 + std::pow(10.0, exponent(random));
        }
        nest.moving = std::pow(10.0, 2.0 * exponent(random));
        nest.added = std::pow(10.0, exponent(random));
        double wall = nest.at_work;
        for (const double factor : nest.factors) {
            wall *= factor;
        }
        const double time = std::max(wall, nest.moving) + nest.added;
        const Limits limits = limits_of({nest});
        REQUIRE(std::abs(whole(limits) - time) <= 1e-9 * time);
        for (std::size_t k = 0; k < kSteps; ++k) {
            REQUIRE(limits.share[k] >= -1e-9 * time);
            REQUIRE(limits.without[k] <= time * (1.0 + 1e-9));
        }
    }
}

} // namespace test_model_limits
