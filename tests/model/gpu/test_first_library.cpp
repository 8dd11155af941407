// Kernels of the libraries that Maxwell cards had of their own time.
#include "model/gpu/conv.hpp"
#include "model/gpu/matmul.hpp"
#include "tests/model/gpu/small_gpus.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_first_library {

using namespace eyeroof; // NOLINT

TEST_CASE("an early library on a Maxwell card has one tile and splits only what is far longer") {
    auto gpu = test::v100_sxm2();
    gpu.arch = model::GpuArch::maxwell;
    const model::Software early{.library = model::Library::until_10};
    CHECK(model::is_first_library(gpu, early));
    CHECK_FALSE(model::is_first_library(gpu, {}));
    CHECK(model::first_library_splits({1, 7680, 16, 2560, 4.0, 4.0}).size() == 1);
    CHECK(model::first_library_splits({1, 512, 16, 500000, 4.0, 4.0}).size() > 1);
    gpu.arch = model::GpuArch::pascal;
    CHECK_FALSE(model::is_first_library(gpu, early));
}

TEST_CASE("the first libraries have no Winograd for weight gradients, forward they have") {
    const auto gpu = test::v100_sxm2();
    model::ConvShape s;
    s.n = 16;
    s.c = s.k = 256;
    s.h = s.w = 28;
    s.r = s.s = 3;
    s.pad = {1, 1};
    const auto of = [&](model::Direction direction, bool first) {
        return model::conv_time(gpu, model::DataType::fp32, gpu.calibration.conv, s, direction, 4.0,
                                first)
            .algorithm;
    };
    CHECK(of(model::Direction::bwd_weight, true) == model::ConvAlgorithm::implicit_gemm);
    CHECK(of(model::Direction::bwd_weight, false) == model::ConvAlgorithm::winograd_nonfused);
    CHECK(of(model::Direction::fwd, true) == of(model::Direction::fwd, false));
}

} // namespace test_model_gpu_first_library
