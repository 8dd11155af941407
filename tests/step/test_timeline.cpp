// The step in time against the closed recurrence, and against what must always hold.
#include "analysis/exam/run.hpp"
#include "analysis/what_if/headline.hpp"
#include "report/answer/write.hpp"
#include "report/step/timeline_write.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <random>
#include <utility>

namespace test_step_timeline {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using namespace eyeroof::report;
using analysis::Copies;
using eyeroof::tests::near;
using model::Launch;
using tests::catalog_gpu;
using tests::graph_of;

namespace {

TimelineOptions in_mode(Launch mode, int streams = 1) {
    TimelineOptions options;
    options.launch = mode;
    options.host = textbook_host();
    options.streams = streams;
    return options;
}

Timeline timeline_of(const Graph& graph, const model::Gpu& gpu, const TimelineOptions& options) {
    return simulate(graph, tests::costs_on(graph, gpu), gpu, options);
}

// What holds for every schedule, checked from the spans alone.
void check_schedule(const Graph& graph, const Timeline& line, int streams) {
    std::vector<double> ready(graph.tensors.size(), 0.0);
    std::vector<double> free(static_cast<std::size_t>(streams), 0.0);
    double issued = 0.0;
    for (const CopySpan& copy : line.copies) {
        ready[copy.tensor] = copy.to_device ? copy.end_s : ready[copy.tensor];
    }
    constexpr double kSlack = 1e-12;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Span& span = line.spans[i];
        REQUIRE(span.issue_s >= issued - kSlack); // one thread issues, in order
        issued = span.issued_s;
        REQUIRE(span.start_s >= span.issued_s - kSlack);
        REQUIRE(span.start_s >= free[span.stream] - kSlack);
        for (const TensorId t : graph.reads_of(graph.operators[i])) {
            REQUIRE(span.start_s >= ready[t] - kSlack); // no use before it is ready
        }
        for (const TensorId t : graph.writes_of(graph.operators[i])) {
            ready[t] = span.end_s;
        }
        free[span.stream] = span.end_s;
        REQUIRE(span.end_s <= line.time_s + kSlack);
    }
}

double path_seconds(const Graph& graph, const Timeline& line) {
    double sum = 0.0;
    for (const PathPart& part : critical_path(graph, line)) {
        sum += part.seconds;
    }
    return sum;
}

} // namespace

TEST_CASE("two kernels longer than their calls hide the second call") {
    Graph graph;
    graph.layers.resize(1);
    graph.tensors = {{Role::input, 8}, {Role::activation, 8, 0}, {Role::activation, 8, 1}};
    graph.operands = {0, 1, 1, 2};
    graph.operators = {{0, 0, model::Issued::forward, kNone, 0, 1, 1, 1},
                       {0, 1, model::Issued::forward, kNone, 2, 1, 3, 1}};
    Costs costs;
    costs.layers = {{10e-6, 0.0, 9e-6, 15e-6}};
    TimelineOptions options = in_mode(Launch::stream);
    options.host.launch_s = 4e-6;
    const Timeline line = simulate(graph, costs, model::Gpu{}, options);
    CHECK(line.time_s == near(4e-6 + 2 * 10e-6));
    CHECK(line.wait_host_s == near(4e-6));
    CHECK(line.spans[1].waited == Waited::stream);
    CHECK(line.spans[1].before == 0);
    costs.layers[0].device_s = 3e-6; // shorter than a call: the device waits for the second
    const Timeline shorter = simulate(graph, costs, model::Gpu{}, options);
    CHECK(shorter.time_s == near(2 * 4e-6 + 3e-6));
    CHECK(shorter.wait_host_s == near(4e-6 + 1e-6));
    CHECK(by_layer(graph, shorter)[0].host_bound == 2);
}

