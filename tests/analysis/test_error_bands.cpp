// Intervals from few rows.
#include "analysis/calibrate/error_bands.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace test_analysis_error_bands {

using namespace eyeroof; // NOLINT
using analysis::band_of;
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

} // namespace test_analysis_error_bands
