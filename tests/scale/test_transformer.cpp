// Decoders on many devices against published tables. Sources: Narayanan et al., SC 2021 (PTD-P);
// Megatron-LM's README, Megatron-Core 0.8 (MCore); Korthikanti et al., arXiv 2205.05198 (SeqPar).
#include "analysis/scale/transformer_step.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <random>

namespace test_scale_transformer {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using tests::near;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};

model::Fabric fabric_named(const char* name) {
    const auto fabric = hwdb::load_fabric(name, kHwdb);
    REQUIRE(fabric.ok());
    return *fabric;
}

model::Machine machine_named(const char* name) {
    const auto machine = hwdb::load_machine(name, kHwdb);
    REQUIRE(machine.ok());
    return *machine;
}

struct Row {
    double billions;
    Count heads, hidden, layers, tensor, pipeline, devices, batch;
    double seconds; // an iteration
};

// Sequences of 2048, vocabulary 51200, everything computed again. Seconds from the printed FLOP/s.
constexpr Row kPtdp[] = {{1.7, 24, 2304, 24, 1, 1, 32, 512, 3.52},
                         {3.6, 32, 3072, 30, 2, 1, 64, 512, 3.71},
                         {7.5, 32, 4096, 36, 4, 1, 128, 512, 3.69},
                         {18.4, 48, 6144, 40, 8, 1, 256, 1024, 9.39},
                         {39.1, 64, 8192, 48, 8, 2, 512, 1536, 14.4},
                         {76.1, 80, 10240, 60, 8, 4, 1024, 1792, 16.0},
                         {145.6, 96, 12288, 80, 8, 8, 1536, 2304, 24.8},
                         {310.1, 128, 16384, 96, 8, 16, 1920, 2160, 37.6},
                         {529.6, 128, 20480, 105, 8, 35, 2520, 2520, 54.2},
                         {1008.0, 160, 25600, 128, 8, 64, 3072, 3072, 102.4}};

// Sequences of 4096, vocabulary 131072, data parallel 48.
constexpr Row kMcore[] = {
    {1.7, 16, 2048, 24, 1, 1, 48, 192, 0.45},       {7.1, 32, 4096, 30, 2, 1, 96, 192, 0.80},
    {16, 48, 6144, 32, 4, 1, 192, 192, 0.85},       {32, 56, 7168, 48, 8, 1, 384, 192, 0.89},
    {70, 64, 8192, 84, 8, 2, 768, 384, 2.18},       {119, 80, 10240, 92, 8, 4, 1536, 768, 3.65},
    {177, 96, 12288, 96, 8, 6, 2304, 1152, 5.26},   {314, 128, 16384, 96, 8, 8, 3072, 1536, 8.40},
    {462, 144, 18432, 112, 8, 16, 6144, 3072, 12.7}};

struct SeqPar {
    const char* name;
    Count hidden, heads, layers, pipeline, interleave, batch, microbatch;
    double full_s, selective_s, none_gib, selective_gib;
};
constexpr SeqPar kSeqPar[] = {
    {"22B", 6144, 64, 48, 1, 1, 4, 4, 1.42, 1.10, 59.25, 9.5625},
    {"175B", 12288, 96, 96, 8, 3, 64, 1, 18.13, 13.75, 66.84375, 12.3515625},
    {"530B", 20480, 128, 105, 35, 3, 280, 1, 49.05, 37.83, 114.0234375, 23.076171875},
    {"1T", 25600, 160, 128, 64, 1, 512, 1, 94.42, 71.49, 131.25, 26.5625}};

struct Errors {
    double sum = 0.0, worst = 0.0;
    int rows = 0;
    void add(double predicted, double published) {
        const double error = std::abs(predicted / published - 1.0);
        sum += error;
        worst = std::max(worst, error);
        ++rows;
    }
    double mean() const { return sum / rows; }
};

TransformerStep step_of(const Transformer& t, const char* gpu, const char* fabric, const Plan& plan,
                        const TransformerOptions& options) {
    BlockExams exams(t, machine_named(gpu), options);
    const auto times = exams.times(plan, {});
    REQUIRE(times.ok());
    const double values =
        device_parameters(t, plan) / (plan.zero > 0 ? static_cast<double>(plan.data) : 1.0);
    const auto update = exams.update_s(values, {});
    REQUIRE(update.ok());
    return transformer_step(t, plan, options, fabric_named(fabric), *times, *update,
                            exams.capacity());
}

Transformer ptdp_model(const Row& r) {
    return gpt(r.layers, r.hidden, r.heads, 51200, 2048, true);
}

