// What a library's name tells of attention, worked out by hand with all other terms neutral; and
// what experts keep in L2.
#include "model/gpu/attention.hpp"
#include "model/gpu/grouped.hpp"
#include "model/gpu/matmul.hpp"
#include "model/gpu/predict.hpp"
#include "model/workload/experts.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_model_gpu_library_ways {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

Layer attention(const AttentionShape& shape) {
    Layer layer;
    layer.op = Op::attention;
    layer.shape = shape;
    layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
    return layer;
}

FusedTime time_of(const AttentionTerms& terms, const AttentionShape& shape, HeadPacking heads) {
    Gpu gpu = test::plain_gpu();
    gpu.calibration.tensor_gemm = test::plain_matmul();
    const Layer layer = attention(shape);
    return attention_time(gpu, DataType::fp16, terms, layer, *work_of(layer), heads);
}

// 16 prompts of 64 tokens, 64 heads that share 2 of keys.
AttentionShape short_prompts() {
    AttentionShape s{16, 64, 64, 64, 128, 2};
    s.causal = true;
    return s;
}

} // namespace

TEST_CASE("a library's name tells whether heads that share keys fill tiles together") {
    CHECK(software_from_name("TRTLLM 1.3.0rc20", DataType::fp16).heads == HeadPacking::apart);
    CHECK(software_from_name("TensorRT-LLM 1.0", DataType::fp16).heads == HeadPacking::apart);
    CHECK(software_from_name("VLLM 0.24.0", DataType::fp16).heads == HeadPacking::packed);
    CHECK(software_from_name("flash-attn 2.7", DataType::fp16).heads == HeadPacking::packed);
    CHECK(software_from_name("cublas 12", DataType::fp16).heads == HeadPacking::usual);
    CHECK(software_from_name("", DataType::fp16).heads == HeadPacking::usual);
    const Software served = software_from_name("TRTLLM 1.0.0", DataType::fp8);
    CHECK(served.cast == ByteCast::kernels);
    CHECK(served.heads == HeadPacking::apart);
}

TEST_CASE("queries of heads that share keys fill 512 tiles together, or 1024 by halves alone") {
    AttentionTerms terms;
    CHECK(time_of(terms, short_prompts(), HeadPacking::packed).ctas == 16 * 2 * 16);
    CHECK(time_of(terms, short_prompts(), HeadPacking::packed).tile_m == 128);
    CHECK(time_of(terms, short_prompts(), HeadPacking::apart).ctas == 16 * 64);
    CHECK(time_of(terms, short_prompts(), HeadPacking::apart).tile_m == 64);
    AttentionShape longer = short_prompts(); // whole tiles are not worth sharing
    longer.m = longer.n = 128;
    CHECK(time_of(terms, longer, HeadPacking::packed).ctas == 16 * 64);
}

TEST_CASE("a CTA of half a tile starts in half the time, and apart runs at its share of the rate") {
    AttentionTerms terms;
    terms.mma_share = terms.dram_share = 1.0;
    terms.score_cycles = terms.append_s = 0.0;
    terms.overlap = 100.0;
    terms.apart_share = 0.5;
    terms.cta_cycles = 8000.0;
    // Ten SMs at 1 GHz, 800 FLOP a cycle; 1024 CTAs of 64 queries by 64 keys: 4000 cycles to start.
    const double tile = 4.0 * 64 * 64 * 128 / 800.0;
    const double own = 4000.0 + tile / 0.5;
    const double waves = 102.4;
    const double tail = 0.5 * (103.0 - waves);
    CHECK(time_of(terms, short_prompts(), HeadPacking::apart).compute_s ==
          near((waves + tail) * own * 1e-9, 1e-6));
}

