// Timeloop's stores whose instances share one access of their full width.
#include "formats/timeloop.hpp"
#include "model/cost/cost.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_formats_timeloop_cluster {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::formats;
using eyeroof::tests::near;

namespace {

// A store of 16 instances and 64 bits, four of which share an access.
Result<Machine> clustered(const std::string& cluster) {
    return parse_timeloop_architecture(
        "arch:\n"
        "  arithmetic: {name: MACs, instances: 16, word_bits: 16, energy: 1}\n"
        "  storage:\n"
        "  - {name: Spad, entries: 24, instances: 16, word_bits: 16, width: 64,"
        " cluster_size: " +
            cluster +
            ", vector_access_energy: 8.0}\n"
            "  - {name: DRAM, technology: DRAM, instances: 1, word_bits: 16,"
            " vector_access_energy: 200.0}\n",
        "arch.yaml", {});
}

} // namespace

TEST_CASE("an access of the full width serves one word of each instance of a cluster") {
    const auto four = clustered("4");
    REQUIRE(four);
    const auto& a = std::get<Accelerator>(four->kind);
    CHECK(a.levels[1].stores[0].read_pj == 8.0 / 4);
    CHECK(a.levels[1].stores[0].write_pj == 8.0 / 4);
    CHECK(a.levels[0].stores[0].read_pj == 200.0);
    const auto one = clustered("1"); // four words of one instance: each costs as much
    REQUIRE(one);
    CHECK(std::get<Accelerator>(one->kind).levels[1].stores[0].read_pj == 8.0 / 4);
    const auto two = clustered("8"); // half a word each: one word an access
    REQUIRE(two);
    CHECK(std::get<Accelerator>(two->kind).levels[1].stores[0].read_pj == 8.0 / 8);
}

// One filter of 3 taps over 20 outputs; the loop over taps lies outside. Under Timeloop's counting
// memory is asked for 3 weights, 22 inputs, and 20 outputs: with 8 words an access 1 + 3 reads and
// 3 updates, 4 * 80 pJ + 3 * 40 pJ. By words alone it would be 25 * 10 pJ + 20 * 5 pJ.
TEST_CASE("an access is billed whole, for each operand and direction") {
    const auto machine = parse_timeloop_architecture(
        "arch:\n"
        "  arithmetic: {name: MACs, instances: 1, word_bits: 8, energy: 0}\n"
        "  storage:\n"
        "  - {name: Buffer, entries: 64, instances: 1, word_bits: 8, vector_access_energy: 0.0}\n"
        "  - {name: Memory, technology: DRAM, instances: 1, word_bits: 8, block_size: 8,"
        " vector_access_energy: 80.0}\n",
        "arch.yaml", {});
    REQUIRE(machine);
    auto a = std::get<Accelerator>(machine->kind);
    REQUIRE(a.levels[0].stores[0].access_words == 8);
    CHECK(a.levels[0].stores[0].read_pj == 10.0);
    a.levels[0].stores[0].write_pj = 5.0;
    Problem conv;
    conv.bounds[index(Dim::P)] = 20;
    conv.bounds[index(Dim::R)] = 3;
    Mapping mapping;
    mapping.levels.resize(2);
    for (LevelMapping& level : mapping.levels) {
        level.keeps = {Operand::input, Operand::weight, Operand::output};
    }
    mapping.levels[0].temporal = {{Dim::R, 3}};
    mapping.levels[1].temporal = {{Dim::P, 20}};
    const auto cost = cost_of(conv, a, mapping, Counting::timeloop);
    REQUIRE(cost);
    const auto& memory = cost->levels[0];
    CHECK(memory.total[index(Operand::weight)].reads == 3);
    CHECK(memory.total[index(Operand::input)].reads == 22);
    CHECK(memory.total[index(Operand::output)].updates == 20);
    CHECK(memory.energy_pj[index(Operand::weight)] == 80.0);
    CHECK(memory.energy_pj[index(Operand::input)] == 3 * 80.0);
    CHECK(memory.energy_pj[index(Operand::output)] == 3 * 40.0);
    const auto own = cost_of(conv, a, mapping); // eyeroof's own counting bills words
    REQUIRE(own);
    CHECK(own->levels[0].energy_pj[index(Operand::output)] == 20 * 5.0);
}

