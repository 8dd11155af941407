#include "hwdb/text_file.hpp"
#include "model/cost.hpp"
#include "study/read/mapping_yaml.hpp"
#include "study/read/timeloop.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::study::read;

namespace {

constexpr const char* kArch = R"(
arch:
  arithmetic: {name: MACs, instances: 6, meshX: 3, word_bits: 16, energy: 1}
  storage:
  - {name: Spad, entries: 24, instances: 6, meshX: 3, word_bits: 16, read_bandwidth: 2,
     write_bandwidth: 2, vector_access_energy: 1.0}
  - {name: DRAM, technology: DRAM, instances: 1, word_bits: 16, vector_access_energy: 200.0}
)";

constexpr const char* kMapping = R"(
mapping:
- {target: Spad, type: datatype, keep: [Outputs, Weights], bypass: [Inputs]}
- {target: Spad, type: temporal, factors: "R3 S1 P1 Q1 C1 K2 N1", permutation: "RKSPQCN"}
- {target: DRAM, type: spatial, factors: [P=3, C=2], permutation: "PRSQKNC", split: 6}
- {target: DRAM, type: temporal, factors: "P4,C2,K4", permutation: "PCKRSQN"}
)";

Accelerator accelerator() {
    const auto machine = parse_timeloop_architecture(kArch, "arch.yaml");
    REQUIRE(machine);
    return std::get<Accelerator>(machine->kind);
}

Problem problem_of(const Network& network) {
    const auto problems = problems_of(network.layers.front());
    REQUIRE(problems);
    return problems->front();
}

std::string first_error(const Diagnostics& d) {
    return to_string(d.items().front());
}

} // namespace

TEST_CASE("a flat architecture becomes levels, outermost first, with its mesh as axes") {
    const Accelerator a = accelerator();
    REQUIRE(a.levels.size() == 2);
    CHECK(a.levels[0].name == "DRAM");
    CHECK(a.levels[0].fanout == std::vector<Axis>{{"x", 3}, {"y", 2}});
    CHECK(a.levels[1].stores[0].capacity_bytes == 48);
    CHECK(a.levels[1].stores[0].read_bytes_per_cycle == 4.0);
    CHECK(mac_units(a) == 6);
}

TEST_CASE("a problem becomes one convolution with unpadded inputs") {
    const auto network = parse_timeloop_problem(
        "problem: {shape: cnn-layer, R: 3, S: 1, P: 12, Q: 1, C: 4, K: 8, N: 1, Wstride: 2, "
        "Hstride: 1, Wdilation: 1, Hdilation: 1}",
        "layer.yaml");
    REQUIRE(network);
    const Problem p = problem_of(*network);
    CHECK(p.bounds == Extents{1, 1, 8, 4, 12, 1, 3, 1});
    CHECK(p.stride == Extent2{2, 1});
}

TEST_CASE("a mapping's permutations are innermost first, its split parts x from y") {
    const auto m = parse_timeloop_mapping(kMapping, "map.yaml", accelerator());
    REQUIRE(m);
    CHECK(m->levels[0].temporal ==
          std::vector<TemporalLoop>{{Dim::K, 4}, {Dim::C, 2}, {Dim::P, 4}});
    CHECK(m->levels[0].spatial == std::vector<SpatialLoop>{{Dim::C, 2, 1}, {Dim::P, 3, 0}});
    CHECK(m->levels[1].temporal == std::vector<TemporalLoop>{{Dim::K, 2}, {Dim::R, 3}});
    CHECK_FALSE(m->levels[1].keeps.contains(Operand::input));
    CHECK(m->levels[0].keeps.size() == 3);
}

TEST_CASE("mappings are written and read back the same, in both forms") {
    const Accelerator a = accelerator();
    const auto m = parse_timeloop_mapping(kMapping, "map.yaml", a);
    REQUIRE(m);
    const auto again = parse_timeloop_mapping(write_timeloop_mapping(*m, a), "w.yaml", a);
    REQUIRE(again);
    CHECK(*again == *m);
    const auto own = parse_mapping_yaml(write_mapping_yaml(*m, a), "own.yaml", a);
    REQUIRE(own);
    CHECK(*own == *m);
}

