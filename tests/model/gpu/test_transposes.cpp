// What channels first add to convolutions on tensor cores: kernels that change the layout.
#include "model/gpu/conv.hpp"
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
    gpu.calibration.tensor_conv.transpose_share = 0.25;
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
    const double tensors = 64.0 * 28 * 28 * (128 + 256) * 2.0; // bytes of fp16
    CHECK(body_s(gpu, DataType::fp16, kFirst) - body_s(gpu, DataType::fp16, kLast) ==
          near(2.0 * tensors / (0.25 * 1e12), 1e-6));
    CHECK(body_s(gpu, DataType::fp32, kFirst) == near(body_s(gpu, DataType::fp32, kLast)));
    const Software apart{.layout = Layout::channels_first, .layout_passes_apart = true};
    CHECK(body_s(gpu, DataType::fp16, apart) == near(body_s(gpu, DataType::fp16, kLast)));
    for (const Direction gradient : {Direction::bwd_data, Direction::bwd_weight}) { // no row tells
        CHECK(body_s(gpu, DataType::fp16, kFirst, gradient) ==
              near(body_s(gpu, DataType::fp16, kLast, gradient)));
    }
}

TEST_CASE("where layouts cost more than tensor cores save, the vector lanes serve a convolution") {
    Gpu gpu = gpu_of(GpuArch::ampere);
    gpu.calibration.tensor_conv.transpose_share = 1e-3;
    const double tensor_cores = body_s(gpu_of(GpuArch::ampere), DataType::fp16, kFirst);
    const double either = body_s(gpu, DataType::fp16, kFirst);
    CHECK(either > tensor_cores);
    CHECK(either <= body_s(gpu, DataType::fp32, kFirst));
}

} // namespace test_model_gpu_transposes
