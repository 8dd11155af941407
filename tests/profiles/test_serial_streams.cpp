// Times that no device can have: cut, left out, or refused, with the reason.
#include "profiles/device_time.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/serial_streams.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace test_profiles_serial_streams {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

// Kernels of one stream, 20 us each with 10 us between them.
Profile ten_kernels() {
    Profile profile;
    profile.sources = {"t"};
    profile.kernels = {{"gemm", ""}};
    for (int i = 0; i < 10; ++i) {
        Launch launch;
        launch.stream = 7;
        launch.device = 0;
        launch.start_ns = 30'000 * i;
        launch.duration_ns = 20'000.0;
        profile.launches.push_back(launch);
    }
    return profile;
}

double total_us(const Profile& profile) {
    double sum = 0.0;
    for (const Launch& launch : profile.launches) {
        sum += launch.duration_ns * 1e-3;
    }
    return sum;
}

std::string kernel_event(const std::string& ts, const std::string& dur) {
    return fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},)"
                       R"("args":{{"stream":7,"device":0}}}})",
                       ts, dur);
}

Result<Profile> read(const std::string& events) {
    return import_profile(input_of_text("{\"traceEvents\":[" + events + "]}", "t.json"));
}

} // namespace

TEST_CASE("a kernel that a trace has twice counts once, one of another stream or start twice") {
    Profile profile = ten_kernels();
    profile.launches.push_back(profile.launches[3]);
    profile.launches.push_back(profile.launches[9]);
    profile.launches.push_back(profile.launches[0]);
    profile.launches.back().stream = 8;
    const auto found = drop_repeats(profile, "t");
    REQUIRE(found.size() == 1);
    CHECK(found.items()[0].message.find("2 records") != std::string::npos);
    CHECK(profile.launches.size() == 11);
    CHECK(total_us(profile) == near(220.0));
    CHECK(drop_repeats(profile, "t").size() == 0);
    const std::string events = kernel_event("5", "20") + "," + kernel_event("30", "20");
    CHECK(read(events + "," + events)->launches.size() == 2);
}

TEST_CASE("a duration that runs over the rest of its stream ends at the next start") {
    Profile profile = ten_kernels();
    profile.launches[2].duration_ns = 5e8;
    profile.launches[5].duration_ns = 1.6e9;
    const auto told = cut_overruns(profile, "t");
    REQUIRE(told.size() == 1);
    CHECK(told.items()[0].message.find("2 kernels") != std::string::npos);
    CHECK(total_us(profile) == near(8 * 20.0 + 2 * 30.0));
    CHECK(device_time(profile)->total_s == near(290e-6));
}

TEST_CASE("the last kernel of a stream takes the median where its kin overflowed") {
    Profile profile = ten_kernels();
    profile.launches[4].duration_ns = profile.launches[9].duration_ns = 1.6e9;
    CHECK(cut_overruns(profile, "t").size() == 1);
    CHECK(profile.launches[9].duration_ns == near(20'000.0));
}

TEST_CASE("kernels that overlap their neighbors in order, or run on streams beside, stay") {
    Profile profile = ten_kernels();
    for (std::size_t i = 0; i < 10; ++i) {
        profile.launches[i].duration_ns = 33'000.0; // programmatic launches
    }
    CHECK(cut_overruns(profile, "t").items().empty());
    profile.launches[3].stream = 9;
    profile.launches[3].duration_ns = 200'000.0;
    CHECK(cut_overruns(profile, "t").items().empty());
    CHECK(profile.launches[3].duration_ns == near(200'000.0));
}

TEST_CASE("kernels at time 0 for 0 are no runs") {
    const auto profile = read(kernel_event("0", "0") + "," + kernel_event("100", "20"));
    REQUIRE(profile.ok());
    CHECK(profile->launches.size() == 1);
    REQUIRE(profile.diagnostics().size() == 1);
    CHECK(profile.diagnostics().items()[0].code == "no-time");
}

TEST_CASE("times written as text are numbers, or refused") {
    const auto fine = read(kernel_event("\"100.5\"", "\"20\""));
    REQUIRE(fine.ok());
    CHECK(fine->launches[0].start_ns == 100'500);
    CHECK(fine->launches[0].duration_ns == near(20'000.0));
    for (const char* wrong : {"\"long\"", "\"\"", "\"12 us\"", "\"nan\"", "1e16", "1e300"}) {
        CAPTURE(wrong);
        const auto refused = read(kernel_event("100", wrong));
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.diagnostics().items()[0].code == "bad-time");
        CHECK(refused.diagnostics().items()[0].message.find("`dur`") != std::string::npos);
    }
}

TEST_CASE("a trace with NaN says so, and a bare list may end without its bracket") {
    const auto nan = read(kernel_event("100", "NaN"));
    REQUIRE_FALSE(nan.ok());
    CHECK(nan.diagnostics().items()[0].code == "not-finite");
    CHECK(nan.diagnostics().items()[0].message.find("'NaN'") != std::string::npos);
    for (const char* end : {"", ",", ",\n"}) {
        const auto open =
            import_profile(input_of_text("[" + kernel_event("100", "20") + end, "t.json"));
        REQUIRE(open.ok());
        CHECK(open->launches.size() == 1);
    }
    const auto cut = import_profile(input_of_text("[" + kernel_event("1", "2") + ",{", "t.json"));
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.diagnostics().items()[0].code == "cut-off");
}

} // namespace test_profiles_serial_streams