TEST_CASE(
    "beyond 32 heads to a key TensorRT-LLM generates each on vector lanes, others pack them") {
    AttentionTerms terms;
    terms.mma_share = terms.dram_share = terms.apart_share = 1.0;
    terms.score_cycles = terms.append_s = terms.combine_s = 0.0;
    terms.decode_cycles = 1000.0;
    AttentionShape many{100, 66, 1, 1024, 128, 2}; // 33 heads to a key
    AttentionShape few = many;
    few.groups = 64;
    CHECK(time_of(terms, few, HeadPacking::apart).ctas == 100 * 2);
    CHECK(time_of(terms, few, HeadPacking::apart).tile_m == 32);
    CHECK(time_of(terms, many, HeadPacking::packed).ctas == 100 * 2);
    const FusedTime lanes = time_of(terms, many, HeadPacking::apart);
    CHECK(lanes.ctas == 100 * 66);
    CHECK(lanes.tile_m == 1);
    // 660 CTAs on each of ten SMs at 1 GHz; eight tiles of 128 keys at a tenth of the lanes' 100
    // FLOP a cycle.
    const double tile = 4.0 * 128 * 128 / (0.1 * 100.0);
    CHECK(lanes.compute_s == near(660.0 * (1000.0 + 8.0 * tile) * 1e-9, 1e-6));
}

TEST_CASE("a library that is not named packs heads, says so, and its interval holds both ways") {
    const AttentionTerms terms;
    const double packed = time_of(terms, short_prompts(), HeadPacking::packed).body_s;
    const double apart = time_of(terms, short_prompts(), HeadPacking::apart).body_s;
    CHECK(apart > 1.1 * packed);
    CHECK(time_of(terms, short_prompts(), HeadPacking::usual).body_s == near(packed));
    const Gpu gpu = test::a100_sxm_40();
    const auto usual = predict(gpu, attention(short_prompts()));
    REQUIRE(usual.ok());
    for (const HeadPacking heads : {HeadPacking::packed, HeadPacking::apart}) {
        const auto known = predict(gpu, attention(short_prompts()), {.heads = heads});
        REQUIRE(known.ok());
        CHECK(usual->low_s <= known->low_s);
        CHECK(usual->high_s >= known->high_s);
        CHECK(known->notes.empty());
    }
    REQUIRE(usual->notes.size() == 1);
    CHECK(usual->notes.front().find("no library named") == 0);
}

TEST_CASE("kernels that train take a cost of their own a tile, and no cache") {
    AttentionTerms terms;
    terms.training_cost = 0.8;
    terms.mma_share = 0.5;
    terms.append_s = 7e-6;
    const Gpu gpu = test::a100_sxm_40();
    AttentionShape prompt{1, 8, 8192, 8192, 128};
    prompt.causal = true;
    const auto time = [&](AttentionKernel kernel) {
        const Layer layer = attention(prompt);
        return attention_time(gpu, DataType::fp16, terms, layer, *work_of(layer),
                              HeadPacking::packed, kernel);
    };
    const FusedTime serving = time(AttentionKernel::serving);
    const FusedTime training = time(AttentionKernel::training);
    CHECK(training.compute_s / serving.compute_s == near(0.8, 0.02));
    CHECK(serving.other_s == near(7e-6));
    CHECK(training.other_s == 0.0);
    CHECK(software_from_name("cudnn 9", DataType::fp16).attention == AttentionKernel::training);
    terms.training_cost = 0.3; // no quicker than the pipe, of which a tile reaches half
    CHECK(time(AttentionKernel::training).compute_s / serving.compute_s > 0.45);
}

TEST_CASE("8-bit gradients of a window walk all tiles under the diagonal, 16-bit ones skip them") {
    const Gpu gpu = test::a100_sxm_40();
    const AttentionTerms terms;
    AttentionShape all{1, 8, 8192, 8192, 64};
    all.causal = true;
    AttentionShape window = all;
    window.window = 128;
    const auto time = [&](const AttentionShape& shape, DataType type) {
        Layer layer = attention(shape);
        layer.direction = Direction::bwd_data;
        return attention_time(gpu, type, terms, layer, *work_of(layer)).compute_s;
    };
    CHECK(time(window, DataType::fp8) == near(time(all, DataType::fp8), 0.02));
    CHECK(time(window, DataType::fp16) < 0.2 * time(all, DataType::fp16));
}

