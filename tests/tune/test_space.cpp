// Spaces: numbered points, rules, exact counts.
#include "analysis/trials/cpu_task.hpp"
#include "formats/catalog.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <set>

namespace test_tune_space {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using tests::near;

namespace {

Space small_space() { // a * b <= 6 leaves 1x{1,2,3,6} 2x{1,2,3} 3x{1,2} 4x1
    return {{{"a", {1, 2, 3, 4}}, {"b", {1, 2, 3, 6}}, {"c", {0, 1, 2}}},
            {{"product", {0, 1}, [](std::span<const Count> v) { return v[0] * v[1] <= 6; }}}};
}

std::vector<Workload> twelve() {
    const auto network = formats::load_network(
        "resnet18-c1-c12", {std::string(tests::source_dir()) + "/examples/networks"});
    REQUIRE(network);
    const auto all = workloads_of(*network);
    REQUIRE(all);
    return *all;
}

} // namespace

TEST_CASE("a space counts its valid points exactly without listing what no rule joins") {
    const Space space = small_space();
    CHECK(space.size() == 48);
    CHECK(space.valid_size() == 10 * 3);
    Count listed = 0;
    for (Count index = 0; index < space.size(); ++index) {
        listed += space.valid(space.at(index)) ? 1 : 0;
        CHECK(space.index_of(space.at(index)) == index);
    }
    CHECK(listed == 30);
}

TEST_CASE("drawn points and neighbours are valid, and neighbours differ in one knob") {
    const Space space = small_space();
    Rng rng(7);
    std::set<Count> seen;
    for (int n = 0; n < 600; ++n) {
        const auto point = space.draw(rng);
        REQUIRE(point);
        CHECK(space.valid(*point));
        seen.insert(space.index_of(*point));
        const Point next = space.neighbour(*point, rng);
        CHECK(space.valid(next));
        int differ = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            differ += next.digit[k] != point->digit[k] ? 1 : 0;
        }
        CHECK(differ == 1);
    }
    CHECK(seen.size() == 30); // all of them
}

TEST_CASE("the twelve workloads have the published MACs") {
    const std::vector<Count> macs = {118'013'952, 115'605'504, 12'845'056, 57'802'752,
                                     6'422'528,   115'605'504, 57'802'752, 6'422'528,
                                     115'605'504, 57'802'752,  6'422'528,  115'605'504};
    const auto all = twelve();
    REQUIRE(all.size() == 12);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i].macs() == macs[i]);
        CHECK(all[i].convolution);
    }
}

TEST_CASE("every one of the twelve has at least a million valid programs, on narrow vectors too") {
    CpuMachine wide;
    wide.lanes = 16;
    wide.registers = 32;
    const CpuMachine narrow; // 8 lanes, 16 registers
    for (const Workload& work : twelve()) {
        const auto on_wide = cpu_space(work, wide).valid_size();
        const auto on_narrow = cpu_space(work, narrow).valid_size();
        REQUIRE(on_wide);
        REQUIRE(on_narrow);
        CHECK_MESSAGE(*on_wide >= 1'000'000, work.name);
        CHECK_MESSAGE(*on_narrow >= 1'000'000, work.name);
    }
}

TEST_CASE("a tile that registers cannot hold is no point of the space") {
    CpuMachine machine;
    machine.registers = 16; // 6 x 2 + 2 + 1 = 15 fit, 7 x 2 + 2 + 1 do not
    Workload work;
    work.rows = work.cols = work.depth = 512;
    const Space space = cpu_space(work, machine);
    Point point;
    point.digit[1] = 1;
    point.digit[3] = 5;
    point.digit[4] = 5;
    point.digit[0] = 5;
    CHECK(space.valid(point));
    point.digit[0] = 6;
    REQUIRE(space.broken(point) != nullptr);
    CHECK(space.broken(point)->name == "registers");
}

TEST_CASE("the chain of a candidate by hand: a tile of two by one vectors cannot hide latency") {
    // 64 x 64 x 64, 8 lanes, 2 pipes, latency 4: B3 = 16 MAC/cycle, 2 of 8 needed accumulators
    CpuMachine machine;
    Workload work;
    work.rows = work.cols = work.depth = 64;
    CpuPlan plan;
    plan.tile_rows = 2;
    plan.tile_vectors = 1;
    plan.length = 8;
    plan.block_rows = plan.block_cols = plan.block_depth = 64;
    const CpuChain chain = cpu_chain(work, plan, machine);
    CHECK(chain.bound[0] == near(262144.0));
    CHECK(chain.bound[1] == near(4096.0));
    CHECK(chain.bound[2] == near(16.0));
    CHECK(chain.bound[3] == near(16.0)); // all divides
    CHECK(chain.bound[4] == near(4.0));
    CHECK(chain.load_cycles == near(262144.0 / 16 * 3 / 2)); // 3 loads for 2 vectors of MACs
    CHECK(chain.limiter == 4);
}

TEST_CASE("no bound of a candidate is above the one before it") {
    const CpuMachine machine;
    Rng rng(3);
    for (const Workload& work : twelve()) {
        const Space space = cpu_space(work, machine, 4);
        for (int n = 0; n < 300; ++n) {
            const CpuChain chain = cpu_chain(work, cpu_plan(space, *space.draw(rng)), machine);
            for (std::size_t step = 1; step < 7; ++step) {
                CHECK(chain.bound[step] <= chain.bound[step - 1] * (1 + 1e-12));
            }
            CHECK(chain.bound[6] > 0.0);
            CHECK(chain.limiter >= 3);
        }
    }
}

} // namespace test_tune_space
