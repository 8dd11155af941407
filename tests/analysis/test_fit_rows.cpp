// Which rows a fit looks at.
#include "analysis/calibrate/calibrate.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_analysis_fit_rows {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

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

namespace {

// Sixty vector products of a GPU, timed by the model itself with a constant changed.
std::vector<analysis::MeasuredLayer> timed(const std::string& id, model::Gpu gpu) {
    gpu.calibration.linear.peak_share *= 0.7;
    std::vector<analysis::MeasuredLayer> rows;
    for (Count i = 1; i <= 60; ++i) {
        const model::Layer layer =
            test::gemm(97 * i, 53 * i + 11, 64 + 8 * i, model::DataType::fp32);
        const double time_s = analysis::modelled_s(gpu, {&layer, *model::work_of(layer), 0.0});
        rows.push_back({layer, id, time_s, static_cast<int>(i)});
    }
    return rows;
}

Result<model::Machine> by_name(const std::string& id) {
    model::Machine machine;
    machine.id = id;
    machine.kind = id == "a100" ? test::a100_sxm_40() : test::v100_sxm2();
    return machine;
}

} // namespace

TEST_CASE("constants that several GPUs share are fitted to every row, each by its weight") {
    auto rows = timed("v100", test::v100_sxm2());
    for (auto& row : timed("a100", test::a100_sxm_40())) {
        rows.push_back(row);
    }
    analysis::FitOptions options;
    options.pull = 1e-4;
    options.rounds = 30;
    const auto both = analysis::calibrate_together(rows, by_name, model::Timing::kernel, options);
    REQUIRE(both.ok());
    REQUIRE(both->classes.size() == 1);
    CHECK(both->classes.front().fitted_rows == 120);
    CHECK(both->classes.front().before > 0.05);
    CHECK(both->classes.front().fitted < 0.3 * both->classes.front().before);
    rows.front().gpu = "eyeriss";
    const auto none = [](const std::string&) { return Result<model::Machine>(model::Machine{}); };
    CHECK_FALSE(analysis::calibrate_together(rows, none, model::Timing::kernel, options).ok());
}

TEST_CASE("a fit follows the rows that weigh, not those that weigh next to nothing") {
    auto rows = timed("v100", test::v100_sxm2());
    for (std::size_t i = 1; i < rows.size(); i += 2) {
        rows[i].measured_s *= 1.5;
    }
    const auto error_where = [&](std::size_t heavy) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].weight = i % 2 == heavy ? 1.0 : 1e-9;
        }
        analysis::FitOptions options;
        options.pull = 1e-4;
        options.rounds = 30;
        const auto fitted =
            analysis::calibrate_together(rows, by_name, model::Timing::kernel, options);
        REQUIRE(fitted.ok());
        return fitted->classes.front().fitted; // of all rows, whatever they weigh
    };
    CHECK(error_where(0) == near(1.0 / 6.0, 0.1)); // |1 / 1.5 - 1| of every other row
    CHECK(error_where(1) == near(0.25, 0.1));      // |1.5 / 1 - 1|
}

} // namespace test_analysis_fit_rows
