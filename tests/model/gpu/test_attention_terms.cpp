// Attention's tiles and the queue of a step, worked out by hand with all other terms neutral.
#include "model/gpu/attention.hpp"
#include "model/gpu/step.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_attention_terms {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

AttentionTerms plain_attention() {
    AttentionTerms t;
    t.mma_share = t.dram_share = t.apart_share = 1.0;
    t.score_cycles = t.cta_cycles = t.decode_cycles = 0.0;
    t.resident_l2 = t.combine_s = t.append_s = 0.0;
    t.overlap = 100.0;
    return t;
}

FusedTime time_of(const AttentionTerms& terms, const AttentionShape& shape) {
    Gpu gpu = test::plain_gpu();
    gpu.calibration.tensor_gemm = test::plain_matmul();
    Layer layer;
    layer.op = Op::attention;
    layer.shape = shape;
    layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
    return attention_time(gpu, DataType::fp16, terms, layer, *work_of(layer));
}

// Products of a tile of 128 queries by 128 keys with heads of 128, on 800 FLOP a cycle at 1 GHz.
constexpr double kTile = 4.0 * 128 * 128 * 128 / 800.0 * 1e-9;

} // namespace

TEST_CASE("a causal prompt has the tiles of its pairs and half of those on the diagonal") {
    // 5 x 4 heads of two blocks of queries: 40 CTAs, four an SM.
    const AttentionShape full{5, 4, 256, 256, 128};
    CHECK(time_of(plain_attention(), full).compute_s == near(4.0 * 2.0 * kTile, 1e-6));
    AttentionShape causal = full;
    causal.causal = true;
    const double tiles = 256.0 * 257.0 / 2.0 / (128.0 * 128.0) + 0.5 * 2.0; // of two blocks
    CHECK(time_of(plain_attention(), causal).compute_s == near(4.0 * tiles / 2.0 * kTile, 1e-6));
}

TEST_CASE("heads that share keys are rows of one tile, and split keys are joined once") {
    AttentionTerms terms = plain_attention();
    terms.combine_s = 5e-6;
    // Four new tokens of 8 heads each that share keys: 32 rows.
    const auto t = time_of(terms, {1, 32, 4, 4096, 128, 4, true});
    CHECK(t.tile_m == 32);
    CHECK(t.splits == 5); // 4 CTAs of shared keys, two for each of ten SMs
    CHECK(t.other_s == near(5e-6));
    CHECK(time_of(plain_attention(), {1, 32, 4, 4096, 128, 4, true}).other_s == 0.0);
}

} // namespace test_model_gpu_attention_terms
