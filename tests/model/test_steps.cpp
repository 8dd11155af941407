// The steps of the chain, each by itself and worked out by hand.
#include "model/eyexam/steps.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_steps {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;
using test::kAll;

namespace {

constexpr StepBound kFree{1e9, "", ""};

// 128 MACs: 32 inputs, 16 weights and 32 outputs of 16 bits.
Problem small() {
    return test::conv("small", {1, 1, 8, 1, 4, 4, 1});
}

Accelerator memory_alone(double read, double write) {
    Accelerator a;
    a.levels = {test::level("memory", {test::store(kAll, 0, read, write, 0)}),
                test::level("unit", {test::store(kAll, 0, 1e9, 1e9, 0)})};
    return a;
}

Channel bus(double down, double up) {
    Channel c;
    c.name = "bus";
    c.operands = kAll;
    c.down_bytes_per_cycle = down;
    c.up_bytes_per_cycle = up;
    return c;
}

// 13 filters over axes of 4 x 4, each weight in a buffer that holds so many words.
StepBound thirteen_filters(Count words, bool may_bypass) {
    const Problem problem = test::conv("filters", {1, 1, 1, 1, 1, 13, 1});
    Accelerator a;
    Store weights = test::store({Operand::weight}, words, 1e9, 1e9, 0);
    weights.may_bypass = may_bypass;
    a.levels = {test::level("buffer",
                            {weights, test::store({Operand::input, Operand::output}, 0, 1, 1, 0)},
                            {{"x", 4}, {"y", 4}}),
                test::level("unit", {test::store(kAll, 0, 1e9, 1e9, 0)})};
    const std::vector<FitAxis> axes = {{0, 0, "x", 4, {Dim::K}}, {0, 1, "y", 4, {Dim::K}}};
    Extents four = kOnes;
    four[index(Dim::K)] = 4;
    return eyexam::storage(problem, a, axes, {}, {{four, four}, 13.0, 16, true});
}

} // namespace

TEST_CASE("step 3: 300 MACs at a time on 256 units take two passes, 150 in each") {
    CHECK(eyexam::units({300.0, "", ""}, 256).macs_per_cycle == near(150.0));
    CHECK(eyexam::units({512.0, "", ""}, 256).macs_per_cycle == near(256.0));
    CHECK(eyexam::units({100.0, "", ""}, 256).macs_per_cycle == near(100.0));
    CHECK(eyexam::units({100.0, "", ""}, 256).limit == "too little parallel work");
}

TEST_CASE(
    "step 5: a tile is no larger than the layer, and a store that may be passed by never fills") {
    CHECK(thirteen_filters(13, false).limit == "nothing"); // though 4 x 4 would take 16
    CHECK(thirteen_filters(12, false).limit == "buffer");
    CHECK(thirteen_filters(12, false).macs_per_cycle < 13.0);
    CHECK(thirteen_filters(12, true).limit == "nothing");
}

TEST_CASE("step 6: every word leaves its home once, and every result enters it") {
    const Problem problem = small();
    const auto read = eyexam::average_bandwidth(problem, memory_alone(1, 1e9), kFree);
    CHECK(read.macs_per_cycle == near(128.0 / 48.0)); // inputs and weights, a word a cycle
    CHECK(read.limit == "memory read");
    const auto write = eyexam::average_bandwidth(problem, memory_alone(1e9, 1), kFree);
    CHECK(write.macs_per_cycle == near(128.0 / 32.0));
    CHECK(write.limit == "memory write");
}

TEST_CASE("step 6: what a level keeps between layers need not come from further out") {
    Accelerator a = memory_alone(1, 1);
    a.levels.insert(a.levels.begin() + 1,
                    test::level("buffer", {test::store(kAll, 0, 1e9, 1e9, 0)}));
    CHECK(eyexam::average_bandwidth(small(), a, kFree).macs_per_cycle == near(128.0 / 48.0));
    a.levels[1].keeps_between_layers = true;
    const auto weights = eyexam::average_bandwidth(small(), a, kFree);
    CHECK(weights.macs_per_cycle == near(128.0 / 16.0)); // weights are read again for every layer
    CHECK(weights.limit == "memory read");
}

TEST_CASE("step 6: directions of a network add up where they share it") {
    Accelerator a = memory_alone(1e9, 1e9);
    a.levels[0].channels = {bus(2, 2)};
    CHECK(eyexam::average_bandwidth(small(), a, kFree).macs_per_cycle == near(128.0 / 48.0));
    a.levels[0].channels.front().half_duplex = true;
    const auto both = eyexam::average_bandwidth(small(), a, kFree);
    CHECK(both.macs_per_cycle == near(128.0 / 80.0));
    CHECK(both.limit == "bus");
    CHECK(eyexam::average_bandwidth(small(), a, {1.0, "", ""}).limit == "nothing");
}

TEST_CASE("step 7: the pipeline is filled once, by all its stages but the last") {
    Accelerator a = memory_alone(1, 1);
    a.pipeline_stages = 3;
    // 128 MACs on 16 units are 8 cycles, and 2 more.
    CHECK(eyexam::instantaneous_bandwidth(small(), a, {16, "", ""}, {16, "", ""}).macs_per_cycle ==
          near(12.8));
    // Transfers of 16 cycles hide them.
    CHECK(eyexam::instantaneous_bandwidth(small(), a, {16, "", ""}, {8, "", ""}).macs_per_cycle ==
          near(8.0));
}

} // namespace test_model_steps
