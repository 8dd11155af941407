// What must hold of attention and experts whatever the constants: random layers on every GPU of the
// catalog that runs them on tensor cores. EYEROOF_RANDOM_LAYERS=100000 runs the whole.
#include "hwdb/catalog.hpp"
#include "model/gpu/predict.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

namespace test_hwdb_physical_fused {

using namespace eyeroof; // NOLINT
using model::Layer;

namespace {

constexpr model::DataType kType = model::DataType::fp16;

std::vector<std::pair<std::string, model::Gpu>> tensor_gpus() {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    std::vector<std::pair<std::string, model::Gpu>> found;
    for (const auto& entry : hwdb::list_machines(folders)) {
        const auto machine = entry.family == "gpus" ? hwdb::load_machine(entry.id, folders)
                                                    : Result<model::Machine>::failure("", "");
        const auto* gpu = machine ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
        if (gpu != nullptr && gpu->rate(kType).pipe == model::Pipe::tensor) {
            found.emplace_back(entry.id, *gpu);
        }
    }
    return found;
}

int layers_of_each(std::size_t gpus) {
    const char* wanted = std::getenv("EYEROOF_RANDOM_LAYERS"); // NOLINT(concurrency-mt-unsafe)
    const int all = wanted != nullptr ? std::max(1, std::atoi(wanted)) : 1500;
    return all / static_cast<int>(gpus) + 1;
}

Count power_of_two(std::mt19937& random, int most) {
    return Count{1} << std::uniform_int_distribution<int>(0, most)(random);
}

Layer random_attention(std::mt19937& random) {
    model::AttentionShape s;
    s.batch = power_of_two(random, 7);
    s.kv_heads = power_of_two(random, 4);
    s.groups = s.kv_heads * power_of_two(random, 3);
    s.k = 32 * power_of_two(random, 3);
    const Count before = std::uniform_int_distribution<Count>(1, 16384)(random);
    s.m = random() % 2 == 0 ? 1 : std::uniform_int_distribution<Count>(16, 4096)(random);
    s.n = s.m == 1 ? before : s.m;
    s.causal = s.m == 1 || random() % 2 == 0;
    Layer layer;
    layer.op = model::Op::attention;
    layer.shape = s;
    layer.types = {kType, kType, kType};
    return layer;
}

Layer random_experts(std::mt19937& random) {
    model::MoeShape s;
    s.experts = power_of_two(random, 8);
    s.topk = std::min(s.experts, power_of_two(random, 3));
    s.m = power_of_two(random, 13);
    s.n = 512 * power_of_two(random, 4);
    s.k = 128 * power_of_two(random, 6);
    Layer layer;
    layer.op = model::Op::moe;
    layer.shape = s;
    layer.types = {kType, kType, kType};
    return layer;
}

Layer random_fused(std::mt19937& random) {
    return random() % 3 == 0 ? random_experts(random) : random_attention(random);
}

double time_of(const model::Gpu& gpu, const Layer& layer) {
    const auto kernel = model::kernel_of(gpu, layer, *model::work_of(layer));
    REQUIRE(kernel.ok());
    return model::timed_s(gpu, layer, *kernel, model::Timing::kernel);
}

Layer with_batch_doubled(Layer layer) {
    if (auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
        a->batch *= 2;
    } else {
        std::get<model::MoeShape>(layer.shape).m *= 2;
    }
    return layer;
}

model::Gpu faster_clock(model::Gpu gpu) {
    gpu.boost_hz *= 1.25;
    gpu.tensor_hz *= 1.25;
    for (model::Rate& rate : gpu.rates) {
        rate.flops_per_s *= 1.25;
    }
    return gpu;
}

} // namespace

TEST_CASE("random attention and experts: twice the batch is hardly faster") {
    std::mt19937 random(21);
    const auto gpus = tensor_gpus();
    for (const auto& [id, gpu] : gpus) {
        for (int i = 0; i < layers_of_each(gpus.size()); ++i) {
            const Layer layer = random_fused(random);
            const double now = time_of(gpu, layer);
            const double twice = time_of(gpu, with_batch_doubled(layer));
            if (twice < 0.98 * now) {
                CAPTURE(id);
                CAPTURE(model::op_name(layer.op));
                CAPTURE(twice / now);
                CHECK(twice >= 0.98 * now);
            }
        }
    }
}

TEST_CASE("random attention and experts: more bandwidth, L2 or clock is never slower by 2 %") {
    std::mt19937 random(22);
    const auto gpus = tensor_gpus();
    for (const auto& [id, gpu] : gpus) {
        model::Gpu memory = gpu;
        memory.dram_bytes_per_s *= 1.25;
        model::Gpu cache = gpu;
        cache.l2_bytes *= 1.25;
        const std::array<model::Gpu, 3> more = {memory, cache, faster_clock(gpu)};
        for (int i = 0; i < layers_of_each(gpus.size()); ++i) {
            const Layer layer = random_fused(random);
            const double now = time_of(gpu, layer);
            for (std::size_t what = 0; what < more.size(); ++what) {
                const double then = time_of(more[what], layer);
                if (then > 1.02 * now) {
                    CAPTURE(id);
                    CAPTURE(what);
                    CAPTURE(model::op_name(layer.op));
                    CHECK(then <= 1.02 * now);
                }
            }
        }
    }
}

TEST_CASE(
    "random attention and experts: no prediction is below its step 6 or out of its interval") {
    std::mt19937 random(23);
    const auto gpus = tensor_gpus();
    for (const auto& [id, gpu] : gpus) {
        int bad = 0;
        for (int i = 0; i < layers_of_each(gpus.size()) / 4 + 1; ++i) {
            const auto p = model::predict(gpu, random_fused(random));
            REQUIRE(p.ok());
            bad += p->time_s < p->step6_s || p->low_s > p->time_s || p->high_s < p->time_s ? 1 : 0;
        }
        CAPTURE(id);
        CHECK(bad == 0);
    }
}

} // namespace test_hwdb_physical_fused
