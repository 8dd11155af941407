#include "model/cost/leakage.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_leakage {

using namespace eyeroof; // NOLINT(google-build-using-namespace)
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

// DRAM that leaks 5 pJ, a buffer 3 pJ, above 4 x 2 units that leak 0.5 pJ in each cycle.
Accelerator leaking() {
    Accelerator a;
    a.clock_hz = 1e9;
    a.levels = {level("DRAM", {store(kAll, 0, 4, 4, 100.0)}),
                level("buffer", {store(kAll, 64, 4, 4, 1.0)}, {{"x", 4}, {"y", 2}})};
    a.levels[0].stores[0].leak_pj = 5.0;
    a.levels[1].stores[0].leak_pj = 3.0;
    a.mac_leak_pj = 0.5;
    return a;
}

// Over three of the eight units.
Mapping over_three() {
    Mapping mapping;
    mapping.levels.resize(2);
    mapping.levels[1].spatial = {{Dim::K, 3, 0}};
    return mapping;
}

} // namespace

TEST_CASE("all instances leak in every cycle, those without work too") {
    const Accelerator a = leaking();
    CHECK(leaks(a));
    CHECK(leak_pj_per_cycle(a, over_three()) == near(5.0 + 3.0 + 8 * 0.5));
    CHECK(least_leak_pj_per_cycle(a) == near(12.0));
    MappingCost cost;
    cost.energy_pj = 1000.0;
    add_leakage(a, over_three(), 10.0, cost);
    CHECK(cost.leakage_pj == near(120.0));
    CHECK(cost.energy_pj == near(1120.0));
}

TEST_CASE("where idle instances are cut off from power, those at work leak") {
    Accelerator a = leaking();
    a.gates_idle = true;
    CHECK(leak_pj_per_cycle(a, over_three()) == near(5.0 + 3.0 + 3 * 0.5));
    CHECK(least_leak_pj_per_cycle(a) == near(8.5)); // of any mapping: one unit
    CHECK_FALSE(leaks(Accelerator{}));
}

} // namespace test_model_leakage
