// From a speed-up to a verdict: steps, intervals, chances, assumptions, prices.
#include "analysis/calibrate/pairs.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/upgrade/assumptions.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "report/answer/write.hpp"
#include "report/upgrade/purchase_answer.hpp"
#include "report/upgrade/upgrade.hpp"
#include "tests/analysis/upgrade/purchase_of.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_analysis_upgrade_verdict {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

model::Machine machine(const std::string& id, model::Gpu gpu) {
    model::Machine m;
    m.id = m.name = id;
    m.kind = std::move(gpu);
    return m;
}

model::Network products(Count size, Count count) {
    model::Network net;
    net.id = net.name = "net";
    net.layers.push_back(test::gemm(size, size, size));
    net.layers.back().count = count;
    return net;
}

analysis::Upgrade judged(const model::Network& net, analysis::UpgradeOptions options) {
    const auto u = analysis::upgrade(net, machine("v100", test::v100_sxm2()),
                                     machine("a100", test::a100_sxm_40()), options);
    REQUIRE(u.ok());
    return *u;
}

analysis::PairResult pair(const std::string& family, double kernels, double measured) {
    analysis::PairResult row;
    row.pair.family = family;
    row.pair.speedup = measured;
    row.kind = "training mixed";
    row.kernel_speedup = kernels;
    row.bandwidth_ratio = 1.7;
    row.peak_ratio = 2.5;
    return row;
}

} // namespace

TEST_CASE("a network's time is the step of host and device, not the sum of its layers alone") {
    analysis::Question question =
        tests::question_of(products(256, 100), machine("a100", test::a100_sxm_40()));
    question.host = {100e-6, 40e-6, 5e-6, 1e-6};
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    const analysis::LayerReport& layer = report->layers.front();
    CHECK(report->total.host_s == near(100 * 100e-6));
    CHECK(report->total.device_s == near(100 * layer.time_s));
    CHECK(report->total.time_s == near(100 * 100e-6 + layer.time_s));
    CHECK(100 * (layer.time_s + layer.wait_s) == near(report->total.time_s));
}

TEST_CASE("kernels alone have no host, a graph has one launch and its nodes") {
    analysis::Question question =
        tests::question_of(products(256, 10), machine("a", test::a100_sxm_40()));
    question.host = {100e-6, 40e-6, 5e-6, 1e-6};
    question.scenario.launch = model::Launch::none;
    const auto alone = analysis::run(question);
    REQUIRE(alone.ok());
    CHECK(alone->total.host_s == 0.0);
    CHECK(alone->total.time_s == near(alone->total.device_s));
    question.scenario.launch = model::Launch::graph;
    const auto graph = analysis::run(question);
    REQUIRE(graph.ok());
    CHECK(graph->total.host_s == near(5e-6 + 9 * 1e-6)); // the first kernel comes with the launch
    CHECK(graph->total.device_s == alone->total.device_s);
}

TEST_CASE("optimizer steps are issued in bulk, gradients without Python") {
    analysis::Question question = tests::question_of(
        products(256, 1), machine("a", test::a100_sxm_40()), tests::training_with("adam"));
    question.host = {100e-6, 40e-6, 5e-6, 1e-6};
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    REQUIRE(report->layers.size() == 3); // the product, its weight gradient, the update
    CHECK(report->layers[0].kind == model::Issued::forward);
    CHECK(report->layers[1].kind == model::Issued::gradient);
    CHECK(report->layers[2].kind == model::Issued::update);
    CHECK(report->total.host_s == near(100e-6 + 40e-6 + 5e-6));
}

TEST_CASE("Student's distribution has the tails of few families") {
    // Tables: t(0.90) is 1.440 at 6 degrees, 1.363 at 11, 1.282 at infinity; the approximation is
    // within 1 % of them.
    CHECK(analysis::student_90(3) == near(1.440, 0.01));
    CHECK(analysis::student_90(8) == near(1.363, 0.005));
    CHECK(analysis::student_90(1000000) == near(1.2816, 0.001));
    CHECK(analysis::student_below(analysis::student_90(8), 8) == near(0.9, 0.001));
    CHECK(analysis::student_below(0.0, 8) == near(0.5));
}

