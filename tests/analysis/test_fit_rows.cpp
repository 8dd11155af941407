// Which rows a fit looks at.
#include "analysis/cross_validate/cross_folds.hpp"

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

} // namespace test_analysis_fit_rows
