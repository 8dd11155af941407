#include "tests/fuzz/any_file.hpp"
#include "tests/fuzz/layer_csv.hpp"
#include "tests/fuzz/mapping_yaml.hpp"
#include "tests/fuzz/network_yaml.hpp"
#include "tests/fuzz/peer_machines.hpp"
#include "tests/fuzz/peer_networks.hpp"
#include "tests/fuzz/scalesim.hpp"
#include "tests/fuzz/small_files.hpp"
#include "tests/fuzz/timeloop.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace test_formats_fuzz_corpus {

using namespace eyeroof::tests;

namespace {

template <class Promise> void replay(const std::string& reader, const Promise& broken_promise) {
    int files = 0;
    const auto folder =
        std::filesystem::path(eyeroof::tests::source_dir()) / "tests/fuzz/corpus" / reader;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        CAPTURE(entry.path().filename().string());
        CHECK(broken_promise(text) == "");
        // Cut anywhere, it may be wrong but must not break anything.
        for (std::size_t size = 0; size < text.size(); size += 1 + text.size() / 40) {
            CHECK(broken_promise(text.substr(0, size)) == "");
        }
        ++files;
    }
    CHECK(files >= 5);
}

} // namespace

TEST_CASE("the readers of networks keep their promises on the fuzzers' corpus") {
    replay("layer_csv", broken_promise_layer_csv);
    replay("network_yaml", broken_promise_network_yaml);
    replay("scalesim", broken_promise_scalesim);
    replay("maestro", broken_promise_maestro);
    replay("zigzag", broken_promise_zigzag);
    replay("peer_machines", broken_promise_peer_machines);
}

TEST_CASE("the readers of mappings and of Timeloop's files keep their promises on theirs") {
    replay("timeloop", broken_promise_timeloop);
    replay("mapping_yaml", broken_promise_mapping_yaml);
}

TEST_CASE("a file of unknown kind is opened or refused with words, cut anywhere") {
    replay("any_file", broken_promise_any_file);
}

TEST_CASE("the readers of smaller files keep their promises on theirs") {
    replay("assignments", broken_promise_assignments);
    replay("densities", broken_promise_densities);
    replay("package_yaml", broken_promise_package_yaml);
    replay("fleet_yaml", broken_promise_fleet_yaml);
    replay("area_table", broken_promise_area_table);
    replay("fabric_yaml", broken_promise_fabric_yaml);
    replay("technology_yaml", broken_promise_technology_yaml);
    replay("published_yaml", broken_promise_published_yaml);
    replay("claim_yaml", broken_promise_claim_yaml);
    replay("price_yaml", broken_promise_price_yaml);
    replay("transfer_yaml", broken_promise_transfer_yaml);
    replay("sweep_note", broken_promise_sweep_note);
    replay("collect_text", broken_promise_collect_text);
}

} // namespace test_formats_fuzz_corpus