TEST_CASE("the chance of being wrong falls with the distance and is even at the threshold") {
    CHECK(analysis::chance_of_wrong(0.0, 0.2, 8) == near(0.5));
    CHECK(analysis::chance_of_wrong(0.2, 0.2, 8) > analysis::chance_of_wrong(0.4, 0.2, 8));
    // Four spreads away, at 10 degrees of freedom: 0.13 %. Few families do not hold it up.
    CHECK(analysis::chance_of_wrong(0.8, 0.2, 8) < 0.01);
    CHECK(analysis::chance_of_wrong(0.8, 0.2, 3) < 0.01);
}

TEST_CASE("an interval wholly on one side of the threshold decides, with few families too") {
    using analysis::UpgradeVerdict;
    for (const int families : {1, 3, 8}) {
        const double edge = 0.2 * analysis::student_90(families); // ln of the interval's end
        CHECK(analysis::verdict_of(1.001 * edge, 0.2, families, 0.8) == UpgradeVerdict::pays_off);
        CHECK(analysis::verdict_of(-1.001 * edge, 0.2, families, 0.8) == UpgradeVerdict::does_not);
        CHECK(analysis::verdict_of(0.1 * edge, 0.2, families, 0.8) == UpgradeVerdict::undecided);
    }
}

TEST_CASE("inference gets a verdict far from the threshold, and none beside it") {
    analysis::UpgradeOptions options;
    options.transfer.kinds["inference mixed"] = {0.22, 0.18, 0.49, 0.21, 3, 67};
    options.threshold = 100.0;
    CHECK(judged(products(4096, 4), options).verdict == analysis::UpgradeVerdict::does_not);
    options.threshold = 0.01;
    CHECK(judged(products(4096, 4), options).verdict == analysis::UpgradeVerdict::pays_off);
    options.threshold = judged(products(4096, 4), options).speedup.value;
    CHECK(judged(products(4096, 4), options).verdict == analysis::UpgradeVerdict::undecided);
}

TEST_CASE("a GPU against itself is equal, without doubt") {
    analysis::UpgradeOptions options;
    options.threshold = 1.0;
    const model::Machine gpu = machine("v100", test::v100_sxm2());
    const auto u = analysis::upgrade(products(4096, 4), gpu, gpu, options);
    REQUIRE(u.ok());
    CHECK(u->verdict == analysis::UpgradeVerdict::equal);
    CHECK(u->speedup == analysis::Interval{1.0, 1.0, 1.0});
    CHECK(u->from_s == u->to_s);
    options.threshold = 1.2; // certain, too
    CHECK(analysis::upgrade(products(4096, 4), gpu, gpu, options)->verdict ==
          analysis::UpgradeVerdict::does_not);
}

TEST_CASE("no interval is from nothing to infinity") {
    model::Gpu open = test::a100_sxm_40();
    for (model::ClassRecord& record : open.calibration.records) {
        record.band.high = INFINITY; // an operator whose time has no upper bound
        record.kinds.clear();
    }
    analysis::UpgradeOptions options;
    options.threshold = 1.5;
    const auto u = analysis::upgrade(products(4096, 4), machine("v100", test::v100_sxm2()),
                                     machine("open", open), options);
    REQUIRE(u.ok());
    CHECK(std::isfinite(u->speedup.high));
    CHECK(u->speedup.low > 0.05);
}

TEST_CASE("operations of copies alone leave the domain of operations unknown, not empty") {
    // A class whose measured rows had no FLOP: a ReLU is no infinite distance outside of them.
    model::Gpu gpu = test::a100_sxm_40();
    for (model::ClassRecord& record : gpu.calibration.records) {
        record.domain.flops_low = record.domain.flops_high = 0.0;
    }
    model::Network net;
    net.id = net.name = "relu";
    model::Layer relu;
    relu.name = "relu";
    relu.op = model::Op::elementwise;
    relu.shape = model::ElementwiseShape{4096, 4096, "relu"};
    net.layers.push_back(relu);
    const auto report = analysis::run(net, machine("a100", gpu), {});
    REQUIRE(report.ok());
    REQUIRE(report->layers.front().high_s);
    CHECK(std::isfinite(*report->layers.front().high_s));
}