Transformer mcore_model(const Row& r) {
    return gpt(r.layers, r.hidden, r.heads, 131072, 0, false);
}

} // namespace

TEST_CASE("parameters of PTD-P's ten models agree to all printed digits, of MCore's nine six do") {
    for (const Row& r : kPtdp) {
        CHECK(std::round(parameters(ptdp_model(r)) / 1e8) / 10 == near(r.billions));
    }
    // 12 L h^2 (1 + 13/(12 h)) + 2 V h makes 31.5, 118.4 and 461.4 of what is printed as 32, 119
    // and 462; the other six agree to all digits.
    int agree = 0;
    for (const Row& r : kMcore) {
        const double billions = parameters(mcore_model(r)) / 1e9;
        const double layers = static_cast<double>(r.layers), h = static_cast<double>(r.hidden);
        const double formula = 12 * layers * h * h * (1 + 13 / (12 * h)) + 2 * 131072 * h;
        CHECK(billions * 1e9 == near(formula));
        CHECK(std::abs(billions - r.billions) < (r.billions < 10 ? 0.05 : 0.7));
        agree += std::abs(billions - r.billions) < (r.billions < 10 ? 0.05 : 0.5) ? 1 : 0;
    }
    CHECK(agree == 6);
}

TEST_CASE("FLOPs of a step are PTD-P's formula") {
    const Transformer t = gpt(96, 12288, 96, 51200, 2048, true);
    const double b = 1536, s = 2048, h = 12288, layers = 96, v = 51200;
    const double unit = b * s * layers * h * h;
    CHECK(training_flops(t, b, s) ==
          near(72 * unit * (1 + s / (6 * h) + v / (12 * layers * h)), 1e-12));
}

TEST_CASE("activations are those of SeqPar's table to all digits, weights and optimizer 18 bytes") {
    for (const SeqPar& r : kSeqPar) {
        const Transformer t = gpt(r.layers, r.hidden, r.heads, 51200, 2048, true);
        TransformerOptions o;
        o.batch = r.batch;
        o.fused = false;
        Plan plan;
        plan.tensor = 8;
        plan.pipeline = r.pipeline;
        plan.interleave = r.interleave;
        plan.microbatch = r.microbatch;
        const double gib = 1073741824.0;
        CHECK(transformer_memory(t, plan, o, 0).activations / gib == near(r.none_gib));
        plan.sequence = true;
        plan.recompute = Recompute::selective;
        CHECK(transformer_memory(t, plan, o, 0).activations / gib == near(r.selective_gib));
        // 18 bytes of 12 L h^2 values over 8 x p, without embeddings, biases and norms.
        const DeviceMemory m = transformer_memory(t, plan, o, 0);
        const double values = device_parameters(t, plan);
        CHECK(m.weights + m.gradients + m.optimizer == near(18.0 * values));
        if (r.hidden == 6144) {
            Transformer bare = t;
            bare.biases = false;
            bare.vocabulary = 0;
            bare.positions = 0;
            CHECK(18.0 * device_parameters(bare, plan) / gib == near(45.5625, 1e-4)); // norms stay
        }
    }
}

TEST_CASE("iteration times of SeqPar's rows") {
    Errors errors;
    for (const SeqPar& r : kSeqPar) {
        const Transformer t = gpt(r.layers, r.hidden, r.heads, 51200, 2048, true);
        TransformerOptions o;
        o.batch = r.batch;
        o.fused = false;
        o.fused_bias_gradient = false;
        o.overlap = false;
        o.type = model::DataType::fp16;
        Plan plan;
        plan.tensor = 8;
        plan.pipeline = r.pipeline;
        plan.interleave = r.interleave;
        plan.microbatch = r.microbatch;
        plan.recompute = Recompute::full;
        const double full = step_of(t, "a100-sxm-80gb", "dgx-a100-hdr", plan, o).time_s;
        plan.recompute = Recompute::selective;
        plan.sequence = true;
        const double selective = step_of(t, "a100-sxm-80gb", "dgx-a100-hdr", plan, o).time_s;
        errors.add(full, r.full_s);
        errors.add(selective, r.selective_s);
        MESSAGE(std::string(r.name), ": full ", full, " of ", r.full_s, " s, selective ", selective,
                " of ", r.selective_s);
    }
    MESSAGE("SeqPar: mean error ", errors.mean(), ", worst ", errors.worst);
    CHECK(errors.mean() <= 0.05); // Calculon 0.0365, with efficiencies chosen on these rows
    CHECK(errors.worst <= 0.08);
}

