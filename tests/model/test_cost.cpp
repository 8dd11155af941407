#include "model/cost/cost.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <array>

namespace test_model_cost {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

using enum Operand;

// Reads, fills and updates of one instance and the energy over all, as the published study prints
// them.
struct Row {
    std::size_t level;
    Operand operand;
    Count tile, instances, reads, fills, updates;
    double energy_pj;
};

void check_rows(const MappingCost& cost, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        CAPTURE(row.level);
        CAPTURE(operand_name(row.operand));
        const LevelCost& level = cost.levels[row.level];
        const Accesses& each = level.per_instance[index(row.operand)];
        CHECK(level.tile_words[index(row.operand)] == row.tile);
        CHECK(level.instances == row.instances);
        CHECK(each.reads == row.reads);
        CHECK(each.fills == row.fills);
        CHECK(each.updates == row.updates);
        CHECK(level.total[index(row.operand)].reads == row.reads * row.instances);
        CHECK(level.energy_pj[index(row.operand)] == row.energy_pj);
    }
}

Mapping spads(Mapping m) {
    m.levels[0].keeps = kAll;
    m.levels[2].keeps = {input};
    m.levels[3].keeps = {weight};
    m.levels[4].keeps = {output};
    return m;
}

MappingCost timeloop(const Problem& problem, Mapping mapping) {
    const auto cost = cost_of(problem, eyeriss168(), spads(std::move(mapping)), Counting::timeloop);
    REQUIRE(cost);
    return *cost;
}

} // namespace

TEST_CASE("Timeloop's counts of F1, row stationary on vgg3_2, come out equal") {
    Mapping m;
    m.levels.resize(5);
    m.levels[0].temporal = {{Dim::Q, 4}, {Dim::K, 8}, {Dim::C, 16}};
    m.levels[1] = {{input, output},
                   {{Dim::K, 2}, {Dim::P, 56}},
                   {{Dim::C, 4, 1}, {Dim::S, 3, 1}, {Dim::Q, 14, 0}}};
    m.levels[3].temporal = {{Dim::C, 4}, {Dim::R, 3}};
    m.levels[4].temporal = {{Dim::K, 16}};
    const auto cost = timeloop(conv("vgg3_2", {3, 3, 56, 56, 256, 256, 1}), m);
    CHECK(cost.cycles == 11010048);
    CHECK(cost.energy_pj == near(11895.28e6, 1e-6));
    check_rows(cost, {{4, output, 16, 168, 10952704, 860160, 11010048, 3834249216},
                      {3, weight, 192, 168, 11010048, 196608, 0, 1882718208},
                      {2, input, 12, 168, 11010048, 237568, 0, 1889599488},
                      {1, input, 14848, 1, 15204352, 7602176, 0, 136839168},
                      {1, output, 25088, 1, 12042240, 0, 12845056, 149323776},
                      {0, weight, 589824, 1, 2359296, 0, 0, 471859200},
                      {0, input, 861184, 1, 7602176, 0, 0, 1520435200},
                      {0, output, 802816, 1, 0, 0, 802816, 160563200}});
}

TEST_CASE("Timeloop's counts of F2, output stationary on gemm1024, come out equal") {
    Mapping m;
    m.levels.resize(5);
    m.levels[0].temporal = {{Dim::P, 64}, {Dim::K, 64}, {Dim::C, 8}};
    m.levels[1] = {
        kAll, {{Dim::P, 2}, {Dim::K, 2}, {Dim::C, 16}}, {{Dim::K, 8, 1}, {Dim::P, 8, 0}}};
    m.levels[3].temporal = {{Dim::C, 8}};
    const auto cost = timeloop(conv("gemm1024", {1, 1, 1024, 1, 1024, 1024, 1}), m);
    CHECK(cost.cycles == 33554432);
    CHECK(cost.energy_pj == near(37086.04e6, 1e-6));
    check_rows(cost, {{4, output, 1, 64, 16760832, 114688, 16777216, 2153775104},
                      {3, weight, 8, 64, 16777216, 16777216, 0, 2147483648},
                      {2, input, 8, 64, 16777216, 16777216, 0, 2147483648},
                      {1, weight, 2048, 1, 134217728, 67108864, 0, 1207959552},
                      {1, input, 2048, 1, 134217728, 67108864, 0, 1207959552},
                      {1, output, 256, 1, 7340032, 0, 8388608, 94371840},
                      {0, weight, 1048576, 1, 67108864, 0, 0, 13421772800},
                      {0, input, 1048576, 1, 67108864, 0, 0, 13421772800},
                      {0, output, 1048576, 1, 0, 0, 1048576, 209715200}});
}

