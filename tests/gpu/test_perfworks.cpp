// What the older Profiling API needs of NVIDIA's host library, asked for real: no GPU needed.
#include "formats/metric_family.hpp"
#include "profiles/cupti/perfworks.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_gpu_perfworks {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

std::unique_ptr<Perfworks> library() {
    auto opened = Perfworks::open();
    if (!opened) {
        MESSAGE("skipped: " << opened.diagnostics().items()[0].message);
        return nullptr;
    }
    return *std::move(opened);
}

std::vector<MetricFamily> families() {
    const auto read = formats::read_metric_families(tests::source_dir() + "/profiles/metrics");
    REQUIRE(read.ok());
    std::vector<MetricFamily> nvidia = *read;
    std::erase_if(nvidia, [](const MetricFamily& family) {
        return family.chips.front().starts_with("gfx"); // AMD's
    });
    return nvidia;
}

} // namespace

TEST_CASE("the older API plans the one-pass set of Volta, Turing and Ampere") {
    const auto perfworks = library();
    if (!perfworks) {
        return;
    }
    for (const MetricFamily& family : families()) {
        for (const std::string& chip : family.chips) {
            if (chip != "GV100" && chip != "TU102" && chip != "GA100") {
                continue;
            }
            CAPTURE(chip);
            REQUIRE(perfworks->choose_chip(chip, nullptr) == 0);
            const MetricSet* set = family.find_set("roofline");
            REQUIRE(set != nullptr);
            for (const std::string& counter : set->counters) {
                CAPTURE(counter);
                CHECK(perfworks->has_metric(counter));
            }
            REQUIRE(perfworks->add(set->counters) == 0);
            CHECK(perfworks->config_image().size() > 0);
            CHECK(perfworks->counter_data_prefix().size() > 0);
            CHECK(perfworks->passes() >= 1);
            CHECK(perfworks->passes() <= static_cast<std::size_t>(set->max_passes));
        }
    }
}

TEST_CASE("the older API tells metrics, chips and folders that do not exist") {
    const auto perfworks = library();
    if (!perfworks) {
        return;
    }
    CHECK(perfworks->choose_chip("XX100", nullptr) != 0);
    CHECK_FALSE(perfworks->has_metric("dram__bytes.sum"));
    REQUIRE(perfworks->choose_chip("GV100", nullptr) == 0);
    CHECK(perfworks->has_metric("dram__bytes.sum"));
    CHECK_FALSE(perfworks->has_metric("dram__bites.sum"));
    CHECK(perfworks->add({"dram__bites.sum"}) != 0);
    const auto none = Perfworks::open("/no/such/folder");
    REQUIRE_FALSE(none.ok());
    CHECK(none.diagnostics().items()[0].code == "unavailable");
}

TEST_CASE("an empty counter-data image holds no ranges") {
    const auto perfworks = library();
    if (!perfworks) {
        return;
    }
    REQUIRE(perfworks->choose_chip("GV100", nullptr) == 0);
    REQUIRE(perfworks->add({"dram__bytes.sum"}) == 0);
    CHECK(perfworks->ranges(perfworks->counter_data_prefix()) == 0);
}

} // namespace test_gpu_perfworks