TEST_CASE("calls are weighted by operator, and a kernel starts a launch's latency after its call") {
    Graph graph;
    graph.layers.resize(2);
    graph.layers[0].op = model::Op::conv2d;
    graph.layers[0].shape = model::ConvShape{};
    graph.layers[1].op = model::Op::elementwise;
    graph.layers[1].shape = model::ElementwiseShape{};
    graph.tensors = {{Role::input, 8}, {Role::activation, 8, 0}, {Role::activation, 8, 1}};
    graph.operands = {0, 1, 1, 2};
    graph.operators = {{0, 0, model::Issued::forward, kNone, 0, 1, 1, 1},
                       {1, 0, model::Issued::forward, kNone, 2, 1, 3, 1}};
    Costs costs;
    costs.layers = {{1e-6, 0.0, 1e-6, 1e-6}, {2e-6, 0.0, 2e-6, 2e-6}};
    TimelineOptions options = in_mode(Launch::eager);
    options.host = {10e-6, 4e-6, 3e-6, 1e-6};
    options.host.latency_s = 5e-6;
    options.host.compiled_s = 40e-6;
    options.host.replay_s = 90e-6;
    options.host.weights.conv = 3.0;
    const model::Gpu gpu;
    CHECK(simulate(graph, costs, gpu, options).time_s == near(30e-6 + 10e-6 + 5e-6 + 2e-6));
    // Entered once, then a gradient's time a generated kernel, and three for the library's.
    options.compiled = true;
    CHECK(simulate(graph, costs, gpu, options).time_s == near(40e-6 + 4 * 4e-6 + 5e-6 + 2e-6));
    costs.layers[1].kernels = 3; // a reduction in parts
    CHECK(simulate(graph, costs, gpu, options).time_s == near(40e-6 + 6 * 4e-6 + 5e-6 + 2e-6));
    costs.layers[1].kernels = 1;
    options.launch = Launch::graph; // a driver's launch, and a node each
    CHECK(simulate(graph, costs, gpu, options).time_s == near(3e-6 + 5e-6 + 1e-6 + 2e-6));
    options.copies = Copies::staged; // replayed by a framework
    CHECK(simulate(graph, costs, catalog_gpu("t4"), options).time_s > 90e-6 + 5e-6 + 3e-6);
    options.copies = Copies::none;
    options.launch = Launch::none;
    CHECK(simulate(graph, costs, gpu, options).time_s == near(3e-6));
    graph.operators[1].within_call = true; // cuDNN launches it within the convolution's call
    options = in_mode(Launch::eager);
    options.host = {10e-6, 4e-6, 3e-6, 1e-6};
    CHECK(simulate(graph, costs, gpu, options).time_s == near(10e-6 + 3e-6 + 2e-6));
}

TEST_CASE("a captured graph's inputs are staged on the device before its first kernel") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    const Graph graph = graph_of("vgg16");
    const auto costs = tests::costs_on(graph, gpu);
    TimelineOptions options = in_mode(Launch::graph);
    const double plain = simulate(graph, costs, gpu, options).time_s;
    options.copies = Copies::staged;
    const double inputs = simulate(graph, costs, gpu, options).time_s;
    options.copies = Copies::staged_all;
    const double all = simulate(graph, costs, gpu, options).time_s;
    double weights = 0.0;
    for (const Tensor& tensor : graph.tensors) {
        weights += tensor.role == Role::weight ? static_cast<double>(tensor.bytes) : 0.0;
    }
    CHECK(plain < inputs);
    CHECK(all - inputs > 2.0 * weights / gpu.dram_bytes_per_s);
}

TEST_CASE("a report's step is the timeline of its program, operator by operator") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    for (const Launch launch : {Launch::stream, Launch::eager, Launch::graph}) {
        analysis::Scenario scenario;
        scenario.launch = launch;
        const auto report =
            analysis::run(tests::catalog_question("vgg16", "a100-sxm-40gb", scenario));
        REQUIRE(report.ok());
        const Timeline line = timeline_of(graph_of("vgg16"), gpu, in_mode(launch));
        CHECK(line.spans == report->timeline.spans);
        CHECK(line.time_s == report->total.time_s);
        CHECK(line.low_s == *report->total.low_s);
        CHECK(line.high_s == *report->total.high_s);
        double kernels = 0.0;
        for (const analysis::LayerReport& layer : report->layers) {
            kernels += layer.time_s * static_cast<double>(layer.layer.count);
        }
        CHECK(kernels == near(report->total.device_s)); // a layer's time is its kernel's
    }
}

TEST_CASE(
    "no operator starts before it was issued, its stream is free and its operands are there") {
    const model::Gpu gpu = catalog_gpu("v100-sxm2-16gb");
    for (const char* name : {"resnet18", "bert-base:layers=2", "llama-3.2-1b:new=1,layers=3"}) {
        for (const bool training : {false, true}) {
            const Graph graph = graph_of(name, training);
            for (const Launch mode : {Launch::eager, Launch::stream, Launch::graph}) {
                for (const int streams : {1, 3}) {
                    TimelineOptions options = in_mode(mode, streams);
                    options.copies = streams == 3 ? Copies::all : Copies::batch;
                    const Timeline line = timeline_of(graph, gpu, options);
                    check_schedule(graph, line, streams);
                    CHECK(line.busy_s <= line.time_s * (1.0 + 1e-9));
                    CHECK(line.busy_s + line.wait_host_s + line.wait_copy_s + line.end_s ==
                          near(line.time_s));
                    CHECK(path_seconds(graph, line) == near(line.time_s));
                }
            }
        }
    }
}

