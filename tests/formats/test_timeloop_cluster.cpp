// Timeloop's stores whose instances share one access of their full width.
#include "formats/timeloop.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_formats_timeloop_cluster {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::formats;

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

TEST_CASE("a cluster of no instances is refused, and one that is no number") {
    CHECK_FALSE(clustered("0"));
    CHECK_FALSE(clustered("-4"));
    CHECK_FALSE(clustered("many"));
}

} // namespace test_formats_timeloop_cluster
