// Areas and energies of single circuits against numbers that somebody else printed.
#include "hwdb/technology_reader.hpp"
#include "model/technology/chip_parts.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

namespace test_chip_chip_parts {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

model::Technology technology() {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};
    const auto read = hwdb::load_technology(folders);
    REQUIRE(read.ok());
    return *read;
}

model::ProcessNode process(double nm) {
    const auto node = model::node_of(technology(), nm);
    REQUIRE(node.ok());
    return *node;
}

double factor(double one, double other) {
    return one > other ? one / other : other / one;
}

std::string words_of(const Diagnostics& found) {
    std::string words;
    for (const Diagnostic& one : found) {
        words += to_string(one) + "\n";
    }
    return words;
}

} // namespace

TEST_CASE("the reference circuits come out as they went in, and 16 bit between 8 and 32") {
    const auto t = technology();
    const auto at_45 = process(45);
    CHECK(model::multiplier(t.reference, at_45, 8).pj == near(0.2));
    CHECK(model::multiplier(t.reference, at_45, 32).um2 == near(3495.0));
    CHECK(model::adder(t.reference, at_45, 32).pj == near(0.1));
    CHECK(model::memory_pj_per_bit(t.reference, at_45, 8192) * 64 == near(10.0));
    // The same source prints 20 pJ for 32 KiB and 100 pJ for 1 MiB; neither is in the law.
    CHECK(model::memory_pj_per_bit(t.reference, at_45, 32768) * 64 == near(20.0));
    CHECK(model::memory_pj_per_bit(t.reference, at_45, 1048576) * 64 == near(100.0, 0.15));
    const double middle = model::multiplier(t.reference, at_45, 16).pj;
    CHECK(middle == near(std::sqrt(0.2 * 3.1)));
}

TEST_CASE("spads of a sparse PE cost what its authors estimated in 45 nm, within twice") {
    const auto t = technology();
    const auto at_45 = process(45);
    const auto access = [&](double words, double bits) {
        return bits * model::memory_pj_per_bit(t.reference, at_45, words * bits / 8.0);
    };
    CHECK(factor(access(16, 12), 0.130) < 2.0);
    CHECK(factor(access(96, 24), 0.477) < 2.0);
    CHECK(factor(access(32, 20), 0.167) < 2.0);
}

TEST_CASE(
    "SCNN's PE: its memory is as large as printed within a factor of 2.5, its multipliers of 4") {
    const auto t = technology();
    const auto at_16 = process(16);
    CHECK(factor(2 * model::sram_macro_mm2(t.assumed, at_16, 10.0 * 8192), 0.031) < 2.5);
    CHECK(factor(16 * model::multiplier(t.reference, at_16, 16).um2 * 1e-6, 0.008) < 4.0);
}

TEST_CASE("a process between two of the table lies between them, one outside is refused") {
    const auto t = technology();
    const auto at_20 = process(20);
    CHECK(at_20.sram_cell_um2 < process(28).sram_cell_um2);
    CHECK(at_20.sram_cell_um2 > process(16).sram_cell_um2);
    CHECK(at_20.origin.confidence == Confidence::derived);
    // Halfway between the logarithms of two sizes, areas and voltages are geometric means.
    const auto halfway = process(std::sqrt(16.0 * 28.0));
    CHECK(halfway.sram_cell_um2 ==
          near(std::sqrt(process(16).sram_cell_um2 * process(28).sram_cell_um2)));
    CHECK(halfway.gate_um2 == near(std::sqrt(process(16).gate_um2 * process(28).gate_um2)));
    CHECK(halfway.supply_v == near(std::sqrt(process(16).supply_v * process(28).supply_v)));
    CHECK_FALSE(model::node_of(t, 3).ok());
    CHECK_FALSE(model::node_of(t, 350).ok());
    CHECK(model::energy_scale(t.reference, process(65)) == near(65.0 / 45.0 / 0.81));
}

TEST_CASE("a broken table of processes is refused with the place of each mistake") {
    auto document = hwdb::parse_yaml("eyeroof: technology/1\nnodes:\n"
                                     "  - {nm: 16, cell_um2: 0.07, gate_um2: 0.2, supply_v: 0.8, "
                                     "source: a, confidence: paper}\n"
                                     "  - {nm: 28, cell_um2: -1, gate_um2: 0.2, supply_v: 0.8, "
                                     "source: a, confidence: sure}\n",
                                     "bad.yaml");
    REQUIRE(document.ok());
    const auto read = hwdb::read_technology(*document);
    CHECK_FALSE(read.ok());
    const std::string all = words_of(read.diagnostics());
    for (const char* part : {"bad.yaml:4:", "cell_um2", "sure", "not smaller", "reference"}) {
        CAPTURE(part);
        CHECK(all.find(part) != std::string::npos);
    }
}

} // namespace test_chip_chip_parts