TEST_CASE("Timeloop's counts of F3, weight stationary on vgg5_3, come out equal") {
    Mapping m;
    m.levels.resize(5);
    m.levels[0].temporal = {{Dim::K, 8}, {Dim::C, 64}};
    m.levels[1] = {{input, output},
                   {{Dim::K, 8}, {Dim::S, 3}, {Dim::R, 3}, {Dim::Q, 14}, {Dim::P, 14}},
                   {{Dim::K, 8, 1}, {Dim::C, 8, 0}}};
    const auto cost = timeloop(conv("vgg5_3", {3, 3, 14, 14, 512, 512, 1}), m);
    CHECK(cost.cycles == 7225344);
    CHECK(cost.energy_pj == near(4985.49e6, 1e-6));
    check_rows(cost, {{4, output, 1, 64, 7212800, 7212800, 7225344, 1385660416},
                      {3, weight, 1, 64, 7225344, 36864, 0, 464781312},
                      {2, input, 1, 64, 7225344, 7225344, 0, 924844032},
                      {1, input, 2048, 1, 57802752, 1048576, 0, 353107968},
                      {1, output, 12544, 1, 57702400, 0, 57802752, 693030912},
                      {0, weight, 2359296, 1, 2359296, 0, 0, 471859200},
                      {0, input, 131072, 1, 1048576, 0, 0, 209715200},
                      {0, output, 100352, 1, 0, 0, 100352, 20070400}});
}

TEST_CASE("Timeloop's counts of F4, strided row stationary on alex1, come out equal") {
    Mapping m;
    m.levels.resize(5);
    m.levels[0].temporal = {{Dim::N, 4}, {Dim::Q, 5}, {Dim::K, 3}, {Dim::C, 3}};
    m.levels[1] = {
        {input, output}, {{Dim::K, 2}, {Dim::P, 55}}, {{Dim::S, 11, 1}, {Dim::Q, 11, 0}}};
    m.levels[3].temporal = {{Dim::R, 11}};
    m.levels[4].temporal = {{Dim::K, 16}};
    const auto cost = timeloop(conv("alex1", {11, 11, 55, 55, 3, 96, 4}, 4, 4), m);
    CHECK(cost.cycles == 3484800);
    CHECK(cost.energy_pj == near(2999.48e6, 1e-5));
    check_rows(cost, {{4, output, 16, 121, 3379200, 211200, 3484800, 856099200},
                      {3, weight, 176, 121, 3484800, 63360, 0, 429327360},
                      {2, input, 11, 121, 3484800, 81720, 0, 431548920},
                      {1, input, 11577, 1, 4167720, 2083860, 0, 37509480},
                      {1, output, 19360, 1, 2323200, 0, 3484800, 34848000},
                      {0, weight, 34848, 1, 696960, 0, 0, 139392000},
                      {0, input, 618348, 1, 2083860, 0, 0, 416772000},
                      {0, output, 1161600, 1, 0, 0, 1161600, 232320000}});
}

TEST_CASE("Timeloop's counts of F5, with tiles handed between neighbours, come out equal") {
    Mapping m;
    m.levels.resize(5);
    m.levels[0].temporal = {{Dim::K, 4}, {Dim::N, 4}, {Dim::C, 64}};
    m.levels[1] = {
        kAll, {{Dim::K, 8}, {Dim::P, 13}, {Dim::S, 3}}, {{Dim::K, 12, 1}, {Dim::Q, 13, 0}}};
    m.levels[3].temporal = {{Dim::C, 4}, {Dim::R, 3}};
    const auto cost = timeloop(conv("alex3", {3, 3, 13, 13, 256, 384, 4}), m);
    CHECK(cost.cycles == 5255329);
    CHECK(cost.energy_pj == near(6143.14e6, 1e-6));
    check_rows(cost, {{4, output, 1, 156, 3832192, 104832, 3833856, 1212257280},
                      {3, weight, 12, 156, 3833856, 3833856, 0, 1196163072},
                      {2, input, 12, 156, 6176768, 3833856, 0, 1561657344},
                      {1, weight, 3456, 1, 46006272, 3538944, 0, 297271296},
                      {1, input, 900, 1, 21725184, 921600, 0, 135880704},
                      {1, output, 16224, 1, 16353792, 0, 16613376, 197803008},
                      {0, weight, 884736, 1, 3538944, 0, 0, 707788800},
                      {0, input, 230400, 1, 921600, 0, 0, 184320000},
                      {0, output, 259584, 1, 0, 0, 259584, 51916800}});
}

