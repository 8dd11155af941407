// What stands on the GPU model: validation, training steps, upgrades.
#include "analysis/calibrate/calibrate.hpp"
#include "analysis/calibrate/fit.hpp"
#include "analysis/calibrate/validate.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "report/answer/write.hpp"
#include "report/calibrate/validation_answers.hpp"
#include "report/upgrade/purchase_answer.hpp"
#include "tests/analysis/upgrade/purchase_of.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_analysis_gpu_study {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::DataType;

namespace {

model::Machine machine(const std::string& id, model::Gpu gpu) {
    model::Machine m;
    m.id = m.name = id;
    m.kind = std::move(gpu);
    return m;
}

Result<model::Machine> by_name(const std::string& id) {
    return machine(id, id == "a100" ? test::a100_sxm_40() : test::v100_sxm2());
}

formats::LayerTable table(const std::string& text) {
    auto read = formats::parse_layer_csv(text, "t.csv");
    REQUIRE(read.ok());
    return *std::move(read);
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

} // namespace

TEST_CASE("validation figures are those of the ratios") {
    // Measured as predicted, and at half and double of it: |p/m - 1| = 0, 1, 0.5.
    const model::Layer layer = test::gemm(1024, 1024, 1024);
    const auto p = model::predict(test::v100_sxm2(), layer);
    REQUIRE(p.ok());
    std::vector<analysis::MeasuredLayer> rows;
    for (const double factor : {1.0, 0.5, 2.0}) {
        rows.push_back({layer, "v100", p->time_s * factor, 2});
    }
    const auto v = analysis::validate(rows, by_name, {model::Timing::kernel, 2});
    REQUIRE(v.ok());
    CHECK(v->all.rows == 3);
    CHECK(v->all.mape == near(0.5));
    CHECK(v->all.median == near(0.5));
    CHECK(v->all.bias == near(0.0));
    CHECK(v->all.unphysical == 0);
    CHECK(v->worst.size() == 2);
    CHECK(report::to_text(report::layers_validated(*v), 80).find("v100") != std::string::npos);
}

TEST_CASE("a table whose n and k are exchanged is noticed") {
    std::vector<analysis::MeasuredLayer> rows;
    for (const Count k : {3000, 5000, 9000}) {
        model::Layer layer = test::gemm(256, 16, k, DataType::fp32, 64);
        layer.op = model::Op::bmm;
        const auto p = model::predict(test::a100_sxm_40(), layer);
        REQUIRE(p.ok());
        std::swap(std::get<model::GemmShape>(layer.shape).n,
                  std::get<model::GemmShape>(layer.shape).k);
        rows.push_back({layer, "a100", p->time_s, 2});
    }
    const auto v = analysis::validate(rows, by_name, {model::Timing::kernel, 0});
    REQUIRE(v.ok());
    REQUIRE(v->groups.front().exchanged_mape);
    CHECK(*v->groups.front().exchanged_mape == near(0.0, 1e-9));
}

TEST_CASE("measured rows need a time and a machine, and every bad one is told") {
    const auto bare = table("op,dtype,m,n,k\ngemm,fp16,8,8,8\n");
    CHECK(analysis::measured_layers(bare, "t.csv", "").diagnostics().size() == 2);
    const auto bad = table("op,dtype,m,n,k,gpu,measured_s\ngemm,fp16,8,8,8,v100,-1\n"
                           "gemm,fp16,8,8,8,v100,nan\ngemm,fp16,8,8,8,v100,1e-5\n");
    CHECK(analysis::measured_layers(bad, "t.csv", "").diagnostics().size() == 2);
    const auto good = table("op,dtype,m,n,k,measured_s\ngemm,fp16,8,8,8,1e-5\n");
    const auto rows = analysis::measured_layers(good, "t.csv", "v100");
    REQUIRE(rows.ok());
    CHECK(rows->front().gpu == "v100");
}

TEST_CASE(
    "a row without a library ran on today's, a benchmark of the GPU's own time on an early one") {
    using model::Layout;
    using model::Library;
    using model::Timing;
    model::Gpu pascal = test::v100_sxm2();
    pascal.arch = model::GpuArch::pascal;
    const model::Gpu ampere = test::a100_sxm_40();
    analysis::MeasuredLayer row{test::gemm(64, 64, 64), "p100", 1e-5, 2};
    CHECK(analysis::software_of(row, pascal, Timing::stream).library == Library::until_10);
    CHECK(analysis::software_of(row, pascal, Timing::eager).library == Library::current);
    CHECK(analysis::software_of(row, pascal, Timing::kernel).library == Library::current);
    CHECK(analysis::software_of(row, ampere, Timing::stream).library == Library::current);
    CHECK(analysis::software_of(row, pascal, Timing::stream).layout == Layout::channels_last);
    CHECK(analysis::software_of(row, pascal, Timing::eager).layout == Layout::channels_first);
    row.library = "cublas 11";
    row.layout = Layout::channels_first;
    CHECK(analysis::software_of(row, pascal, Timing::stream).library == Library::current);
    CHECK(analysis::software_of(row, pascal, Timing::stream).layout == Layout::channels_first);
    row.library = "cublas 10";
    CHECK(analysis::software_of(row, ampere, Timing::eager).library == Library::until_10);
}

TEST_CASE("training n linear layers takes 3 n - 1 products") {
    const auto step = analysis::lowered_network(tests::question_of(
        network({test::gemm(64, 128, 256), test::gemm(64, 256, 128), test::gemm(64, 10, 256)}),
        machine("v100", test::v100_sxm2()), tests::training_with("sgd_momentum")));
    REQUIRE(step.ok());
    const auto products = std::count_if(step->layers.begin(), step->layers.end(),
                                        [](const auto& l) { return l.op == model::Op::gemm; });
    CHECK(products == 8);             // 3 forward, 3 weight gradients, 2 data gradients
    CHECK(step->layers.size() == 11); // and 3 updates
    CHECK_FALSE(analysis::lower(tests::question_of(network({test::gemm(1, 1, 1)}),
                                                   machine("v100", test::v100_sxm2()),
                                                   tests::training_with("nonsense")))
                    .ok());
}

TEST_CASE("mixed precision updates the weights in fp32, whatever the layers compute in") {
    analysis::Scenario scenario = tests::training_with("sgd_momentum");
    scenario.data_type = model::DataType::fp16;
    scenario.batch = 2;
    const auto step = analysis::lowered_network(tests::question_of(
        network({test::gemm(64, 128, 256)}), machine("v100", test::v100_sxm2()), scenario));
    REQUIRE(step.ok());
    REQUIRE(step->layers.size() == 3); // the first layer has no data gradient
    CHECK(step->layers[0].types.input == model::DataType::fp16);
    CHECK(step->layers[1].types.input == model::DataType::fp16);
    CHECK(step->layers[2].types.input == model::DataType::fp32);
    CHECK(step->layers[2].name.ends_with(".update"));
}

TEST_CASE("a launch-bound network gains nothing from a faster GPU") {
    const auto tiny = network({test::gemm(1, 16, 16), test::gemm(1, 16, 16)});
    analysis::UpgradeOptions options;
    options.threshold = 1.2;
    const auto u = analysis::upgrade(tiny, machine("v100", test::v100_sxm2()),
                                     machine("a100", test::a100_sxm_40()), options);
    REQUIRE(u.ok());
    CHECK(u->speedup.value < 1.2);
    CHECK(u->bound_share == 0.0);
    CHECK(u->layers.front().from_limiter == "launch");
    CHECK(u->verdict != analysis::UpgradeVerdict::pays_off);
}

TEST_CASE("large products gain, and the verdict follows the threshold") {
    const auto large = network({test::gemm(8192, 8192, 8192)});
    analysis::UpgradeOptions options;
    const auto judged = [&](double threshold) {
        options.threshold = threshold;
        const auto u = analysis::upgrade(large, machine("v100", test::v100_sxm2()),
                                         machine("a100", test::a100_sxm_40()), options);
        REQUIRE(u.ok());
        return *u;
    };
    const auto easy = judged(1.01);
    CHECK(easy.speedup.value > 1.5);
    CHECK(easy.speedup.low < easy.speedup.value);
    CHECK(easy.verdict == analysis::UpgradeVerdict::pays_off);
    CHECK(judged(20.0).verdict == analysis::UpgradeVerdict::does_not);
    const auto close = judged(easy.speedup.value);
    CHECK(close.verdict == analysis::UpgradeVerdict::undecided);
    CHECK(close.probability_wrong == near(0.5));
    CHECK(report::to_json(report::purchase_answer(tests::purchase_of(easy)))
              .find("\"eyeroof/upgrade/1\"") != std::string::npos);
}

TEST_CASE("money: the price ratio is the speed-up that breaks even") {
    analysis::UpgradeOptions options;
    options.prices.from_usd_per_hour = 3.06;
    options.prices.to_usd_per_hour = 4.10;
    const auto u = analysis::upgrade(network({test::gemm(8192, 8192, 8192)}),
                                     machine("v100", test::v100_sxm2()),
                                     machine("a100", test::a100_sxm_40()), options);
    REQUIRE(u.ok());
    CHECK(u->money.break_even_speedup == near(1.34, 0.001)); // 4.10 / 3.06
    CHECK(u->threshold == u->money.break_even_speedup);
    CHECK(u->money.from_usd_per_run == near(3.06 * u->from_s / 3600.0));
}

TEST_CASE("the fit comes within a tenth of the times that other constants made") {
    model::Gpu truth = test::v100_sxm2();
    truth.calibration.linear.sustained_clock = 0.5;
    truth.calibration.record(model::KernelClass::linear).launch = {2e-5, 2e-5, 2e-5, 2e-5};
    std::vector<analysis::MeasuredLayer> rows;
    for (Count i = 1; i <= 120; ++i) {
        const model::Layer layer = test::gemm(97 * i, 53 * i + 11, 700 + 31 * i, DataType::fp32);
        const auto p = model::predict(truth, layer);
        REQUIRE(p.ok());
        rows.push_back({layer, "v100", p->time_s, 2});
    }
    analysis::CalibrateOptions options;
    options.rounds = 24; // to the end: many constants pull at few rows
    options.source = "a test";
    const auto fitted = analysis::calibrate(test::v100_sxm2(), rows, options);
    REQUIRE(fitted.ok());
    REQUIRE(fitted->classes.size() == 1);
    CHECK(fitted->classes.front().before > 0.2);
    CHECK(fitted->classes.front().held_out < 0.1);
    CHECK(fitted->calibration.record(model::KernelClass::linear).measured);
    rows.resize(5);
    CHECK_FALSE(analysis::calibrate(test::v100_sxm2(), rows, options).ok());
}

TEST_CASE("a GPU's own offset does not enter the cost of gradients that it alone was measured in") {
    const std::vector<model::Gpu> truth = {test::v100_sxm2(), test::a100_sxm_40()};
    constexpr double kSlower = 1.5; // the V100's times, of gradients and of forward products alike
    std::vector<model::Layer> layers;
    for (Count i = 0; i < 30; ++i) {
        model::Layer layer = test::conv(64 + 32 * (i % 5), 96 + 16 * (i % 7), 14 + 7 * (i % 4), 1);
        layer.direction = i % 2 == 0 ? model::Direction::fwd : model::Direction::bwd_data;
        layers.push_back(layer);
    }
    std::vector<analysis::FitRow> rows;
    for (const model::Layer& layer : layers) {
        for (std::size_t gpu = 0; gpu < truth.size(); ++gpu) {
            if (gpu == 0 || layer.direction == model::Direction::fwd) {
                rows.push_back({&layer, *model::work_of(layer), 0.0, model::Timing::kernel, gpu});
                const double factor = gpu == 0 ? kSlower : 1.0;
                rows.back().measured_s = factor * analysis::modelled_s(truth[gpu], rows.back());
            }
        }
    }
    // A gradient's cost over the forward product's, by the constants found.
    const auto gradient_cost = [&](double own_offset) {
        std::vector<model::Gpu> gpus = truth;
        analysis::fit_class(gpus, model::KernelClass::conv, rows, {0.02, 12, own_offset}, {});
        const model::ConvTerms& terms = gpus.front().calibration.conv;
        return terms.bwd_data_cost / terms.fwd_cost;
    };
    const model::ConvTerms given;
    const double ratio = given.bwd_data_cost / given.fwd_cost;
    CHECK(gradient_cost(1.0) == near(ratio, 0.05));
    CHECK(gradient_cost(0.0) > 1.1 * ratio);
}

TEST_CASE("one sustained rate sets the clock of the classes on its pipe") {
    // 7.85 of 15.7 TFLOP/s is half of the peak; over a peak share of 0.93 the clock holds 0.538
    const auto c = analysis::calibrate_sustained(test::v100_sxm2(), DataType::fp32, 7.85e12, "me");
    REQUIRE(c.ok());
    CHECK(c->calibration.linear.sustained_clock == near(0.5376, 0.001));
    CHECK(c->calibration.tensor_gemm.sustained_clock ==
          test::v100_sxm2().calibration.tensor_gemm.sustained_clock);
    CHECK(c->classes.size() == 3); // linear, batched, conv
    CHECK_FALSE(analysis::calibrate_sustained(test::v100_sxm2(), DataType::fp32, 99e12, "me").ok());
}

} // namespace test_analysis_gpu_study
