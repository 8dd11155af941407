// Kernels that are really compiled and run: right ones, wrong ones, and those that never end.
#include "analysis/trials/cpu_task.hpp"
#include "analysis/tune/cpu_source.hpp"
#include "analysis/tune/cpu_target.hpp"
#include "analysis/tune/search.hpp"
#include "analysis/tune/tuner.hpp"
#include "report/answer/write.hpp"
#include "report/tune/tune_answer.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace test_tune_cpu_target {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using tests::near;
namespace fs = std::filesystem;

namespace {

Workload small_product() {
    Workload work;
    work.name = "product";
    work.rows = work.width = work.out_w = 37;
    work.cols = 50;
    work.depth = 29;
    return work;
}

Workload small_convolution() {
    eyeroof::model::Layer layer;
    layer.name = "conv";
    layer.op = eyeroof::model::Op::conv2d;
    layer.types = {eyeroof::model::DataType::fp32, eyeroof::model::DataType::fp32,
                   eyeroof::model::DataType::fp32};
    layer.shape = eyeroof::model::ConvShape{2, 19, 11, 9, 21, 3, 2, {2, 1}, {1, 1}, {1, 2}, 1};
    const auto work = workload_of(layer);
    REQUIRE(work);
    return *work;
}

CpuOptions quick() {
    CpuOptions options;
    options.time_s = 0.002;
    options.compile_limit_s = 600.0; // machines that run tests are busy
    options.limit_s = 120.0;
    return options;
}

Outcome measured(const CpuOptions& options) {
    const Workload work = small_product();
    const SearchTask search_task = cpu_task(work, host_machine());
    auto session = CpuSession::open(options);
    REQUIRE(session);
    const auto target = (*session)->target(work, search_task.space);
    REQUIRE(target);
    Rng rng(1);
    return (*target)->measure(*search_task.space.draw(rng));
}

std::string with(const std::string& body) {
    return "struct Args { const float* in; const float* w; float* out; };\n"
           "extern \"C\" void eyeroof_prepare(const Args*) {}\n"
           "extern \"C\" void eyeroof_kernel(const Args* a) { " +
           body + " }\n";
}

bool compiler_works() {
    static const bool works = std::system("c++ --version >/dev/null 2>&1") == 0; // NOLINT
    return works;
}

} // namespace

TEST_CASE("random candidates compile, give the exact result and a time, on products and "
          "convolutions" *
          doctest::skip(!compiler_works())) {
    auto session = CpuSession::open(quick());
    REQUIRE(session);
    for (const Workload& work : {small_product(), small_convolution()}) {
        const SearchTask search_task = cpu_task(work, host_machine(), 2);
        const auto target = (*session)->target(work, search_task.space);
        REQUIRE(target);
        Rng rng(5);
        for (int n = 0; n < 4; ++n) {
            const Point point = *search_task.space.draw(rng);
            const Outcome outcome = (*target)->measure(point);
            CHECK_MESSAGE(outcome.ok(), work.name, " ", outcome.error, " ", outcome.detail, " ",
                          plan_text(cpu_plan(search_task.space, point)));
            CHECK(outcome.times_s.size() >= 3);
        }
    }
}

TEST_CASE("what goes wrong is reported by its kind" * doctest::skip(!compiler_works())) {
    const auto kind = [](const std::string& source, double limit_s = 120.0) {
        CpuOptions options = quick();
        options.limit_s = limit_s;
        options.source = [source](const CpuPlan&) { return source; };
        return measured(options);
    };
    CHECK(kind("this is no C++").error == "compile");
    CHECK(kind(with("*(volatile int*)8 = 1; (void)a;")).error == "crash");
    CHECK(kind(with("__builtin_trap(); (void)a;")).detail.starts_with("SIG"));
    CHECK(kind(with("(void)a; for (;;) asm volatile(\"\");"), 0.3).error == "timeout");
    CHECK(kind(with("a->out[0] = 1;")).error == "wrong");
    CHECK(kind("int nothing;").error == "failed");
}

TEST_CASE("a kernel that writes beyond its result is wrong, even where the result is right" *
          doctest::skip(!compiler_works())) {
    CpuOptions options = quick();
    options.source = [](const CpuPlan& plan) {
        std::string text = cpu_source(plan);
        const std::string kernel = "extern \"C\" void eyeroof_kernel(const Args* a) {";
        text.insert(text.find(kernel) + kernel.size(), " a->out[a->rows * a->cols + 3] = 0;");
        return text;
    };
    const Outcome outcome = measured(options);
    CHECK(outcome.error == "wrong");
    CHECK(outcome.detail.find("beyond") != std::string::npos);
}

TEST_CASE("the build folder is private and gone with the session" *
          doctest::skip(!compiler_works())) {
    fs::path folder;
    {
        auto session = CpuSession::open(quick());
        REQUIRE(session);
        folder = (*session)->folder();
        CHECK(eyeroof::profiles::is_private_folder(folder));
    }
    CHECK(!fs::exists(folder));
}

TEST_CASE("what a killed run has left is removed by the next, what a living one uses is not" *
          doctest::skip(!compiler_works())) {
    const auto left_with = [](const std::string& file) {
        std::string name = (fs::temp_directory_path() / "eyeroof-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        std::ofstream(fs::path(name) / file) << "something\n";
        return fs::path(name);
    };
    const fs::path dead = left_with(".eyeroof-work");
    const fs::path foreign = left_with("something");
    const auto alive = CpuSession::open(quick());
    CHECK(!fs::exists(dead));
    const auto second = CpuSession::open(quick());
    REQUIRE(alive);
    CHECK(fs::exists((*alive)->folder()));
    CHECK(fs::exists(foreign));
    fs::remove_all(foreign);
}

TEST_CASE("without a compiler the target is reported to be unavailable") {
    CpuOptions options = quick();
    options.compiler = "/nonexistent/compiler";
    const auto session = CpuSession::open(options);
    REQUIRE(!session);
    CHECK(session.diagnostics().items().front().code == "unavailable");
}

TEST_CASE("the last line of progress has the figure that the report states as the best" *
          doctest::skip(!compiler_works())) {
    TuneOptions options;
    options.cpu = quick();
    options.plan.trials = 6;
    options.plan.strategy.kind = StrategyKind::random;
    options.again = 3;
    std::vector<Progress> reported;
    const auto result = tune_layers({small_product(), small_convolution()}, options, nullptr, {},
                                    [&](const Progress& one) { reported.push_back(one); });
    REQUIRE(result);
    REQUIRE(result->layers.size() == 2);
    REQUIRE_FALSE(reported.empty());
    const auto json = nlohmann::json::parse(report::to_json(report::tune_answer(*result, false)));
    for (const std::size_t layer : {std::size_t{0}, std::size_t{1}}) {
        const auto& best = json["layers"][layer]["best"];
        CHECK(best["measured_again"] == true);
        const auto last =
            std::find_if(reported.rbegin(), reported.rend(), [&](const Progress& one) {
                return one.activity.starts_with(json["layers"][layer]["layer"].get<std::string>() +
                                                ":");
            });
        REQUIRE(last != reported.rend());
        CHECK(last->best == near(best["gflops_per_s"].get<double>()));
    }
}

} // namespace test_tune_cpu_target
