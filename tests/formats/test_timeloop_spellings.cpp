#include "analysis/exam/best_mappings.hpp"
#include "formats/timeloop.hpp"
#include "model/cost/cost.hpp"

#include <doctest/doctest.h>

namespace test_formats_timeloop_spellings {

// What Timeloop's published files write in more than one way.

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::formats;

namespace {

// A row of 8 columns of 4 units: a shared buffer, register files side by side, one of them for each
// operand.
constexpr const char* kNodes = R"(
architecture:
  version: 0.4
  nodes:
  - !Container {name: chip, attributes: {word: 8, technology: "45nm"}}
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: word}}
  - !Component
    name: buffer
    class: smartbuffer_SRAM
    attributes: {depth: 512, width: 8 * word, datawidth: 8, n_banks: 4}
    constraints:
      dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}
      temporal: {factors: C=0 M<=4}
  - !Container
    name: column
    spatial: {meshX: 8}
    constraints:
      spatial: {factors: R=1 S=1 P=1 Q=1 N=1, permutation: [M, C, R, S, P, Q, N]}
  - !Parallel
    nodes:
    - !Component
      name: weights
      class: storage
      subclass: smartbuffer_RF
      attributes: {depth: 64, width: 8, datawidth: 8}
      constraints: {dataspace: {keep: [Weights]}}
    - !Component
      name: sums
      class: storage
      subclass: smartbuffer_RF
      attributes: {depth: 16, width: 24, datawidth: 24}
      constraints: {dataspace: {keep: [Outputs]}}
    - !Nothing {constraints: {dataspace: {keep: [Inputs]}}}
  - !Component {name: mac, class: intmac, attributes: {multiplier_width: 8, adder_width: 16}}
)";

constexpr const char* kTables = R"(
ERT:
  version: 0.4
  tables:
  - name: chip_top_level.DRAM[1..1]
    actions:
    - {name: read, arguments: {global_cycle_seconds: 1e-09}, energy: 512.0}
    - {name: write, arguments: {}, energy: 480.0}
    - {name: leak, arguments: {}, energy: 9e6}
  - name: chip_top_level.buffer[1..1]
    actions:
    - {name: read, arguments: {data_delta: 0}, energy: 4.0}
    - {name: read, arguments: {data_delta: 1}, energy: 16.0}
    - {name: update, arguments: {}, energy: 24.0}
  - name: chip_top_level.mac[1..8]
    actions:
    - {name: compute, arguments: {}, energy: 0.5}
    - {name: leak, arguments: {}, energy: 7.0}
)";