TEST_CASE("iteration times of PTD-P's rows") {
    Errors errors;
    for (const Row& r : kPtdp) {
        TransformerOptions o;
        o.batch = r.batch;
        o.fused = false;
        o.overlap = false;
        o.type = model::DataType::fp16;
        o.fused_accumulation = false; // products add to gradients since the end of 2021
        o.fused_bias_gradient = false;
        Plan plan;
        plan.tensor = r.tensor;
        plan.pipeline = r.pipeline;
        plan.data = r.devices / (r.tensor * r.pipeline);
        plan.recompute = Recompute::full;
        double best = 1e30;
        for (const Count microbatch : {1, 2, 4, 8, 16}) { // not printed: what fits and is fastest
            plan.microbatch = microbatch;
            if (r.batch % (plan.data * microbatch) == 0) {
                const TransformerStep step =
                    step_of(ptdp_model(r), "a100-sxm-80gb", "dgx-a100-hdr", plan, o);
                best = step.memory.fits() ? std::min(best, step.time_s) : best;
            }
        }
        errors.add(best, r.seconds);
        MESSAGE(r.billions, " B: ", best, " of ", r.seconds, " s");
    }
    MESSAGE("PTD-P: mean error ", errors.mean(), ", worst ", errors.worst);
    CHECK(errors.mean() <= 0.08);
    CHECK(errors.worst <= 0.20);
}

TEST_CASE("iteration times of MCore's rows, and its strong scaling") {
    Errors errors;
    for (const Row& r : kMcore) {
        TransformerOptions o;
        o.batch = r.batch;
        o.length = 4096;
        o.overlap_tensor = true;
        Plan plan;
        plan.tensor = r.tensor;
        plan.pipeline = r.pipeline;
        plan.data = r.devices / (r.tensor * r.pipeline);
        plan.sequence = r.tensor > 1;
        plan.zero = 1;
        double best = 1e30;
        for (const Count microbatch : {1, 2, 4}) {
            plan.microbatch = microbatch;
            for (Count v = 1; v <= r.layers / r.pipeline; ++v) { // not printed either
                plan.interleave = v;
                if (r.batch % (plan.data * microbatch) == 0 && r.layers / r.pipeline % v == 0 &&
                    (v == 1 || r.pipeline > 1)) {
                    const TransformerStep step =
                        step_of(mcore_model(r), "h100-sxm-80gb", "dgx-h100-ndr", plan, o);
                    best = step.memory.fits() ? std::min(best, step.time_s) : best;
                }
            }
        }
        errors.add(best, r.seconds);
        MESSAGE(r.billions, " B: ", best, " of ", r.seconds, " s");
    }
    MESSAGE("MCore: mean error ", errors.mean(), ", worst ", errors.worst);
    CHECK(errors.mean() <= 0.11); // with stages outermost their messages cross nodes
    CHECK(errors.worst <= 0.165);
    // 177 B, batch 1152 whatever the number: 47 % MFU on 96 GPUs, 42 on 4608.
    const Row& r = kMcore[6];
    const auto mfu = [&](Count devices) {
        TransformerOptions o;
        o.batch = 1152;
        o.length = 4096;
        o.overlap_tensor = true;
        double best = 1e30;
        for (const Count p : {6, 12}) {
            for (const Count v : {1, 2, 4, 8, 16}) {
                Plan plan;
                plan.tensor = 8;
                plan.pipeline = p;
                plan.data = devices / (8 * p);
                plan.sequence = true;
                plan.zero = 1;
                plan.interleave = v;
                if (devices % (8 * p) == 0 && 1152 % plan.data == 0 && 96 / p % v == 0) {
                    best = std::min(
                        best,
                        step_of(mcore_model(r), "h100-sxm-80gb", "dgx-h100-ndr", plan, o).time_s);
                }
            }
        }
        return training_flops(mcore_model(r), 1152, 4096) /
               (best * static_cast<double>(devices) * 989e12);
    };
    const double few = mfu(96), many = mfu(4608);
    MESSAGE("strong scaling of 177 B: MFU ", few, " on 96, ", many, " on 4608");
    CHECK(std::abs((few - many) - 0.05) <= 0.03);
}