TEST_CASE("owned GPUs are charged power, not rent") {
    analysis::UpgradeOptions options;
    options.prices.from_owned = true;
    options.prices.to_usd_per_hour = 2.0;
    const auto u = judged(products(4096, 4), options);
    // 300 W x PUE 1.4 x $0.12 for each kWh
    CHECK(u.money.from_usd_per_hour == near(0.3 * 1.4 * 0.12));
    CHECK(u.money.break_even_speedup == near(2.0 / (0.3 * 1.4 * 0.12)));
    options.prices.from_resale_usd = 730.0 * 12.0 * 3.0 * 0.7; // a dollar for each hour at work
    CHECK(judged(products(4096, 4), options).money.from_usd_per_hour == near(1.0 + 0.0504));
}

TEST_CASE("the speed-up is the ratio of the printed times, whatever moved it") {
    analysis::UpgradeOptions options;
    options.threshold = 1.2;
    options.transfer.share = 0.9;
    const auto check = [&](const analysis::Upgrade& u) {
        CHECK(u.speedup.value == near(u.from_s / u.to_s * static_cast<double>(u.to_batch) /
                                      static_cast<double>(u.from_batch)));
    };
    const auto shared = judged(products(4096, 4), options);
    check(shared);
    CHECK(shared.speedup.value == near(std::pow(shared.model_speedup, 0.9)));
    options.to.batch = 4;
    check(judged(products(4096, 4), options));
    options.from_rate = 820.0;
    const auto measured = judged(products(4096, 4), options);
    check(measured);
    CHECK(measured.from_s == near(1.0 / 820.0));
    options.to_rate = 1640.0;
    const auto both = judged(products(4096, 4), options);
    check(both);
    CHECK(both.speedup.value == near(2.0));
    CHECK(both.sigma == near(0.03));
}

TEST_CASE("a measured throughput narrows the interval") {
    analysis::UpgradeOptions options;
    options.threshold = 1.2;
    const auto alone = judged(products(4096, 4), options);
    const double predicted = static_cast<double>(alone.from_batch) / alone.from_s;
    options.from_rate = predicted;
    const auto measured = judged(products(4096, 4), options);
    CHECK(measured.speedup.value == near(alone.speedup.value));
    CHECK(measured.sigma == near(0.90 * alone.sigma));
    // A step that runs at two thirds of its prediction gains less from a faster GPU.
    options.from_rate = predicted / 1.5;
    CHECK(judged(products(4096, 4), options).speedup.value ==
          near(alone.speedup.value * std::pow(1.5, -0.2)));
    options.from_rate.reset();
    options.to_rate = static_cast<double>(alone.to_batch) / alone.to_s;
    CHECK(judged(products(4096, 4), options).sigma == near(0.86 * alone.sigma));
}

TEST_CASE("operators less certain than those of the measured networks widen the interval") {
    model::Transfer transfer;
    transfer.share = 1.0;
    transfer.operators = 0.1;
    const model::TransferKind kind{0.2, 0.1, 0.2, 0.2, 8, 8};
    CHECK(analysis::transferred_sigma(transfer, kind, 0.05) == near(0.2));
    CHECK(analysis::transferred_sigma(transfer, kind, 0.3) == near(std::sqrt(0.04 + 0.09 - 0.01)));
}

TEST_CASE(
    "the transfer finds the share by which networks fall short, without the family it judges") {
    // Measured = kernels^0.8 exactly; one family is far off and does not move the others' share
    // much.
    analysis::PairsValidation v;
    for (const double kernels : {1.5, 1.8, 2.0, 2.4, 3.0}) {
        v.rows.push_back(pair("f" + std::to_string(kernels), kernels, std::pow(kernels, 0.8)));
    }
    analysis::judge_pairs(v);
    CHECK(v.transfer.share == near(0.8, 0.02));
    CHECK(v.all.mape < 0.01);
    CHECK(v.all.kernel_mape > 0.1);
    CHECK(v.all.families == 5);
    CHECK(v.transfer.kinds.at("training mixed").families == 5);
    CHECK(v.rows.front().families == 4);
    CHECK(v.all.inside == near(1.0));
    for (const double right : v.all.right) {
        CHECK(right == near(1.0));
    }
}

