// Timelines of traces: serial streams, several GPUs, engines' steps, kernels without operators.
#include "analysis/measured/critical_path.hpp"
#include "analysis/measured/traced.hpp"
#include "formats/trace_network.hpp"
#include "profiles/import/importer.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace test_analysis_timeline_of_trace {

using namespace eyeroof;
using namespace eyeroof::analysis;
using eyeroof::tests::near;

namespace {

struct At {
    double us = 0.0, for_us = 0.0;
    int device = 0, stream = 7;
};

std::string joined(const std::vector<std::string>& events) {
    std::string text;
    for (const std::string& event : events) {
        text += (text.empty() ? "" : ",") + event;
    }
    return text;
}

std::string kernel(const std::string& name, int correlation, At at) {
    return fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":{},"tid":{},"ts":{},)"
                       R"("dur":{},"args":{{"device":{},"stream":{},"correlation":{}}}}})",
                       name, at.device, at.stream, at.us, at.for_us, at.device, at.stream,
                       correlation);
}

std::string call(const std::string& name, int correlation, double us) {
    return fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":1,"tid":1,"ts":{},)"
                       R"("dur":2,"args":{{"correlation":{}}}}})",
                       name, us, correlation);
}

std::string range(const std::string& name, double us, double for_us) {
    return fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"{}","pid":1,"tid":1,)"
                       R"("ts":{},"dur":{},"args":{{}}}})",
                       name, us, for_us);
}

formats::TraceNetwork timeline(const std::vector<std::string>& events) {
    const auto profile = profiles::import_profile(
        profiles::input_of_text("{\"traceEvents\":[" + joined(events) + "]}", "t.json"));
    REQUIRE(profile.ok());
    return formats::timeline_of_trace(*profile, "t.json");
}

} // namespace

TEST_CASE("kernels that overlap by a rounding error are sequential on the critical path") {
    std::vector<std::string> events;
    for (int i = 0; i < 10; ++i) { // 30 us each; each starts 1 ns before its predecessor ends
        events.push_back(kernel("gemm", i, {1000.0 + 29.999 * i, 30.0}));
    }
    const auto path = critical_path(timeline(events).step);
    REQUIRE(path);
    CHECK(path->computation_s == near(299.991e-6));
    CHECK(path->wait_s == near(0.0));
    CHECK(path->kernels_s - path->computation_s < 1e-9);
}

TEST_CASE("the GPU with the most kernel time is analyzed, and a note names the others") {
    std::vector<std::string> events;
    for (int i = 0; i < 4; ++i) {
        events.push_back(kernel("gemm", i, {1000.0 + 40.0 * i, 20.0, 0}));
        events.push_back(kernel("gemm", 100 + i, {1000.0 + 40.0 * i, 25.0, 1}));
    }
    const auto said = traced(timeline(events), nullptr);
    REQUIRE(said.ok());
    CHECK(said->kernel_s == near(100e-6));
    CHECK(said->device->total_s == near(145e-6));
    REQUIRE_FALSE(said->notes.empty());
    CHECK(std::ranges::any_of(said->notes, [](const std::string& note) {
        return note == "only GPU 1 of 2 is analyzed; GPU 0 has 80 us of kernels";
    }));
}

TEST_CASE("of an engine's marked steps, the median of the most expensive kind is analyzed") {
    std::vector<std::string> events;
    int number = 0;
    double us = 1000.0;
    const auto step = [&](const char* mark, int kernels, double each) {
        events.push_back(range(mark, us, 900.0));
        for (int i = 0; i < kernels; ++i) {
            events.push_back(call("cudaLaunchKernel", ++number, us + 10.0 + i));
            events.push_back(kernel("gemm", number, {us + 100.0 * (i + 1), each}));
        }
        us += 1000.0;
    };
    step("step[EXTEND bs=1 toks=64]", 2, 30.0);
    step("step[DECODE bs=4]", 2, 10.0);
    step("step[DECODE bs=4]", 2, 20.0);
    step("step[DECODE bs=4]", 2, 40.0);
    const auto trace = timeline(events);
    CHECK(trace.step_name == "step[DECODE bs=4], the median of 3 decode steps");
    CHECK(trace.kernel_s == near(40e-6));
    CHECK(std::ranges::any_of(trace.notes, [](const std::string& note) {
        return note == "1 prefill steps, 60 us of kernels at the median";
    }));
}

