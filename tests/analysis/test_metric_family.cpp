#include "formats/metric_family.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_analysis_metric_family {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

const std::string kSmall = "eyeroof_metrics: 1\n"
                           "family: small\n"
                           "summary: s\n"
                           "source: here\n"
                           "chips: [XX1]\n"
                           "compute_capabilities: [\"1.0\"]\n"
                           "time: t\n"
                           "work:\n"
                           "  - {precision: fp32, pipe: fma, terms: [{counter: a, weight: 2}]}\n"
                           "traffic:\n"
                           "  - {level: dram, meaning: all, terms: [{counter: b, weight: 32}]}\n"
                           "sets:\n"
                           "  - {name: one, max_passes: 1, counters: [t, a, b]}\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("a metric file is read as it stands") {
    const auto family = formats::parse_metric_family(kSmall, "small.yaml");
    REQUIRE(family.ok());
    CHECK(family->chips == std::vector<std::string>{"XX1"});
    CHECK(family->work[0].terms[0] == MetricTerm{"a", 2.0});
    CHECK(family->find_set("one")->counters.size() == 3);
    CHECK(counters_of(*family) == std::vector<std::string>{"t", "a", "b"});
}

TEST_CASE("a metric file with a slip is refused at its place") {
    for (const auto& [from, to] :
         {std::pair{"weight: 2", "weight: none"}, std::pair{"fp32", "fp33"},
          std::pair{"pipe: fma", "pipe: fmaa"}, std::pair{"[t, a, b]", "[t, a]"},
          std::pair{"max_passes: 1", "max_passes: 0"}, std::pair{"summary: s", "sumary: s"},
          std::pair{"eyeroof_metrics: 1", "eyeroof_metrics: 2"}}) {
        CAPTURE(std::string(to));
        const auto family = formats::parse_metric_family(with(kSmall, from, to), "small.yaml");
        REQUIRE_FALSE(family.ok());
        CHECK(family.diagnostics().items()[0].where.line > 0);
    }
}

TEST_CASE("every family that is shipped is read, and no chip belongs to two") {
    const auto families =
        formats::read_metric_families(eyeroof::tests::source_dir() + "/profiles/metrics");
    REQUIRE(families.ok());
    std::vector<std::string> chips;
    for (const MetricFamily& family : *families) {
        CHECK(family.find_set("roofline") != nullptr);
        CHECK(family.find_set("roofline-full") != nullptr);
        chips.insert(chips.end(), family.chips.begin(), family.chips.end());
    }
    CHECK(chips.size() == 27);
    std::ranges::sort(chips);
    CHECK(std::ranges::adjacent_find(chips) == chips.end());
    CHECK(find_family(*families, {.compute_capability = "9.0"})->name == "hopper");
}

} // namespace test_analysis_metric_family
