#include "base/text_file.hpp"
#include "formats/mapping_yaml.hpp"
#include "formats/timeloop.hpp"
#include "model/cost/cost.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_formats_timeloop {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::formats;
using eyeroof::tests::near;

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
    const Problem p = problem_of(network->network);
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
    const auto written = write_timeloop_mapping(*m, a);
    REQUIRE(written);
    const auto again = parse_timeloop_mapping(*written, "w.yaml", a);
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
    CHECK(c->rules.levels[1].keep == OperandSet{Operand::output});
    CHECK(c->rules.levels[1].bypass == OperandSet{Operand::input, Operand::weight});
    CHECK(c->rules.levels[1].temporal[index(Dim::R)] == 3);
    CHECK(c->rules.levels[1].order == std::vector<Dim>{Dim::R, Dim::C});
    CHECK(c->rules.levels[0].spatial[index(Dim::S)] == 1);
    CHECK(c->rules.levels[0].spatial[index(Dim::P)] == 0); // all of it, however much that is
    REQUIRE(c->rules.levels[0].axis_dims);
    CHECK((*c->rules.levels[0].axis_dims)[0] == DimSet{Dim::P});
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
    const auto text = [&](const char* name) { return *read_text_file(folder / name); };
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
        const auto cost = cost_of(problem_of(network->network), a, *mapping, Counting::timeloop);
        REQUIRE(cost);
        CHECK(cost->cycles == c.cycles);
        CHECK(cost->energy_pj * 1e-6 == near(c.energy_uj, 2e-6));
    }
}