TEST_CASE("kernels of a CUDA graph have a timeline and families, and the missing layers a reason") {
    std::vector<std::string> events = {
        R"({"ph":"X","cat":"cpu_op","name":"aten::zero_","pid":1,"tid":1,"ts":1000,"dur":100,)"
        R"("args":{"Input Dims":[[4]],"Input type":["float"]}})",
        call("cudaGraphLaunch", 77, 1010.0)};
    events.push_back(kernel("nvjet_tst_128x256_64x4_1x2_h_bz_TNT", 77, {2000.0, 60.0}));
    events.push_back(kernel("void deep_ep::intranode::dispatch<8>", 77, {2070.0, 30.0}));
    events.push_back(kernel("fused_moe_kernel", 77, {2110.0, 10.0}));
    const auto trace = timeline(events);
    CHECK(trace.network.layers.empty());
    const auto missing = formats::missing_operators(trace);
    REQUIRE(missing);
    CHECK(missing->why.find("CUDA graph") != std::string::npos);
    const auto said = traced(trace, nullptr);
    REQUIRE(said.ok());
    CHECK(said->device->exposed_communication_s == near(30e-6));
    CHECK(said->device->idle_s == near(20e-6));
    REQUIRE(said->unknown.size() == 3);
    CHECK(said->unknown[0].category == "GEMM");
    CHECK(said->unknown[0].says == "tiles of 128x256");
    CHECK(said->unknown[1].category == "communication (DeepEP)");
    CHECK(said->unknown[2].category == "experts");
    CHECK(said->notes.front().find("only 0.0 %") != std::string::npos);
}

TEST_CASE("collectives without an operator are the reason if they take most of the time") {
    std::vector<std::string> events = {
        R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1000,"dur":20,)"
        R"("args":{"Input Dims":[[64],[64]],"Input type":["float","float"]}})",
        call("cudaLaunchKernel", 1, 1005.0),
        kernel("vectorized_elementwise_kernel", 1, {2000.0, 20.0})};
    events.push_back(kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, {2030.0, 900.0}));
    const auto missing = formats::missing_operators(timeline(events));
    REQUIRE(missing);
    CHECK(missing->why.find("communicate") != std::string::npos);
    events.push_back(kernel("gemm", 0, {3000.0, 1000.0}));
    const auto more = formats::missing_operators(timeline(events));
    REQUIRE(more);
    CHECK(more->why.find("no operator of the trace launched") != std::string::npos);
}

TEST_CASE("kernels that torch.compile generates are events on a GPU, and none on a CPU") {
    const std::string region =
        R"({"ph":"X","cat":"cpu_op","name":"Torch-Compiled Region: 0/1","pid":1,"tid":1,)"
        R"("ts":1000,"dur":900,"args":{"Input Dims":[],"Input type":[]}})";
    const auto here = formats::missing_operators(timeline({region}));
    REQUIRE(here);
    CHECK(here->why == "torch.compile's kernels leave no event on a CPU");
    const auto there =
        formats::missing_operators(timeline({region, call("cudaLaunchKernel", 1, 1005.0),
                                             kernel("triton_poi_fused_add_0", 1, {2000.0, 20.0})}));
    REQUIRE(there);
    CHECK(there->why == "dimensions of the other operators are not recorded");
}

TEST_CASE("if dimensions are recorded, the fix is not to record shapes") {
    const auto trace = timeline(
        {R"({"ph":"X","cat":"cpu_op","name":"trtllm::attention_inplace","pid":1,"tid":1,)"
         R"("ts":1000,"dur":20,"args":{"Input Dims":[[1000,6144],[1000]],)"
         R"("Input type":["c10::BFloat16","int"]}})",
         call("cudaLaunchKernel", 1, 1005.0), kernel("fmhaSm100aKernel", 1, {2000.0, 20.0})});
    const auto missing = formats::missing_operators(trace);
    REQUIRE(missing);
    CHECK(missing->why.find("of no kind that is known") != std::string::npos);
    CHECK(missing->fix.find("record") == std::string::npos);
}

TEST_CASE("concurrent kernels save no more than the time in which any of them runs") {
    std::vector<std::string> events;
    for (int i = 0; i < 4; ++i) {
        events.push_back(fmt::format(
            R"({{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":{},"dur":20,)"
            R"("args":{{"Input Dims":[[64],[64]],"Input type":["float","float"]}}}})",
            1000 + 30 * i));
        events.push_back(call("cudaLaunchKernel", i, 1005.0 + 30.0 * i));
        events.push_back(kernel("vectorized_elementwise_kernel", i, {2000.0, 100.0, 0, 7 + i}));
    }
    const auto said = traced(timeline(events), nullptr);
    REQUIRE(said.ok());
    for (const TracedChange& change : said->changes) {
        CHECK(change.saves_s <= 100.001e-6);
    }
    CHECK_FALSE(said->changes.empty());
}

} // namespace test_analysis_timeline_of_trace
