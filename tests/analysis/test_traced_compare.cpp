#include "analysis/exam/run.hpp"
#include "analysis/exam/trace_error.hpp"
#include "analysis/measured/critical_path.hpp"
#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "formats/trace_network.hpp"
#include "hwdb/catalog.hpp"
#include "profiles/import/importer.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/traces.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace test_analysis_traced_compare {

using namespace eyeroof;
using namespace eyeroof::analysis;
using eyeroof::tests::near;
using eyeroof::tests::TraceText;

namespace {

const std::string kFloats = R"(["float","float","float"])";

model::Machine h100() {
    const std::vector<std::filesystem::path> folders = {eyeroof::tests::source_dir() + "/hwdb"};
    auto machine = hwdb::load_machine("h100-sxm-80gb", folders);
    REQUIRE(machine.ok());
    return *std::move(machine);
}

profiles::Profile profile_of(const std::string& text) {
    auto profile = profiles::import_profile(profiles::input_of_text(text, "t.json"));
    REQUIRE(profile.ok());
    return *std::move(profile);
}

formats::TraceNetwork network_of(const TraceText& trace) {
    auto made = formats::network_of_trace(profile_of(trace.text()), "t.json");
    REQUIRE(made.ok());
    return *std::move(made);
}

Traced examined(const TraceText& trace) {
    const auto network = network_of(trace);
    const model::Machine machine = h100();
    const auto report = run(network.network, machine);
    REQUIRE(report.ok());
    auto said = traced(network, &machine, &*report);
    REQUIRE(said.ok());
    return *std::move(said);
}

const model::Layer& only_layer(const formats::TraceNetwork& trace) {
    REQUIRE(trace.network.layers.size() == 1);
    return trace.network.layers.front();
}

std::string_view function_of(const model::Layer& layer) {
    const auto* shape = std::get_if<model::ElementwiseShape>(&layer.shape);
    REQUIRE(shape != nullptr);
    return shape->fn;
}

} // namespace

TEST_CASE("a copy whose neighbors are no neighbors in its source transposes") {
    // Rows of 64 become columns: to is [512, 64] with strides [64, 1], from has [1, 512].
    TraceText trace;
    trace.op("aten::copy_", "[[512,64],[512,64],[]]", kFloats, "[]",
             R"(,"Input Strides":[[64,1],[1,512],[]])");
    trace.kernel("elementwise_kernel", 5.0);
    CHECK(function_of(only_layer(network_of(trace))) == "transpose");
}

TEST_CASE("a copy between rows of other pitch addresses each element") {
    TraceText trace;
    trace.op("aten::copy_", "[[512,64],[512,64],[]]", kFloats, "[]",
             R"(,"Input Strides":[[64,1],[640,1],[]])");
    trace.kernel("elementwise_kernel", 5.0);
    CHECK(function_of(only_layer(network_of(trace))) == "permute");
    TraceText same;
    same.op("aten::copy_", "[[512,64],[512,64],[]]", kFloats, "[]",
            R"(,"Input Strides":[[640,1],[640,1],[]])");
    same.kernel("elementwise_kernel", 5.0);
    CHECK(function_of(only_layer(network_of(same))) == "copy");
}

TEST_CASE(
    "kernels that change a convolution's layout are layers of their own, and nothing is added") {
    TraceText trace;
    trace.op("aten::cudnn_convolution", "[[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
             R"(["c10::Half","c10::Half","","","","","","",""])",
             R"(["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","True"])");
    trace.kernel("nchwToNhwcKernel", 7.0);
    trace.kernel("cutlass_tensorop_f16_fprop", 20.0);
    trace.kernel("nhwcToNchwKernel", 6.0);
    const Traced said = examined(trace);
    REQUIRE(said.rows.size() == 3);
    CHECK(said.rows[0].measured_s == near(20e-6));
    CHECK(said.rows[1].layer.find("to_channels_last") != std::string::npos);
    CHECK(said.rows[1].measured_s == near(7e-6));
    CHECK(said.rows[1].bytes == near(2.0 * 2.0 * 8 * 64 * 56 * 56)); // read and written, 2 bytes
    CHECK(said.rows[2].layer.find("to_channels_first") != std::string::npos);
    for (const TracedRow& row : said.rows) {
        CHECK(row.predicted_s);
    }
}

