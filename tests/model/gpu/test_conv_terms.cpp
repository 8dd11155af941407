// Every term of a convolution's time, worked out by hand with all others neutral.
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_model_gpu_conv_terms {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::ConvAlgorithm;
using model::ConvShape;
using model::ConvTerms;
using model::ConvTime;
using model::DataType;
using model::Direction;

namespace {

constexpr double kNever = 1e9; // a cost that no other algorithm undercuts

ConvShape square(Count n, Count c, Count size, Count k, Count filter) {
    ConvShape s;
    s.n = n;
    s.c = c;
    s.h = s.w = size;
    s.k = k;
    s.r = s.s = filter;
    s.pad = {filter / 2, filter / 2};
    return s;
}

ConvTime time_of(const ConvTerms& terms, const ConvShape& shape, DataType type,
                 Direction direction = Direction::fwd, const model::Gpu& gpu = test::plain_gpu()) {
    return model::conv_time(gpu, type, terms, shape, direction, type == DataType::fp32 ? 4.0 : 2.0);
}

double elements(const ConvShape& s) { // of input, output and weights
    return static_cast<double>(s.n * s.c * s.h * s.w + s.n * s.k * s.p() * s.q() +
                               s.k * s.c / s.groups * s.r * s.s);
}

model::Gpu with_dram(double bytes_per_s) {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = bytes_per_s;
    return gpu;
}

model::Gpu all_but_dram(double bytes_per_s) {
    model::Gpu gpu = with_dram(bytes_per_s);
    gpu.rate(DataType::fp32).flops_per_s = gpu.rate(DataType::fp16).flops_per_s = test::kEndless;
    return gpu;
}

} // namespace

TEST_CASE("tensor cores pad an image's three channels to four, and to 32 in libraries of before") {
    const ConvShape image = square(64, 3, 56, 64, 7);
    const auto compute_s = [&](bool early) {
        return model::conv_time(test::plain_gpu(), DataType::fp16, test::plain_conv(), image,
                                Direction::fwd, 2.0, false, false, early)
            .product.compute_s;
    };
    // 49 taps of 4 or of 32 channels, in steps of 16.
    CHECK(compute_s(true) / compute_s(false) == near(49.0 * 32.0 / 208.0, 0.01));
}

TEST_CASE("Winograd multiplies 36 points of a 4x4 tile with 3x3 filters, 64 with 5x5") {
    ConvTerms terms = test::plain_conv();
    terms.fwd_cost = terms.fused_s = kNever;
    // 13 x 13 outputs are 4 x 4 tiles of 4 x 4, of 2 images.
    const auto three = time_of(terms, square(2, 8, 13, 24, 3), DataType::fp32);
    CHECK(three.algorithm == ConvAlgorithm::winograd_nonfused);
    CHECK(three.macs == near(36.0 * 2 * 16 * 8 * 24));
    const auto five = time_of(terms, square(2, 8, 13, 24, 5), DataType::fp32);
    CHECK(five.macs == near(64.0 * 2 * 16 * 8 * 24));
}

TEST_CASE("Winograd is of 16 and 32 bits: fp64 and int8 multiply every tap") {
    model::Gpu gpu = test::plain_gpu();
    gpu.rate(DataType::fp64) = gpu.rate(DataType::int8) = gpu.rate(DataType::fp32);
    const ConvShape shape = square(32, 256, 28, 256, 3);
    const auto algorithm = [&](DataType type) {
        return time_of(test::plain_conv(), shape, type, Direction::fwd, gpu).algorithm;
    };
    CHECK(algorithm(DataType::fp32) != ConvAlgorithm::implicit_gemm);
    CHECK(algorithm(DataType::fp64) == ConvAlgorithm::implicit_gemm);
    CHECK(algorithm(DataType::int8) == ConvAlgorithm::implicit_gemm);
}

TEST_CASE("non-fused Winograd passes its transformed tiles through memory, or L2 where they fit") {
    ConvTerms terms = test::plain_conv();
    terms.fwd_cost = terms.fused_s = kNever;
    terms.transform_share = 0.5;
    terms.transform_l2 = 0.25;
    terms.transform_s = 1e-6;
    terms.product_cost = 2.0;
    const ConvShape shape = square(2, 8, 13, 24, 3);
    const double middle = 4.0 * 36 * (32 * 8 + 32 * 24 + 8 * 24); // 32 tiles
    model::Gpu gpu = with_dram(1e9);
    gpu.rate(DataType::fp32).flops_per_s =
        1e18; // no time, but for what costs a billion times as much
    gpu.l2_bytes = middle - 1.0;
    CHECK(time_of(terms, shape, DataType::fp32, Direction::fwd, gpu).body_s ==
          near(2.0 * middle / 1e9 + (4.0 * elements(shape) + middle) / 0.5e9 + 1e-6));
    gpu.l2_bytes = middle + 1.0;
    CHECK(time_of(terms, shape, DataType::fp32, Direction::fwd, gpu).body_s ==
          near(2.0 * 0.25 * middle / 1e9 + 0.25 * (4.0 * elements(shape) + middle) / 0.5e9 + 1e-6));
}

TEST_CASE("a weight gradient's Winograd product has a cost of its own") {
    ConvTerms terms = test::plain_conv();
    terms.bwd_weight_cost = kNever;
    terms.product_cost = 2.0;
    const ConvShape shape = square(2, 8, 13, 24, 3);
    const auto plain = time_of(terms, shape, DataType::fp32, Direction::bwd_weight);
    CHECK(plain.algorithm == ConvAlgorithm::winograd_nonfused);
    terms.weight_product = 3.0;
    CHECK(time_of(terms, shape, DataType::fp32, Direction::bwd_weight).body_s ==
          near(3.0 * plain.body_s));
}

TEST_CASE("fused Winograd: blocks of 32 tiles of 2x2 outputs by 32 channels, on SMs in turn") {
    ConvTerms terms = test::plain_conv();
    terms.fwd_cost = terms.transform_s = kNever;
    terms.fused_share = 0.5;
    terms.fused_ramp_k = 4.0;
    terms.fused_s = 1e-6;
    // 16 x 16 outputs are 8 x 8 tiles: two blocks of 4 x 8 an image; 3 images; 33 channels are two
    // blocks: 12 CTAs on 10 SMs. 9 input channels are walked as 16.
    const ConvShape shape = square(3, 9, 16, 33, 3);
    const double block = 2.0 * 16 * 32 * 32 * (16 + 4) / 1e11;
    CHECK(time_of(terms, shape, DataType::fp32).algorithm == ConvAlgorithm::winograd);
    CHECK(time_of(terms, shape, DataType::fp32).body_s == near(2.0 * block / 0.5 + 1e-6));
    CHECK(time_of(terms, shape, DataType::fp32).macs == near(16.0 * 3 * 64 * 9 * 33));
    terms.fused_tail = 0.5; // some SM has two blocks, which hide one another's latency
    CHECK(time_of(terms, shape, DataType::fp32).body_s == near(2.0 * block / 0.5 + 1e-6));
    // One image is one block on one SM.
    CHECK(time_of(terms, square(1, 9, 4, 8, 3), DataType::fp32).body_s ==
          near(block / 0.5 * (1.0 + 0.5) + 1e-6));
    // Five images of 2 x 2 tiles are two blocks of four images, not five quarters of one: with six
    // blocks of channels 12 CTAs, two on some SMs.
    CHECK(time_of(terms, square(5, 9, 4, 192, 3), DataType::fp32).body_s ==
          near(2.0 * block / 0.5 + 1e-6));
}

TEST_CASE("twice the images of a fused Winograd that fills half of the SMs take no less time") {
    ConvTerms terms = test::plain_conv();
    terms.fwd_cost = terms.transform_s = kNever;
    terms.fused_share = 0.5;
    terms.fused_tail = 0.7;
    const double few = time_of(terms, square(1, 9, 16, 64, 3), DataType::fp32).body_s;
    CHECK(time_of(terms, square(2, 9, 16, 64, 3), DataType::fp32).body_s >= few);
    CHECK(time_of(terms, square(4, 9, 16, 64, 3), DataType::fp32).body_s >= few);
}

TEST_CASE("tensor cores change the layout of all tensors in two passes, at a share of DRAM") {
    ConvTerms terms = test::plain_conv();
    terms.layout_share = 0.3;
    terms.layout_s = 2e-6;
    const ConvShape shape = square(2, 32, 14, 64, 1);
    const double dram_s = 2.0 * elements(shape) / 1e9;
    const model::Gpu gpu = all_but_dram(1e9);
    CHECK(time_of(terms, shape, DataType::fp16, Direction::fwd, gpu).body_s ==
          near(dram_s + 0.3 * 2.0 * dram_s + 2e-6));
    CHECK(time_of(terms, shape, DataType::fp32, Direction::fwd, gpu).body_s == near(2.0 * dram_s));
}

TEST_CASE("a depthwise convolution runs on the vector lanes, at half of their rate") {
    ConvShape shape = square(4, 64, 28, 64, 3);
    shape.groups = 64;
    const double flops = 2.0 * 4 * 64 * 28 * 28 * 9;
    CHECK(time_of(test::plain_conv(), shape, DataType::fp32).body_s == near(flops / 0.5e12));
    // An eighth of the tensor cores' rate: as many lanes.
    CHECK(time_of(test::plain_conv(), shape, DataType::fp16).body_s == near(flops / 0.5e12));
}

TEST_CASE("tensor cores take channels of a tap in chunks of 32, in groups down to 8") {
    ConvTerms terms = test::plain_conv();
    ConvShape shape = square(1, 40, 8, 128, 3); // 64 pixels; 40 channels become 64
    const double step = 2.0 * 64 * 64 / 8e11;   // of k, for a CTA of 64 x 64
    const auto dense = time_of(terms, shape, DataType::fp16);
    const double splits = dense.product.mapping.splits;
    CHECK(dense.product.compute_s ==
          near(2.0 * dense.product.mapping.tile.tm * dense.product.mapping.tile.tn *
               (64.0 * 9 / splits) / 8e11));
    shape.groups = 5; // 8 channels a group stay 8
    shape.k = 320;    // 64 of each
    terms.matmul.split_s = kNever;
    const auto grouped = time_of(terms, shape, DataType::fp16);
    const double k = 8.0 * 9 / grouped.product.mapping.splits;
    CHECK(grouped.product.mapping.tile == model::CtaTile{64, 64, 1});
    CHECK(grouped.product.compute_s == near(step * std::ceil(k / 16) * 16));
    shape.c = 80; // 16 a group stay 16
    const auto wider = time_of(terms, shape, DataType::fp16);
    const double wider_k = 16.0 * 9 / wider.product.mapping.splits;
    CHECK(wider.product.mapping.tile == model::CtaTile{64, 64, 1});
    CHECK(wider.product.compute_s == near(step * std::ceil(wider_k / 16) * 16));
}

TEST_CASE("the fp32 sums of a weight gradient: none on tensor cores but Turing's atomics") {
    ConvTerms terms = test::plain_conv();
    terms.weight_sums = 3.0;
    const ConvShape shape = square(1, 128, 8, 128, 1); // 16384 weights
    const auto seconds = [&](model::GpuArch arch, DataType type) {
        model::Gpu gpu = all_but_dram(1e9);
        gpu.arch = arch;
        return time_of(terms, shape, type, Direction::bwd_weight, gpu).body_s;
    };
    const double half = 2.0 * elements(shape) / 1e9;
    CHECK(seconds(model::GpuArch::volta, DataType::fp16) == near(half));
    CHECK(seconds(model::GpuArch::turing, DataType::fp16) == near(half + 18.0 * 16384 / 1e9));
    CHECK(seconds(model::GpuArch::volta, DataType::fp32) ==
          near(2.0 * half + 3.0 * 8.0 * 16384 / 1e9));
}

TEST_CASE("gradients of padding that overhangs leave the tensor cores for the lanes") {
    ConvShape shape = square(2, 32, 14, 32, 1);
    const auto tensor = time_of(test::plain_conv(), shape, DataType::fp16, Direction::bwd_weight);
    shape.pad = {1, 1};                               // as wide as the filter
    const ConvShape inner = square(2, 32, 16, 32, 1); // as many outputs
    const auto lanes = time_of(test::plain_conv(), shape, DataType::fp16, Direction::bwd_weight);
    const auto same = time_of(test::plain_conv(), inner, DataType::fp16, Direction::bwd_weight);
    CHECK(lanes.body_s == near(8.0 * same.body_s, 1e-6)); // 8 TFLOP/s against 1
    CHECK(lanes.body_s > tensor.body_s);
}

TEST_CASE("padding that a dilated filter covers does not overhang") {
    ConvShape dilated = square(2, 32, 19, 32, 3);
    dilated.pad = {6, 6};
    dilated.dilation = {6, 6}; // 13 x 13 with its holes
    ConvShape dense = square(2, 32, 19, 32, 3);
    dense.pad = {1, 1}; // as many outputs
    for (const Direction direction : {Direction::bwd_data, Direction::bwd_weight}) {
        const auto spread = time_of(test::plain_conv(), dilated, DataType::fp16, direction);
        const auto near_by = time_of(test::plain_conv(), dense, DataType::fp16, direction);
        CHECK(spread.product.compute_s == near(near_by.product.compute_s));
    }
    dilated.pad = {13, 13};
    const auto lanes = time_of(test::plain_conv(), dilated, DataType::fp16, Direction::bwd_weight);
    dilated.pad = {12, 12};
    const auto covered =
        time_of(test::plain_conv(), dilated, DataType::fp16, Direction::bwd_weight);
    CHECK(lanes.body_s > 4.0 * covered.body_s); // 8 TFLOP/s against 1, of somewhat more outputs
}

TEST_CASE("a strided data gradient is a product for each phase that taps reach") {
    ConvTerms terms = test::plain_conv();
    ConvShape shape = square(32, 64, 56, 64, 3);
    shape.stride = {2, 2};
    // 2 x 2 phases of 28 x 28 pixels, 2 x 2 taps each, 196 CTAs of 128 x 64 a phase, or of another
    // tile: no more work than the pixels fill.
    const auto t = time_of(terms, shape, DataType::fp32, Direction::bwd_data);
    const double work = 2.0 * 4 * (32.0 * 28 * 28) * 64 * (64 * 4) / 1e12;
    CHECK(t.product.compute_s >= work * (1 - 1e-9));
    CHECK(t.product.compute_s < work * 1.02);
    terms.stride_waste = 0.5; // 4 phases spend twice as many
    CHECK(time_of(terms, shape, DataType::fp32, Direction::bwd_data).product.compute_s ==
          near(2.0 * t.product.compute_s));
}

TEST_CASE("a data gradient of an image's channels is a product into columns that are scattered") {
    ConvTerms terms = test::plain_conv();
    ConvShape shape = square(2, 3, 32, 64, 7);
    shape.stride = {2, 2};
    terms.bwd_data_cost = 0.5;
    const model::Gpu gpu = all_but_dram(1e9);
    terms.layout_s = kNever; // of the implicit product on tensor cores
    const auto t = time_of(terms, shape, DataType::fp16, Direction::bwd_data, gpu);
    CHECK(t.algorithm == ConvAlgorithm::columns);
    const double columns = 2.0 * 16 * 16 * 3 * 49; // written, read, added
    CHECK(t.dram_bytes == near(2.0 * elements(shape) + 3.0 * 2.0 * columns));
    CHECK(t.body_s == near(t.dram_bytes / 1e9));
}

TEST_CASE("a convolution's clock settles over its whole body") {
    ConvTerms terms = test::plain_conv();
    const ConvShape shape = square(2, 32, 14, 64, 1);
    const double body = time_of(terms, shape, DataType::fp32).body_s;
    terms.matmul.sustained_clock = 0.6;
    terms.matmul.settle_s = body;
    CHECK(time_of(terms, shape, DataType::fp32).body_s == near(body / 0.8));
}

TEST_CASE("a strided transposed convolution in three dimensions multiplies the zeros it inserts") {
    // 64 channels, 128 x 128 outputs, 3 x 3 x 3 filters with strides of 2: in the plane four
    // phases, in depth two, so eight times the products of a layer that skips them.
    ConvShape flat = square(8, 64, 128, 96, 3);
    flat.stride = {2, 2};
    ConvShape deep = flat;
    deep.depth = 3;
    const ConvTerms terms = test::plain_conv();
    const double skips =
        time_of(terms, flat, DataType::fp32, Direction::bwd_data).product.compute_s;
    const double inserts =
        time_of(terms, deep, DataType::fp32, Direction::bwd_data).product.compute_s;
    // phases take the largest one's taps, 2 x 2 of the 9: 4 x 4 / 9 of what the direct count says
    CHECK(inserts / skips == near(2.0 * 9.0 / 4.0, 0.02));
    deep.stride = flat.stride = {1, 1}; // nothing to insert
    deep.pad = flat.pad = {1, 1};
    CHECK(time_of(terms, deep, DataType::fp32, Direction::bwd_data).body_s ==
          time_of(terms, flat, DataType::fp32, Direction::bwd_data).body_s);
}

TEST_CASE("taps in depth among the channels are read once") {
    ConvShape shape = square(4, 48, 32, 16, 3);
    const ConvTerms terms = test::plain_conv();
    const double flat = time_of(terms, shape, DataType::fp32).dram_bytes;
    shape.depth = 3;
    const double deep = time_of(terms, shape, DataType::fp32).dram_bytes;
    CHECK(flat - deep == near(4.0 * 4 * 48 * 32 * 32 * 2.0 / 3.0));
}

} // namespace test_model_gpu_conv_terms