namespace {

// A buffer and one PE whose only register holds one operand.
Accelerator one_register(Operand held) {
    Accelerator a;
    a.clock_hz = 1e9;
    Store unbounded = store(kAll, 0, 1e9, 1e9, 1.0);
    a.levels = {level("Buffer", {unbounded}), level("PE", {store({held}, 1, 1e9, 1e9, 1.0)})};
    return a;
}

struct Register {
    Operand held;
    ConvForm form;
    bool taps_inner;
};

// MACs, then reads of weights, inputs and partial sums, and writes of outputs, at the buffer.
std::array<Count, 5> buffer_row(Count e, Count r, const Register& name) {
    Problem p;
    p.bounds[index(Dim::P)] = e;
    p.bounds[index(Dim::R)] = r;
    p.form = name.form;
    Mapping m;
    const TemporalLoop along{Dim::P, loop_bounds(p)[index(Dim::P)]};
    const TemporalLoop tap{Dim::R, r};
    m.levels = {{kAll, {}, {}}, {{name.held}, {}, {}}};
    m.levels[0].temporal = name.taps_inner ? std::vector{along, tap} : std::vector{tap, along};
    const auto cost = cost_of(p, one_register(name.held), m);
    REQUIRE(cost);
    const auto& total = cost->levels[0].total;
    return {cost->compute_steps, total[index(weight)].reads, total[index(input)].reads,
            total[index(output)].reads, total[index(output)].updates};
}

} // namespace

TEST_CASE("the 1-D convolution table of Eyexam comes out of the general count") {
    using Cells = std::array<Count, 5>;
    const Register os{output, ConvForm::gather, true};
    const Register ws{weight, ConvForm::gather, false};
    const Register is{input, ConvForm::scatter, true};
    CHECK(buffer_row(9, 4, os) == Cells{36, 36, 36, 0, 9});
    CHECK(buffer_row(9, 4, ws) == Cells{36, 4, 36, 27, 36});
    CHECK(buffer_row(9, 4, is) == Cells{36, 36, 12, 27, 36});
    CHECK(buffer_row(100, 3, os) == Cells{300, 300, 300, 0, 100});
    CHECK(buffer_row(100, 3, ws) == Cells{300, 3, 300, 200, 300});
    CHECK(buffer_row(100, 3, is) == Cells{300, 300, 102, 200, 300});
    CHECK(buffer_row(55, 11, os) == Cells{605, 605, 605, 0, 55});
    CHECK(buffer_row(55, 11, ws) == Cells{605, 11, 605, 550, 605});
    CHECK(buffer_row(55, 11, is) == Cells{605, 605, 65, 550, 605});
}

TEST_CASE("hops are paid below a level that stores nothing, too") {
    Accelerator a;
    a.clock_hz = 1e9;
    a.levels = {level("DRAM", {store(kAll, 0, 1, 1, 0.0)}), level("network", {}, {{"x", 3}}),
                level("PE", {store(kAll, 8, 1, 1, 0.0)})};
    Channel c;
    c.name = "network";
    c.operands = kAll;
    c.hop_pj = 2.0;
    a.levels[1].channels = {c};
    Problem p;
    p.bounds[index(Dim::K)] = 3;
    Mapping m;
    m.levels.resize(3);
    m.levels[0].keeps = kAll;
    m.levels[1].spatial = {{Dim::K, 3, 0}};
    m.levels[2].keeps = kAll;
    const auto cost = cost_of(p, a, m);
    REQUIRE(cost);
    // one input to three PEs, three weights, three outputs back: nine hops of 2 pJ
    CHECK(cost->network_energy_pj == 18.0);
    CHECK(cost->energy_pj == 18.0);
}

} // namespace test_model_cost
