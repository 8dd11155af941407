// What channels first add to convolutions on tensor cores: kernels that change the layout.
#include "model/gpu/conv.hpp"
#include "model/gpu/memory_op.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_transposes {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

// 64 images of 28 x 28 by 3 x 3 filters, from 128 to 256 channels.
ConvShape layer_shape() {
    ConvShape shape;
    shape.n = 64;
    shape.c = 128;
    shape.k = 256;
    shape.h = shape.w = 28;
    shape.r = shape.s = 3;
    shape.pad = {1, 1};
    return shape;
}

Gpu gpu_of(GpuArch arch) {
    Gpu gpu = test::plain_gpu();
    gpu.arch = arch;
    gpu.dram_bytes_per_s = 1e12;
    gpu.calibration.conv = gpu.calibration.tensor_conv = test::plain_conv();
    return gpu;
}

double body_s(const Gpu& gpu, DataType type, const Software& software,
              Direction direction = Direction::fwd) {
    Layer layer;
    layer.op = Op::conv2d;
    layer.shape = layer_shape();
    layer.direction = direction;
    layer.types = {type, type, type};
    return kernel_of(gpu, layer, *work_of(layer), software)->body_s;
}

const Software kFirst{.layout = Layout::channels_first};
const Software kLast{.layout = Layout::channels_last};

} // namespace

TEST_CASE("channels first cost a pass before and after a product on tensor cores") {
    const Gpu gpu = gpu_of(GpuArch::volta);
    const double passes = layout_pass_s(gpu, 64.0 * 28 * 28, 128.0, DataType::fp16) +
                          layout_pass_s(gpu, 64.0 * 28 * 28, 256.0, DataType::fp16);
    const Software apart{.layout = Layout::channels_first, .layout_passes_apart = true};
    for (const Direction direction : {Direction::fwd, Direction::bwd_data, Direction::bwd_weight}) {
        CHECK(body_s(gpu, DataType::fp16, kFirst, direction) -
                  body_s(gpu, DataType::fp16, kLast, direction) ==
              near(passes, 1e-6));
        CHECK(body_s(gpu, DataType::fp16, apart, direction) ==
              near(body_s(gpu, DataType::fp16, kLast, direction)));
    }
    CHECK(body_s(gpu, DataType::fp32, kFirst) == near(body_s(gpu, DataType::fp32, kLast)));
}

TEST_CASE("a pass between layouts turns tiles of 32 positions by 32 channels") {
    Gpu gpu = gpu_of(GpuArch::hopper);
    gpu.dram_bytes_per_s = 1e15; // only the tiles take time
    const double tile_s = 366.0 / (gpu.sms * gpu.boost_hz);
    const double start_s = layout_pass_s(gpu, 1.0, 1.0, DataType::fp16) - tile_s;
    const auto tiles = [&](double positions, double channels) {
        return (layout_pass_s(gpu, positions, channels, DataType::fp16) - start_s) / tile_s;
    };
    CHECK(tiles(32e4, 32.0) == near(1e4, 1e-3));
    CHECK(tiles(32e4, 3.0) == near(1e4, 1e-3)); // an image's few channels leave it nearly empty
    CHECK(tiles(32e4, 33.0) == near(2e4, 1e-3));
    CHECK(tiles(64e9, 32.0) == near(2e9, 1e-3)); // more positions than a dimension has elements
}

TEST_CASE("filters of one tap on planes of whole vectors need no other layout") {
    const Gpu gpu = gpu_of(GpuArch::hopper);
    const auto passes = [&](ConvShape shape) {
        Layer layer;
        layer.op = Op::conv2d;
        layer.shape = shape;
        layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
        return kernel_of(gpu, layer, *work_of(layer), kFirst)->conv->passes;
    };
    ConvShape shape = layer_shape();
    CHECK(passes(shape));
    shape.r = shape.s = 1;
    shape.pad = {0, 0};
    CHECK(!passes(shape));
    shape.stride = {2, 2};
    CHECK(passes(shape));
    shape.stride = {1, 1};
    shape.h = shape.w = 7; // 49 elements
    CHECK(passes(shape));
    shape = layer_shape();
    shape.k = shape.groups = shape.c; // depthwise
    CHECK(!passes(shape));
}

TEST_CASE("where layouts cost more than tensor cores save, the vector lanes serve a convolution") {
    Gpu gpu = gpu_of(GpuArch::ampere);
    const double tensor_cores = body_s(gpu, DataType::fp16, kFirst);
    gpu.dram_bytes_per_s = 1e9; // passes take all the time
    const double either = body_s(gpu, DataType::fp16, kFirst);
    CHECK(either > tensor_cores);
    CHECK(either <= body_s(gpu, DataType::fp32, kFirst));
}

} // namespace test_model_gpu_transposes
