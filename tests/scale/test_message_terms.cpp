// Terms of a decoder's step and of serving, each with all others neutral: a flat fabric without
// latency, kernels that take no time.
#include "analysis/program/costs.hpp"
#include "analysis/scale/data_parallel.hpp"
#include "analysis/scale/engine_steps.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "hwdb/catalog.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <utility>
#include <vector>

namespace test_scale_message_terms {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;

namespace {

constexpr double kLink = 1e9; // byte/s

model::Fabric flat() {
    model::Fabric fabric;
    fabric.id = fabric.name = "flat";
    fabric.levels = {{}};
    fabric.levels[0].name = "link";
    fabric.levels[0].bytes_per_s = kLink;
    return fabric;
}

Transformer decoder(Count experts, Count active) {
    Transformer t;
    t.layers = 4;
    t.hidden = 1024;
    t.heads = t.kv_heads = 8;
    t.head_size = 128;
    t.inner = 4096;
    t.vocabulary = 32000;
    t.experts = experts;
    t.active = active;
    t.tied = t.biases = false;
    return t;
}

// Four devices of a microbatch of one sequence each time; nothing but messages takes time.
TransformerStep step_of(const Transformer& t, int zero, Count experts, double byte_s = 0.0) {
    Plan plan;
    plan.data = 4;
    plan.expert = experts;
    plan.zero = zero;
    TransformerOptions o;
    o.batch = 32; // 8 microbatches a device
    o.length = 512;
    o.overlap = false;
    o.gradient_bytes = 2.0;
    o.collective.algorithm = Algorithm::ring;
    BlockTimes times;
    times.byte_s = byte_s;
    return transformer_step(t, plan, o, flat(), times, 0.0, 80e9);
}

double values_of(const Transformer& t) {
    return device_parameters(t, Plan{});
}

ServingPoint point_of(const Transformer& t, ServingOptions o) {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto machine = hwdb::load_machine("a100-sxm-80gb", folders);
    REQUIRE(machine.ok());
    const auto result = serve(t, *machine, flat(), o);
    REQUIRE(result.ok());
    REQUIRE(result->points.size() == 1);
    return result->points.front();
}

} // namespace

TEST_CASE("ZeRO 3 averages the gradients of every microbatch, ZeRO 2 those of the step once") {
    const Transformer t = decoder(1, 1);
    const double byte_s = 1e-12;
    // read and written in 2 bytes a value, before they are summed: 4 bytes
    CHECK(step_of(t, 2, 1, byte_s).compute_s == near(4.0 * values_of(t) * byte_s));
    CHECK(step_of(t, 3, 1, byte_s).compute_s == near(8 * 4.0 * values_of(t) * byte_s));
}

TEST_CASE("ZeRO 1 scatters the gradients and gathers the weights of all values") {
    const Transformer t = decoder(1, 1);
    // 2 bytes a gradient and 2 a weight, three quarters of the array over each link
    const double each = 0.75 * 2.0 * values_of(t) / kLink;
    CHECK(step_of(t, 1, 1).data_s == near(2.0 * each));
    CHECK(step_of(t, 0, 1).data_s == near(2.0 * each)); // an all-reduce takes both
}

TEST_CASE("ZeRO 3 gathers a block's weights twice a microbatch and scatters its gradients") {
    const Transformer t = decoder(1, 1);
    const double block = 0.75 * 2.0 * block_parameters(t) / kLink;
    const double gathered = 8 * 4 * 2 * block;    // 8 microbatches, 4 blocks, forward and backward
    const double scattered = (8 - 1) * 4 * block; // those before the last
    CHECK(step_of(t, 3, 1).data_s ==
          near(0.75 * 2.0 * values_of(t) / kLink + gathered + scattered));
}

TEST_CASE("data parallel ZeRO 3 gathers twice, ZeRO 1 once, and each updates its part") {
    DeviceWork work;
    work.forward_s = 1.0;
    work.gradients = {{2.0, 4e9}}; // 2 s of backward pass, 4 GB of gradients
    work.update_s = 0.4;
    DataParallelOptions options;
    options.overlap = false;
    options.collective.algorithm = Algorithm::ring;
    const model::Fabric fabric = flat();
    const Group group = place_group(fabric, 4, 1, 4);
    const double once = 0.75 * 4e9 / kLink;
    for (const auto& [zero, times] : {std::pair{0, 2.0}, {1, 2.0}, {3, 3.0}}) {
        options.zero = zero;
        const DataParallelStep step = synchronous_step(work, fabric, group, options);
        CHECK(step.communication_s == near(times * once));
        CHECK(step.exposed_s == near(times * once));
        CHECK(step.compute_s == near(3.0 + (zero > 0 ? 0.1 : 0.4)));
    }
}

TEST_CASE("collectives beside kernels slow them by the share of the device that they take") {
    DeviceWork work;
    work.forward_s = 1.0;
    work.gradients = {{10.0, 1e9}, {10.0, 1e9}};
    DataParallelOptions options;
    options.bucket_bytes = 1e9;
    options.collective.algorithm = Algorithm::ring;
    model::Fabric fabric = flat();
    fabric.levels[0].occupies = 0.2;
    const DataParallelStep step =
        synchronous_step(work, fabric, place_group(fabric, 4, 1, 4), options);
    CHECK(step.communication_s == near(2 * 1.5)); // all-reduces of 1 GB over four
    CHECK(step.exposed_s == near(1.5));           // the last one
    CHECK(step.slowed_s == near(1.5 * 0.2 / 0.8));
}

// Of four devices, those that three experts chosen at random are on.
constexpr double kReached = 4.0 * (1.0 - 0.75 * 0.75 * 0.75);

TEST_CASE("tokens go once to every device that has one of their experts, four times a block") {
    // 512 tokens of 1024 values of 2 bytes, three quarters of them to other devices
    const double once = 0.75 * 512 * 1024 * 2.0 / kLink;
    CHECK(step_of(decoder(8, 1), 0, 4).expert_s == near(8 * 4 * 4 * once));
    CHECK(step_of(decoder(8, 3), 0, 4).expert_s == near(8 * 4 * 4 * kReached * once));
    CHECK(step_of(decoder(1, 1), 0, 1).expert_s == 0.0);
}

TEST_CASE("next tokens go once to every device that has one of their experts, and back") {
    ServingOptions o;
    o.prompt = 256;
    o.answer = 256;
    o.expert = 4;
    o.batches = {8};
    const double once = 0.75 * 2 * 1024 * 2.0 / kLink; // each of four replicas has 2 requests
    CHECK(point_of(decoder(8, 1), o).message_s == near(2 * 4 * once));
    const ServingPoint three = point_of(decoder(8, 3), o);
    CHECK(three.message_s == near(2 * 4 * kReached * once));
    CHECK(three.devices == 4);
    CHECK(three.tokens_per_s == near(8 / three.tpot_s));
}

TEST_CASE("experts' weights in fewer bits save their bytes too") {
    // Eight experts' products of one token each, 1024 x 4096 weights: 8 x 4.19 M bytes less in 8
    // bits, at 1 TB/s 33.6 us.
    model::Gpu gpu;
    gpu.dram_bytes_per_s = 1e12;
    gpu.rate(model::DataType::bf16) = {1e15, model::Pipe::tensor};
    model::Layer layer;
    layer.op = model::Op::bmm;
    layer.shape = model::GemmShape{8, 1, 4096, 1024};
    layer.types = {model::DataType::bf16, model::DataType::int8, model::DataType::bf16};
    const double words = 8.0 * 4096.0 * 1024.0;
    CHECK(step::with_weights_s(layer, gpu, model::DataType::int8, 100e-6, 2.0 * words,
                               2.0 * words) == near(100e-6 - words / 1e12));
    model::Layer shared = layer; // by eight samples: read once
    shared.op = model::Op::gemm;
    CHECK(step::with_weights_s(shared, gpu, model::DataType::int8, 100e-6, 2.0 * words,
                               2.0 * words) == near(100e-6 - words / 8.0 / 1e12));
    layer.types.weight = model::DataType::bf16; // of activations: nothing
    CHECK(step::with_weights_s(layer, gpu, model::DataType::int8, 100e-6, 2.0 * words,
                               2.0 * words) == 100e-6);
}

TEST_CASE("a next token sees the prompt and, on average, half of the answer") {
    const auto at = [](Count prompt, Count answer) {
        ServingOptions o;
        o.prompt = prompt;
        o.answer = answer;
        o.batches = {16};
        return point_of(decoder(1, 1), o).step_s;
    };
    CHECK(at(2000, 4000) == at(3900, 200));
    CHECK(at(2000, 4000) > at(2000, 200));
}

TEST_CASE("the first token waits for half a step, its prompt, and the request's own overhead") {
    ServingOptions o;
    o.prompt = 1000;
    o.answer = 100;
    o.engine.mixes = false;
    o.engine.request_host_s = 0.5;
    o.batches = {1};
    const ServingPoint alone = point_of(decoder(1, 1), o);
    CHECK(alone.ttft_s == near(alone.prefill_s + 0.5));
    o.batches = {8};
    const ServingPoint busy = point_of(decoder(1, 1), o);
    CHECK(busy.step_s > 0.0);
    CHECK(busy.ttft_s == near(busy.prefill_s + 0.5 * busy.step_s + 0.5));
}

TEST_CASE("a simulated first token comes at the end of the step that completes its prompt") {
    Engine engine;
    engine.chunk = 100;
    engine.request_host_s = 0.25;
    Demand demand;
    demand.prompt = 300; // three steps of a second
    demand.answer = 5;
    demand.users = 1;
    demand.together = true;
    demand.requests = 3;
    const auto load = simulate_load(
        {{[](const EngineLoad&) { return 1.0; }, 1, 1, 8}, std::nullopt, 0.0}, engine, demand);
    REQUIRE(load.ok());
    CHECK(load->ttft.p50 == near(3.0 + 0.25));
    CHECK(load->tpot.p50 == near(1.0));
    CHECK(load->tokens_per_s == near(5.0 / 7.0)); // the first of five tokens with the third step
    CHECK(load->busy == near(1.0));
}

} // namespace test_scale_message_terms
