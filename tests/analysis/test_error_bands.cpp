// Intervals from few rows and few GPUs.
#include "analysis/calibrate/error_bands.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace test_analysis_error_bands {

using namespace eyeroof; // NOLINT
using analysis::band_of;
using analysis::band_of_gpus;
using eyeroof::tests::near;

TEST_CASE("nine rows give their extremes, nineteen the second from either end") {
    std::vector<double> nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    CHECK(band_of(nine) == analysis::Band{1.0, 9.0});
    std::vector<double> nineteen;
    for (int i = 19; i >= 1; --i) {
        nineteen.push_back(i);
    }
    CHECK(band_of(nineteen).low == near(2.0));
    CHECK(band_of(nineteen).high == near(18.0));
    CHECK(band_of({3.0}) == analysis::Band{3.0, 3.0});
}

TEST_CASE("the band of a small sample holds 80 % of further rows") {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    for (const int n : {14, 28, 100}) {
        double inside = 0.0;
        constexpr int kTrials = 4000;
        for (int trial = 0; trial < kTrials; ++trial) {
            std::vector<double> rows;
            for (int i = 0; i < n; ++i) {
                rows.push_back(std::exp(normal(random)));
            }
            inside += band_of(rows).holds(std::exp(normal(random))) ? 1.0 / kTrials : 0.0;
        }
        CAPTURE(n);
        CHECK(inside > 0.77);
        CHECK(inside < 0.83);
    }
}

TEST_CASE("rows of another day lie a tenth further off, squared beside what one day scatters") {
    std::vector<double> rows;
    for (int i = -50; i <= 50; ++i) {
        rows.push_back(1.2 * std::exp(0.002 * i)); // a tenth lies above 1.2 e^0.08
    }
    const auto today = band_of(rows);
    const auto later = analysis::another_day(rows);
    const double scatter = std::log(today.high / 1.2);
    CHECK(std::log(later.high / 1.2) == near(std::hypot(scatter, 0.1)));
    CHECK(std::log(1.2 / later.low) == near(std::hypot(std::log(1.2 / today.low), 0.1)));
}

TEST_CASE("GPUs that agree tell of another what their rows tell, GPUs that differ, less") {
    std::vector<double> around;
    for (int i = -50; i <= 50; ++i) {
        around.push_back(std::exp(0.004 * i));
    }
    std::vector<double> higher = around;
    for (double& r : higher) {
        r *= 1.5;
    }
    // A tenth of their rows lies above e^0.16, and a tenth is what another day moves.
    const auto agree = band_of_gpus({around, around, around});
    CHECK(agree.high > std::exp(0.16));
    CHECK(agree.high < std::exp(0.3));
    CHECK(agree.low == near(1.0 / agree.high, 0.01));
    const auto differ = band_of_gpus({around, around, higher});
    CHECK(differ.high > 1.15 * agree.high);
}

TEST_CASE("GPUs that lie off as far as usual lie within the band four times in five, few or many") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    constexpr int kTrials = 1500;
    for (const int gpus : {1, 2, 4, 8}) {
        double inside = 0.0;
        for (int trial = 0; trial < kTrials; ++trial) {
            std::vector<std::vector<double>> measured(static_cast<std::size_t>(gpus));
            for (auto& rows : measured) {
                const double offset = analysis::kUsualOffset * normal(random);
                for (int i = 0; i < 40; ++i) {
                    rows.push_back(std::exp(offset + 0.1 * normal(random)));
                }
            }
            const double another =
                std::exp(analysis::kUsualOffset * normal(random) + 0.1 * normal(random));
            inside += band_of_gpus(measured).holds(another) ? 1.0 / kTrials : 0.0;
        }
        CAPTURE(gpus);
        CHECK(inside > 0.75);
        CHECK(inside < 0.95);
    }
}

TEST_CASE("GPUs that all lie nearer than usual make the band narrower than one of them does") {
    std::vector<double> near_one;
    for (int i = -50; i <= 50; ++i) {
        near_one.push_back(std::exp(0.0004 * i));
    }
    const auto one = band_of_gpus({near_one});
    const auto many = band_of_gpus(std::vector(8, near_one));
    CHECK(one.high > std::exp(0.15));  // nothing says that another lies as near
    CHECK(many.high < std::exp(0.05)); // what another day moves alone would be 0.1
    CHECK(many.low == near(1.0 / many.high, 0.01));
}

TEST_CASE("two GPUs that each err by a tenth, one up, one down, hold one another") {
    const std::vector<double> slow = {1.08, 1.1, 1.12};
    const std::vector<double> fast = {0.89, 0.91, 0.93};
    CHECK(band_of_gpus({slow}).holds(0.91));
    CHECK(band_of_gpus({fast}).holds(1.1));
}

} // namespace test_analysis_error_bands
