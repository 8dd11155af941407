#include "profiles/import/importer.hpp"
#include "profiles/launch_sums.hpp"
#include "profiles/profile_file.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_profiles_launch_sums {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

Launch launch_of(ProfileBuilder& built, const std::string& kernel, double duration_ns,
                 std::int64_t blocks) {
    Launch launch;
    launch.source = built.source("a.csv");
    launch.kernel = built.kernel(kernel);
    launch.grid = {blocks, 1, 1};
    launch.start_ns = 1000;
    launch.stream = 7;
    launch.duration_ns = duration_ns;
    return launch;
}

} // namespace

TEST_CASE("sums of launches: times and amounts are added up, of other counters the mean is kept") {
    ProfileBuilder built;
    LaunchSums sums;
    Launch first = launch_of(built, "gemm", 100.0, 4);
    first.counters = {{"bytes.dram", 10.0}, {"clock_hz", 1e9}};
    Launch second = launch_of(built, "gemm", 300.0, 4);
    second.counters = {{"bytes.dram", 30.0}, {"clock_hz", 2e9}};
    Launch third = launch_of(built, "gemm", 200.0, 4);
    third.counters = {{"bytes.dram", 5.0}, {"clock_hz", 3e9}};
    sums.add(built.profile, first);
    sums.add(built.profile, launch_of(built, "gemm", 50.0, 8)); // another shape
    CHECK(!sums.sums());
    sums.begin_sums(built.profile);
    sums.add(built.profile, second);
    sums.add(built.profile, third);
    const auto& launches = built.profile.launches;
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].calls == 3);
    CHECK(launches[0].duration_ns == 600.0);
    CHECK(launches[0].counters.at("bytes.dram") == 45.0);
    CHECK(launches[0].counters.at("clock_hz") == 2e9); // (1 + 2 + 3) / 3
    CHECK(launches[0].start_ns == kNone);
    CHECK(launches[0].stream == kNone);
    CHECK(launches[1].calls == 1);
    CHECK(built.profile.launch_count() == 4);
    CHECK(built.profile.notes.size() == 1);
}

TEST_CASE("beyond the limit launches become sums, and no time and no launch is lost") {
    ProfileBuilder built;
    LaunchSums sums;
    const std::size_t count = kMostLaunches + 1000;
    for (std::size_t i = 0; i < count; ++i) {
        sums.add(built.profile, launch_of(built, i % 3 == 0 ? "gemm" : "relu", 2.0, 4));
    }
    REQUIRE(built.profile.launches.size() == 2);
    CHECK(built.profile.launch_count() == static_cast<std::int64_t>(count));
    CHECK(built.profile.launches[0].duration_ns + built.profile.launches[1].duration_ns ==
          2.0 * static_cast<double>(count));
    CHECK(summarise(built.profile).size() == 2);
}

TEST_CASE("a sum survives writing and reading, and a number of calls below one is refused") {
    ProfileBuilder built;
    LaunchSums sums;
    sums.begin_sums(built.profile);
    for (int i = 0; i < 5; ++i) {
        sums.add(built.profile, launch_of(built, "gemm", 100.0, 4));
    }
    const std::string text = profile_text(built.profile);
    CHECK(text.find("\"calls\":5") != std::string::npos);
    const auto again = import_profile(input_of_text(text, "p.jsonl"));
    REQUIRE(again.ok());
    CHECK(again->launches == built.profile.launches);
    CHECK(again->launch_count() == 5);
    std::string none = text;
    none.replace(none.find("\"calls\":5"), 9, "\"calls\":0");
    CHECK(!import_profile(input_of_text(none, "p.jsonl")).ok());
}

TEST_CASE("names beyond the limit become one, and a note says so") {
    ProfileBuilder built;
    const std::string name(100'000, 'k');
    for (int i = 0; i < 1000; ++i) {
        built.kernel(name + std::to_string(i));
    }
    CHECK(built.profile.kernels.size() < 1000);
    CHECK(built.profile.kernels.back().name == "(further kernels)");
    CHECK(built.kernel(name + "another") == built.kernel("(further kernels)"));
    CHECK(built.profile.notes.size() == 1);
}

} // namespace test_profiles_launch_sums