// Words a second and GPU of H100s on FSDP, sequences of 2048; mosaicml/llm-foundry@8c8dd48,
// scripts/train/benchmarking/README.md: microbatch, accumulation, sharding and parameters of each
// row. Mixed precision "DEFAULT": weights are gathered in bf16, gradients summed in fp32
// (mosaicml/composer#2047).
TEST_CASE("words a second of LLM Foundry's rows") {
    const struct {
        Count layers, hidden, heads, microbatch;
        Recompute recompute;
        int zero;          // SHARD_GRAD_OP gathers weights once a step, FULL_SHARD twice
        double parameters; // printed
        bool triton;       // sweep.py: FlashAttention 1 in Triton, else FlashAttention 2
        double words[3];   // on 128, 256, 512 GPUs
    } rows[] = {{24, 2048, 16, 12, Recompute::none, 2, 1315950592, false, {44123, 42555, 39837}},
                {32, 2560, 20, 8, Recompute::none, 2, 2651837440, false, {23422, 22772, 21664}},
                {32, 4096, 32, 6, Recompute::none, 3, 6658859008, false, {10475, 10119, 9670}},
                {40, 5120, 40, 16, Recompute::full, 3, 12853954560, true, {5080, 4989, 4952}},
                {48, 7168, 56, 8, Recompute::full, 3, 29975214080, true, {2199, 2148, 2115}},
                {80, 8192, 64, 8, Recompute::full, 3, 64862437376, false, {1058, 1035, 1007}}};
    Errors errors;
    for (const auto& r : rows) {
        const Transformer t = gpt(r.layers, r.hidden, r.heads, 50368, 2048, true);
        CHECK(parameters(t) + 2.0 * static_cast<double>(r.hidden) == r.parameters); // the last norm
        for (std::size_t i = 0; i < 3; ++i) {
            Plan plan;
            plan.data = 128 << i;
            plan.microbatch = r.microbatch;
            plan.recompute = r.recompute;
            plan.zero = r.zero;
            TransformerOptions o;
            o.batch = plan.data * plan.microbatch; // as printed: no accumulation
            o.attention = r.triton ? AttentionKernel::triton : AttentionKernel::flash2;
            o.fused_bias_gradient = false;
            const TransformerStep step = step_of(t, "h100-sxm-80gb", "dgx-h100-ndr", plan, o);
            const double words = static_cast<double>(r.microbatch) * 2048.0 / step.time_s;
            errors.add(words, r.words[i]);
            MESSAGE((parameters(t) / 1e9), " B on ", plan.data, ": ", words, " of ", r.words[i],
                    " words/s; data ", step.data_s / step.time_s);
        }
    }
    MESSAGE("Foundry: mean error ", errors.mean(), ", worst ", errors.worst);
    CHECK(errors.mean() <=
          0.13); // pins the present; docs/dev/scale-evidence.md says what is known of it
}

// MFU of eight A100s, the same source: microbatches, and how many a step.
TEST_CASE("MFU of LLM Foundry's rows on eight A100s") {
    const struct {
        Count layers, hidden, heads, microbatch, accumulated;
        double parameters, mfu;
    } rows[] = {
        {12, 768, 12, 40, 2, 125311488, 0.4479},   {24, 1024, 16, 32, 2, 355985408, 0.5162},
        {24, 1536, 12, 24, 2, 760470528, 0.5685},  {24, 2048, 16, 14, 4, 1315950592, 0.5986},
        {32, 2560, 20, 10, 2, 2651837440, 0.6211}, {32, 4096, 32, 6, 2, 6658859008, 0.6423},
        {40, 5120, 40, 2, 3, 12853954560, 0.5957}};
    Errors errors;
    for (const auto& r : rows) {
        const Transformer t = gpt(r.layers, r.hidden, r.heads, 50368, 2048, true);
        CHECK(parameters(t) + 2.0 * static_cast<double>(r.hidden) == r.parameters); // the last norm
        Plan plan;
        plan.data = 8;
        plan.microbatch = r.microbatch;
        plan.zero = 3;
        TransformerOptions o;
        o.batch = plan.data * plan.microbatch * r.accumulated;
        o.attention = AttentionKernel::triton; // the default of its benchmarks
        o.fused_bias_gradient = false;
        const TransformerStep step = step_of(t, "a100-sxm-80gb", "dgx-a100-hdr", plan, o);
        const double mfu =
            training_flops(t, static_cast<double>(o.batch), 2048) / (step.time_s * 8 * 312e12);
        errors.add(mfu, r.mfu);
        MESSAGE((parameters(t) / 1e9), " B: MFU ", mfu, " of ", r.mfu);
    }
    MESSAGE("Foundry, A100: mean error ", errors.mean(), ", worst ", errors.worst);
    CHECK(errors.mean() <= 0.06);
}

