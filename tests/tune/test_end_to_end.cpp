// A whole network with tuned kernels: what of it becomes a step, and what the program makes of it.
// The library beside it is a plain reference with oneDNN's interface, so that every result is
// compared with a second way to compute it, wherever there is a compiler.
#include "analysis/trials/log.hpp"
#include "analysis/tune/end_to_end.hpp"
#include "analysis/tune/tuner.hpp"
#include "profiles/collect/work_folder.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/tune/tune_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/step/step_fixture.hpp"

#include <cstdlib>
#include <fstream>

namespace test_tune_end_to_end {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using tests::near;
namespace step = eyeroof::analysis::step;

namespace {

// Every kind of step: a product with a norm, a ReLU, or an addition behind it, in both orders of
// operands; pooling; an addition and a ReLU alone; softmax.
const char* const kSmall = R"(
name: small
layers:
  - {name: first, op: conv2d, c: 3, h: 13, w: 11, k: 5, r: 3, s: 3, stride: 2, pad: 1, dtype: fp32}
  - {name: first_bn, op: batchnorm, rows: 5, cols: 42, dtype: fp32}
  - {name: first_relu, op: elementwise, rows: 5, cols: 42, fn: relu, dtype: fp32}
  - {name: main, op: conv2d, c: 5, h: 7, w: 6, k: 5, r: 3, s: 3, pad: 1, dtype: fp32}
  - {name: join, op: elementwise, rows: 5, cols: 42, fn: add, dtype: fp32}
  - {name: join_relu, op: elementwise, rows: 5, cols: 42, fn: relu, dtype: fp32}
  - {name: twice, op: elementwise, rows: 5, cols: 42, fn: add, dtype: fp32}
  - {name: pool, op: maxpool, c: 5, h: 7, w: 6, r: 3, s: 3, stride: 2, pad: 1, dtype: fp32}
  - {name: side, op: conv2d, c: 5, h: 4, w: 3, k: 7, r: 1, s: 1, dtype: fp32}
  - {name: wide, op: conv2d, c: 5, h: 4, w: 3, k: 7, r: 3, s: 3, pad: 1, dtype: fp32}
  - {name: both, op: elementwise, rows: 7, cols: 12, fn: add, dtype: fp32}
  - {name: mean, op: avgpool, c: 7, h: 4, w: 3, r: 4, s: 3, dtype: fp32}
  - {name: fc, op: gemm, m: 1, n: 9, k: 7, dtype: fp32}
  - {name: softmax, op: softmax, rows: 1, cols: 9, dtype: fp32}
graph:
  - {run: [first, first_bn, first_relu], reads: input, as: x}
  - {run: main, reads: x, as: m}
  - {run: [join, join_relu], reads: [m, x], as: j}
  - {run: twice, reads: [j, x], as: t}
  - {run: pool, reads: t, as: p}
  - {run: side, reads: p, as: s}
  - {run: wide, reads: p, as: w}
  - {run: both, reads: [s, w], as: b}
  - {run: [mean, fc, softmax], reads: b}
)";

NetPlan small_plan() {
    const auto graph = tests::graph_from(kSmall);
    for (const auto& d : graph.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(graph.ok());
    const auto plan = net_plan(*graph);
    for (const auto& d : plan.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(plan.ok());
    return *plan;
}

const NetStep& step_of(const NetPlan& plan, const std::string& name) {
    const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                    [&](const NetStep& s) { return s.name == name; });
    REQUIRE(found != plan.steps.end());
    return *found;
}

// A folder with a library to link, and a session whose oneDNN is the reference.
struct Reference {
    profiles::WorkFolder folder = *profiles::WorkFolder::create();
    CpuOptions options;

    explicit Reference(const std::string& headers = "tests/tune/programs/reference_dnnl") {
        const std::string made = "echo | c++ -shared -x c++ - -o '" +
                                 (folder.path() / "libdnnl.so").string() + "' 2>/dev/null";
        REQUIRE(std::system(made.c_str()) == 0); // NOLINT
        options.flags = {"-O1", "-I" + tests::source_dir() + "/" + headers,
                         "-L" + folder.path().string(), "-Wl,-rpath," + folder.path().string()};
        options.time_s = 0.002;
        options.statistic = Statistic::least;
        options.compile_limit_s = 600.0; // machines that run tests are busy
        options.limit_s = 120.0;
    }
};

bool compiler_works() {
    static const bool works = std::system("c++ --version >/dev/null 2>&1") == 0; // NOLINT
    return works;
}

ProcessEnd printed(const std::string& output) {
    ProcessEnd end;
    end.started = true;
    end.status = 0;
    end.output = output;
    return end;
}

} // namespace

TEST_CASE("norms, ReLUs, and additions follow the product that makes their operand last") {
    const NetPlan plan = small_plan();
    CHECK(plan.steps.size() == 9); // of 14 layers
    CHECK(plan.works.size() == 5); // five shapes
    const NetStep& first = step_of(plan, "first");
    CHECK(first.relu);
    CHECK(first.added == step::kNone);
    const NetStep& main = step_of(plan, "main");
    CHECK(main.relu);
    CHECK(main.added == first.out);
    CHECK(step_of(plan, "twice").added == first.out); // its operand has another reader
    const NetStep& wide = step_of(plan, "wide");      // the second operand is made last
    CHECK(wide.added == step_of(plan, "side").out);
    CHECK_FALSE(wide.relu);
    CHECK(step_of(plan, "fc").in == step_of(plan, "mean").out);
    CHECK(plan.output == step_of(plan, "softmax").out);
    CHECK(plan.elements.at(plan.input) == 3 * 13 * 11);
}

TEST_CASE(
    "a ReLU whose operand something else reads stays a step, and so does an addition behind it") {
    const auto graph = tests::graph_from(
        "layers:\n"
        "  - {name: a, op: conv2d, c: 2, h: 4, w: 4, k: 2, r: 1, s: 1, dtype: fp32}\n"
        "  - {name: r, op: elementwise, rows: 2, cols: 16, fn: relu, dtype: fp32}\n"
        "  - {name: s, op: elementwise, rows: 2, cols: 16, fn: add, dtype: fp32}\n"
        "graph:\n  - {run: a, reads: input, as: x}\n  - {run: r, reads: x, as: y}\n"
        "  - {run: s, reads: [x, y]}\n");
    REQUIRE(graph.ok());
    const auto plan = net_plan(*graph);
    REQUIRE(plan.ok());
    REQUIRE(plan->steps.size() == 3);
    CHECK_FALSE(plan->steps[0].relu);
    CHECK(plan->steps[0].added == step::kNone);
    CHECK(plan->steps[1].relu);
    CHECK(plan->steps[2].added == plan->steps[1].out);
}

TEST_CASE("ResNet-18 has 21 products in 12 shapes, eight of them with an addition") {
    const auto plan = net_plan(tests::graph_of("resnet18"));
    REQUIRE(plan.ok());
    std::size_t products = 0, added = 0, relus = 0;
    for (const NetStep& s : plan->steps) {
        products += s.kind == NetKind::product ? 1 : 0;
        added += s.kind == NetKind::product && s.added != step::kNone ? 1 : 0;
        relus += s.relu ? 1 : 0;
    }
    CHECK(plan->steps.size() == 24);
    CHECK(products == 21);
    CHECK(plan->works.size() == 12);
    CHECK(added == 8);
    CHECK(relus == 17);
}

TEST_CASE("what the program does not run is refused by name, all of it in one pass") {
    const auto mobile = net_plan(tests::graph_of("mobilenet-v1"));
    REQUIRE_FALSE(mobile.ok());
    CHECK(mobile.diagnostics().size() == 13); // its depthwise convolutions
    CHECK(to_string(mobile.diagnostics().items().front()).find("groups") != std::string::npos);
    const auto bert = net_plan(tests::graph_of("bert-base:layers=1"));
    REQUIRE_FALSE(bert.ok());
    CHECK(to_string(bert.diagnostics().items().front()).find("cannot run end to end") !=
          std::string::npos);
}

TEST_CASE("a network with tuned kernels gives the results of a second way to compute it" *
          doctest::skip(!compiler_works())) {
    const Reference reference;
    for (const int threads : {1, 2}) {
        TuneOptions options;
        options.cpu = reference.options;
        options.plan.trials = 2;
        options.plan.strategy.kind = StrategyKind::random;
        options.again = 0;
        options.threads = threads;
        options.network = small_plan();
        const auto result = tune_layers(options.network->works, options, nullptr);
        for (const auto& d : result.diagnostics()) {
            MESSAGE(to_string(d));
        }
        REQUIRE(result.ok());
        REQUIRE(result->network);
        const EndToEnd& network = *result->network;
        CHECK(network.library == "oneDNN 3.0.0");
        CHECK(network.difference < 1e-4);
        CHECK(network.steps.size() == 9);
        CHECK(network.threads == threads);
        CHECK(network.runs >= 3);
        double tuned = 0.0;
        for (const EndToEnd::Step& s : network.steps) {
            CHECK(s.tuned_s > 0.0);
            CHECK(s.library_s > 0.0);
            tuned += s.tuned_s;
        }
        CHECK(network.least);
        CHECK(tuned <=
              network.tuned_s * (1 + 1e-6)); // no run is shorter than the least of each step
        CHECK(network.steps_s(&EndToEnd::Step::tuned_s) == near(tuned));
        CHECK(network.kernel_share() > 0.0);
        CHECK(network.kernel_share() < 1.0);
        const report::Answer answer = report::tune_answer(*result, false);
        const std::string text = report::to_text(answer, 100);
        CHECK(text.find("end to end") != std::string::npos);
        CHECK(text.find("oneDNN 3.0.0") != std::string::npos);
        const auto schema = nlohmann::json::parse(report::schema_of("tune"));
        for (const std::string& fault :
             tests::SchemaCheck(schema).faults(nlohmann::json::parse(report::to_json(answer)))) {
            FAIL_CHECK(fault);
        }
    }
}

TEST_CASE("a kernel that computes something else makes the whole network wrong" *
          doctest::skip(!compiler_works())) {
    Reference reference;
    auto session = CpuSession::open(reference.options);
    REQUIRE(session);
    REQUIRE(build_network(**session));
    const NetPlan plan = small_plan();
    std::vector<CpuPlan> kernels;
    for (const Workload& work : plan.works) {
        const Space space = cpu_space(work, host_machine());
        Rng rng(3);
        kernels.push_back(cpu_plan(space, *space.draw(rng)));
    }
    REQUIRE(run_network(**session, plan, kernels, 1, 0.01).ok());
    NetPlan other = plan;
    other.steps[1].relu = !other.steps[1].relu; // both ways leave the ReLU out: still equal
    CHECK(run_network(**session, other, kernels, 1, 0.01).ok());
    CpuOptions broken = reference.options;
    broken.source = [](const CpuPlan&) {
        return std::string("struct Args { const float* in; const float* w; float* out; };\n"
                           "extern \"C\" void eyeroof_prepare(const Args*) {}\n"
                           "extern \"C\" void eyeroof_kernel(const Args* a) { a->out[0] = 1; }\n");
    };
    auto wrong = CpuSession::open(broken);
    REQUIRE(wrong);
    REQUIRE(build_network(**wrong));
    const auto result = run_network(**wrong, plan, kernels, 1, 0.01);
    REQUIRE_FALSE(result.ok());
    CHECK(result.diagnostics().items().front().code == "wrong");
}

TEST_CASE("without a library there is nothing to compare with, and that is said before the search" *
          doctest::skip(!compiler_works())) {
    const Reference none("tests/tune/programs/no_dnnl");
    TuneOptions options;
    options.cpu = none.options;
    options.network = small_plan();
    const auto result = tune_layers(options.network->works, options, nullptr);
    REQUIRE_FALSE(result.ok());
    const Diagnostic& found = result.diagnostics().items().front();
    CHECK(found.code == "unavailable");
    CHECK(found.message.find("oneDNN") != std::string::npos);
    CHECK(found.hint.find("libdnnl-dev") != std::string::npos);
}

TEST_CASE("what the program prints becomes a result only when all of it is there") {
    const NetPlan plan = small_plan();
    std::string whole = "library oneDNN 9.9.9\ndifference 1e-06\n";
    for (const NetStep& s : plan.steps) {
        whole += "step " + s.name + " 0.002 0.001\n";
    }
    const std::string end = "network 0.02 0.01\nruns 7\n";
    const auto read = parse_end_to_end(plan, printed(whole + end));
    REQUIRE(read.ok());
    CHECK(read->library == "oneDNN 9.9.9");
    CHECK(read->tuned_s == near(0.02));
    CHECK(read->library_s == near(0.01));
    CHECK(read->runs == 7);
    CHECK(read->kernel_share() == near(5.0 / 9.0));
    CHECK_FALSE(parse_end_to_end(plan, printed(whole)).ok());
    CHECK_FALSE(parse_end_to_end(plan, printed(end)).ok());
    CHECK(
        parse_end_to_end(plan, printed("wrong the results differ")).diagnostics().items()[0].code ==
        "wrong");
    ProcessEnd late = printed(whole + end);
    late.timed_out = true;
    CHECK(parse_end_to_end(plan, late).diagnostics().items()[0].code == "time-limit");
    ProcessEnd stopped = printed(whole + end);
    stopped.stopped = true;
    CHECK(parse_end_to_end(plan, stopped).diagnostics().items()[0].code == "cancelled");
    ProcessEnd crashed = printed(whole + end);
    crashed.signal = 11;
    CHECK(parse_end_to_end(plan, crashed).diagnostics().items()[0].code == "failed");
}

} // namespace test_tune_end_to_end
