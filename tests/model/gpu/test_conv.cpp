#include "model/gpu/conv.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_conv {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::ConvShape;
using model::DataType;
using model::Direction;

namespace {

ConvShape shape_of(Count n, Count c, Count size, Count k, Count filter, Count stride, Count pad) {
    ConvShape s;
    s.n = n;
    s.c = c;
    s.h = s.w = size;
    s.k = k;
    s.r = s.s = filter;
    s.stride = {stride, stride};
    s.pad = {pad, pad};
    return s;
}

model::ConvTime time_of(const model::Gpu& gpu, const ConvShape& shape, Direction direction,
                        DataType type) {
    const bool tensor = type == DataType::fp16;
    return model::conv_time(gpu, type, tensor ? gpu.calibration.tensor_conv : gpu.calibration.conv,
                            shape, direction, tensor ? 2.0 : 4.0);
}

model::Gpu turing() {
    model::Gpu gpu = test::v100_sxm2();
    gpu.arch = model::GpuArch::turing;
    return gpu;
}

} // namespace

TEST_CASE("a 1x1 data gradient with stride 2 multiplies only the quarter of pixels with a tap") {
    const auto gpu = test::v100_sxm2();
    // 112 x 112 inputs in tiles of 128: 3136 phase pixels of an image against 12544.
    const auto strided =
        time_of(gpu, shape_of(32, 256, 112, 512, 1, 2, 0), Direction::bwd_data, DataType::fp32);
    const auto dense =
        time_of(gpu, shape_of(32, 256, 112, 512, 1, 1, 0), Direction::bwd_data, DataType::fp32);
    CHECK(strided.product.compute_s == near(dense.product.compute_s / 4.0, 0.02));
}

TEST_CASE("a strided 3x3 data gradient runs four phases of at most four taps") {
    auto gpu = test::v100_sxm2();
    gpu.calibration.tensor_conv.stride_waste = 0.0;
    // 4 phases x 4 taps over a quarter of the pixels each: 16/4 taps a pixel against 9 without
    // stride.
    const auto strided =
        time_of(gpu, shape_of(32, 256, 112, 256, 3, 2, 1), Direction::bwd_data, DataType::fp16);
    const auto dense =
        time_of(gpu, shape_of(32, 256, 112, 256, 3, 1, 1), Direction::bwd_data, DataType::fp16);
    CHECK(strided.product.compute_s == near(dense.product.compute_s * 4.0 / 9.0, 0.05));
}

TEST_CASE("tensor-core data gradients do not split k: 8 images of 7x7 take as long as 16") {
    const auto gpu = test::v100_sxm2();
    const auto eight =
        time_of(gpu, shape_of(8, 512, 7, 512, 3, 1, 1), Direction::bwd_data, DataType::fp16);
    const auto sixteen =
        time_of(gpu, shape_of(16, 512, 7, 512, 3, 1, 1), Direction::bwd_data, DataType::fp16);
    CHECK(eight.product.mapping.splits == 1);
    CHECK(eight.product.compute_s == sixteen.product.compute_s);
    CHECK(time_of(gpu, shape_of(8, 512, 7, 512, 3, 1, 1), Direction::fwd, DataType::fp16)
              .product.compute_s < 0.5 * eight.product.compute_s);
}

TEST_CASE("the weight gradient of a first layer is split until the SMs are busy") {
    const auto gpu = test::v100_sxm2();
    const auto t =
        time_of(gpu, shape_of(16, 3, 224, 64, 7, 2, 3), Direction::bwd_weight, DataType::fp32);
    // [64, 147] outputs are 3 CTAs of 64 x 64; 80 SMs want at least 27 parts of the 200,704 pixels.
    CHECK(t.product.mapping.splits >= 27);
}

TEST_CASE("on Turing a weight gradient moves 18 bytes more a weight, and blocks of 128 channels") {
    const auto volta = test::v100_sxm2();
    const ConvShape large = shape_of(1, 2048, 7, 2048, 1, 1, 0);
    const double share = volta.calibration.tensor_conv.matmul.dram_share;
    const double sums_s = 18.0 * 2048.0 * 2048.0 / (share * volta.dram_bytes_per_s);
    const double before = time_of(volta, large, Direction::bwd_weight, DataType::fp16).body_s;
    const double since = time_of(turing(), large, Direction::bwd_weight, DataType::fp16).body_s;
    CHECK(before < sums_s);
    CHECK(since > sums_s);
    const ConvShape narrow = shape_of(32, 64, 112, 256, 3, 1, 1);
    CHECK(time_of(turing(), narrow, Direction::bwd_weight, DataType::fp16).product.compute_s >
          1.5 * time_of(volta, narrow, Direction::bwd_weight, DataType::fp16).product.compute_s);
}

TEST_CASE("gradients of padding as wide as the filter leave the tensor cores") {
    const auto gpu = test::v100_sxm2();
    for (const Direction direction : {Direction::bwd_data, Direction::bwd_weight}) {
        const auto inside =
            time_of(gpu, shape_of(32, 512, 56, 512, 3, 1, 2), direction, DataType::fp16);
        const auto wide =
            time_of(gpu, shape_of(32, 512, 56, 512, 3, 1, 3), direction, DataType::fp16);
        CHECK(wide.body_s > 6.0 * inside.body_s); // 125 to 15.7 TFLOP/s
    }
}

TEST_CASE("Ampere's weight gradients follow Volta's rule, not that of the one Turing card") {
    const ConvShape narrow = shape_of(32, 64, 112, 256, 3, 1, 1);
    const auto volta = test::v100_sxm2();
    auto ampere = volta;
    ampere.arch = model::GpuArch::ampere;
    CHECK(time_of(ampere, narrow, Direction::bwd_weight, DataType::fp16).product.compute_s ==
          time_of(volta, narrow, Direction::bwd_weight, DataType::fp16).product.compute_s);
}

TEST_CASE("the data gradient of an image is scattered from columns where that is faster") {
    const auto gpu = test::v100_sxm2();
    const auto image =
        time_of(gpu, shape_of(16, 3, 224, 64, 3, 1, 1), Direction::bwd_data, DataType::fp32);
    const auto inner =
        time_of(gpu, shape_of(16, 64, 224, 64, 3, 1, 1), Direction::bwd_data, DataType::fp32);
    CHECK(image.body_s < inner.body_s);
    CHECK(inner.algorithm != model::ConvAlgorithm::columns); // only of at most 4 channels
}

TEST_CASE("a grouped convolution is not rounded up to the channels of a whole block") {
    const auto gpu = test::v100_sxm2();
    ConvShape grouped = shape_of(16, 256, 56, 256, 3, 1, 1);
    grouped.groups = 32; // of 8 channels
    const auto of_groups = time_of(gpu, grouped, Direction::fwd, DataType::fp16);
    grouped.groups = 8; // of 32 channels: four times the work
    const auto of_wide = time_of(gpu, grouped, Direction::fwd, DataType::fp16);
    CHECK(of_groups.macs == near(of_wide.macs / 4.0));
}

} // namespace test_model_gpu_conv
