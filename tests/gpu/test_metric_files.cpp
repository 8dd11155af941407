// The metric files against NVIDIA's own library: real on every machine with the toolkit, no GPU
// needed. With a toolkit that has no such library (before 12.6 U2) there is nothing to ask.
#ifdef EYEROOF_RANGE_PROFILER
#include "formats/metric_family.hpp"
#include "profiles/cupti/cupti_catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_gpu_metric_files {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

std::vector<MetricFamily> families() {
    const auto read =
        formats::read_metric_families(eyeroof::tests::source_dir() + "/profiles/metrics");
    for (const auto& diagnostic : read.diagnostics()) {
        MESSAGE(to_string(diagnostic));
    }
    REQUIRE(read.ok());
    REQUIRE(read->size() >= 8);
    std::vector<MetricFamily> nvidia = *read;
    std::erase_if(nvidia, [](const MetricFamily& family) {
        return family.chips.front().starts_with("gfx"); // AMD's
    });
    return nvidia;
}

// nullopt, and a line that says why, where the library is not installed.
std::optional<CuptiCatalog> catalog() {
    auto opened = CuptiCatalog::open();
    if (!opened) {
        MESSAGE("skipped: " << opened.diagnostics().items()[0].message);
        return std::nullopt;
    }
    return std::move(*opened);
}

// Whether there is something to ask about a chip. A library of CUDA 12 is older than the newest
// chips; one of CUDA 13 or later has to know all of them.
bool known(const CuptiCatalog& library, const std::string& chip) {
    const bool listed = std::ranges::count(library.chips(), chip) > 0;
    if (!listed && library.library().find("libcupti.so.12") != std::string::npos) {
        MESSAGE("skipped: " << chip << " is newer than " << library.library());
        return false;
    }
    CHECK_MESSAGE(listed, chip << " is not a chip of " << library.library());
    return listed;
}

} // namespace

TEST_CASE("every counter of every family exists on every chip of the family") {
    const auto library = catalog();
    if (!library) {
        return;
    }
    CHECK(library->chips().size() >= 14);
    for (const MetricFamily& family : families()) {
        for (const std::string& chip : family.chips) {
            if (!known(*library, chip)) {
                continue;
            }
            std::vector<std::string> wanted = counters_of(family);
            for (const MetricSet& set : family.sets) {
                wanted.insert(wanted.end(), set.counters.begin(), set.counters.end());
            }
            for (const std::string& missing : library->unknown_metrics(chip, wanted)) {
                FAIL_CHECK(chip << " has no " << missing);
            }
        }
    }
}

TEST_CASE("every set keeps to its budget of passes on every chip") {
    const auto library = catalog();
    if (!library) {
        return;
    }
    for (const MetricFamily& family : families()) {
        for (const std::string& chip : family.chips) {
            if (!known(*library, chip)) {
                continue;
            }
            for (const MetricSet& set : family.sets) {
                CAPTURE(chip);
                CAPTURE(set.name);
                const auto passes = library->passes(chip, set.counters);
                REQUIRE(passes.ok());
                MESSAGE(chip << " " << set.name << ": " << *passes);
                CHECK(*passes <= static_cast<std::size_t>(set.max_passes));
            }
        }
    }
}

TEST_CASE("a metric and a chip that do not exist are told as such") {
    const auto library = catalog();
    if (!library) {
        return;
    }
    const std::vector<std::string> wanted = {"dram__bytes.sum", "dram__bites.sum"};
    CHECK(library->unknown_metrics("GH100", wanted) == std::vector<std::string>{"dram__bites.sum"});
    CHECK(library->unknown_metrics("XX100", wanted) == wanted);
    CHECK_FALSE(library->passes("XX100", wanted).ok());
    CHECK_FALSE(library->passes("GH100", wanted).ok());
}

TEST_CASE("a folder without the library is unavailable, with one line") {
    const auto none = CuptiCatalog::open("/no/such/folder");
    REQUIRE_FALSE(none.ok());
    REQUIRE(none.diagnostics().size() == 1);
    CHECK(none.diagnostics().items()[0].code == "unavailable");
    CHECK(none.diagnostics().items()[0].message.find("libcupti") != std::string::npos);
}
#endif

} // namespace test_gpu_metric_files
