// Terms of an upgrade, each worked by hand: shared errors, waits, resale.
#include "analysis/advice/shapes.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/upgrade/asked.hpp"
#include "analysis/upgrade/default_question.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "hwdb/catalog.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace test_analysis_upgrade_terms {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

model::Machine machine(const std::string& id, model::Gpu gpu) {
    model::Machine m;
    m.id = m.name = id;
    m.kind = std::move(gpu);
    return m;
}

model::Machine v100() {
    return machine("v100", test::v100_sxm2());
}

model::Machine a100() {
    return machine("a100", test::a100_sxm_40());
}

model::Network network(std::vector<model::Layer> layers) {
    model::Network net;
    net.id = net.name = "net";
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].name = "l" + std::to_string(i);
        net.layers.push_back(layers[i]);
    }
    return net;
}

model::Layer pointwise(Count rows, Count cols) {
    model::Layer layer;
    layer.op = model::Op::elementwise;
    layer.shape = model::ElementwiseShape{rows, cols, "add"};
    layer.types = {model::DataType::fp16, model::DataType::fp16, model::DataType::fp16};
    return layer;
}

// A quarter of each operator's variance is the GPU's, a quarter its class's, half its own:
//   (1/2 sum e)^2 + sum over classes of (1/2 sum e)^2 + 1/2 sum e^2,  e = share of time x sigma
double sigma_by_hand(const model::Network& net, const model::Machine& on) {
    const auto report = analysis::run(tests::question_of(net, on));
    REQUIRE(report.ok());
    REQUIRE(report->layers.size() == 3); // two products and a pointwise operator
    double e[3] = {};
    for (int i = 0; i < 3; ++i) {
        const auto& layer = report->layers[static_cast<std::size_t>(i)];
        REQUIRE(layer.high_s);
        REQUIRE(std::isfinite(*layer.high_s));
        e[i] = layer.time_s / report->total.time_s * std::log(*layer.high_s / *layer.low_s) /
               (2.0 * 1.2816);
        REQUIRE(e[i] > 0.0);
    }
    const double gpu = (e[0] + e[1] + e[2]) / 2.0;
    const double product = (e[0] + e[1]) / 2.0;
    return std::sqrt(gpu * gpu + product * product + e[2] * e[2] / 4.0 +
                     (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / 2.0);
}

} // namespace

TEST_CASE(
    "operators share a quarter of their variance with the GPU and a quarter with their class") {
    const model::Network net = network(
        {test::gemm(4096, 4096, 4096), test::gemm(2048, 4096, 8192), pointwise(8192, 8192)});
    analysis::UpgradeOptions options;
    options.threshold = 1.2;
    options.assumptions = false;
    const auto u = analysis::upgrade(net, v100(), a100(), options);
    REQUIRE(u.ok());
    CHECK(u->operator_sigma ==
          near(std::hypot(sigma_by_hand(net, v100()), sigma_by_hand(net, a100()))));
}

TEST_CASE("a layer is bound by its launch where the GPU waits for longer than it computes") {
    const auto limiter = [](Count size) {
        const model::Network net = network({test::gemm(size, size, size)});
        const auto report = analysis::run(tests::question_of(net, v100()));
        REQUIRE(report.ok());
        const auto& layer = report->layers.front();
        REQUIRE(layer.wait_s > 0.0);
        REQUIRE((layer.wait_s > layer.time_s) == (size < 1000));
        analysis::UpgradeOptions options;
        options.threshold = 1.2;
        options.assumptions = false;
        const auto u = analysis::upgrade(net, v100(), a100(), options);
        REQUIRE(u.ok());
        return u->layers.front().from_limiter;
    };
    CHECK(limiter(8192) != "launch"); // it waits, for a small share of its time
    CHECK(limiter(64) == "launch");
}

TEST_CASE("the old card's resale lowers the outlay, and is what keeping it costs") {
    analysis::UpgradeOptions options;
    options.assumptions = false;
    options.prices.from_owned = true;
    options.prices.to_buy_usd = 10000.0;
    options.prices.from_resale_usd = 3000.0;
    const model::Network net = network({test::gemm(4096, 4096, 4096)});
    const auto u = analysis::upgrade(net, v100(), a100(), options);
    REQUIRE(u.ok());
    REQUIRE(u->money.outlay_usd);
    CHECK(*u->money.outlay_usd == near(7000.0));
    const double hours = 730.0 * 0.7 * 12.0 * 3.0; // at work, until it is written off
    CHECK(u->money.from_usd_per_hour == near(u->money.from_running_usd_per_hour + 3000.0 / hours));
    CHECK(*u->money.owned_usd_per_hour == near(7000.0 / hours + u->money.to_running_usd_per_hour));
    // Four cards are sold together.
    analysis::PurchaseQuestion question;
    question.from = v100();
    question.fleet = {{net}};
    question.candidates = {{a100(), options}};
    question.terms.count = 4;
    const auto bought = analysis::purchase(question);
    REQUIRE(bought.ok());
    const auto& answer = bought->answers.front();
    REQUIRE(answer.outlay_usd);
    CHECK(*answer.outlay_usd == near(answer.then.devices * 10000.0 - 4 * 3000.0));
}

