#include "analysis/diff/diff.hpp"
#include "analysis/exam/run.hpp"
#include "hwdb/catalog.hpp"
#include "report/answer/write.hpp"
#include "report/diff/diff_answer.hpp"
#include "report/exam/exam_answer.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

namespace test_diff_diff {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::report;
using eyeroof::tests::near;

namespace {

std::string layer(const std::string& name, double time_s, double bound,
                  const char* limiter = "DRAM", int count = 1) {
    std::string steps;
    for (int i = 1; i <= 7; ++i) {
        steps += fmt::format(R"({}{{"step":{},"bound_macs_per_cycle":{}}})", i == 1 ? "" : ",", i,
                             i >= 6 ? bound : 64);
    }
    return fmt::format(
        R"({{"name":"{}","count":{},"time_s":{},"energy_j":2,"outer_bytes":8,"macs":100,)"
        R"("utilization":0.5,"limiter":"{}","limiter_step":6,"steps":[{}]}})",
        name, count, time_s, limiter, steps);
}

std::string exam(const std::string& machine, double time_s, const std::string& layers) {
    return fmt::format(
        R"({{"schema":"eyeroof/exam/1","machine":{{"name":"{}"}},"network":{{"name":"net"}},)"
        R"("layers":[{}],"total":{{"time_s":{},"energy_j":4,"outer_bytes":16,"macs":200,)"
        R"("utilization":0.5}}}})",
        machine, layers, time_s);
}

ExamDiff example() {
    const std::string a = exam("M", 5,
                               layer("x", 1, 10) + "," + layer("y", 2, 20, "DRAM", 2) + "," +
                                   layer("x", 3, 30) + "," + layer("gone", 1, 1));
    const std::string b = exam("N", 6,
                               layer("x", 1, 10) + "," + layer("y", 1, 40, "NoC", 2) + "," +
                                   layer("x", 6, 15) + "," + layer("new", 1, 1));
    return diff_exams(exam_side(a, "a.json").value(), exam_side(b, "b.json").value());
}

} // namespace

TEST_CASE("layers of one name belong together in their order, others stand alone") {
    const ExamDiff diff = example();
    REQUIRE(diff.layers.size() == 3);
    CHECK(diff.layers[0].figures[0] == BothSides{1, 1});
    CHECK(diff.layers[2].figures[0] == BothSides{3, 6});
    CHECK(diff.layers[1].adds_s() == -2); // two executions, a second less each
    CHECK(diff.layers[1].bounds[5] == BothSides{20, 40});
    CHECK(diff.only_a == std::vector<std::string>{"gone"});
    CHECK(diff.only_b == std::vector<std::string>{"new"});
    CHECK(*diff.total[0].change() == near(0.2, 1e-12));
    CHECK(diff.name_b == "net on N");
}

TEST_CASE("what the rest of a step hides of its layers is said where all layers are common") {
    ExamDiff diff = example();
    CHECK(to_text(diff_answer(diff), 80).find("hides") == std::string::npos); // two are not
    diff.only_a.clear();
    diff.only_b.clear();
    diff.total[0] = BothSides{5.0, 5.25};
    CHECK(to_text(diff_answer(diff), 80)
              .find("The layers alone add 1 s: the rest of the step hides 750 ms of it") !=
          std::string::npos);
}

TEST_CASE("what adds most is told first, with its steps and its limits") {
    const std::string text = to_text(diff_answer(example()), 80);
    CHECK(text.find("b takes 20 % longer than a: 5 s -> 6 s; x adds most, 3 s") <
          text.find("\nx "));
    CHECK(text.find("\nx ") < text.find("\ny "));
    CHECK(text.find("step 6: 30 -> 15") != std::string::npos);
    CHECK(text.find("step 6 DRAM -> step 6 NoC") != std::string::npos);
    CHECK(text.find("only on the first side: gone") != std::string::npos);
    CHECK(to_markdown(diff_answer(example())).find("| time | 5 s | 6 s | +20.00 % |") !=
          std::string::npos);
    CHECK(to_json(diff_answer(example())).find("\"eyeroof/diff/1\"") != std::string::npos);
    CHECK(to_csv(diff_answer(example())).find("\ny,2,2,-2,2,1,-0.5,") != std::string::npos);
}

TEST_CASE("an exam and itself are the same") {
    const ExamSide a = exam_side(exam("M", 5, layer("x", 1, 10)), "a").value();
    const ExamDiff diff = diff_exams(a, a);
    CHECK(to_text(diff_answer(diff), 80).find("No part's time differs") != std::string::npos);
    CHECK(evaluate(parse_gate("net.time_change != 0", diff_gate_keys()).value(),
                   diff_gate_figures(diff))
              ->holds == false);
    const ExamSide other = exam_side(exam("M", 5, layer("y", 1, 10)), "b").value();
    const std::string apart = to_text(diff_answer(diff_exams(a, other)), 80);
    CHECK(apart.find("no layer in common") != std::string::npos);
    CHECK(apart.find("No part's time differs") == std::string::npos);
}

TEST_CASE("an exam compares as what it writes, and one of too many layers is refused") {
    const std::vector<std::filesystem::path> folders = {tests::source_dir() + "/hwdb"};
    const auto machine = hwdb::load_machine("t4", folders);
    REQUIRE(machine.ok());
    model::Layer layer;
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, 64, 512, 256};
    model::Network network;
    for (const char* name : {"x", "y", "x"}) {
        layer.name = name;
        layer.count += 1;
        network.layers.push_back(layer);
    }
    const auto report = run(network, *machine);
    REQUIRE(report.ok());
    const auto read = exam_side(report::to_json(report::exam_answer(*report)), "a.json");
    REQUIRE(read.ok());
    CHECK(*read == exam_side(*report));

    network.layers.assign(40'001, layer);
    const auto refused = run(network, *machine);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items()[0].code == "too-large");
    CHECK(refused.diagnostics().items()[0].message.find("the 40000") != std::string::npos);
}

TEST_CASE("conditions speak of both sides and of the change") {
    const GateFigures figures = diff_gate_figures(example());
    const auto holds = [&](const char* text) {
        return evaluate(parse_gate(text, diff_gate_keys()).value(), figures)->holds;
    };
    CHECK(holds("net.time_change > 0.19"));
    CHECK(!holds("net.time_change > 0.21"));
    CHECK(holds("any.time_change >= 1"));
    CHECK(holds("layer.y.time_s_a == 2 and layer.y.time_s_b == 1"));
    CHECK(!parse_gate("net.time_chang > 1", diff_gate_keys()));
}

TEST_CASE("what is no examination is told, with its file") {
    const auto none = exam_side("{}", "a.json");
    REQUIRE(!none);
    CHECK(none.diagnostics().items()[0].message.find("a.json") != std::string::npos);
    std::string broken = exam("M", 5, layer("x", 1, 10));
    broken.replace(broken.find("\"count\":1"), 9, "\"count\":{}");
    const auto wrong = exam_side(broken, "a.json");
    REQUIRE(!wrong);
    CHECK(wrong.diagnostics().items()[0].message.find("layers[0].count") != std::string::npos);
    for (const char* text :
         {"nonsense", "[]", "null", "{\"schema\":\"eyeroof/exam/1\",\"layers\":3}",
          "{\"schema\":\"eyeroof/exam/1\",\"layers\":[3],\"total\":[]}"}) {
        CHECK(!exam_side(text, "a"));
    }
}

} // namespace test_diff_diff
