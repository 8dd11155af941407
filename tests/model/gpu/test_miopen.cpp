// Convolutions on AMD's GPUs against times worked out by hand.
#include "model/gpu/miopen.hpp"
#include "model/gpu/predict.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace eyeroof {

namespace {

using namespace model;

// A peak alone: no waves, ramps, bandwidth or layout.
ConvTerms plain() {
    ConvTerms terms;
    MiopenTerms& m = terms.miopen;
    m.peak_share = 1.0;
    m.half_intensity = 1e-9;
    m.ramp_k = m.ramp_cycles = 0.0;
    m.dram_share = 1e9;
    m.split_s = 1.0;
    m.whole_waves = 1.0;
    m.fwd_layout = m.data_layout = m.weight_layout = m.layout_s = 0.0;
    m.unaligned_cost = 0.5;
    m.winograd_s = 1.0;
    terms.matmul.sustained_clock = 1.0;
    return terms;
}

Gpu amd() {
    Gpu gpu = test::plain_gpu();
    gpu.arch = GpuArch::amd;
    gpu.l2_bytes = 1.0;
    return gpu;
}

ConvShape pointwise(Count c, Count k) {
    ConvShape s;
    s.n = 1;
    s.c = c;
    s.k = k;
    s.h = s.w = 64;
    s.r = s.s = 1;
    return s;
}

double body_s(const Gpu& gpu, const ConvTerms& terms, const ConvShape& shape,
              Direction direction = Direction::fwd, bool channels_first = false) {
    return miopen_time(gpu, DataType::fp32, terms, shape, direction, 4.0, channels_first).body_s;
}

TEST_CASE("a convolution on AMD takes its product at the pipe's peak where nothing else costs") {
    const Gpu gpu = amd();
    const ConvShape shape = pointwise(64, 640); // 4096 x 640 outputs: whole waves of 10 SMs
    const double flops = 2.0 * 4096 * 64 * 640;
    CHECK(body_s(gpu, plain(), shape) ==
          tests::near(flops / gpu.rate(DataType::fp32).flops_per_s, 0.03));
}

TEST_CASE("channels first add two passes by the direction's share, and channels last none") {
    Gpu gpu = amd();
    gpu.dram_bytes_per_s = 1e9;
    ConvTerms terms = plain();
    terms.miopen.dram_share = 1.0;
    terms.miopen.fwd_layout = 0.25;
    terms.miopen.weight_layout = 0.5;
    terms.miopen.layout_s = 3e-6;
    const ConvShape shape = pointwise(64, 64);
    const double tensors = 4.0 * 2.0 * 64 * 64 * 64; // bytes of input and output
    const auto added = [&](Direction direction) {
        return body_s(gpu, terms, shape, direction, true) - body_s(gpu, terms, shape, direction);
    };
    CHECK(added(Direction::fwd) == tests::near(2.0 * 0.25 * tensors / 1e9 + 3e-6));
    CHECK(added(Direction::bwd_weight) == tests::near(2.0 * 0.5 * tensors / 1e9 + 3e-6));
}

TEST_CASE("channels that do not fill 16 bytes cost more on AMD") {
    const Gpu gpu = amd();
    const double whole = body_s(gpu, plain(), pointwise(64, 640));
    CHECK(body_s(gpu, plain(), pointwise(63, 640)) == tests::near(1.5 * whole * 63.0 / 64.0, 0.03));
}

TEST_CASE("Winograd's sums are cheaper than 3 x 3 products on AMD's lanes, and 16 to 36") {
    const Gpu gpu = amd();
    ConvTerms terms = plain();
    ConvShape shape = pointwise(64, 640);
    shape.r = shape.s = 3;
    shape.pad = {1, 1};
    const double direct = body_s(gpu, terms, shape);
    terms.miopen.winograd_s = 0.0;
    terms.miopen.winograd_share = 1.0;
    const ConvTime t = miopen_time(gpu, DataType::fp32, terms, shape, Direction::fwd, 4.0, true);
    CHECK(t.algorithm == ConvAlgorithm::winograd);
    CHECK(t.body_s / direct == tests::near(16.0 / 36.0, 0.03));
    CHECK(t.dram_bytes == tests::near(4.0 * 64.0 * (64.0 * 64.0 + 640.0 * 64.0 + 640.0 * 9.0)));
    // MIOpen's Winograd kernels read channels first alone.
    const ConvTime last =
        miopen_time(gpu, DataType::fp32, terms, shape, Direction::fwd, 4.0, false);
    CHECK(last.algorithm == ConvAlgorithm::implicit_gemm);
    CHECK(last.body_s == tests::near(direct));
}

TEST_CASE("Winograd on AMD says nothing of the direct product that it replaces") {
    const Gpu gpu = amd();
    ConvTerms terms = plain();
    terms.miopen.split_s = 0.0;
    ConvShape shape = pointwise(2048, 32); // 36 outputs a channel: splits fill the SMs
    shape.h = shape.w = 6;
    shape.r = shape.s = 3;
    shape.pad = {1, 1};
    const auto chosen = [&] {
        return miopen_time(gpu, DataType::fp32, terms, shape, Direction::fwd, 4.0, true);
    };
    CHECK(chosen().algorithm == ConvAlgorithm::implicit_gemm);
    CHECK(chosen().product.mapping.splits > 1);
    terms.miopen.winograd_s = 0.0;
    terms.miopen.winograd_share = 10.0;
    CHECK(chosen().algorithm == ConvAlgorithm::winograd);
    CHECK(chosen().product.mapping.splits == 1);
    CHECK(chosen().body_s == tests::near(chosen().product.compute_s));
}

TEST_CASE(
    "a strided 1 x 1 gradient takes every position on lanes, and a pass of zeros on matrix cores") {
    Gpu gpu = amd();
    gpu.rate(DataType::fp16).pipe = Pipe::vector;
    ConvShape strided = pointwise(64, 640);
    strided.stride = {2, 2};
    const double all = body_s(gpu, plain(), pointwise(64, 640), Direction::bwd_data);
    CHECK(body_s(gpu, plain(), strided, Direction::bwd_data) == tests::near(all));
    // Matrix cores serve fp32, too, whatever pipe its peak is stated for.
    gpu.rate(DataType::fp16).pipe = Pipe::tensor;
    ConvTerms terms = plain();
    CHECK(body_s(gpu, terms, strided, Direction::bwd_data) < 0.3 * all); // a quarter of them
    gpu.dram_bytes_per_s = 1e9;
    terms.miopen.dram_share = 1.0;
    const double pass_s = 4.0 * 64 * 64 * 64 / 1e9; // over the input's gradient
    const double last = body_s(gpu, terms, strided, Direction::bwd_data);
    const double first = body_s(gpu, terms, strided, Direction::bwd_data, true);
    CHECK(first - last == tests::near(2.0 * pass_s)); // the layout there and back
    strided.stride = {1, 1};
    strided.h = strided.w = 32; // the same product
    const double plain_pass = 4.0 * 64 * 32 * 32 / 1e9;
    const double without = body_s(gpu, terms, strided, Direction::bwd_data);
    CHECK(last - without == tests::near(pass_s + (pass_s - plain_pass), 0.02)); // bound by DRAM
}

TEST_CASE("a gradient of few channels goes by way of columns where that is less work") {
    const Gpu gpu = amd();
    ConvShape image = pointwise(2, 640);
    image.r = image.s = 8;
    image.stride = {2, 2};
    image.pad = {3, 3}; // 32 x 32 outputs, 2 x 8 x 8 columns
    const double flops = 2.0 * 1024 * 128 * 640;
    const double s = body_s(gpu, plain(), image, Direction::bwd_data);
    CHECK(s * gpu.rate(DataType::fp32).flops_per_s == tests::near(flops, 0.15));
}

TEST_CASE("packed fp16 on lanes reaches three quarters of its peak") {
    Gpu gpu = amd();
    gpu.rate(DataType::fp16) = gpu.rate(DataType::fp32);
    const ConvShape shape = pointwise(64, 640);
    const double half =
        miopen_time(gpu, DataType::fp16, plain(), shape, Direction::fwd, 2.0, false).body_s;
    CHECK(half == tests::near(body_s(gpu, plain(), shape) / 0.75));
}

TEST_CASE("what a product's kernel loses most on AMD is named") {
    const Gpu gpu = amd();
    const auto loss = [&](const ConvTerms& terms, const ConvShape& shape) {
        return miopen_time(gpu, DataType::fp32, terms, shape, Direction::fwd, 4.0, false)
            .product.loss;
    };
    ConvTerms terms = plain();
    CHECK(loss(terms, pointwise(63, 640)) == "unaligned channels");
    terms.miopen.ramp_k = 128.0; // twice the product's own depth
    CHECK(loss(terms, pointwise(64, 640)) == "CTA prologue and epilogue");
    terms = plain();
    terms.miopen.half_intensity = 200.0; // more than half of the rate
    CHECK(loss(terms, pointwise(64, 640)) == "operand loads");
    ConvShape small = pointwise(64, 16);
    small.h = small.w = 8; // 64 x 16 outputs: one CTA or four of 10 SMs
    CHECK(loss(plain(), small) == "occupancy");
}

TEST_CASE("more images never take AMD's convolutions less time, in any direction") {
    const Gpu gpu = amd();
    for (const Direction d : {Direction::fwd, Direction::bwd_data, Direction::bwd_weight}) {
        double before = 0.0;
        for (Count n = 1; n <= 256; n *= 2) {
            ConvShape shape = pointwise(48, 96);
            shape.r = shape.s = 3;
            shape.pad = {1, 1};
            shape.n = n;
            const double now = body_s(gpu, ConvTerms{}, shape, d, true);
            CHECK(now >= before);
            before = now;
        }
    }
}

} // namespace

} // namespace eyeroof