TEST_CASE("more streams, quicker hosts and no copies never make a random step longer") {
    std::mt19937 random(7);
    const auto draw = [&](int n) {
        return static_cast<std::uint32_t>(random() % static_cast<unsigned>(n));
    };
    for (int round = 0; round < 200; ++round) {
        Graph graph;
        Costs costs;
        graph.tensors.push_back({Role::input, 1000});
        for (std::uint32_t i = 0; i < 30; ++i) {
            model::Layer layer;
            layer.name = "l" + std::to_string(i);
            graph.layers.push_back(layer);
            LayerCost cost;
            cost.device_s = 1e-6 * (1 + draw(20));
            cost.low_s = cost.high_s = cost.device_s;
            cost.share = 1.0;
            costs.layers.push_back(cost);
            Operator op;
            op.layer = i;
            op.first_read = static_cast<std::uint32_t>(graph.operands.size());
            op.reads = 1;
            graph.operands.push_back(draw(static_cast<int>(graph.tensors.size())));
            op.first_write = static_cast<std::uint32_t>(graph.operands.size());
            op.writes = 1;
            graph.operands.push_back(static_cast<std::uint32_t>(graph.tensors.size()));
            graph.tensors.push_back({Role::activation, 100, i});
            graph.operators.push_back(op);
        }
        const model::Gpu gpu = [] {
            model::Gpu g;
            g.pcie_bytes_per_s = 1e9;
            return g;
        }();
        const double one = simulate(graph, costs, gpu, in_mode(Launch::stream)).time_s;
        // With one kernel filling the GPU, no order beats the sum of all kernels.
        const double many = simulate(graph, costs, gpu, in_mode(Launch::stream, 4)).time_s;
        double kernels = 0.0;
        for (const LayerCost& cost : costs.layers) {
            kernels += cost.device_s;
        }
        CHECK(many >= kernels);
        CHECK(many <= one * (1.0 + 1e-9));
        CHECK(simulate(graph, costs, gpu, in_mode(Launch::graph)).time_s <=
              simulate(graph, costs, gpu, in_mode(Launch::eager)).time_s);
        TimelineOptions copies = in_mode(Launch::stream);
        copies.copies = Copies::batch;
        const double pinned = simulate(graph, costs, gpu, copies).time_s;
        copies.pageable = true;
        CHECK(pinned >= one * (1.0 - 1e-9));
        CHECK(simulate(graph, costs, gpu, copies).time_s >= pinned * (1.0 - 1e-9));
    }
}

TEST_CASE("the trace is JSON whose kernels are the timeline's, linked to their calls") {
    const model::Gpu gpu = catalog_gpu("t4");
    analysis::Scenario scenario;
    scenario.copies = Copies::batch;
    const auto inference = analysis::run(tests::catalog_question("resnet18", "t4", scenario));
    REQUIRE(inference.ok());
    const TimelineReport report{*inference, gpu};
    const auto trace = nlohmann::json::parse(timeline_trace(report));
    std::size_t kernels = 0, calls = 0, copies = 0;
    for (const auto& event : trace["traceEvents"]) {
        const std::string category = event.value("cat", "");
        kernels += category == "kernel" ? 1 : 0;
        calls += category == "cpu_op" ? 1 : 0;
        copies += category == "gpu_memcpy" ? 1 : 0;
    }
    CHECK(kernels == inference->program.operators.size());
    CHECK(calls == kernels);
    CHECK(copies == 2); // the image in, the answer out
    const auto json = nlohmann::json::parse(to_json(timeline_answer(report)));
    CHECK(json["time_s"].get<double>() == inference->total.time_s);
    CHECK(to_svg_picture(timeline_answer(report)).find("</svg>") != std::string::npos);
}

TEST_CASE("slices of one thread of the trace do not overlap by a nanosecond") {
    analysis::Scenario scenario;
    scenario.training = analysis::TrainingOptions{};
    for (const char* name : {"t4", "a100-sxm-40gb"}) {
        const auto step = analysis::run(tests::catalog_question("resnet18", name, scenario));
        REQUIRE(step.ok());
        const auto trace = nlohmann::json::parse(timeline_trace({*step, catalog_gpu(name)}));
        const auto ns = [](const nlohmann::json& us) {
            return std::llround(us.get<double>() * 1e3);
        };
        std::map<std::pair<int, int>, long long> end; // by process and thread
        std::size_t slices = 0;
        for (const auto& event : trace["traceEvents"]) {
            if (event["ph"] != "X") {
                continue;
            }
            long long& before = end[{event["pid"].get<int>(), event["tid"].get<int>()}];
            CAPTURE(event.dump());
            CHECK(ns(event["ts"]) >= before);
            before = ns(event["ts"]) + ns(event["dur"]);
            ++slices;
        }
        CHECK(slices > 200);
    }
}

TEST_CASE("the first lines name what twice as much of gains most") {
    const auto text = [](model::Launch launch, Count batch) {
        analysis::Scenario scenario;
        scenario.launch = launch;
        scenario.batch = batch;
        const auto question = tests::catalog_question("resnet18", "t4", scenario);
        auto report = analysis::run(question);
        REQUIRE(report.ok());
        analysis::find_headline(*report, question);
        return to_text(timeline_answer({*report, catalog_gpu("t4")}), 80);
    };
    const std::string small = text(model::Launch::eager, 1);
    CHECK(small.find("Bound by CPU launch overhead\n") != std::string::npos);
    CHECK(small.find("(--host-speed 2)") != std::string::npos);
    const std::string large = text(model::Launch::graph, 256);
    CHECK(large.find("Bound by ") != std::string::npos);
    CHECK(large.find("Bound by CPU launch overhead") == std::string::npos);
    CHECK(large.find("Largest saving: ") != std::string::npos);
}

} // namespace test_step_timeline