Accelerator nodes(const NamedText& tables = {}) {
    const auto machine = parse_timeloop_architecture(kNodes, "nodes.yaml", tables);
    REQUIRE_MESSAGE(machine, (machine ? "" : to_string(machine.diagnostics().items().front())));
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

TEST_CASE("nodes side by side hold what they keep, nothing holds nothing, and names have values") {
    const Accelerator a = nodes();
    REQUIRE(a.levels.size() == 4);
    CHECK(a.levels[1].name == "buffer");
    CHECK(a.levels[1].stores[0].capacity_bytes == 512 * 8); // lines of eight words of one byte
    CHECK(a.levels[2].stores[0].operands == OperandSet{Operand::weight});
    CHECK(a.levels[3].stores[0].operands == OperandSet{Operand::output});
    CHECK(a.word_bits[0] == 8); // the arithmetic names none: as most of the storage
    CHECK(mac_units(a) == 8);
}

TEST_CASE("energies come from Accelergy's tables, reads apart from writes, by word") {
    const Accelerator a = nodes({kTables, "ert.yaml"});
    CHECK(a.mac_pj == 0.5);
    CHECK(a.mac_leak_pj == 7.0); // of an instance that is used, and cycle
    CHECK(a.levels[0].stores[0].leak_pj == 9e6);
    CHECK(a.gates_idle);
    CHECK(a.levels[0].stores[0].read_pj == 512.0 / 8); // an access moves eight words
    CHECK(a.levels[0].stores[0].write_pj == 480.0 / 8);
    CHECK(a.levels[1].stores[0].read_pj == 16.0 / 8); // the costliest entry
    CHECK(a.levels[1].stores[0].write_pj == 24.0 / 8);
    CHECK(a.levels[2].stores[0].read_pj == 0.0); // no table
    // The first version's tables are maps, and a summary's are called otherwise.
    const auto old = parse_timeloop_architecture(
        kNodes, "nodes.yaml",
        {"ERT:\n  version: 0.2\n  tables:\n    chip.column[0..7].sums:\n"
         "      read: {energy: 2.5}\n      write: [{energy: 1.5}, {energy: 3.5}]\n",
         "old.yaml"});
    REQUIRE(old);
    CHECK(std::get<Accelerator>(old->kind).levels[3].stores[0].read_pj == 2.5);
    CHECK(std::get<Accelerator>(old->kind).levels[3].stores[0].write_pj == 3.5);
    const auto inside = parse_timeloop_architecture(
        std::string(kNodes) + "ERT_summary:\n  table_summary:\n  - name: chip.sums\n"
                              "    actions: [{name: read, energy: 1.25}]\n",
        "nodes.yaml");
    REQUIRE(inside);
    CHECK(std::get<Accelerator>(inside->kind).levels[3].stores[0].write_pj == 1.25);
    // Of several arguments a summary has the average, and Timeloop takes the most.
    for (const std::string spelling :
         {"ERT_summary:\n  table_summary:\n  - name: chip.sums\n    actions:\n"
          "    - {name: read, average_energy: 1, max_energy: 2, min_energy: 0}\n"
          "    - {name: write, energy: 3}\n",
          "ERT_summary:\n  version: null\n  ERT summaries:\n    chip.sums:\n"
          "      read: {average energy: 1, max energy: 2, min energy: 0}\n"
          "      write: {energy: 3}\n"}) {
        const auto summary =
            parse_timeloop_architecture(kNodes, "nodes.yaml", {spelling, "s.yaml"});
        REQUIRE(summary);
        CHECK(std::get<Accelerator>(summary->kind).levels[3].stores[0].read_pj == 2.0);
        CHECK(std::get<Accelerator>(summary->kind).levels[3].stores[0].write_pj == 3.0);
    }
    const auto none = parse_timeloop_architecture(kNodes, "nodes.yaml", {"x: 1\n", "x.yaml"});
    CHECK(says(none.diagnostics(), "x.yaml:1:1: error: there are no tables of energies"));
    const auto bad = parse_timeloop_architecture(
        kNodes, "nodes.yaml",
        {"ERT:\n  tables:\n  - {name: DRAM, actions: [{name: read, energy: lots}]}\n", "x.yaml"});
    CHECK(says(bad.diagnostics(), "x.yaml:3:"));
}

TEST_CASE("one list names every component of an energy table that nothing uses as it stands") {
    const std::string table =
        "ERT:\n  version: 0.4\n  tables:\n"
        "  - {name: 'chip.noc[1..4]', actions: [{name: transfer, energy: 3}]}\n"
        "  - {name: chip.DRAM, actions: [{name: read, energy: 5}]}\n"
        "  - {name: chip.mac, actions: [{name: idle, energy: 1}]}\n"
        "  - {name: chip.a.buffer, actions: [{name: read, energy: 2}]}\n"
        "  - {name: 'chip.b[0..1].buffer', actions: [{name: read, energy: 4}]}\n";
    const auto machine = parse_timeloop_architecture(kNodes, "nodes.yaml", {table, "t.yaml"});
    REQUIRE(machine);
    std::size_t lists = 0;
    for (const Diagnostic& d : machine.diagnostics()) {
        lists += d.code == "unused-energies" ? 1 : 0;
    }
    CHECK(lists == 1);
    CHECK(says(machine.diagnostics(), "t.yaml:"));
    CHECK(says(machine.diagnostics(), "chip.noc (no part has the name)"));
    CHECK(says(machine.diagnostics(), "chip.mac (no action that is counted)"));
    CHECK(says(machine.diagnostics(),
               "chip.a.buffer, chip.b.buffer (one name: the costliest counts)"));
    CHECK(!says(machine.diagnostics(), "DRAM"));
    CHECK(std::get<Accelerator>(machine->kind).levels[1].stores[0].read_pj == 4.0 / 8.0);
    const auto all = parse_timeloop_architecture(kNodes, "nodes.yaml", {kTables, "t.yaml"});
    REQUIRE(all);
    CHECK(!says(all.diagnostics(), "not used"));
}

TEST_CASE("a flattened architecture of version 0.4 is read as the tree that it is") {
    const auto machine = parse_timeloop_architecture(R"(
architecture:
  version: '0.4'
  subtree:
  - name: system_top_level
    attributes: {version: '0.4', technology: "40nm", has_power_gating: false}
    local:
    - name: DRAM[1..1]
      class: DRAM
      attributes: {width: 256, datawidth: 8, multiple_buffering: 1, meshX: 1, meshY: 1}
      required_actions: [update, read]
      enabled: true
    - name: inter_PE_spatial[1..1]
      class: dummy_storage
      attributes: {width: 1, depth: 1, datawidth: 1, meshX: 1, meshY: 1}
      enabled: true
    - name: RegisterFile[1..16]
      class: regfile
      attributes: {depth: 64, width: 8, datawidth: 8, meshX: 16, meshY: 1}
    - {name: "MACC[1..16]", class: intmac, attributes: {datawidth: 8, meshX: 16}}
)",
                                                     "flat.yaml");
    REQUIRE_MESSAGE(machine, (machine ? "" : to_string(machine.diagnostics().items().front())));
    const auto& a = std::get<Accelerator>(machine->kind);
    REQUIRE(a.levels.size() == 3);
    CHECK(a.levels[1].stores.empty()); // a place for loops in space
    CHECK(mac_units(a) == 16);
    const auto mapping = parse_timeloop_mapping(
        "mapping:\n- {target: inter_PE_spatial, type: spatial, factors: \"C=16\"}\n"
        "- {target: inter_PE_spatial, type: bypass, bypass: [Weights, Inputs, Outputs]}\n",
        "m.yaml", a);
    REQUIRE(mapping);
    CHECK(mapping->levels[1].spatial == std::vector<SpatialLoop>{{Dim::C, 16, 0}});
}

