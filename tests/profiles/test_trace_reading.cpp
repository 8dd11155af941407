// Where traces are read block by block: what lies across two blocks, numbers, and what is no JSON.
#include "profiles/import/importer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_profiles_trace_reading {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

Result<Profile> read_trace(const std::string& text) {
    return import_profile(input_of_text(text, "t.json"), "kineto-json");
}

std::string event(const std::string& name, const std::string& fields) {
    return R"({"ph":"X","cat":"kernel","pid":0,"tid":7,"name":")" + name + "\"," + fields + "}";
}

std::string trace_of(const std::string& events) {
    return "{\"traceEvents\":[" + events + "]}";
}

std::string error_of(const std::string& text) {
    const auto profile = read_trace(text);
    return profile ? "" : profile.diagnostics().items()[0].code;
}

} // namespace

TEST_CASE("names, numbers and escapes of a trace may lie across two blocks") {
    constexpr std::size_t kBlock = std::size_t{1} << 18; // of a source
    const std::string kernel = event("caf\\u00e9 \xc3\xa9 k", R"("ts":1234567.125,"dur":20.25)");
    const std::string start = "{\"traceEvents\":[";
    const auto whole = read_trace(trace_of(kernel));
    REQUIRE(whole.ok());
    CHECK(whole->kernels.at(0).name == "caf\xc3\xa9 \xc3\xa9 k");
    CHECK(whole->launches.at(0).start_ns == 1234567125);
    for (std::size_t at = 0; at < kernel.size(); ++at) { // the block ends behind `at` bytes of it
        CAPTURE(at);
        const std::string blanks(kBlock - start.size() - at, ' ');
        const auto parted = read_trace(start + blanks + kernel + "]}");
        REQUIRE(parted.ok());
        REQUIRE(parted->kernels == whole->kernels);
        REQUIRE(parted->launches == whole->launches);
    }
}

TEST_CASE("a trace's times are the nearest doubles, and numbers that no double holds are refused") {
    const auto read = read_trace(trace_of(event("k", R"("ts":0.1e1,"dur":0.3)")));
    REQUIRE(read.ok());
    CHECK(read->launches.at(0).start_ns == 1000);
    CHECK(read->launches.at(0).duration_ns == 0.3 * 1e3);
    CHECK(error_of(trace_of(event("k", R"("ts":1e999,"dur":1)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":1,"dur":1,"other":-1E999)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":1e-999,"dur":1)"))).empty());
    CHECK(error_of(trace_of(event("k", R"("ts":NaN,"dur":1)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":01,"dur":1)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":1,"dur":1.)"))) == "not-json");
}

TEST_CASE("a trace with a mark of its byte order is read, one with more behind it is refused") {
    const std::string text = trace_of(event("k", R"("ts":1,"dur":2)"));
    CHECK(read_trace("\xef\xbb\xbf" + text).ok());
    CHECK(error_of("\xef\xbb\xbf\xef\xbb\xbf" + text) == "not-json");
    CHECK(error_of(text + "\n{}") == "not-json");
    CHECK(error_of(text + std::string(1, '\0')) == "not-json");
    CHECK(error_of(trace_of(event("k\n", R"("ts":1,"dur":2)"))) == "not-json");
    CHECK(error_of(trace_of(event("k\xff", R"("ts":1,"dur":2)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":1,"dur":2,)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":1,"dur":2 /* */)"))) == "not-json");
    CHECK(error_of("") == "cut-off");
}

TEST_CASE("a table entry that no launch uses is dropped, and entries stand in the order of use") {
    const auto two = read_trace(
        trace_of(event("late", R"("ts":2,"dur":1)") + "," + event("early", R"("ts":1,"dur":1)")));
    REQUIRE(two.ok());
    REQUIRE(two->kernels.size() == 2);
    CHECK(two->kernels[0].name == "early");
    CHECK(two->launches[0].kernel == 0);
    Profile more = *two;
    CHECK(*filter(more, {}) == *two);
    more.operators.push_back({"unused", {}, {}, {}});
    more.ranges.emplace_back("unused");
    CHECK(*filter(more, {}) == *two);
    more = *two;
    more.kernels.insert(more.kernels.begin(), Kernel{"unused", ""});
    for (Launch& launch : more.launches) {
        ++launch.kernel;
    }
    CHECK(*filter(more, {}) == *two);
}

} // namespace test_profiles_trace_reading
