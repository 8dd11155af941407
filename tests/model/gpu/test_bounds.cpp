// What the names of fitted constants allow.
#include "model/gpu/calibration.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_bounds {

using namespace eyeroof; // NOLINT

TEST_CASE("a share is at most one, a second reading at most one more") {
    CHECK(model::within(model::term_bound("dram_share"), 1.0));
    CHECK_FALSE(model::within(model::term_bound("dram_share"), 1.1));
    CHECK_FALSE(model::within(model::term_bound("dram_share"), 0.27));
    CHECK_FALSE(model::within(model::term_bound("norm_pass"), 3.0));
    CHECK(model::within(model::term_bound("norm_pass"), 0.0)); // switched off
}

TEST_CASE("every term has a bound with a reason") {
    model::GpuCalibration calibration;
    for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
        const auto c = static_cast<model::KernelClass>(i);
        for (const auto& [name, value] : model::calibration_terms(calibration, c)) {
            CAPTURE(name);
            CHECK(std::string_view(model::term_bound(name).meaning) != "");
            CHECK(model::term_bound(name).high < 1e30);
        }
    }
}

} // namespace test_model_gpu_bounds