namespace {

// A 3 x 3 convolution in fp32 whose kernels have these names, with channels last or first.
formats::TraceNetwork convolution(const std::vector<const char*>& kernels, bool channels_last,
                                  const char* op = "aten::cudnn_convolution") {
    const bool backward = std::string_view(op).ends_with("backward");
    const std::string strides = channels_last ? "[200704,1,3584,64]" : "[200704,3136,56,1]";
    TraceText trace;
    if (backward) {
        trace.op(op, "[[8,64,56,56],[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[],[]]",
                 R"(["float","float","float","","","","","","","",""])",
                 R"(["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1",)"
                 R"("[True, True, False]"])");
    } else {
        trace.op(op, "[[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]",
                 R"(["float","float","","","","","","",""])",
                 R"(["","","[1, 1]","[1, 1]","[1, 1]","1","False","False","True"])",
                 R"(,"Input Strides":[)" + strides + ",[576,9,3,1],[],[],[],[],[],[],[]]");
    }
    double us = 1.0;
    for (const char* kernel : kernels) {
        trace.kernel(kernel, us);
        us *= 2.0;
    }
    return network_of(trace);
}

// Names of layers without their sizes, with their measured times in us.
std::map<std::string, long> layers_of(const formats::TraceNetwork& trace) {
    std::map<std::string, long> found;
    for (std::size_t i = 0; i < trace.layers.size(); ++i) {
        const std::string& name = trace.network.layers[i].name;
        found[name.substr(0, name.rfind('.'))] += std::lround(1e6 * trace.layers[i].measured_s);
    }
    return found;
}

} // namespace

TEST_CASE("a trace shows in which layout its convolutions ran") {
    CHECK(convolution({"gemm"}, false).network.ran_channels_last == false);
    CHECK(convolution({"gemm"}, true).network.ran_channels_last == true); // by its strides
    CHECK(convolution({"xmma_fprop_nhwckrsc_nhwc"}, false).network.ran_channels_last == true);
    CHECK(convolution({"nchwToNhwcKernel", "gemm"}, false).network.ran_channels_last == true);
    TraceText none;
    none.op("aten::relu", "[[65536,512]]", kFloats);
    none.kernel("relu", 1.0);
    CHECK(network_of(none).network.ran_channels_last == std::nullopt);
}

TEST_CASE("the gradients of a convolution, and their passes, are separated by their order") {
    const char* const last = "nchwToNhwcKernel";
    const char* const first = "nhwcToNchwKernel";
    const auto layers = [&](const std::vector<const char*>& kernels) {
        return layers_of(convolution(kernels, false, "aten::convolution_backward"));
    };
    const std::string of = "convolution_backward";
    using Times = std::map<std::string, long>;
    CHECK(layers({last, last, "dgrad", first, last, last, "wgrad", "wgrad", first}) ==
          Times{{of + ".dgrad.to_channels_last", 3},
                {of + ".dgrad", 4},
                {of + ".dgrad.to_channels_first", 8},
                {of + ".wgrad.to_channels_last", 48},
                {of + ".wgrad", 192},
                {of + ".wgrad.to_channels_first", 256}});
    // GEMMs without a name of their own: the first, or what stands before the second's passes.
    CHECK(layers({"gemm", "gemm", "reduce_wgrad"}) ==
          Times{{of + ".dgrad", 1}, {of + ".wgrad", 6}});
    CHECK(layers({"gemm", last, last, "gemm"}) ==
          Times{{of + ".dgrad", 1}, {of + ".wgrad.to_channels_last", 6}, {of + ".wgrad", 8}});
    CHECK(layers({"wgrad", "dgrad"}) == Times{{of + ".dgrad", 2}, {of + ".wgrad", 1}});
}

TEST_CASE("runs beside a kernel of another stream are not held against a prediction") {
    TraceText trace;
    trace.op("aten::relu", "[[65536,512]]", kFloats);
    trace.kernel("relu", 100.0);
    trace.next();
    trace.op("c10d::allreduce_", "[[1048576]]", kFloats);
    trace.beside("ncclDevKernel_AllReduce_Sum_f32", 20, trace.device_us(), 250.0);
    trace.next();
    trace.op("aten::relu", "[[65536,512]]", kFloats);
    trace.kernel("relu", 300.0);
    const Traced said = examined(trace);
    const auto row = std::ranges::find(said.rows, "relu.65536x512", &TracedRow::layer);
    REQUIRE(row != said.rows.end());
    CHECK(row->count == 2);
    CHECK(row->measured_s == near(400e-6));
    CHECK(row->alone_runs == 1);
    CHECK(row->alone_s == near(100e-6));
    REQUIRE(row->ratio());
    CHECK(*row->ratio() == near(100e-6 / (*row->predicted_s / 2.0)));
    CHECK(said.beside_s == near(200e-6)); // 300 us instead of 100
}