TEST_CASE("a year of rented GPUs costs hours at work times their price, per sample and per token") {
    analysis::UpgradeOptions options;
    options.assumptions = false;
    options.prices.from_usd_per_hour = 1.5;
    options.prices.to_usd_per_hour = 4.0;
    options.prices.pue = 1.25;
    model::Layer words = pointwise(512, 64); // 512 tokens
    words.op = model::Op::embedding;
    model::RowsShape looked_up{512, 64};
    looked_up.table = 1000;
    words.shape = looked_up;
    model::Layer scores = words; // it reads text: something attends
    scores.op = model::Op::softmax;
    scores.shape = model::RowsShape{512, 64};
    analysis::PurchaseQuestion question;
    question.from = v100();
    question.fleet = {{network({words, scores, test::gemm(4096, 4096, 4096)})}};
    question.candidates = {{a100(), options}};
    question.terms.count = 8;
    question.terms.samples = 1e9;
    question.terms.kg_co2_per_kwh = 0.5;
    const auto bought = analysis::purchase(question);
    REQUIRE(bought.ok());
    const auto& a = bought->answers.front();
    const double hours = 730.0 * 0.7 * 12.0; // at work, a year
    const auto by_hand = [&](const analysis::PurchaseOption& option, double usd_per_hour,
                             double seconds, double watts) {
        CHECK(option.usd_per_year == near(option.devices * hours * usd_per_hour));
        const auto batch = static_cast<double>(a.upgrade.from_batch);
        const double samples = 8.0 * hours * 3600.0 / a.upgrade.from_s * batch; // on what is there
        CHECK(option.usd_per_1000 == near(option.usd_per_year / samples * 1000.0));
        REQUIRE(option.usd_per_mtoken);
        CHECK(*option.usd_per_mtoken == near(option.usd_per_1000 / 1000.0 / (512.0 / batch) * 1e6));
        CHECK(*option.kwh_per_year == near(option.devices * hours * watts * 1.25 / 1000.0));
        CHECK(*option.kg_co2_per_year == near(0.5 * *option.kwh_per_year));
        CHECK(*option.joules_per_1000 ==
              near(option.devices * hours * 3600.0 * watts * 1.25 / samples * 1000.0));
        REQUIRE(option.job_days);
        CHECK(*option.job_days ==
              near(1e9 / batch * seconds / option.devices / (24.0 * 3600.0) / 0.7));
    };
    CHECK(a.now.devices == 8.0);
    CHECK(a.then.devices == std::ceil(8.0 / a.upgrade.speedup.value - 1e-9));
    by_hand(a.now, 1.5, a.upgrade.from_s, test::v100_sxm2().tdp_w);
    by_hand(a.then, 4.0, a.upgrade.to_s, test::a100_sxm_40().tdp_w);
}

TEST_CASE("a GPU is bought where a price is given and no rent, or where that is said") {
    analysis::UpgradePrices prices;
    CHECK_FALSE(analysis::is_bought(prices));
    prices.to_usd_per_hour = 2.0;
    CHECK_FALSE(analysis::is_bought(prices));
    prices.to_buy_usd = 10000.0;
    CHECK_FALSE(analysis::is_bought(prices)); // both: rented
    prices.to_usd_per_hour.reset();
    CHECK(analysis::is_bought(prices));
    prices.to_bought = false;
    CHECK_FALSE(analysis::is_bought(prices));
    prices = {};
    prices.to_bought = true;
    CHECK(analysis::is_bought(prices));
}

TEST_CASE("a layer's speed-up is the ratio of its times, and its share is of the old step") {
    const model::Network net =
        network({test::gemm(4096, 4096, 4096), test::gemm(2048, 4096, 8192)});
    analysis::UpgradeOptions options;
    options.assumptions = false;
    const auto u = analysis::upgrade(net, v100(), a100(), options);
    REQUIRE(u.ok());
    REQUIRE(u->layers.size() == 2);
    double share = 0.0;
    for (const auto& layer : u->layers) {
        CHECK(layer.from_s > layer.to_s);
        CHECK(layer.speedup == near(layer.from_s / layer.to_s));
        share += layer.share_of_from;
    }
    CHECK(share == near(1.0, 0.05)); // launches beside
}