TEST_CASE("constraints limit trips, give a dimension whole, and may be nested in their target") {
    const Accelerator a = nodes();
    const auto inside = parse_timeloop_constraints(kNodes, "nodes.yaml", a);
    REQUIRE(inside);
    CHECK(inside->rules.levels[1].temporal[index(Dim::C)] == 0);
    CHECK(inside->rules.levels[1].temporal_range[index(Dim::K)].most == 4);
    const auto c = parse_timeloop_constraints(R"(
mapspace_constraints:
  targets:
  - target: weights
    constraints:
    - {type: temporal, factors: "R >= 2, S<3 Q > 1", permutation: "RS"}
    - {type: datatype, keep: [Weights]}
)",
                                              "c.yaml", a, cnn_layer_names(), *inside);
    REQUIRE_MESSAGE(c, (c ? "" : to_string(c.diagnostics().items().front())));
    const auto& range = c->rules.levels[2].temporal_range;
    CHECK(range[index(Dim::R)].least == 2);
    CHECK(range[index(Dim::S)].most == 2);
    CHECK(range[index(Dim::Q)].least == 2);
    CHECK(c->rules.levels[1].temporal[index(Dim::C)] == 0); // the architecture's own stay
    CHECK(c->places.at("levels[2].temporal.S").line == 6);
    Problem problem;
    problem.bounds = {1, 1, 8, 12, 1, 1, 1, 1};
    problem.bounds[index(Dim::C)] = 12;
    const mapper::Task task = analysis::task_of(problem, a, nullptr, c->rules);
    CHECK(task.constraints.levels[1].temporal[index(Dim::C)] == 12); // all of it
    const auto never = parse_timeloop_constraints(
        "mapspace_constraints:\n- {target: sums, type: temporal, factors: [K>=4, K<=2]}\n",
        "c.yaml", a);
    CHECK(says(never.diagnostics(), "c.yaml:2:3: error: K of sums has to be at least 4"));
}