namespace {

std::string sample(const std::string& name) {
    return *read_text_file(tests::source_dir() + "/tests/fuzz/corpus/timeloop/" + name);
}

Accelerator machine_in(const std::string& name) {
    const auto machine = parse_timeloop_architecture(sample(name), name);
    REQUIRE_MESSAGE(machine, (machine ? "" : first_error(machine.diagnostics())));
    return std::get<Accelerator>(machine->kind);
}

bool says(const Diagnostics& found, const std::string& part) {
    for (const Diagnostic& d : found) {
        if (to_string(d).find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST_CASE("a tree of version 0.3 has its instances from the ranges of names on the way") {
    const Accelerator a = machine_in("tree_v03.yaml");
    REQUIRE(a.levels.size() == 6);
    CHECK(a.levels[0].name == "DRAM");
    CHECK_FALSE(a.levels[0].stores[0].capacity_bytes);
    CHECK(a.levels[0].stores[0].read_pj == 200.0);            // 800 pJ for four words
    CHECK(a.levels[1].stores[0].capacity_bytes == 13824 * 8); // four words of 16 bit a line
    CHECK(a.levels[1].fanout == std::vector<Axis>{{"x", 14}});
    CHECK(a.levels[2].stores.empty()); // no entries: only a place
    CHECK(a.levels[2].fanout == std::vector<Axis>{{"y", 12}});
    CHECK(a.levels[5].stores[0].capacity_bytes == 48);
    CHECK(a.word_bits == PerOperand<int>{16, 16, 16});
    CHECK(mac_units(a) == 168);
}

TEST_CASE("a list of nodes of version 0.4 opens axes under the nodes' own names") {
    const Accelerator a = machine_in("nodes_v04.yaml");
    REQUIRE(a.levels.size() == 5);
    CHECK(a.levels[1].fanout == std::vector<Axis>{{"Column.x", 14}, {"PE.y", 12}});
    CHECK(a.levels[1].stores[0].capacity_bytes == 6912 * 2 * 8);           // depth is an expression
    CHECK_FALSE(a.levels[1].stores[0].operands.contains(Operand::weight)); // bypass
    CHECK(a.levels[2].stores[0].operands == OperandSet{Operand::input});   // keep_only
    CHECK(mac_units(a) == 168);
}

TEST_CASE("the tree and the nodes describe the same machine: equal loops cost the same") {
    const auto cost_in = [](const char* arch, const char* text) {
        const Accelerator a = machine_in(arch);
        const auto problem = parse_timeloop_problem(sample("conv.yaml"), "conv.yaml");
        REQUIRE(problem);
        const auto mapping = parse_timeloop_mapping(text, "m.yaml", a, problem->names);
        REQUIRE_MESSAGE(mapping, (mapping ? "" : first_error(mapping.diagnostics())));
        const auto cost = cost_of(problem_of(problem->network), a, *mapping, Counting::timeloop);
        REQUIRE_MESSAGE(cost, (cost ? "" : first_error(cost.diagnostics())));
        return std::pair(cost->energy_pj, cost->cycles);
    };
    const std::string spads =
        "- {target: InputSpad, type: bypass, keep: [Inputs], bypass: [Weights, Outputs]}\n"
        "- {target: WeightSpad, type: bypass, keep: [Weights], bypass: [Inputs, Outputs]}\n"
        "- {target: WeightSpad, type: temporal, factors: R5 C2, permutation: RC}\n"
        "- {target: PsumSpad, type: bypass, keep: [Outputs], bypass: [Weights, Inputs]}\n"
        "- {target: PsumSpad, type: temporal, factors: M16}\n"
        "- {target: GLB, type: bypass, keep: [Inputs, Outputs], bypass: [Weights]}\n"
        "- {target: GLB, type: temporal, factors: P27 M2}\n"
        "- {target: DRAM, type: temporal, factors: \"N4 Q3 C12 M8\", permutation: CMQN}\n";
    const auto tree = cost_in("tree_v03.yaml",
                              ("mapping:\n" + spads +
                               "- {target: GLB, type: spatial, factors: Q9, permutation: Q, "
                               "split: 1}\n"
                               "- {target: Column, type: spatial, factors: S5 C2, permutation: SC, "
                               "split: 0}\n")
                                  .c_str());
    const auto nodes = cost_in("nodes_v04.yaml",
                               ("mapping:\n" + spads +
                                "- {target: Column, type: spatial, factors: [Q=9]}\n"
                                "- {target: inter_PE_spatial, type: spatial, factors: [S=5, C=2], "
                                "permutation: [S, C]}\n")
                                   .c_str());
    CHECK(tree.first == near(nodes.first, 1e-12));
    CHECK(tree.second == nodes.second);
}

TEST_CASE("a shape of one's own is placed by the tensors that its dimensions address") {
    const auto gemm = parse_timeloop_problem(sample("gemm.yaml"), "gemm.yaml");
    REQUIRE(gemm);
    // Z[M, N] = A[M, K] * B[K, N]: M positions, N filters, K channels.
    CHECK(gemm->names.dims.at("M") == Dim::P);
    CHECK(gemm->names.dims.at("N") == Dim::K);
    CHECK(gemm->names.dims.at("K") == Dim::C);
    CHECK(gemm->names.spaces.at("B") == Operand::weight);
    CHECK(problem_of(gemm->network).bounds == Extents{1, 1, 32, 128, 64, 1, 1, 1});
    const auto conv = parse_timeloop_problem(sample("conv.yaml"), "conv.yaml");
    REQUIRE(conv);
    CHECK(conv->names.dims.at("M") == Dim::K);
    CHECK(problem_of(conv->network).bounds == Extents{4, 1, 256, 48, 27, 27, 5, 5});
    const auto two = parse_timeloop_problem(
        "problem:\n  shape:\n    dimensions: [K, L, P]\n    data_spaces:\n"
        "    - {name: W, projection: [[[K]], [[L]]]}\n    - {name: I, projection: [[[P]]]}\n"
        "    - {name: O, projection: [[[K]], [[L]], [[P]]], read_write: true}\n"
        "  instance: {K: 2, L: 3, P: 4}\n",
        "two.yaml");
    REQUIRE(two); // K and L address the same tensors, so their product is one dimension
    CHECK(problem_of(two->network).bounds == Extents{1, 1, 6, 1, 4, 1, 1, 1});
    CHECK(says(two.diagnostics(), "dimension L is folded"));
}

// 3-D convolution: the window whose words exceed what it reaches the least is unfolded.
TEST_CASE("a third window counts its positions as images and its taps as channels") {
    const std::string text =
        "problem:\n  shape:\n    dimensions: [N, K, C, D, P, Q, T, R, S]\n    data_spaces:\n"
        "    - {name: Weights, projection: [[[K]], [[C]], [[T]], [[R]], [[S]]]}\n"
        "    - {name: Inputs, projection: [[[N]], [[C]], [[D], [T]], [[P], [R]], [[Q], [S]]]}\n"
        "    - {name: Outputs, projection: [[[N]], [[K]], [[D]], [[P]], [[Q]]], read_write: true}\n"
        "  instance: {N: 1, K: 8, C: 4, D: 4, P: 8, Q: 16, T: 3, R: 3, S: 3}\n";
    const auto volume = parse_timeloop_problem(text, "volume.yaml");
    REQUIRE(volume);
    // D (4 x 3 words for 6) before P (8 x 3 for 10) and Q (16 x 3 for 18).
    CHECK(problem_of(volume->network).bounds == Extents{4, 1, 8, 12, 8, 16, 3, 3});
    CHECK(says(volume.diagnostics(), "Inputs has 2 times the words"));
    CHECK_FALSE(volume->names.dims.contains("D")); // a mapping that names it is refused
}

TEST_CASE("any number of ranks of the same tensors is one dimension") {
    const auto sum = parse_timeloop_problem(
        "problem:\n  shape:\n    dimensions: [I, J]\n    data_spaces:\n"
        "    - {name: A, projection: [[[I]], [[J]]]}\n    - {name: B, projection: [[[I]], [[J]]]}\n"
        "    - {name: Z, projection: [[[I]], [[J]]], read_write: true}\n"
        "  instance: {I: 4, J: 6}\n",
        "sum.yaml");
    REQUIRE(sum);
    CHECK(problem_of(sum->network).bounds == Extents{1, 24, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("a dot product sums over all of its loops, and its one result has no coordinates") {
    const auto dot = parse_timeloop_problem("problem:\n"
                                            "  shape:\n"
                                            "    name: dot\n"
                                            "    dimensions: [K]\n"
                                            "    data_spaces:\n"
                                            "    - {name: A, projection: [[[K]]]}\n"
                                            "    - {name: B, projection: [[[K]]]}\n"
                                            "    - {name: Z, projection: [], read_write: True}\n"
                                            "  instance: {K: 64}\n",
                                            "dot.yaml");
    REQUIRE(dot);
    const auto nests = problems_of(dot->network.layers.front());
    REQUIRE(nests);
    const Problem& p = nests->front();
    CHECK(macs_of(p) == 64);
    CHECK(tile_elements(p, Operand::input, p.bounds) == 64);
    CHECK(tile_elements(p, Operand::weight, p.bounds) == 64);
    CHECK(tile_elements(p, Operand::output, p.bounds) == 1);
}

// As Timeloop's dot-product exercise of 2021 has it: M addresses the one result alone.
TEST_CASE("a mapping may name a dimension of size 1 that addresses one tensor alone") {
    const auto dot = parse_timeloop_problem("problem:\n"
                                            "  shape:\n"
                                            "    name: dot\n"
                                            "    dimensions: [K, M]\n"
                                            "    data-spaces:\n"
                                            "    - {name: A, projection: [[[K]]]}\n"
                                            "    - {name: B, projection: [[[K]]]}\n"
                                            "    - {name: Z, projection: [[[M]]],"
                                            " read-write: True}\n"
                                            "  instance: {K: 16, M: 1}\n",
                                            "dot.yaml");
    REQUIRE(dot);
    const auto a = accelerator();
    const auto mapping = [&](const std::string& trips) {
        return parse_timeloop_mapping("mapping:\n- {target: DRAM, type: temporal, factors: \"" +
                                          trips + "\", permutation: KM}\n",
                                      "map.yaml", a, dot->names);
    };
    const auto read = mapping("K=16 M=1");
    REQUIRE(read);
    REQUIRE(read->levels[0].temporal.size() == 1);
    CHECK(read->levels[0].temporal.front().dim == dot->names.dims.at("K"));
    CHECK(read->levels[0].temporal.front().bound == 16);
}

// Eight inputs, each adding to three neighbours of 8 kernels, two apart: 7 * 2 + 3 = 17 results.
TEST_CASE("a transposed convolution writes windows and reads positions") {
    const auto read = parse_timeloop_problem(
        "problem:\n"
        "  shape:\n"
        "    name: transposed\n"
        "    dimensions: [K, C, P, R]\n"
        "    data_spaces:\n"
        "    - {name: Weights, projection: [[[K]], [[C]], [[R]]]}\n"
        "    - {name: Inputs, projection: [[[C]], [[P]]]}\n"
        "    - {name: Outputs, projection: [[[K]], [[P, Stride], [R]]], read_write: True}\n"
        "    coefficients: [{name: Stride, default: 2}]\n"
        "  instance: {K: 8, C: 4, P: 8, R: 3}\n",
        "transposed.yaml");
    REQUIRE(read);
    const auto nests = problems_of(read->network.layers.front());
    REQUIRE(nests);
    const Problem& p = nests->front();
    CHECK(p.produced == Operand::input);
    CHECK(macs_of(p) == 8 * 4 * 8 * 3);
    CHECK(tile_elements(p, Operand::input, p.bounds) == 8 * 17); // what is written
    CHECK(tile_elements(p, Operand::output, p.bounds) == 4 * 8); // what is read
    CHECK(tile_elements(p, Operand::weight, p.bounds) == 8 * 4 * 3);
    CHECK(read->names.spaces.at("Outputs") == Operand::input);
}

TEST_CASE("a mapping is written in the problem's own names and read back the same") {
    const auto gemm = parse_timeloop_problem(sample("gemm.yaml"), "gemm.yaml");
    REQUIRE(gemm);
    const Accelerator a = machine_in("nodes_v04.yaml");
    const auto mapping = parse_timeloop_mapping(
        "mapping:\n- {target: DRAM, type: temporal, factors: [K=4, N=8], permutation: [N, K]}\n"
        "- {target: Column, type: spatial, factors: [M=8]}\n"
        "- {target: GLB, type: datatype, keep: [A, Z], bypass: [B]}\n",
        "m.yaml", a, gemm->names);
    REQUIRE(mapping);
    CHECK(mapping->levels[0].temporal == std::vector<TemporalLoop>{{Dim::C, 4}, {Dim::K, 8}});
    CHECK(mapping->levels[1].spatial == std::vector<SpatialLoop>{{Dim::P, 8, 0}});
    const auto written = write_timeloop_mapping(*mapping, a, gemm->names);
    REQUIRE(written);
    CHECK(written->find("target: Column, type: spatial") != std::string::npos);
    const auto again = parse_timeloop_mapping(*written, "w.yaml", a, gemm->names);
    REQUIRE_MESSAGE(again, (again ? "" : first_error(again.diagnostics())));
    CHECK(*again == *mapping);
}

TEST_CASE("constraints inside a 0.4 architecture say what lies on which axis, and where") {
    const Accelerator a = machine_in("nodes_v04.yaml");
    const auto c = parse_timeloop_constraints(sample("nodes_v04.yaml"), "arch.yaml", a);
    REQUIRE_MESSAGE(c, (c ? "" : first_error(c.diagnostics())));
    REQUIRE(c->rules.levels[1].axis_dims);
    CHECK((*c->rules.levels[1].axis_dims)[0] == DimSet{Dim::G, Dim::K, Dim::Q});
    CHECK((*c->rules.levels[1].axis_dims)[1] == DimSet{Dim::G, Dim::K, Dim::C, Dim::S});
    CHECK(c->rules.levels[2].temporal[index(Dim::K)] == 1);
    CHECK(c->rules.levels[4].temporal[index(Dim::K)] == 16);
    CHECK(c->rules.levels[4].temporal[index(Dim::C)] == 1); // factors_only
    REQUIRE(c->places.contains("levels[4].temporal.K"));
    CHECK(c->places.at("levels[4].temporal.K").line > 40);
}

TEST_CASE("what Timeloop's newer files hold beyond the model is named with its line") {
    const auto unread = [](const std::string& text) {
        return parse_timeloop_architecture(text, "a.yaml").diagnostics();
    };
    CHECK(says(unread("architecture:\n  version: 0.9\n  nodes: []\n"),
               "a.yaml:2:12: error: version 0.9 is not read"));
    CHECK(says(unread("architecture:\n  version: 0.4\n  nodes:\n  - !Compound\n    name: x\n"),
               "nodes of kind !Compound are not read"));
    CHECK(says(unread("{{include('x.yaml')}}\narchitecture:\n  version: 0.4\n"),
               "a.yaml:1:1: error: the included file x.yaml cannot be read"));
    CHECK(says(unread("architecture:\n  subtree:\n  - name: s\n    local:\n"
                      "    - {name: A, class: DRAM}\n    - {name: B, class: widget}\n"),
               "a.yaml:6:7: error: B is neither storage nor arithmetic"));
    CHECK(says(unread("architecture:\n  subtree:\n  - name: s\n    local:\n"
                      "    - {name: A, class: DRAM, attributes: {shared_bandwidth: 3}}\n"
                      "    - {name: M, class: intmac}\n"),
               "a bandwidth that reads and writes share is not modelled"));
    const Accelerator a = accelerator();
    const auto limit =
        parse_timeloop_constraints("mapspace_constraints:\n  targets:\n"
                                   "  - {target: Spad, type: temporal, factors: [C<>3]}\n"
                                   "  - {target: Spda, type: temporal, factors: [C=3]}\n"
                                   "  - {target: Spad, type: temporl, factors: [C=3]}\n"
                                   "  - {target: Spad, type: temporal, no_reuse: [Inputs]}\n",
                                   "c.yaml", a);
    REQUIRE_FALSE(limit);
    CHECK(says(limit.diagnostics(), "c.yaml:3:46: error: 'C<>3' is no factor"));
    CHECK(says(limit.diagnostics(), "did you mean 'Spad'?"));
    CHECK(says(limit.diagnostics(), "did you mean 'temporal'?"));
    CHECK(says(limit.diagnostics(), "c.yaml:6:"));
}

TEST_CASE("a dimension along both axes of a level has no place in Timeloop's mappings") {
    const Accelerator a = accelerator(); // x is 3 wide, y is 2
    Mapping m;
    m.levels.resize(2);
    m.levels[0].spatial = {{Dim::K, 2, 1}, {Dim::K, 3, 0}};
    const auto written = write_timeloop_mapping(m, a);
    REQUIRE_FALSE(written);
    CHECK(says(written.diagnostics(), "K lies along x and along y of DRAM"));
}

} // namespace test_formats_timeloop