TEST_CASE("what does not fit says what the side that is short needs, the larger of both") {
    const model::Network net = network({test::gemm(4096, 4096, 4096)}); // 100 MB of operands
    analysis::UpgradeOptions options;
    options.assumptions = false;
    options.to.data_type = model::DataType::fp32; // twice as much on the new side
    const auto unfit = [&](double from_bytes, double to_bytes) {
        model::Gpu from = test::v100_sxm2(), to = test::a100_sxm_40();
        from.dram_bytes = from_bytes;
        to.dram_bytes = to_bytes;
        const auto u = analysis::upgrade(net, machine("v100", from), machine("a100", to), options);
        REQUIRE(u.ok());
        CHECK(u->memory.to_need.total() > 1.5 * u->memory.from_need.total());
        const std::string small = format_si(u->memory.from_need.total(), "B");
        const std::string large = format_si(u->memory.to_need.total(), "B");
        return u->unfit.starts_with("net needs " + large)   ? "new"
               : u->unfit.starts_with("net needs " + small) ? "old"
                                                            : "fits";
    };
    CHECK(unfit(32e9, 40e9) == "fits");
    CHECK(unfit(60e6, 40e9) == "old");
    CHECK(unfit(32e9, 60e6) == "new");
    CHECK(unfit(60e6, 60e6) == "new");
}

TEST_CASE(
    "mixed precision computes in 16 bits on each side that has them, in its own type elsewhere") {
    using model::DataType;
    const auto types = [](DataType own, const model::Machine& from, const model::Machine& to) {
        analysis::FleetMember member{network({test::gemm(64, 64, 64, own)})};
        member.from = member.to = analysis::Scenario{};
        analysis::compute_mixed(member, from, to);
        return std::pair(member.from->data_type, member.to->data_type);
    };
    using Types = std::pair<std::optional<DataType>, std::optional<DataType>>;
    model::Gpu without = test::v100_sxm2();
    without.rate(DataType::fp16) = {};
    model::Gpu with_bf16 = test::a100_sxm_40();
    with_bf16.rate(DataType::bf16) = with_bf16.rate(DataType::fp16);
    const auto old = machine("old", without);
    const auto recent = machine("recent", with_bf16);
    CHECK(types(DataType::fp32, v100(), recent) == Types(DataType::fp16, DataType::fp16));
    CHECK(types(DataType::fp32, old, recent) == Types(std::nullopt, DataType::fp16));
    CHECK(types(DataType::bf16, v100(), recent) == Types(DataType::fp16, std::nullopt));
}

TEST_CASE("a fleet's network is loaded by its name, one that is not known is refused") {
    const std::filesystem::path source = tests::source_dir();
    const analysis::DataFolders folders{{source / "hwdb"}, {source / "examples/networks"}};
    analysis::FleetRun run;
    run.network = "alexnet";
    run.share = 0.25;
    const auto member = analysis::member_of(run, {}, folders);
    REQUIRE(member.ok());
    CHECK(member->network.id == "alexnet");
    CHECK(member->weight == 0.25);
    run.network = "alexnett";
    const auto unknown = analysis::member_of(run, {}, folders);
    REQUIRE_FALSE(unknown.ok());
    CHECK(unknown.diagnostics().begin()->hint.find("alexnet") != std::string::npos);
}

TEST_CASE("of two sizes that gain nearly alike the nearer one is advised") {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto gpu = hwdb::load_machine("a100-sxm-40gb", folders);
    REQUIRE(gpu.ok());
    // Seconds a row of a product [rows, 4096] x [4096, 1280].
    const auto of_a_row = [&](Count rows) {
        const auto report =
            analysis::run(tests::question_of(network({test::gemm(rows, 1280, 4096)}), *gpu));
        REQUIRE(report.ok());
        return report->layers.front().time_s / static_cast<double>(rows);
    };
    int nearer = 0;
    for (Count rows = 1000; rows <= 2300; rows += 20) {
        analysis::AdviceOptions options;
        options.most = 1000;
        const auto found = analysis::advise(
            tests::question_of(network({test::gemm(rows, 1280, 4096)}), *gpu), options);
        REQUIRE(found.ok());
        for (const analysis::Advice& advice : *found) {
            if (advice.kind != analysis::AdviceKind::fill_waves || advice.dimension != "m") {
                continue;
            }
            const double advised = of_a_row(advice.to);
            CHECK(advice.gain == near(of_a_row(rows) / advised));
            double best = advised; // of the sizes on tile borders within a quarter
            for (Count other = rows * 3 / 4 / 32 * 32; other <= rows * 5 / 4; other += 32) {
                best = std::min(best, of_a_row(other));
            }
            nearer += advised > best * (1.0 + 1e-9) ? 1 : 0;
        }
    }
    CHECK(nearer > 0); // some advice forgoes up to a twentieth for a nearer size
}

} // namespace test_analysis_upgrade_terms
