// Convolutions under a clock that power lowers, and costs below one, by hand.
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_conv_clock {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

// 64 images of 28 x 28 by 1 x 1 filters, from 128 to 128 channels.
ConvShape pointwise() {
    ConvShape shape;
    shape.n = 64;
    shape.c = shape.k = 128;
    shape.h = shape.w = 28;
    shape.r = shape.s = 1;
    return shape;
}

double body_s(const Gpu& gpu, const ConvTerms& terms) {
    return conv_time(gpu, DataType::fp32, terms, pointwise(), Direction::fwd, 4.0, false).body_s;
}

ConvTerms at_half_clock() {
    ConvTerms terms = test::plain_conv();
    terms.matmul.sustained_clock = 0.5;
    terms.matmul.settle_s = 1e-15; // at once
    return terms;
}

} // namespace

TEST_CASE("the clock under power slows a convolution's arithmetic, not its memory") {
    Gpu gpu = test::plain_gpu();
    CHECK(body_s(gpu, at_half_clock()) == near(2.0 * body_s(gpu, test::plain_conv())));
    gpu.dram_bytes_per_s = 1e6;
    CHECK(body_s(gpu, at_half_clock()) == near(body_s(gpu, test::plain_conv()), 1e-3));
}

TEST_CASE("no cost of an algorithm makes a product faster than its pipe") {
    ConvTerms terms = test::plain_conv();
    terms.fwd_cost = 0.1;
    const double macs = 64.0 * 28 * 28 * 128 * 128;
    CHECK(body_s(test::plain_gpu(), terms) == near(2.0 * macs / 1e12));
}

} // namespace test_model_gpu_conv_clock
