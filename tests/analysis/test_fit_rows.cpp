// Which rows a fit looks at.
#include "analysis/calibrate/calibrate.hpp"
#include "analysis/cross_validate/cross_folds.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace test_analysis_fit_rows {

using namespace eyeroof; // NOLINT

namespace {

// Products of `count` sizes, each measured by two libraries.
std::vector<analysis::Case> cases(const std::vector<model::Layer>& layers) {
    std::vector<analysis::Case> all;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        for (const char* source : {"one", "two"}) {
            analysis::Case c;
            c.row.layer = &layers[i];
            c.row.work = *model::work_of(layers[i]);
            c.row.measured_s = static_cast<double>(i + 1) * (source[0] == 'o' ? 1e-6 : 1.5e-6);
            c.source = source;
            all.push_back(c);
        }
    }
    return all;
}

std::vector<model::Layer> products(Count count) {
    std::vector<model::Layer> layers;
    for (Count i = 1; i <= count; ++i) {
        model::Layer layer;
        layer.op = model::Op::gemm;
        layer.shape = model::GemmShape{1, 16 * i, 64, 64};
        layers.push_back(layer);
    }
    return layers;
}

std::vector<double> times(const std::vector<analysis::FitRow>& rows) {
    std::vector<double> seconds;
    for (const analysis::FitRow& row : rows) {
        seconds.push_back(row.measured_s);
    }
    return seconds;
}

} // namespace

TEST_CASE("a fit looks at the same rows in whatever order the table has them") {
    const auto layers = products(500);
    std::vector<analysis::Case> all = cases(layers);
    const auto before = times(analysis::picked(all, true, 100, 0));
    CHECK(before.size() == 100);
    std::shuffle(all.begin(), all.end(), std::mt19937(7));
    CHECK(times(analysis::picked(all, true, 100, 0)) == before);
}

TEST_CASE("the rows of a fit have every size, and both of two libraries of the same shapes") {
    const auto layers = products(500);
    const auto rows = analysis::picked(cases(layers), true, 100, 0);
    int late = 0;
    int of_one = 0;
    for (const analysis::FitRow& row : rows) {
        const double size = static_cast<double>(row.work.flops) / (2.0 * 16 * 64 * 64);
        late += size > 250.5 ? 1 : 0;
        of_one += std::fabs(row.measured_s - 1e-6 * size) < 1e-9 ? 1 : 0;
    }
    CHECK(late == 50);
    CHECK(of_one > 30);
    CHECK(of_one < 70);
}

TEST_CASE("a calibration is judged by the shapes that it has not seen, before and after") {
    const model::Gpu gpu = test::v100_sxm2();
    std::vector<analysis::MeasuredLayer> rows;
    for (Count i = 1; i <= 60; ++i) { // all half as long again as predicted, and a tenth of noise
        analysis::MeasuredLayer row;
        row.layer = test::gemm(32 * i, 512, 1024);
        row.gpu = "gpu";
        const double predicted_s =
            analysis::modelled_s(gpu, {&row.layer, *model::work_of(row.layer), 0.0});
        row.measured_s = predicted_s * (i % 2 == 0 ? 1.5 : 1.65);
        rows.push_back(row);
    }
    const auto fitted = analysis::calibrate(gpu, rows, {});
    REQUIRE(fitted.ok());
    REQUIRE(fitted->classes.size() == 1);
    const analysis::FittedClass& products = fitted->classes.front();
    CHECK(products.before == tests::near(0.36, 0.2)); // 1 - 1 / 1.5 to 1 - 1 / 1.65
    CHECK(products.held_out > 0.01);
    CHECK(products.held_out < 0.5 * products.before);
    CHECK(products.fitted < 0.5 * products.before);
}

} // namespace test_analysis_fit_rows
