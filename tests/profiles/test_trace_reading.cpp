// Where traces are read block by block: what lies across two blocks, numbers, and what is no JSON.
#include "profiles/import/importer.hpp"
#include "profiles/launch_sums.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

std::string message_of(const std::string& text) {
    const auto profile = read_trace(text);
    return profile ? "" : profile.diagnostics().items()[0].message;
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
    CHECK(error_of(trace_of(event("k", R"("ts":NaN,"dur":1)"))) == "not-finite");
    CHECK(error_of(trace_of(event("k", R"("ts":01,"dur":1)"))) == "not-json");
    CHECK(error_of(trace_of(event("k", R"("ts":1,"dur":1.)"))) == "not-json");
}

TEST_CASE("operators whose kernels the profiler lost have no time of their own") {
    const std::string op = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,)"
                           R"("dur":50,"args":{"Input Dims":[[8,8],[8,8]]}})";
    const std::string sync = R"({"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize",)"
                             R"("pid":1,"tid":1,"ts":60,"dur":1,"args":{"correlation":1}})";
    const std::string launch = R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel",)"
                               R"("pid":1,"tid":1,"ts":9,"dur":1,"args":{"correlation":2}})";
    CHECK(error_of(trace_of(op)).empty()); // it ran on the processor
    CHECK(error_of(trace_of(op + "," + sync)).empty());
    CHECK(error_of(trace_of(op + "," + launch)) == "no-kernels");
    const std::string kernel = event("k", R"("ts":9,"dur":1,"args":{"correlation":2})");
    CHECK(error_of(trace_of(op + "," + launch + "," + kernel)).empty());
    const auto named = read_trace(R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100"}],)"
                                  R"("traceEvents":[)" +
                                  op + "]}");
    REQUIRE(named.ok());
    REQUIRE(named.diagnostics().items().size() == 1);
    CHECK(named.diagnostics().items()[0].code == "no-kernels");
}

TEST_CASE("of several devices a trace names the one that computes the longest") {
    const std::string devices = R"({"deviceProperties":[{"id":0,"name":"T400","numSms":6},)"
                                R"({"id":1,"name":"A100","numSms":108}],"traceEvents":[)";
    const std::string first = event("k", R"("ts":9,"dur":1,"args":{"device":0})");
    const std::string second = event("k", R"("ts":9,"dur":5,"args":{"device":1})");
    CHECK(read_trace(devices + first + "]}")->run.gpu == "T400");
    const auto both = read_trace(devices + first + "," + second + "]}");
    CHECK(both->run.gpu == "A100");
    CHECK(both->run.sm_count == 108);
}

TEST_CASE("kernels belong to the operator that launched them, by the runtime of any device") {
    const std::string op = R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,)"
                           R"("dur":50,"args":{"Input Dims":[[8,8],[8,8]]}})";
    const std::string kernel = event("k", R"("ts":99,"dur":1,"args":{"correlation":2})");
    for (const char* category : {"cuda_runtime", "xpu_runtime", "privateuse1_runtime"}) {
        CAPTURE(std::string(category));
        const std::string launch = std::string(R"({"ph":"X","cat":")") + category +
                                   R"(","name":"launch","pid":1,"tid":1,"ts":9,"dur":1,)"
                                   R"("args":{"correlation":2}})";
        const auto read = read_trace(trace_of(op + "," + launch + "," + kernel));
        REQUIRE(read.ok());
        CHECK(read->launches.at(0).op == 0);
    }
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

TEST_CASE("a trace that is no JSON is told why") {
    const std::string good = event("k", R"("ts":1,"dur":2)");
    const struct {
        std::string text;
        const char* why;
    } cases[] = {
        {trace_of(good + ","), "a comma stands before ']'"},
        {trace_of(good + ", \n "), "a comma stands before ']'"},
        {trace_of(event("k", R"("ts":1,"dur":2,)")), "a comma stands before '}'"},
        {"[" + good + ",]", "a comma stands before ']'"},
        {trace_of(event("k\xff", R"("ts":1,"dur":2)")), "invalid bytes in UTF8 string"},
        {trace_of(event("C:\\kernels", R"("ts":1,"dur":2)")), "'\\' occurs before a character"},
        {trace_of(event("k\n", R"("ts":1,"dur":2)")), "invalid character inside string"},
        {trace_of(event("k", R"("ts":1,"dur":1e999)")), "a number is larger than 1.8e308"},
        {trace_of(good + good), "after array element"}};
    for (const auto& one : cases) {
        CAPTURE(one.text);
        CHECK(message_of(one.text).find(one.why) != std::string::npos);
    }
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

TEST_CASE("a trace of more kernels than are kept one by one is summed with its operators") {
    const std::size_t count = kMostLaunches + 1000;
    std::string events =
        R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9e8,)"
        R"("args":{"Input Dims":[[64,8],[8,4]],"Input type":["float","float"]}},)"
        R"({"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":1,"ts":5,"dur":1,)"
        R"("args":{"correlation":3}})";
    for (std::size_t i = 0; i < count; ++i) {
        events += "," + event(i % 3 == 0 ? "gemm" : "relu",
                              R"("ts":)" + std::to_string(10 * i) +
                                  R"(,"dur":2,"args":{"correlation":3,"stream":7})");
    }
    const auto profile = read_trace(trace_of(events));
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 2);
    CHECK(profile->launch_count() == static_cast<std::int64_t>(count));
    CHECK(profile->launches[0].duration_ns + profile->launches[1].duration_ns ==
          2000.0 * static_cast<double>(count));
    for (const Launch& launch : profile->launches) {
        const Operator* op = profile->operator_of(launch);
        REQUIRE(op != nullptr);
        CHECK(op->name == "aten::mm");
        CHECK(op->input_dims == std::vector<std::vector<std::int64_t>>{{64, 8}, {8, 4}});
        CHECK(launch.leaf == launch.op);
    }
    CHECK(profile->notes.size() == 1);
}