TEST_CASE("a kind of few families takes its spread mostly from all kinds") {
    std::vector<analysis::PairResult> rows;
    for (int i = 0; i < 12; ++i) {
        rows.push_back(pair("a" + std::to_string(i), 2.0, i % 2 == 0 ? 2.0 * 1.3 : 2.0 / 1.3));
    }
    analysis::PairResult exact = pair("b", 2.0, 2.0);
    exact.kind = "inference full";
    rows.push_back(exact);
    const auto transfer = analysis::fit_transfer(rows);
    const double all = std::log(1.3) * std::sqrt(12.0 / 13.0);
    CHECK(transfer.kinds.at("inference full").spread == near(std::sqrt(4.0 / 5.0) * all, 0.02));
}

TEST_CASE("without a price and a threshold the answer asks for them") {
    analysis::UpgradeOptions options;
    const auto u = judged(products(4096, 4), options);
    CHECK(u.verdict == analysis::UpgradeVerdict::unpriced);
    CHECK(report::upgrade_text(u).find("name the prices to judge") != std::string::npos);
    CHECK(report::upgrade_text(u).find("pays off") == std::string::npos);
    options.prices.from_usd_per_hour = 1.0;
    CHECK(judged(products(4096, 4), options).verdict == analysis::UpgradeVerdict::unpriced);
    options.prices.to_usd_per_hour = 1.1;
    CHECK(judged(products(4096, 4), options).verdict != analysis::UpgradeVerdict::unpriced);
}

TEST_CASE("the answer says what runs and what it takes for granted, with its worth") {
    analysis::UpgradeOptions options;
    options.threshold = 1.2;
    options.from.launch = options.to.launch = model::Launch::eager;
    options.from_issue = {60e-6, 24e-6, 5e-6, 2e-6};
    options.to_issue = {30e-6, 12e-6, 3e-6, 1e-6};
    options.from_host = "old";
    options.to_host = "new";
    options.from.training = options.to.training = analysis::TrainingOptions{"adam"};
    const auto u = judged(products(256, 50), options);
    CHECK(u.run == "training step in the layers' types (fp16), batch 1, adam, eager");
    REQUIRE(u.assumptions.size() == 4); // host, graphs, compiled, batch: it has no attention
    CHECK(u.assumptions[0].instead == "on the old host");
    CHECK(u.assumptions[0].speedup < u.speedup.value); // the host was most of the gain
    CHECK(report::to_json(report::purchase_answer(tests::purchase_of(u))).find("\"assumptions\"") !=
          std::string::npos);
}

TEST_CASE("prices of another year are warned of") {
    analysis::UpgradeOptions options;
    options.today = std::chrono::sys_days(std::chrono::year(2026) / 11 / 28);
    analysis::Upgrade u;
    u.from = "v100";
    u.to = "a100";
    u.money.from_price_source = "list price (2018)";
    u.money.to_price_source = "list price, August 2026";
    u.money.buy_source = "a dealer";
    u.money.to_bought = true;
    analysis::add_price_warnings(options, u);
    REQUIRE(u.notes.size() == 2);
    CHECK(u.notes[0].find("2018") != std::string::npos);
    CHECK(u.notes[1].find("no date") != std::string::npos);
}

TEST_CASE("other batches on either side are compared by items") {
    analysis::UpgradeOptions options;
    options.threshold = 1.0;
    options.from.launch = options.to.launch = model::Launch::none;
    const double same = judged(products(4096, 1), options).speedup.value;
    options.from.batch = options.to.batch = 4;
    CHECK(judged(products(4096, 1), options).speedup.value == near(same, 0.1));
    options.from.batch = 1;
    CHECK(judged(products(4096, 1), options).speedup.value == near(same, 0.15));
}

} // namespace test_analysis_upgrade_verdict
