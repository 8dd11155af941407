// Attention as one kernel, and layers of experts.
#include "model/gpu/attention.hpp"
#include "model/gpu/grouped.hpp"
#include "model/gpu/predict.hpp"
#include "model/workload/experts.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <random>

namespace test_model_gpu_attention {

using namespace eyeroof;        // NOLINT
using namespace eyeroof::model; // NOLINT
using eyeroof::tests::near;

namespace {

Layer attention(AttentionShape shape, Direction direction = Direction::fwd) {
    Layer layer;
    layer.name = "attention";
    layer.op = Op::attention;
    layer.shape = shape;
    layer.direction = direction;
    return layer;
}

double time_of(const Gpu& gpu, const Layer& layer) {
    const auto p = predict(gpu, layer);
    REQUIRE(p.ok());
    return p->time_s;
}

} // namespace

TEST_CASE("a causal query sees itself and what is before it") {
    // 4 queries, the last of 6 tokens, see 3 + 4 + 5 + 6 keys; within a window of 4: 3 + 4 + 4 + 4.
    AttentionShape s{1, 1, 4, 6, 64};
    CHECK(seen_pairs(s) == 24);
    s.causal = true;
    CHECK(seen_pairs(s) == 18);
    s.window = 4;
    CHECK(seen_pairs(s) == 15);
    CHECK(seen_keys(s) == 6); // the first query sees from the first token on
    s.window = 2;
    CHECK(seen_pairs(s) == 8);
    CHECK(seen_keys(s) == 5);
    s.causal = false;
    CHECK(seen_pairs(s) == 8);
}

TEST_CASE("heads that share keys move them once") {
    // Llama-3-8B, one new token after 1023: queries 32 x 128, keys and values 2 x 8 x 1024 x 128.
    const auto work = work_of(attention({1, 32, 1, 1024, 128, 8, true}));
    REQUIRE(work.ok());
    CHECK(work->bytes() == 2 * (2 * 32 * 128 + 2 * 8 * 1024 * 128));
    CHECK(work->macs == 2 * 32 * 1024 * 128);
}

TEST_CASE("shapes of attention that mean nothing are refused") {
    CHECK(validate(attention({1, 32, 1, 64, 64, 5})).has_errors());           // 5 of 32 heads
    CHECK(validate(attention({1, 8, 64, 32, 64, 0, true})).has_errors());     // last 64 of 32
    CHECK(validate(attention({1, 8, 64, 64, 64, 0, true, -1})).has_errors()); // window
    CHECK_FALSE(validate(attention({1, 32, 1, 64, 64, 8, true})).has_errors());
}

TEST_CASE("generation is bound by reading the cache, a long prompt by arithmetic") {
    const Gpu gpu = test::a100_sxm_40();
    const Layer generation = attention({64, 32, 1, 8192, 128, 8, true});
    const auto p = predict(gpu, generation);
    REQUIRE(p.ok());
    CHECK(p->limiter == "DRAM bandwidth");
    // 64 x 2 x 8 x 8192 x 128 x 2 B = 2.15 GB in 1.38 ms at the data sheet's bandwidth.
    CHECK(p->time_s > 1.38e-3);
    CHECK(p->time_s < 1.38e-3 * 1.6);
    const auto prompt = predict(gpu, attention({1, 32, 8192, 8192, 128, 8, true}));
    REQUIRE(prompt.ok());
    CHECK(prompt->limiter != "DRAM bandwidth");
}

TEST_CASE("few sequences split their keys, so that SMs do not idle") {
    const Gpu gpu = test::a100_sxm_40();
    const Layer one = attention({1, 8, 1, 65536, 128, 8, true});
    const auto work = work_of(one);
    const FusedTime f = attention_time(gpu, DataType::fp16, gpu.calibration.attention, one, *work);
    CHECK(f.splits == 27); // two CTAs an SM: 216 / 8
    CHECK(f.other_s > 0.0);
}

TEST_CASE("a causal prompt costs about half of a full one, a gradient more than twice as much") {
    const Gpu gpu = test::a100_sxm_40();
    const double full = time_of(gpu, attention({4, 16, 8192, 8192, 128}));
    const double causal = time_of(gpu, attention({4, 16, 8192, 8192, 128, 0, true}));
    const double gradient =
        time_of(gpu, attention({4, 16, 8192, 8192, 128, 0, true}, Direction::bwd_data));
    // Half of the pairs and half of each of the 64 tiles on the diagonal, 2080.25 tiles of 4096,
    // and every CTA's own start as before.
    CHECK(causal / full > 2080.25 / 4096.0);
    CHECK(causal / full == near(2080.25 / 4096.0, 0.05));
    CHECK(gradient / causal > 2.0);
    CHECK(gradient / causal < 6.0);
}

TEST_CASE(
    "more keys, queries, heads or sequences are never faster, and no time is below its bound") {
    std::mt19937 random(5);
    const Gpu gpu = test::a100_sxm_40();
    const auto pick = [&](int most) {
        return Count{1} << (random() % static_cast<unsigned>(most));
    };
    for (int round = 0; round < 2000; ++round) {
        AttentionShape s{pick(7),
                         32,
                         pick(12),
                         0,
                         random() % 2 == 0 ? 64 : 128,
                         random() % 2 == 0 ? 8 : 0,
                         random() % 2 == 0};
        s.n = s.m + static_cast<Count>(random() % 4096);
        const auto p = predict(gpu, attention(s));
        REQUIRE(p.ok());
        CHECK(p->time_s >= p->step6_s);
        AttentionShape more = s;
        more.batch *= 2;
        CHECK(time_of(gpu, attention(more)) >= 0.98 * p->time_s);
        more = s;
        more.n *= 2;
        CHECK(time_of(gpu, attention(more)) >= 0.98 * p->time_s);
    }
}

TEST_CASE(
    "experts: every routed token is three products, weights of the experts that have tokens") {
    Layer layer;
    layer.op = Op::moe;
    layer.shape = MoeShape{2, 1024, 512, 2, 8};
    const auto work = work_of(layer);
    REQUIRE(work.ok());
    CHECK(work->macs == 2 * 2 * 3 * 1024 * 512);
    // Each of the eight misses both tokens with a chance of (3/4)^2: 3.5 are reached.
    CHECK(work->bytes() == 2 * (2 * 2 * 1024 + 3.5 * 3 * 1024 * 512));
    layer.shape = MoeShape{2, 1024, 512, 9, 8};
    CHECK(validate(layer).has_errors());
}

TEST_CASE("tokens that go anywhere alike meet 1 - (1 - k/e)^t of the experts") {
    CHECK(expected_experts(1.0, 2.0, 8.0) == near(2.0));
    CHECK(expected_experts(8.0, 1.0, 8.0) == near(8.0 * (1.0 - std::pow(7.0 / 8.0, 8.0))));
    CHECK(expected_experts(32.0, 4.0, 128.0) == near(81.7, 0.001));
    CHECK(expected_experts(1e6, 2.0, 8.0) == near(8.0));
    CHECK(expected_experts(4.0, 1.0, 1.0) == near(1.0));
    CHECK(expected_experts(1.0, 8.0, 8.0) == near(8.0));
}

TEST_CASE("few tokens wait for the experts' weights, many for arithmetic") {
    const Gpu gpu = test::a100_sxm_40();
    Layer layer;
    layer.op = Op::moe;
    layer.shape = MoeShape{16, 4096, 1536, 8, 128};
    CHECK(predict(gpu, layer)->limiter == "DRAM bandwidth");
    layer.shape = MoeShape{32768, 4096, 1536, 8, 128};
    CHECK(predict(gpu, layer)->limiter != "DRAM bandwidth");
    Layer more = layer;
    more.shape = MoeShape{65536, 4096, 1536, 8, 128};
    CHECK(time_of(gpu, more) > time_of(gpu, layer));
}

} // namespace test_model_gpu_attention