namespace {

// Operators on threads whose names take a megabyte each, then kernels that an External id and a
// launch call name.
std::string trace_of_long_threads(std::size_t threads, std::size_t kernels) {
    std::string events;
    for (std::size_t i = 0; i < threads; ++i) {
        events += R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":")" +
                  std::to_string(i) + std::string(1'000'000, 'x') + R"(","ts":0,"dur":9,)" +
                  R"("args":{"External id":)" + std::to_string(i) +
                  R"(,"Input Dims":[[64,8],[8,4]],"Input type":["float","float"]}},)";
    }
    events += R"({"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":"0)" +
              std::string(1'000'000, 'x') + R"(","ts":5,"dur":1,"args":{"correlation":3}})";
    for (std::size_t i = 0; i < kernels; ++i) {
        const std::string from = i % 2 == 0 ? R"("correlation":3)" : R"("External id":1)";
        events += "," + event("k", R"("ts":10,"dur":2,"args":{)" + from + "}");
    }
    return trace_of(events);
}

} // namespace

TEST_CASE("kernels that are too many to keep are set aside and joined, whatever names them") {
    constexpr std::size_t kKernels = 8000; // beside 83 MB of threads
    const auto profile = read_trace(trace_of_long_threads(83, kKernels));
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 1);
    CHECK(profile->launches[0].calls == static_cast<std::int64_t>(kKernels));
    CHECK(profile->launches[0].duration_ns == 2000.0 * kKernels);
    const Operator* op = profile->operator_of(profile->launches[0]);
    REQUIRE(op != nullptr);
    CHECK(op->name == "aten::mm");
    CHECK(profile->launches[0].leaf == profile->launches[0].op);
}

TEST_CASE("a trace of more threads than are kept is summed without its operators") {
    constexpr std::size_t kKernels = 10;
    const auto profile = read_trace(trace_of_long_threads(90, kKernels));
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 1);
    CHECK(profile->launches[0].calls == static_cast<std::int64_t>(kKernels));
    CHECK(profile->launches[0].op == kNone);
    CHECK(profile->notes.size() == 2);
    const auto none = read_trace(trace_of_long_threads(90, 0));
    REQUIRE_FALSE(none.ok());
    CHECK(none.diagnostics().items()[0].code == "too-large");
}

TEST_CASE("a processor's trace of more operators than the tables hold keeps the time of all") {
    constexpr std::size_t kOperators = 300;
    std::string events;
    for (std::size_t i = 0; i < kOperators; ++i) {
        const std::string input(100'000, static_cast<char>('a' + i % 26));
        events += std::string(i == 0 ? "" : ",") +
                  R"({"ph":"X","cat":"cpu_op","name":"aten::mm",)" +
                  R"("pid":1,"tid":1,"dur":9,"ts":)" + std::to_string(10 * i) +
                  R"(,"args":{"Input Dims":[[)" + std::to_string(i + 1) +
                  R"(,8],[8,4]],"Concrete Inputs":[")" + input + R"("]}})";
    }
    const auto profile = read_trace(trace_of(events));
    REQUIRE(profile.ok());
    CHECK(profile->operators.size() < kOperators);
    CHECK(profile->launch_count() == kOperators);
    CHECK(profile->kernel_of(profile->launches.front()).name == "aten::mm");
    CHECK(profile->kernel_of(profile->launches.back()).name == ProfileBuilder::kFurther);
    double time_ns = 0.0;
    for (const Launch& launch : profile->launches) {
        time_ns += launch.duration_ns;
    }
    CHECK(time_ns == 9000.0 * kOperators);
    CHECK(validate(*profile).empty());
}

} // namespace test_profiles_trace_reading