TEST_CASE("what waits for other ranks, or has no known work, is named and not compared") {
    TraceText trace;
    trace.op("mylib::mystery", "[[1024,1024]]", kFloats);
    trace.kernel("mystery", 50.0);
    trace.next();
    trace.op("c10d::allreduce_", "[[1048576]]", kFloats);
    trace.kernel("ncclDevKernel_AllReduce_Sum_f32", 60.0);
    const Traced said = examined(trace);
    CHECK(said.comparisons.empty());
    REQUIRE(said.left_out.size() == 2);
    CHECK(said.left_out[0].why.starts_with("a collective"));
    CHECK(said.left_out[0].measured_s == near(60e-6));
    CHECK(said.left_out[1].why.starts_with("only its tensors are known"));
}

TEST_CASE("kernels without a duration are named and not compared") {
    TraceText trace;
    trace.op("aten::relu", "[[65536,512]]", kFloats);
    trace.kernel("relu", 0.0);
    const Traced said = examined(trace);
    CHECK(said.comparisons.empty());
    REQUIRE(said.rows.size() == 1);
    CHECK_FALSE(said.rows[0].ratio());
    REQUIRE(said.left_out.size() == 1);
    CHECK(said.left_out[0].why == "its kernels have no duration in the trace");
}

TEST_CASE("an operator that is named after a collective and only copies is none") {
    TraceText trace;
    trace.op("All2All_Pooled_Wait", "[[1024,1024]]", kFloats);
    trace.kernel("CatArrayBatchedCopy", 50.0);
    const Traced said = examined(trace);
    REQUIRE(said.rows.size() == 1);
    CHECK(said.rows[0].found == formats::Found::traffic);
    CHECK(said.rows[0].bound_by == "DRAM");
}

TEST_CASE("a row above its roof in a trace of whole microseconds may lie within that clock") {
    // 64 MiB read and written: 40.04 us on an H100 (3352 GB/s), more than its 50 MB of L2.
    TraceText trace;
    for (int i = 0; i < 20; ++i) {
        trace.op("aten::relu", "[[16384,1024]]", kFloats);
        trace.kernel("relu", 40.0);
        trace.next();
    }
    const Traced said = examined(trace);
    REQUIRE(said.rows.size() == 1);
    REQUIRE(said.rows[0].above_roof());
    CHECK(said.rows[0].cause == "within the trace's clock, which counts whole microseconds");
}

TEST_CASE("what a kernel does that the prediction does not know stands beside it") {
    TraceText trace;
    trace.op("aten::mm", "[[4096,4096],[4096,4097]]", R"(["c10::Half","c10::Half"])");
    trace.kernel("gemm_align1", 900.0);
    const Traced said = examined(trace);
    CHECK(said.rows.at(0).doubt.starts_with("rows not aligned to 16 bytes"));
}

TEST_CASE(
    "kernels belong to the modules that called them, and gradients to those of their forward") {
    TraceText trace;
    trace.module("Net_0", 2);
    trace.module("Linear_0", 1);
    trace.op("aten::mm", "[[64,64],[64,64]]", kFloats, "[]", R"(,"Sequence number":7)");
    trace.kernel("gemm", 10.0);
    trace.next();
    trace.module("Linear_1", 1);
    trace.op("aten::mm", "[[64,32],[32,64]]", kFloats, "[]", R"(,"Sequence number":8)");
    trace.kernel("gemm", 20.0);
    trace.next();
    trace.op("aten::mm", "[[64,64],[64,32]]", kFloats, "[]",
             R"(,"Sequence number":8,"Fwd thread id":1)");
    trace.kernel("gemm", 40.0);
    const Traced said = examined(trace);
    REQUIRE(said.modules.size() == 2);
    CHECK(said.modules[0].path == "Net");
    CHECK(said.modules[0].kernels == 3);
    CHECK(said.modules[0].measured_s() == near(70e-6));
    CHECK(said.modules[1].path == "Net/Linear");
    CHECK(said.modules[1].instances == 2);
    CHECK(said.modules[1].forward_s == near(30e-6));
    CHECK(said.modules[1].backward_s == near(40e-6));
    CHECK(said.backward_s == near(40e-6));
}

