#include "analysis/diff/run_diff.hpp"
#include "report/answer/write.hpp"
#include "report/diff/added_bars.hpp"
#include "report/diff/diff_answer.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace test_diff_run_diff {

using namespace eyeroof; // NOLINT(google-build-using-namespace)
using namespace eyeroof::analysis;
using namespace eyeroof::report;
using eyeroof::tests::near;

namespace {

struct Run {
    profiles::ProfileBuilder builder;

    explicit Run(const char* gpu) { builder.profile.run.gpu = gpu; }
    Run& add(const char* kernel, double microseconds, std::int32_t op = profiles::kNone) {
        profiles::Launch launch;
        launch.kernel = builder.kernel(kernel);
        launch.op = op;
        launch.duration_ns = microseconds < 0.0 ? profiles::kUnknown : 1000.0 * microseconds;
        builder.profile.launches.push_back(launch);
        return *this;
    }
    std::int32_t mm(std::int64_t rows) { return builder.op({"aten::mm", {{rows, 64}}, {}, {}}); }
};

// Volta's kernel twice, a copy; Ampere's kernel twice, no copy, a new one.
RunDiff example(RunPart by) {
    Run a("V100");
    a.add("volta_gemm", 10, a.mm(128)).add("volta_gemm", 12, a.mm(128)).add("copy", 5);
    Run b("A100");
    b.add("ampere_gemm", 4, b.mm(128)).add("ampere_gemm", 5, b.mm(128)).add("relu", 1);
    b.add("ampere_gemm", -1, b.mm(128));
    return diff_runs(a.builder.profile, "a.jsonl", b.builder.profile, "b.jsonl", by);
}

const RunRow& row(const RunDiff& diff, const std::string& name) {
    for (const RunRow& one : diff.rows) {
        if (one.name == name) {
            return one;
        }
    }
    FAIL("no row " << name);
    return diff.rows.front();
}

} // namespace

TEST_CASE("kernels of two runs belong together by name, what adds or saves most comes first") {
    const RunDiff diff = example(RunPart::kernel);
    REQUIRE(diff.rows.size() == 4);
    CHECK(diff.rows[0].name == "volta_gemm"); // gone: 22 us less
    CHECK(diff.rows[0].adds_s() == near(-22e-6));
    CHECK(row(diff, "ampere_gemm").calls == BothSides{0, 2});
    CHECK(diff.time_s.a == near(27e-6));
    CHECK(diff.time_s.b == near(10e-6));
    CHECK(diff.untimed == BothSides{0, 1}); // in no row, and told
    CHECK(to_text(run_diff_answer(diff), 80).find("in no row: 0 of a, 1 of b") !=
          std::string::npos);
    CHECK(diff.name_a == "a.jsonl (V100)");
}

TEST_CASE("a whole run comes before its kernels, which say less where the device waits") {
    const auto run = [](std::int64_t second_start_ns) {
        Run r("H100");
        r.add("gemm", 10).add("relu", 10);
        r.builder.profile.launches[0].start_ns = 0;
        r.builder.profile.launches[1].start_ns = second_start_ns;
        return r.builder.profile;
    };
    const RunDiff diff = diff_runs(run(90'000), "a", run(40'000), "b", RunPart::kernel);
    CHECK(diff.window_s.a == near(100e-6));
    CHECK(diff.window_s.b == near(50e-6));
    const std::string text = to_text(run_diff_answer(diff), 80);
    CHECK(text.find("b takes 50 % less than a: 100 us -> 50 us") != std::string::npos);
    CHECK(text.find("The kernels of a and b take the same time: 20 us") != std::string::npos);
}

TEST_CASE("operators bring together what libraries call by other names") {
    const RunDiff diff = example(RunPart::op);
    const RunRow& products = row(diff, "aten::mm [128, 64]");
    CHECK(products.calls == BothSides{2, 2});
    CHECK(products.time_s.a == near(22e-6));
    CHECK(products.time_s.b == near(9e-6));
    CHECK(row(diff, "(none)").time_s.b == near(1e-6));
}

TEST_CASE("the parts of both runs add up to the whole") {
    for (const RunPart by : {RunPart::kernel, RunPart::op, RunPart::range}) {
        const RunDiff diff = example(by);
        BothSides sum;
        for (const RunRow& one : diff.rows) {
            sum.a += one.time_s.a;
            sum.b += one.time_s.b;
        }
        CHECK(sum.a == near(diff.time_s.a));
        CHECK(sum.b == near(diff.time_s.b));
    }
}

TEST_CASE("a run and itself are the same, in every format") {
    Run one("GPU");
    one.add("k<|>", 3);
    const auto& profile = one.builder.profile;
    const RunDiff diff = diff_runs(profile, "x", profile, "x", RunPart::kernel);
    const Answer answer = run_diff_answer(diff);
    CHECK(to_text(answer, 80).find("No part's time differs") != std::string::npos);
    CHECK(to_html(answer).find("No part's time differs") != std::string::npos);
    CHECK(to_html(answer).find("k&lt;|&gt;") != std::string::npos);
    CHECK(nlohmann::json::parse(to_json(answer))["time_s"]["change"] == 0.0);
    CHECK(to_csv(answer).find("\nk<|>,0,") != std::string::npos);
}

TEST_CASE("conditions speak of a run and of its parts") {
    const GateFigures figures = run_gate_figures(example(RunPart::op));
    const auto holds = [&](const char* text) {
        return evaluate(parse_gate(text, run_gate_keys()).value(), figures)->holds;
    };
    CHECK(holds("net.time_change < -0.6"));
    CHECK(!holds("net.calls_change != 0"));
    CHECK(holds("any.time_s_b > 8e-6"));
}

TEST_CASE("bars point to both sides, the longest first, and the rest is told") {
    const Drawing d = added_bars({{"a", 1e-3}, {"b", -4e-3}, {"c", 2e-3}}, "Where", 2);
    REQUIRE(d.boxes.size() == 2);
    CHECK(d.boxes[0].box.width == near(2.0 * d.boxes[1].box.width)); // b, then c
    CHECK(d.boxes[0].box.right() == near(d.boxes[1].box.left));      // at the line between them
    CHECK(d.figures.rows.size() == 2);
    const bool told = std::any_of(d.texts.begin(), d.texts.end(), [](const DrawnText& text) {
        return text.text.find("the others +1 ms") != std::string::npos;
    });
    CHECK(told);
    CHECK(added_bars({}, "Where").boxes.empty());
}

} // namespace test_diff_run_diff
