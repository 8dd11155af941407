// Fabrics as files: all that stand in the catalog, and what is wrong with others.
#include "hwdb/fabric_reader.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_scale_fabric_reader {

using namespace eyeroof;

namespace {

const std::vector<std::filesystem::path> kHwdb = {std::filesystem::path(tests::source_dir()) /
                                                  "hwdb"};

Result<model::Fabric> read(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "mine.yaml");
    REQUIRE(document.ok());
    return hwdb::read_fabric(*document, "mine");
}

bool has(const Diagnostics& found, const std::string& code, int line) {
    return std::any_of(found.begin(), found.end(),
                       [&](const Diagnostic& d) { return d.code == code && d.where.line == line; });
}

} // namespace

TEST_CASE("every fabric of the catalog can be read, and every number of it has a source") {
    const auto entries = hwdb::list_fabrics(kHwdb);
    CHECK(entries.size() >= 8);
    for (const auto& entry : entries) {
        const auto fabric = hwdb::load_fabric(entry.id, kHwdb);
        CHECK_MESSAGE(fabric.ok(), entry.id);
        if (fabric) {
            CHECK(fabric->id == entry.id);
            const bool narrow = entry.id == "hgx-a100-100g"; // one adapter for eight: measured
            const Diagnostics found = model::validate(*fabric);
            CHECK_MESSAGE(found.size() == (narrow ? 1U : 0U), entry.id);
            CHECK(std::ranges::all_of(
                found, [](const Diagnostic& d) { return d.code == "narrow-ports"; }));
        }
    }
}

TEST_CASE("all mistakes of a fabric are told at once, each in its line") {
    const auto fabric =
        read("eyeroof: fabric/1\n"
             "name: mine\n"
             "source: \"my own\"\n"
             "confidence: user\n"
             "protocols: [{name: a, base: 1 us, share: 1}, {name: b, base: 1 us, share: 1}]\n"
             "levels:\n"
             "  - {name: in, bandwith: 1 GB/s, latency: [1 us], size: 8}\n"
             "  - {name: out, bandwidth: 1 GB, latency: 1 us, topology: thorus}\n");
    REQUIRE_FALSE(fabric.ok());
    CHECK(has(fabric.diagnostics(), "unknown-key", 7));
    CHECK(has(fabric.diagnostics(), "latencies", 7));
    CHECK(fabric.diagnostics().size() >= 5);
}

TEST_CASE(
    "numbers without a source, inner levels without a size and impossible shares are refused") {
    CHECK_FALSE(
        read("eyeroof: fabric/1\nname: m\nlevels: [{name: a, bandwidth: 1 GB/s, latency: 1 us}]\n")
            .ok());
    const std::string head =
        "eyeroof: fabric/1\nname: m\nsource: \"my own\"\nconfidence: user\nlevels:\n";
    CHECK(read(head + "  - {name: a, bandwidth: 1 GB/s, latency: 1 us}\n").ok());
    CHECK_FALSE(read(head + "  - {name: a, bandwidth: 1 GB/s, latency: 1 us}\n"
                            "  - {name: b, bandwidth: 1 GB/s, latency: 1 us}\n")
                    .ok());
    CHECK_FALSE(read(head + "  - {name: a, bandwidth: 1 GB/s, latency: 1 us, share: 1.5}\n").ok());
    CHECK_FALSE(
        read(head + "  - {name: a, bandwidth: 1 GB/s, latency: 1 us, topology: torus}\n").ok());
    CHECK_FALSE(read(head + "  - {name: a, bandwidth: 0 B/s, latency: 1 us}\n").ok());
}

} // namespace test_scale_fabric_reader