TEST_CASE("a critical path passes through the host where a launch came late") {
    // 10 us; launched 3 us after its end and starting 2 us later: 20 us. Then 5 us beside it.
    profiles::Profile step;
    step.sources = {"t"};
    step.kernels = {{"a", ""}, {"b", ""}};
    const auto launch = [&](std::uint32_t kernel, std::int64_t start, double us,
                            std::int64_t called) {
        profiles::Launch made;
        made.kernel = kernel;
        made.device = 0;
        made.start_ns = start * 1000;
        made.duration_ns = us * 1e3;
        made.called_ns = called * 1000;
        step.launches.push_back(made);
    };
    launch(0, 100, 10.0, 90);
    launch(1, 115, 20.0, 113);
    launch(0, 120, 5.0, 112);
    const auto path = critical_path(step);
    REQUIRE(path);
    CHECK(path->computation_s == near(30e-6));
    CHECK(path->host_s == near(3e-6));
    CHECK(path->launch_s == near(2e-6));
    CHECK(path->total_s() == near(35e-6));
    CHECK(path->kernels_s == near(35e-6));
    REQUIRE(path->longest.size() == 2);
    CHECK(path->longest[0].name == "b");
}

TEST_CASE("of several ranks each waits for the one whose collective is shortest") {
    // The second rank computes 30 us longer, so the first waits 30 us in the first collective; in
    // the second collective the second rank waits 5 us.
    std::vector<profiles::Profile> ranks;
    for (const auto& [rank, work, first, second] :
         {std::tuple{0, 50.0, 40.0, 10.0}, std::tuple{1, 80.0, 10.0, 15.0}}) {
        TraceText trace;
        trace.op("aten::relu", "[[1024,1024]]", kFloats);
        trace.kernel("relu", work);
        trace.next();
        for (const double us : {first, second}) {
            trace.op("c10d::allreduce_", "[[1048576]]", kFloats);
            trace.kernel("ncclDevKernel_AllReduce_Sum_f32(x)", us);
            trace.next();
        }
        if (rank == 1) { // a call that the first rank has not
            trace.op("c10d::allreduce_", "[[1048576]]", kFloats);
            trace.kernel("ncclDevKernel_AllReduce_Sum_f32(x)", 1.0);
            trace.next();
        }
        ranks.push_back(profile_of(
            trace.text("NVIDIA H100 80GB HBM3", R"(,"distributedInfo":{"backend":"nccl","rank":)" +
                                                    std::to_string(rank) + R"(,"world_size":2})")));
        CHECK(ranks.back().run.rank == rank);
    }
    const auto said = ranks_of(ranks);
    REQUIRE(said.ok());
    CHECK(said->imbalance == near(80.0 / 65.0 - 1.0));
    CHECK(said->waits[0][1] == near(30e-6));
    CHECK(said->waits[1][0] == near(5e-6));
    REQUIRE(said->collectives.size() == 1);
    CHECK(said->collectives[0].calls == 2);
    CHECK(said->collectives[0].unmatched == 1);
    CHECK(said->collectives[0].least_s == near(10e-6));
    CHECK(said->collectives[0].waits_s == near(35e-6));
    CHECK(said->ranks[said->collectives[0].last].name == "rank 1");
    CHECK_FALSE(ranks_of({ranks[0]}).ok());
}

TEST_CASE("a prediction given a measurement elsewhere is surer than one alone, by hand") {
    // 8 ms measured, predicted 4 -> 1 ms: between 2 ms by ratio and 1 ms by prediction alone.
    Report before, after;
    LayerReport layer;
    layer.layer.name = "a";
    layer.time_s = 4e-3;
    layer.low_s = 3e-3;
    layer.high_s = 5e-3;
    before.layers = {layer};
    layer.time_s = 1e-3;
    layer.low_s = 0.75e-3;
    layer.high_s = 1.25e-3;
    after.layers = {layer};
    MeasuredStep step;
    step.layers = {{"a", 8e-3, "GEMM", false}};
    const auto rows = measured_categories(step, before, after);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "all");
    CHECK(rows[1].name == "GEMM");
    CHECK(rows[1].from_s == near(8e-3));
    const double s = std::log(5.0 / 3.0) / 2.5632;
    const double r = kRunSigma;
    const double common = kModelShared * s * s + kRunShared * r * r;
    const double weight = common / (s * s + r * r);
    CHECK(rows[1].to_s.value == near(1e-3 * std::pow(2.0, weight)));
    CHECK(rows[1].speedup.value == near(8.0 / std::pow(2.0, weight)));
    CHECK(rows[1].to_s.high / rows[1].to_s.value ==
          near(std::exp(1.2816 * std::sqrt(s * s + r * r - weight * common)), 1e-3));
    CHECK(rows[1].predicted_s.value == near(1e-3));
    CHECK(rows[1].to_s.high / rows[1].to_s.value <
          rows[1].predicted_s.high / rows[1].predicted_s.value);
}

} // namespace test_analysis_traced_compare