TEST_CASE("a mapping may say how many trips the last visit has, which its size must bear out") {
    const Accelerator a = nodes();
    TimeloopNames names = cnn_layer_names();
    names.sizes = kOnes;
    (*names.sizes)[index(Dim::P)] = 10; // 3 visits of 4, the last with 2
    const auto read = [&](const std::string& inner, const std::string& outer) {
        return parse_timeloop_mapping(
            "mapping:\n- {target: DRAM, type: temporal, factors: \"P=" + outer +
                "\"}\n- {target: sums, type: temporal, " + "factors: \"P=" + inner + "\"}\n",
            "m.yaml", a, names);
    };
    const auto whole = read("4,2", "3,3");
    REQUIRE(whole);
    CHECK(whole->levels[0].temporal == std::vector<TemporalLoop>{{Dim::P, 3}});
    CHECK(*whole == *read("4", "3"));
    CHECK(says(read("4,3", "3").diagnostics(),
               "m.yaml:3:3: error: P4,3: its last visit has 2 trips, by the size 10 of P"));
    CHECK(says(read("4,5", "3").diagnostics(), "'P=4,5' is no factor"));
    CHECK(read("0", "1")->levels[3].temporal == std::vector<TemporalLoop>{{Dim::P, 10}});
    CHECK(says(read("<=4", "3").diagnostics(), "m.yaml:3:"));
    names.sizes.reset();
    CHECK(says(read("0", "1").diagnostics(), "whose size is not known here"));
}

TEST_CASE("a dimension along both axes is written along one of them, where it fits") {
    const auto machine = parse_timeloop_architecture(R"(
arch:
  arithmetic: {name: MACs, instances: 32, meshX: 8, word_bits: 16}
  storage:
  - {name: Spad, entries: 24, instances: 32, meshX: 8, word_bits: 16, vector_access_energy: 1.0}
  - {name: DRAM, technology: DRAM, instances: 1, word_bits: 16, vector_access_energy: 200.0}
)",
                                                     "arch.yaml");
    REQUIRE(machine);
    const auto& a = std::get<Accelerator>(machine->kind); // x is 8 wide, y is 4
    Problem problem;
    problem.bounds = kOnes;
    problem.bounds[index(Dim::K)] = 8;
    problem.bounds[index(Dim::C)] = 4;
    Mapping m;
    m.levels.resize(2);
    m.levels[0].keeps = m.levels[1].keeps = {Operand::input, Operand::weight, Operand::output};
    m.levels[0].spatial = {{Dim::K, 2, 1}, {Dim::C, 2, 1}, {Dim::K, 4, 0}, {Dim::C, 2, 0}};
    const auto text = write_timeloop_mapping(m, a);
    REQUIRE_MESSAGE(text, (text ? "" : to_string(text.diagnostics().items().front())));
    const auto again = parse_timeloop_mapping(*text, "m.yaml", a);
    REQUIRE(again);
    CHECK(again->levels[0].spatial == std::vector<SpatialLoop>{{Dim::C, 4, 1}, {Dim::K, 8, 0}});
    const auto before = cost_of(problem, a, m, Counting::timeloop);
    const auto after = cost_of(problem, a, *again, Counting::timeloop);
    REQUIRE(before);
    REQUIRE(after);
    CHECK(before->energy_pj == after->energy_pj);
    CHECK(before->cycles == after->cycles);
}

} // namespace test_formats_timeloop_spellings
