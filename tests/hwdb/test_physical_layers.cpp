// What must hold of any time, whatever the constants: random layers on every GPU of the catalog.
// EYEROOF_RANDOM_LAYERS=100000 runs the whole (tests/bench/check_physical.sh); by default a sample.
#include "hwdb/catalog.hpp"
#include "model/gpu/predict.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

namespace test_hwdb_physical_layers {

using namespace eyeroof; // NOLINT
using model::DataType;
using model::Layer;
using model::Op;

namespace {

const std::vector<std::filesystem::path> kFolders = {std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};

const std::vector<std::pair<std::string, model::Gpu>>& gpus() {
    static const auto all = [] {
        std::vector<std::pair<std::string, model::Gpu>> found;
        for (const auto& entry : hwdb::list_machines(kFolders)) {
            const auto machine = entry.family == "gpus" ? hwdb::load_machine(entry.id, kFolders)
                                                        : Result<model::Machine>::failure("", "");
            if (machine && std::holds_alternative<model::Gpu>(machine->kind)) {
                found.emplace_back(entry.id, std::get<model::Gpu>(machine->kind));
            }
        }
        return found;
    }();
    return all;
}

// Of each GPU, in each property.
int layers_per_gpu() {
    constexpr int kSample = 1500;
    const char* wanted = std::getenv("EYEROOF_RANDOM_LAYERS"); // NOLINT(concurrency-mt-unsafe)
    const int all = wanted != nullptr ? std::max(1, std::atoi(wanted)) : kSample;
    return all / static_cast<int>(gpus().size()) + 1;
}

Count between(std::mt19937& random, int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
}

Count power_of_two(std::mt19937& random, int least, int most) {
    return Count{1} << between(random, least, most);
}

Layer of(Op op, model::Shape shape, DataType type) {
    Layer layer;
    layer.op = op;
    layer.shape = std::move(shape);
    layer.types = {type, type, type};
    return layer;
}

Layer random_product(std::mt19937& random, DataType type) {
    const bool batched = random() % 4 == 0;
    return of(batched ? Op::bmm : Op::gemm,
              model::GemmShape{batched ? power_of_two(random, 0, 6) : 1,
                               power_of_two(random, 0, 13), power_of_two(random, 3, 14),
                               power_of_two(random, 3, 13)},
              type);
}

Layer random_conv(std::mt19937& random, DataType type) {
    constexpr std::array<Count, 4> kFilters = {1, 3, 5, 7};
    model::ConvShape c;
    c.n = power_of_two(random, 0, 6);
    c.c = between(random, 1, 1024);
    c.k = between(random, 1, 1024);
    c.h = c.w = between(random, 7, 112);
    c.r = c.s = kFilters[random() % kFilters.size()];
    c.stride.h = c.stride.w = 1 + static_cast<Count>(random() % 2);
    c.pad.h = c.pad.w = c.r / 2;
    Layer layer = of(Op::conv2d, c, type);
    constexpr std::array kDirections = {model::Direction::fwd, model::Direction::bwd_data,
                                        model::Direction::bwd_weight};
    layer.direction = kDirections[random() % kDirections.size()];
    return layer;
}

Layer random_memory(std::mt19937& random, DataType type) {
    constexpr std::array kOps = {Op::softmax, Op::layernorm, Op::rope, Op::embedding};
    const Count rows = between(random, 1, 16384);
    const Count cols = between(random, 16, 16384);
    if (random() % 2 == 0) {
        return of(Op::elementwise, model::ElementwiseShape{rows, cols, "add"}, type);
    }
    return of(kOps[random() % kOps.size()], model::RowsShape{rows, cols}, type);
}

Layer random_layer(std::mt19937& random, DataType type) {
    const auto kind = random() % 3;
    return kind == 0   ? random_product(random, type)
           : kind == 1 ? random_conv(random, type)
                       : random_memory(random, type);
}

double time_of(const model::Gpu& gpu, const Layer& layer) {
    const auto work = model::work_of(layer);
    const auto kernel = model::kernel_of(gpu, layer, *work);
    REQUIRE(kernel.ok());
    return model::timed_s(gpu, layer, *kernel, model::Timing::kernel);
}

// Twice the rows, images, or products of a batch.
Layer doubled(const Layer& layer) {
    Layer twice = layer;
    if (auto* g = std::get_if<model::GemmShape>(&twice.shape)) {
        (twice.op == Op::bmm ? g->batch : g->m) *= 2;
    } else if (auto* r = std::get_if<model::RowsShape>(&twice.shape)) {
        r->rows *= 2;
    } else if (auto* c = std::get_if<model::ConvShape>(&twice.shape)) {
        c->n *= 2;
    } else if (auto* e = std::get_if<model::ElementwiseShape>(&twice.shape)) {
        e->rows *= 2;
    }
    return twice;
}

model::Gpu with_clock(model::Gpu gpu, double factor) {
    gpu.boost_hz *= factor;
    gpu.tensor_hz *= factor;
    for (model::Rate& rate : gpu.rates) {
        rate.flops_per_s *= factor;
    }
    return gpu;
}

model::Gpu with_sms(model::Gpu gpu, double factor) {
    const int more = static_cast<int>(gpu.sms * factor);
    for (model::Rate& rate : gpu.rates) {
        rate.flops_per_s *= static_cast<double>(more) / gpu.sms;
    }
    gpu.sms = more;
    return gpu;
}

// Seconds that no machine with these peaks can beat: direct multiplications of products, for
// convolutions what Winograd leaves of them, a quarter in F(4x4, 3x3) and 64 of 400 in F(4x4, 5x5);
// what does not fit into four L2s over the
// memory's bandwidth for everything else.
double true_bound_s(const model::Gpu& gpu, const Layer& layer) {
    const auto work = model::work_of(layer);
    const double peak = gpu.rate(layer.types.input).flops_per_s;
    const double flops = 2.0 * static_cast<double>(work->macs);
    if (layer.op == Op::gemm || layer.op == Op::bmm) {
        return flops / peak;
    }
    if (layer.op == Op::conv2d && layer.direction == model::Direction::fwd) {
        const auto& shape = std::get<model::ConvShape>(layer.shape);
        return flops / (shape.r == 5 && shape.s == 5 ? 400.0 / 64.0 : 4.0) / peak;
    }
    const auto bytes = static_cast<double>(work->bytes());
    return bytes > 4.0 * gpu.l2_bytes ? bytes / gpu.dram_bytes_per_s : 0.0;
}

} // namespace

TEST_CASE("random layers: twice the batch is never faster") {
    std::mt19937 random(11);
    for (const auto& [id, gpu] : gpus()) {
        int faster = 0;
        for (int i = 0; i < layers_per_gpu(); ++i) {
            const Layer layer = random_layer(random, DataType::fp32);
            faster += time_of(gpu, doubled(layer)) < 0.999 * time_of(gpu, layer) ? 1 : 0;
        }
        CAPTURE(id);
        CHECK(faster == 0);
    }
}

TEST_CASE("random layers: more of any resource is never slower by more than 2 %") {
    std::mt19937 random(12);
    for (const auto& [id, gpu] : gpus()) {
        model::Gpu memory = gpu;
        memory.dram_bytes_per_s *= 1.25;
        model::Gpu cache = gpu;
        cache.l2_bytes *= 1.25;
        const std::array<std::pair<const char*, model::Gpu>, 4> more = {
            {{"DRAM bandwidth", memory},
             {"L2", cache},
             {"clock", with_clock(gpu, 1.25)},
             {"SMs", with_sms(gpu, 1.25)}}};
        for (int i = 0; i < layers_per_gpu(); ++i) {
            const Layer layer = random_layer(random, DataType::fp32);
            const double now = time_of(gpu, layer);
            for (const auto& [what, machine] : more) {
                const double then = time_of(machine, layer);
                constexpr double most = 1.02;
                if (then > most * now) {
                    const std::string resource = what;
                    CAPTURE(id);
                    CAPTURE(resource);
                    CAPTURE(model::op_name(layer.op));
                    CAPTURE(then / now);
                    CHECK(then <= most * now);
                }
            }
        }
    }
}

TEST_CASE("random layers: fp16 is not slower than fp32 by more than its cast") {
    std::mt19937 random(13);
    for (const auto& [id, gpu] : gpus()) {
        if (gpu.rate(DataType::fp16).flops_per_s < gpu.rate(DataType::fp32).flops_per_s) {
            continue;
        }
        int slower = 0;
        for (int i = 0; i < layers_per_gpu(); ++i) {
            Layer layer = random_product(random, DataType::fp32);
            const double full = time_of(gpu, layer);
            layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
            const auto work = model::work_of(layer);
            const double cast =
                2e-5 + 3.0 * static_cast<double>(work->bytes()) / gpu.dram_bytes_per_s;
            slower += time_of(gpu, layer) > full + cast ? 1 : 0;
        }
        CAPTURE(id);
        CHECK(slower == 0);
    }
}

TEST_CASE("random layers: no time is below a true bound") {
    std::mt19937 random(15);
    for (const auto& [id, gpu] : gpus()) {
        for (int i = 0; i < layers_per_gpu(); ++i) {
            const Layer layer = random_layer(random, DataType::fp32);
            const double bound = true_bound_s(gpu, layer);
            const double now = time_of(gpu, layer);
            if (now < 0.999 * bound) {
                CAPTURE(id);
                CAPTURE(model::op_name(layer.op));
                CAPTURE(now / bound);
                CHECK(now >= 0.999 * bound);
            }
        }
    }
}

TEST_CASE("random layers: no prediction is below its own step 6, nor outside of its interval") {
    std::mt19937 random(14);
    for (const auto& [id, gpu] : gpus()) {
        int bad = 0;
        for (int i = 0; i < layers_per_gpu() / 4 + 1; ++i) {
            const auto p = model::predict(gpu, random_layer(random, DataType::fp32));
            REQUIRE(p.ok());
            bad += p->time_s < p->step6_s || p->low_s > p->time_s || p->high_s < p->time_s ? 1 : 0;
        }
        CAPTURE(id);
        CHECK(bad == 0);
    }
}

} // namespace test_hwdb_physical_layers