TEST_CASE("constraints name trips, orders, axes and what rests where") {
    const auto c = parse_timeloop_constraints(R"(
mapspace:
  constraints:
  - {target: Spad, type: datatype, keep: [Outputs], bypass: [Inputs, Weights]}
  - {target: DRAM, type: spatial, factors: "S1 P0", permutation: "PKRS", split: 1}
  - {target: Spad, type: temporal, factors: "R3 C1", permutation: "RC"}
)",
                                              "c.yaml", accelerator());
    REQUIRE(c);
    CHECK(c->levels[1].keep == OperandSet{Operand::output});
    CHECK(c->levels[1].bypass == OperandSet{Operand::input, Operand::weight});
    CHECK(c->levels[1].temporal[index(Dim::R)] == 3);
    CHECK(c->levels[1].order == std::vector<Dim>{Dim::R, Dim::C});
    CHECK(c->levels[0].spatial[index(Dim::S)] == 1);
    CHECK_FALSE(c->levels[0].spatial[index(Dim::P)]); // 0: what the other levels leave
    REQUIRE(c->levels[0].axis_dims);
    CHECK((*c->levels[0].axis_dims)[0] == DimSet{Dim::P});
}

TEST_CASE("what is not supported is named with its line") {
    const auto tree = parse_timeloop_architecture("architecture:\n  version: 0.2\n", "a.yaml");
    REQUIRE_FALSE(tree);
    CHECK(first_error(tree.diagnostics()).find("a.yaml:") == 0);
    const auto level = parse_timeloop_mapping(
        "mapping:\n- {target: GLB, type: temporal, factors: \"R3\", permutation: \"R\"}\n",
        "m.yaml", accelerator());
    REQUIRE_FALSE(level);
    CHECK(first_error(level.diagnostics()).find("m.yaml:2:") == 0);
    const auto factor =
        parse_timeloop_mapping("mapping:\n- {target: Spad, type: temporal, factors: \"R3 X2\"}\n",
                               "m.yaml", accelerator());
    REQUIRE_FALSE(factor);
    CHECK(first_error(factor.diagnostics()).find("'X2' is no factor") != std::string::npos);
    const auto loop = parse_mapping_yaml(
        "eyeroof: mapping/1\nlevels:\n  - {name: DRAM, temporal: [K0]}\n  - {name: no}\n", "o.yaml",
        accelerator());
    REQUIRE_FALSE(loop);
    CHECK(loop.diagnostics().size() >= 2);
}

TEST_CASE("Timeloop's files of the published study give its energy and cycles") {
    const std::filesystem::path folder =
        std::filesystem::path(eyeroof::tests::shared_data_dir()) / "mapping";
    if (!std::filesystem::exists(folder / "arch_free.yaml")) {
        MESSAGE("skipped: no " << folder.string());
        return;
    }
    struct Case {
        const char* mapping;
        const char* problem;
        double cycles;
        double energy_uj;
    };
    const auto text = [&](const char* name) { return *hwdb::read_text_file(folder / name); };
    const auto machine = parse_timeloop_architecture(text("arch_free.yaml"), "arch_free.yaml");
    REQUIRE(machine);
    const auto& a = std::get<Accelerator>(machine->kind);
    for (const Case& c : {Case{"F1_vgg3_2_rs.map.yaml", "prob_vgg3_2.yaml", 11010048, 11895.28},
                          Case{"F2_gemm_os.map.yaml", "prob_gemm1024.yaml", 33554432, 37086.04},
                          Case{"F3_vgg5_3_ws.map.yaml", "prob_vgg5_3.yaml", 7225344, 4985.49},
                          Case{"F4_alex1_rs.map.yaml", "prob_alex1.yaml", 3484800, 2999.48},
                          Case{"F5_alex3_k.map.yaml", "prob_alex3.yaml", 5255329, 6143.14}}) {
        CAPTURE(c.mapping);
        const auto network = parse_timeloop_problem(text(c.problem), c.problem);
        const auto mapping = parse_timeloop_mapping(text(c.mapping), c.mapping, a);
        REQUIRE(network);
        REQUIRE(mapping);
        const auto cost = cost_of(problem_of(*network), a, *mapping, Counting::timeloop);
        REQUIRE(cost);
        CHECK(cost->cycles == c.cycles);
        CHECK(cost->energy_pj * 1e-6 == doctest::Approx(c.energy_uj).epsilon(2e-6));
    }
}