TEST_CASE("a decoder's sizes are read off its operators") {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "examples" / "networks"};
    const struct {
        const char* name;
        Transformer t;
    } rows[] = {
        {"gpt-3-175b", gpt(96, 12288, 96, 50257, 2048, true)},
        {"llama-3-8b", {"", 32, 4096, 32, 8, 128, 14336, 128256, 0, 1, 1, true, false, false}},
        {"llama-2-70b", {"", 80, 8192, 64, 8, 128, 28672, 32000, 0, 1, 1, true, false, false}},
        {"llama-3.2-1b", {"", 16, 2048, 32, 8, 64, 8192, 128256, 0, 1, 1, true, true, false}},
        {"mixtral-8x7b", {"", 32, 4096, 32, 8, 128, 14336, 32000, 0, 8, 2, true, false, false}},
        {"llama-2-7b", {"", 32, 4096, 32, 32, 128, 11008, 32000, 0, 1, 1, true, false, false}}};
    for (const auto& row : rows) {
        for (const char* fused : {"", ":fused=1"}) {
            const auto network = formats::load_network(std::string(row.name) + fused, folders);
            REQUIRE(network.ok());
            auto read = transformer_of(*network);
            REQUIRE_MESSAGE(read.ok(), row.name);
            read->name.clear();
            CAPTURE(row.name);
            CAPTURE(fused);
            CHECK(*read == row.t);
        }
    }
    CHECK_FALSE(transformer_of(*formats::load_network("resnet50", folders)).ok());
}

TEST_CASE("every decoder of the catalog can be divided and served, those with windows too") {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "examples" / "networks"};
    const auto read = [&](const std::string& name) {
        const auto network = formats::load_network(name, folders);
        REQUIRE(network.ok());
        return transformer_of(*network);
    };
    const auto gpt2 = read("gpt2-large");
    REQUIRE(gpt2);
    CHECK(parameters(*gpt2) + 2 * 1280 == 774'030'080); // but for the last norm
    const auto gemma = read("gemma-2-9b");              // 21 of 42 layers see a window only
    REQUIRE(gemma);
    CHECK(gemma->layers == 42);
    CHECK(gemma->heads == 16);
    CHECK(gemma->kv_heads == 8);
    CHECK(gemma->inner == 14336);
    CHECK(read("gemma-2-9b:new=16384")->layers == 42); // longer than the window
}

TEST_CASE("degrees that do not divide are named with the nearest that do") {
    const Transformer t = gpt(96, 12288, 96, 51200, 2048, true);
    Plan plan;
    plan.tensor = 7;
    TransformerOptions o;
    const auto found = check_plan(t, plan, o, fabric_named("dgx-a100-hdr"));
    REQUIRE(found.size() == 1);
    CHECK(found.items()[0].hint.find("--tensor 6") != std::string::npos);
    plan.pipeline = 97;
    CHECK(check_plan(t, plan, o, fabric_named("dgx-a100-hdr")).items()[1].hint ==
          "at most --pipeline 96");
    Plan experts;
    experts.expert = 16; // of 8
    experts.data = 8;
    Transformer mixed = t;
    mixed.experts = 8;
    CHECK(check_plan(mixed, experts, o, fabric_named("dgx-a100-hdr")).items()[0].hint ==
          "the nearest that does: --expert 8");
}

TEST_CASE("stages take blocks that do not divide, and the head as blocks where they are balanced") {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "examples" / "networks"};
    const Transformer large = *transformer_of(*formats::load_network("llama-3.1-405b", folders));
    CHECK(stage_blocks(large, 16, false) == StageBlocks{8, 7});
    CHECK(stage_blocks(large, 14, false) == StageBlocks{9, 9});
    CHECK(stage_blocks(large, 1, true) == StageBlocks{126, 126});
    // 32 blocks and a head of 2.4: 8, 8, 8, 8 + 2.4 or 9, 9, 8, 6 + 2.4.
    const Transformer small = *transformer_of(*formats::load_network("llama-3-8b", folders));
    CHECK(stage_blocks(small, 4, false) == StageBlocks{8, 8});
    CHECK(stage_blocks(small, 4, true) == StageBlocks{9, 6});
    // Without a head the bubble is (p - 1)/m of the rest; with one, balanced stages idle less.
    TransformerOptions o;
    o.batch = 8;
    BlockTimes times;
    times.forward_s = 1.0;
    times.backward_s = 2.0;
    Plan plan;
    plan.pipeline = 4;
    const model::Fabric fabric = nearest_everywhere(fabric_named("dgx-h100-ndr"));
    const auto idle = [&] {
        const TransformerStep step = transformer_step(small, plan, o, fabric, times, 0.0, 0.0);
        CHECK(step.compute_s + step.idle_s + step.communication_s() == near(step.time_s));
        return step.idle_s / step.compute_s;
    };
    CHECK(idle() == near(3.0 / 8.0, 1e-4));
    times.ends_s = 2.4 * 3.0;
    const double even = idle();
    plan.balanced = true;
    const double balanced = idle();
    MESSAGE("idle over computing, p 4, m 8: even ", even, ", balanced ", balanced);
    CHECK(balanced < even);
    CHECK(balanced < 0.45);
}