TEST_CASE("vLLM's experts in fp8 run in slower kernels on Hopper alone") {
    Gpu gpu = test::a100_sxm_40();
    GroupedTerms terms;
    terms.flashinfer_cost = 4.0;
    Layer layer = attention(short_prompts());
    layer.op = Op::moe;
    layer.shape = MoeShape{4096, 4096, 1536, 8, 128};
    const auto body = [&](ExpertKernel kernel) {
        const FusedTime f = grouped_time(gpu, DataType::fp16, terms, layer, kernel);
        return f.body_s - f.other_s;
    };
    CHECK(body(ExpertKernel::flashinfer) == near(body(ExpertKernel::usual)));
    gpu.arch = GpuArch::hopper;
    CHECK(body(ExpertKernel::flashinfer) == near(4.0 * body(ExpertKernel::usual)));
    const auto named = [](std::string_view name) {
        return software_from_name(name, DataType::fp8).experts;
    };
    CHECK(named("VLLM 0.24.0") == ExpertKernel::flashinfer);
    CHECK(named("VLLM 0.24.0 fp8_block") == ExpertKernel::usual);
    CHECK(named("TRTLLM 1.3.0rc20") == ExpertKernel::usual);
    CHECK(software_from_name("VLLM 0.24.0", DataType::bf16).experts == ExpertKernel::usual);
}

TEST_CASE("one kernel more writes new keys to a cache and an encoder has none") {
    AttentionTerms terms;
    terms.append_s = 7e-6;
    AttentionShape encoder{1, 8, 256, 256, 64};
    CHECK(time_of(terms, encoder, HeadPacking::packed).other_s == 0.0);
    AttentionShape prompt = encoder;
    prompt.causal = true;
    CHECK(time_of(terms, prompt, HeadPacking::packed).other_s == near(7e-6));
    const AttentionShape token{64, 8, 1, 256, 64, 0, true};
    CHECK(time_of(terms, token, HeadPacking::packed).other_s == near(7e-6));
}

TEST_CASE("few queries read a cache only where other tokens came before them") {
    CHECK(reads_cache(attention({1, 8, 1, 128, 64, 0, true})));
    CHECK_FALSE(reads_cache(attention({1, 8, 1, 1, 64, 0, true})));    // a prompt of one token
    CHECK_FALSE(reads_cache(attention({1, 8, 64, 128, 64, 0, true}))); // a prompt's second part
    CHECK(row_kind(attention({1, 8, 1, 128, 64}), {.heads = HeadPacking::packed}) ==
          "attention_generation_packed");
    CHECK(row_kind(attention({1, 8, 9, 9, 64}), {.heads = HeadPacking::apart}) ==
          "attention_apart");
    CHECK(row_kind(attention({1, 8, 9, 9, 64})) == "attention_packed");
}

TEST_CASE("experts' weights that L2 keeps between calls do not come from DRAM") {
    Gpu gpu = test::plain_gpu();
    Layer layer;
    layer.op = Op::moe;
    layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
    layer.shape = MoeShape{16, 1024, 512, 2, 8};
    GroupedTerms terms;
    terms.resident_l2 = 1.0;
    gpu.l2_bytes = 1e12; // far more than 8 x 3 x 1024 x 512 x 2 B
    CHECK(grouped_time(gpu, DataType::fp16, terms, layer).resident == near(1.0, 1e-3));
    gpu.l2_bytes = 1e3;
    CHECK(grouped_time(gpu, DataType::fp16, terms, layer).resident < 1e-3);
    // Both halves of the first product beside each other: 16 or fewer rows, 8 columns of tiles.
    const double busy = expected_experts(16.0, 2.0, 8.0);
    CHECK(grouped_time(gpu, DataType::fp16, terms, layer).ctas == near(busy * 8.0));
}

} // namespace test_model_gpu_library_ways