// Exercise 01 of Timeloop's tutorial, weights at rest: three taps over 16 outputs, taps outside.
// Memory moves eight words an access: 1 and 3 reads at 39.0566 pJ, 2 updates at 26.840195 pJ, which
// its table lists apart from fills at up to 31.5767 pJ. Published (commit ccaba0c3): 39.06, 117.17,
// and 53.68 pJ.
TEST_CASE("results that arrive from below cost the update of the table") {
    const auto machine = parse_timeloop_architecture(
        "architecture:\n"
        "  version: 0.4\n"
        "  nodes:\n"
        "  - !Component {name: MainMemory, class: SRAM, attributes: {depth: 32768, width: 64,"
        " datawidth: 8}}\n"
        "  - !Component {name: Buffer, class: regfile, attributes: {depth: 64, width: 8,"
        " datawidth: 8}}\n"
        "  - !Component {name: MACC, class: intmac, attributes: {datawidth: 8}}\n",
        "arch.yaml",
        {"ERT:\n  version: 0.4\n  tables:\n"
         "  - name: MainMemory\n    actions:\n    - {name: read, energy: 39.0566}\n"
         "    - {name: write, energy: 31.5767}\n    - {name: update, energy: 26.840195}\n"
         "  - name: Buffer\n    actions:\n    - {name: read, energy: 0.42564}\n"
         "    - {name: write, energy: 0.42564}\n    - {name: update, energy: 0.42564}\n"
         "  - name: MACC\n    actions: [{name: compute, energy: 0.845}]\n",
         "ert.yaml"});
    REQUIRE(machine);
    const auto& a = std::get<Accelerator>(machine->kind);
    Problem conv;
    conv.bounds[index(Dim::P)] = 16;
    conv.bounds[index(Dim::R)] = 3;
    Mapping mapping;
    mapping.levels.resize(2);
    for (LevelMapping& level : mapping.levels) {
        level.keeps = {Operand::input, Operand::weight, Operand::output};
    }
    mapping.levels[0].temporal = {{Dim::R, 3}};
    mapping.levels[1].temporal = {{Dim::P, 16}};
    const auto cost = cost_of(conv, a, mapping, Counting::timeloop);
    REQUIRE(cost);
    const auto& memory = cost->levels[0].energy_pj;
    CHECK(memory[index(Operand::weight)] == near(39.0566, 1e-12));
    CHECK(memory[index(Operand::input)] == near(3 * 39.0566, 1e-12));
    CHECK(memory[index(Operand::output)] == near(2 * 26.840195, 1e-12));
    CHECK(a.levels[0].stores[0].write_pj == near(31.5767 / 8, 1e-12));
}

// Three outputs lie on three columns, the two taps of each on the PEs of its column. Words 0 1, 1
// 2, 2 3 of the input: an array takes four different ones, columns with PEs of their own two each.
// Eyeriss-like exercise of Timeloop's tutorial (06-mapper-convlayer-eyeriss, stats of commit
// 09545d3f): 14 columns and 3 taps, 57,802,752 reads of inputs, 42 / 16 of the 22,020,096 of an
// array.
TEST_CASE("containers one inside the other find equal tiles level by level") {
    const auto reads = [](const std::string& nodes, Counting counting) {
        const auto machine = parse_timeloop_architecture(
            "architecture:\n"
            "  version: 0.4\n"
            "  nodes:\n"
            "  - !Component {name: Memory, class: DRAM, attributes: {datawidth: 8}}\n" +
                nodes +
                "  - !Component {name: Spad, class: SRAM, attributes: {depth: 8, width: 8,"
                " datawidth: 8}}\n"
                "  - !Component {name: mac, class: intmac, attributes: {datawidth: 8}}\n",
            "arch.yaml", {});
        REQUIRE(machine);
        const auto& a = std::get<Accelerator>(machine->kind);
        Problem conv;
        conv.bounds[index(Dim::Q)] = 3;
        conv.bounds[index(Dim::S)] = 2;
        Mapping mapping;
        mapping.levels.resize(2);
        for (LevelMapping& level : mapping.levels) {
            level.keeps = {Operand::input, Operand::weight, Operand::output};
        }
        mapping.levels[0].spatial = {{Dim::Q, 3, 0}, {Dim::S, 2, 1}};
        const auto cost = cost_of(conv, a, mapping, counting);
        REQUIRE(cost);
        return cost->levels[0].total[index(Operand::input)].reads;
    };
    const std::string columns = "  - !Container {name: column, spatial: {meshX: 3}}\n"
                                "  - !Container {name: PE, spatial: {meshY: 2}}\n";
    const std::string array = "  - !Container {name: PE, spatial: {meshX: 3, meshY: 2}}\n";
    CHECK(reads(columns, Counting::timeloop) == 6);
    CHECK(reads(array, Counting::timeloop) == 4);
    CHECK(reads(columns, Counting::eyeroof) == 4); // one network multicasts to all PEs
}

TEST_CASE("a cluster of no instances is refused, and one that is no number") {
    CHECK_FALSE(clustered("0"));
    CHECK_FALSE(clustered("-4"));
    CHECK_FALSE(clustered("many"));
}

} // namespace test_formats_timeloop_cluster