TEST_CASE("parts of a decoder's step add up, MFU is at most 1, more devices are never slower") {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "examples" / "networks"};
    const model::Fabric fabric = fabric_named("dgx-h100-ndr");
    model::Fabric faster = fabric;
    for (model::FabricLevel& level : faster.levels) {
        level.bytes_per_s *= 2.0;
    }
    for (const char* name : {"llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gpt2-xl"}) {
        const auto t = transformer_of(*formats::load_network(name, folders));
        REQUIRE(t.ok());
        for (const model::DataType type : {model::DataType::bf16, model::DataType::fp8}) {
            TransformerOptions o;
            o.batch = 1024;
            o.type = type;
            BlockExams exams(*t, machine_named("h100-sxm-80gb"), o);
            double before = 0.0;
            for (const Count data : {8, 16, 64, 256}) {
                Plan plan;
                plan.data = data;
                plan.pipeline = 3; // layers divide by it in none of them but gpt2-xl
                plan.expert = t->experts > 1 ? 8 : 1;
                plan.zero = 1;
                const auto point = transformer_point(exams, plan, fabric, 1.0, {});
                const auto quick = transformer_point(exams, plan, faster, 1.0, {});
                REQUIRE(point.ok());
                REQUIRE(quick.ok());
                CAPTURE(name);
                CAPTURE(data);
                const ScaleParts& p = point->parts;
                CHECK(p.compute_s + p.small_batch_s + p.idle_s + p.recompute_s + p.exposed_s ==
                      near(point->step_s));
                CHECK(point->mfu <= 1.0);
                CHECK(point->mfu > 0.0);
                CHECK(point->samples_per_s > before);
                CHECK(quick->step_s <= point->step_s * (1 + 1e-12));
                before = point->samples_per_s;
            }
        }
    }
}

// The Llama 3 herd of models, arXiv:2407.21783, table 4: BF16, model FLOP/s a GPU.
TEST_CASE("Llama 3 405B on 8192 and 16384 H100s") {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "examples" / "networks"};
    const Transformer t = *transformer_of(*formats::load_network("llama-3.1-405b", folders));
    const struct {
        Count data, context, batch, length;
        double tflops;
    } rows[] = {{64, 1, 2048, 8192, 430}, {128, 1, 2048, 8192, 400}, {8, 16, 128, 131072, 380}};
    Errors errors;
    for (const auto& r : rows) {
        for (const AttentionKernel kernel : {AttentionKernel::newest, AttentionKernel::flash2}) {
            TransformerOptions o;
            o.batch = r.batch;
            o.length = r.length;
            o.attention = kernel;
            o.overlap_tensor = false;
            Plan plan;
            plan.tensor = 8;
            plan.pipeline = 16;
            plan.interleave = 8;
            plan.context = r.context;
            plan.data = r.data;
            plan.sequence = true;
            plan.zero = 1;
            plan.order = PlanOrder::data_last;
            const TransformerStep step = step_of(t, "h100-sxm-80gb", "llama3-roce", plan, o);
            // Attention counted causal, as half of the square.
            const double full =
                training_flops(t, static_cast<double>(r.batch), static_cast<double>(r.length));
            const double none = training_flops(t, static_cast<double>(r.batch * r.length), 1.0);
            const double tflops =
                (full + none) / 2.0 / step.time_s / static_cast<double>(plan.devices()) / 1e12;
            MESSAGE(plan.devices(), " GPUs, ", r.length, " tokens, ",
                    (kernel == AttentionKernel::flash2 ? "flash2: " : "newest: "), tflops, " of ",
                    r.tflops, " TFLOP/s");
            if (kernel == AttentionKernel::newest) {
                errors.add(tflops, r.tflops);
            }
        }
    }
    MESSAGE("Llama 3: mean error ", errors.mean(), ", worst ", errors.worst);
    CHECK(errors.mean() <= 0.25);
}

TEST_CASE("attention stays in 16 bits beside products in fp8, and FlashAttention 2 takes longer") {
    const Transformer t = gpt(32, 4096, 32, 50257, 0, false);
    const auto time_of = [&](std::optional<model::DataType> attention, AttentionKernel kernel,
                             model::DataType type) {
        TransformerOptions o;
        o.batch = 8;
        o.length = 32768;
        o.type = type;
        o.attention_type = attention;
        o.attention = kernel;
        Plan plan;
        plan.tensor = 8;
        return step_of(t, "h100-sxm-80gb", "dgx-h100-ndr", plan, o).time_s;
    };
    using model::DataType;
    const double wide = time_of({}, AttentionKernel::newest, DataType::bf16);
    const double narrow = time_of({}, AttentionKernel::newest, DataType::fp8);
    const double all = time_of(DataType::fp8, AttentionKernel::newest, DataType::fp8);
    MESSAGE("32k tokens: fp8 products gain ", wide / narrow, ", with attention ", wide / all);
    // Published recipes gain 0 to 5 % at this length; the constants of fp8 GEMMs miss that by 1 %.
    CHECK(narrow < 1.015 * wide);
    CHECK(all < narrow);
    CHECK(narrow == near(time_of(DataType::bf16, AttentionKernel::newest, DataType::fp8)));
    const double flash2 = time_of({}, AttentionKernel::flash2, DataType::bf16);
    CHECK(flash2 > 1.1 * wide);
    CHECK(time_of({}, AttentionKernel::triton, DataType::bf16) > 1.1 * flash2);
}

TEST_CASE("attention kernels before the newest are slower by the factors of their papers") {
    CHECK(slowdown_of(AttentionKernel::newest, true) == AttentionSlowdown{});
    CHECK(slowdown_of(AttentionKernel::flash2, false) == AttentionSlowdown{}); // the newest there
    CHECK(slowdown_of(AttentionKernel::flash2, true) == AttentionSlowdown{1.75, 1.62});
    CHECK(slowdown_of(AttentionKernel::triton, false) == AttentionSlowdown{1.4, 2.0});
    const AttentionSlowdown both = slowdown_of(AttentionKernel::triton, true);
    CHECK(both.forward == near(1.75 * 1.4));
    CHECK(both.backward == near(1.62 * 2.0));
    for (const std::string& name : attention_kernel_names()) {
        CHECK(attention_kernel_name(*attention_kernel_from_name(name)) == name);
    }
    CHECK_FALSE(attention_kernel_from_name("flash9").has_value());
}

TEST_CASE("fused attention keeps no masks of dropouts, and the parts of memory are its total") {
    const Transformer t = gpt(48, 6144, 64, 51200, 2048, true);
    BlockCut cut;
    cut.tensor = 8;
    cut.sequence = true;
    cut.fused = false;
    // 34 s b h / t with masks of a byte each behind attention and feed-forward, 32 without.
    const double bytes = 2048.0 * 6144.0 / 8.0;
    CHECK(activation_bytes(t, cut, Recompute::selective) == near(34.0 * bytes));
    cut.fused = true;
    CHECK(activation_bytes(t, cut, Recompute::none) == near(32.0 * bytes));
    DeviceMemory memory;
    memory.weights = 1.0;
    memory.gradients = 2.0;
    memory.optimizer = 4.0;
    memory.activations = 8.0;
    memory.buffers = 16.0;
    memory.capacity = 31.0;
    CHECK(memory.total() == 31.0);
    CHECK(memory.fits());
    memory.capacity = 30.9;
    CHECK_FALSE(memory.fits());
}

TEST_CASE("random decoders and plans: parts add up, MFU is at most 1, faster is never slower") {
    std::mt19937 random(34);
    const auto one_of = [&](std::initializer_list<Count> values) {
        return *(values.begin() + std::uniform_int_distribution<std::ptrdiff_t>(
                                      0, static_cast<std::ptrdiff_t>(values.size()) - 1)(random));
    };
    const model::Fabric fabric = fabric_named("dgx-h100-ndr");
    model::Fabric faster = fabric;
    for (model::FabricLevel& level : faster.levels) {
        level.bytes_per_s *= 3.0;
    }
    for (int i = 0; i < 12; ++i) {
        Transformer t = gpt(one_of({12, 26, 40, 61}), one_of({1024, 2048, 4096}), 16,
                            one_of({32000, 128256}), one_of({0, 2048}), one_of({0, 1}) == 1);
        t.kv_heads = one_of({2, 8, 16});
        t.gated = one_of({0, 1}) == 1;
        if (one_of({0, 1}) == 1) {
            t.window = {t.layers / 2, one_of({128, 1024, 65536})};
        }
        if (one_of({0, 1, 2}) == 0) {
            t.experts = 8;
            t.active = 2;
        }
        TransformerOptions o;
        o.batch = 256;
        o.length = one_of({512, 2048, 8192});
        o.type = one_of({0, 1}) == 1 ? model::DataType::fp8 : model::DataType::bf16;
        o.overlap = one_of({0, 1}) == 1;
        BlockExams exams(t, machine_named("h100-sxm-80gb"), o);
        Plan plan;
        plan.tensor = one_of({1, 2, 4});
        plan.pipeline = one_of({1, 2, 5});
        plan.zero = static_cast<int>(one_of({0, 1, 2, 3}));
        plan.microbatch = one_of({1, 2});
        plan.sequence = plan.tensor > 1 && one_of({0, 1}) == 1;
        plan.recompute = one_of({0, 1}) == 1 ? Recompute::full : Recompute::none;
        plan.balanced = one_of({0, 1}) == 1;
        double before = 0.0;
        for (const Count data : {1, 4, 16, 64}) {
            plan.data = data;
            CAPTURE(i);
            CAPTURE(plan.text());
            const auto point = transformer_point(exams, plan, fabric, 1.0, {});
            const auto quick = transformer_point(exams, plan, faster, 1.0, {});
            REQUIRE(point.ok());
            REQUIRE(quick.ok());
            const ScaleParts& p = point->parts;
            CHECK(p.compute_s + p.small_batch_s + p.idle_s + p.recompute_s + p.exposed_s ==
                  near(point->step_s));
            CHECK(point->memory.total() ==
                  near(point->memory.weights + point->memory.gradients + point->memory.optimizer +
                       point->memory.activations + point->memory.buffers));
            CHECK(point->mfu > 0.0);
            CHECK(point->mfu <= 1.0);
            CHECK(quick->step_s <= point->step_s * (1 + 1e-12));
            CHECK(point->samples_per_s > before);
            before = point->samples_per_s;
        }
    }
}

TEST_CASE("a plan is written with the options of Megatron-LM and DeepSpeed that say the same") {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "examples" / "networks"};
    const Transformer t = *transformer_of(*formats::load_network("llama-3.1-405b", folders));
    Plan plan;
    plan.tensor = 8;
    plan.pipeline = 16;
    plan.data = 64;
    plan.interleave = 4;
    plan.sequence = true;
    plan.zero = 1;
    plan.recompute = Recompute::full;
    TransformerOptions o;
    o.batch = 2048;
    o.length = 8192;
    const std::string text = plan_yaml(plan, t, o);
    for (const char* line :
         {"devices: 8192", "--tensor-model-parallel-size 8", "--pipeline-model-parallel-size 16",
          "--decoder-last-pipeline-num-layers 7", "--num-virtual-stages-per-pipeline-rank 4",
          "--sequence-parallel", "--use-distributed-optimizer", "--recompute-granularity full",
          "--global-batch-size 2048", "--seq-length 8192", "--bf16", "train_batch_size: 2048",
          "gradient_accumulation_steps: 32", "stage: 1"}) {
        CHECK_MESSAGE(text.find(line) != std::string::npos, line);
    }
    plan.zero = 3;
    CHECK(plan_yaml(plan, t, o).find("optim_grads_params") != std::string::npos);
}

TEST_CASE("an optimizer on the host frees its states and takes PCIe and the host's memory") {
    TransformerOptions o;
    o.pcie_bytes_per_s = 25e9;
    o.host_bytes_per_s = 200e9;
    o.nvme_bytes_per_s = 20e9;
    Plan plan;
    CHECK(offload_s(plan, o, 1e9, 1.0, 8.0) == 0.0);
    plan.offload = OptimizerPlace::host;
    // 2 GB leave in 80 ms behind 50 ms of backward pass, 28 GB at an eighth of 200 GB/s, and back.
    CHECK(offload_s(plan, o, 1e9, 0.05, 8.0) == near(0.03 + 1.12 + 0.08));
    CHECK(offload_s(plan, o, 1e9, 1.0, 1.0) == near(0.14 + 0.08));
    plan.offload = OptimizerPlace::nvme;
    CHECK(offload_s(plan, o, 1e9, 1.0, 8.0) == near(24.0 * 8 / 20 + 0.08));
    const Transformer t = gpt(32, 4096, 32, 50257, 2048, true);
    o.batch = 32;
    BlockExams exams(t, machine_named("a100-sxm-80gb"), o);
    plan.data = 8;
    plan.zero = 2;
    double before = 0.0;
    for (const OptimizerPlace offload :
         {OptimizerPlace::device, OptimizerPlace::host, OptimizerPlace::nvme}) {
        plan.offload = offload;
        const auto point = transformer_point(exams, plan, fabric_named("dgx-a100-hdr"), 1.0, {});
        REQUIRE(point.ok());
        CHECK(point->step_s > before);
        CHECK((offload == OptimizerPlace::device) == (point->memory.optimizer > 0.0));
        before = point->step_s;
    }
}

} // namespace test_scale_transformer
