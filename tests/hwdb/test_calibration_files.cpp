// The fitted constants of the repository, and what they make of random layers on every GPU.
#include "hwdb/calibration_reader.hpp"
#include "hwdb/catalog.hpp"
#include "model/gpu/predict.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>

using namespace eyeroof; // NOLINT
namespace fs = std::filesystem;
using model::DataType;
using model::Layer;

namespace {

const fs::path kHwdb = fs::path(tests::source_dir()) / "hwdb";
const std::vector<fs::path> kFolders = {kHwdb};

std::vector<std::pair<std::string, model::Gpu>> gpus() {
    std::vector<std::pair<std::string, model::Gpu>> all;
    for (const auto& entry : hwdb::list_machines(kFolders)) {
        const auto machine = entry.family == "gpus"
                                 ? hwdb::load_machine(entry.id, kFolders)
                                 : model::Result<model::Machine>::failure("", "");
        if (machine && std::holds_alternative<model::Gpu>(machine->kind)) {
            all.emplace_back(entry.id, std::get<model::Gpu>(machine->kind));
        }
    }
    return all;
}

Layer random_product(std::mt19937& random, DataType type) {
    const auto size = [&](int least, int most) {
        return model::Count{1} << std::uniform_int_distribution<int>(least, most)(random);
    };
    Layer layer;
    layer.op = random() % 4 == 0 ? model::Op::bmm : model::Op::gemm;
    layer.shape = model::GemmShape{layer.op == model::Op::bmm ? size(0, 6) : 1, size(0, 13),
                                   size(3, 14), size(3, 13)};
    layer.types = {type, type, type};
    return layer;
}

Layer random_rows(std::mt19937& random, DataType type) {
    constexpr std::array kOps = {model::Op::softmax, model::Op::layernorm, model::Op::rope,
                                 model::Op::embedding};
    Layer layer;
    layer.op = kOps[random() % kOps.size()];
    layer.shape = model::RowsShape{std::uniform_int_distribution<int>(1, 16384)(random),
                                   std::uniform_int_distribution<int>(16, 16384)(random)};
    layer.types = {type, type, type};
    return layer;
}

Layer random_layer(std::mt19937& random, DataType type) {
    return random() % 2 == 0 ? random_product(random, type) : random_rows(random, type);
}

double time_of(const model::Gpu& gpu, const Layer& layer) {
    const auto work = model::work_of(layer);
    const auto kernel = model::kernel_of(gpu, layer, *work);
    REQUIRE(kernel.ok());
    return model::with_launch(gpu, layer, *kernel, model::Launch::kernel);
}

// Twice the rows, or twice the products of a batch.
Layer doubled(const Layer& layer) {
    Layer twice = layer;
    if (auto* g = std::get_if<model::GemmShape>(&twice.shape)) {
        (twice.op == model::Op::bmm ? g->batch : g->m) *= 2;
    } else if (auto* r = std::get_if<model::RowsShape>(&twice.shape)) {
        r->rows *= 2;
    }
    return twice;
}

constexpr int kLayersPerGpu = 2600; // of 39 GPUs: 10^5

} // namespace

TEST_CASE("every constant of every calibration file is within what its name allows") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(kHwdb / "calibration")) {
        if (entry.path().extension() != ".yaml" || entry.path().stem() == "fused") {
            continue; // fused.yaml holds classes of all GPUs: below
        }
        CAPTURE(entry.path().string());
        auto document = hwdb::load_yaml(entry.path());
        REQUIRE(document.ok());
        auto file = hwdb::read_calibration(*document, "");
        REQUIRE(file.ok());
        ++files;
        for (std::size_t i = 0; i < model::kKernelClasses; ++i) {
            const auto c = static_cast<model::KernelClass>(i);
            for (const auto& [name, value] : model::calibration_terms(file->calibration, c)) {
                CAPTURE(name);
                CHECK(model::within(model::term_bound(name), *value));
            }
        }
    }
    CHECK(files > 20);
}

TEST_CASE("every GPU has the constants of attention, within what their names allow") {
    for (auto& [id, gpu] : gpus()) {
        CAPTURE(id);
        model::GpuCalibration own = gpu.calibration;
        const auto& record = own.record(model::KernelClass::attention);
        CHECK(record.provenance.source.find('@') != std::string::npos);
        for (const auto& [name, value] :
             model::calibration_terms(own, model::KernelClass::attention)) {
            CAPTURE(name);
            CHECK(*value > 0.0);
            CHECK(model::within(model::term_bound(name), *value));
        }
    }
}

TEST_CASE("10^5 random layers on all GPUs: twice the batch is never faster") {
    std::mt19937 random(11);
    for (const auto& [id, gpu] : gpus()) {
        int faster = 0;
        for (int i = 0; i < kLayersPerGpu / 2; ++i) {
            const Layer layer = random_layer(random, DataType::fp32);
            faster += time_of(gpu, doubled(layer)) < 0.999 * time_of(gpu, layer) ? 1 : 0;
        }
        CAPTURE(id);
        CHECK(faster == 0);
    }
}

TEST_CASE("more of any resource is never slower by more than 2 %") {
    std::mt19937 random(12);
    for (const auto& [id, gpu] : gpus()) {
        model::Gpu memory = gpu;
        memory.dram_bytes_per_s *= 1.25;
        model::Gpu cache = gpu;
        cache.l2_bytes *= 1.25;
        model::Gpu clock = gpu;
        clock.boost_hz *= 1.25;
        clock.tensor_hz *= 1.25;
        for (model::Rate& rate : clock.rates) {
            rate.flops_per_s *= 1.25;
        }
        int slower = 0;
        for (int i = 0; i < kLayersPerGpu / 4; ++i) {
            const Layer layer = random_layer(random, DataType::fp32);
            const double now = time_of(gpu, layer);
            for (const model::Gpu* more : {&memory, &cache, &clock}) {
                slower += time_of(*more, layer) > 1.02 * now ? 1 : 0;
            }
        }
        CAPTURE(id);
        CHECK(slower == 0);
    }
}

TEST_CASE("a product in fp16 is not slower than in fp32 by more than its cast") {
    std::mt19937 random(13);
    for (const auto& [id, gpu] : gpus()) {
        if (gpu.rate(DataType::fp16).flops_per_s < gpu.rate(DataType::fp32).flops_per_s) {
            continue;
        }
        int slower = 0;
        for (int i = 0; i < kLayersPerGpu / 4; ++i) {
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

TEST_CASE("no prediction is below its own step 6, nor outside of its interval") {
    std::mt19937 random(14);
    for (const auto& [id, gpu] : gpus()) {
        int bad = 0;
        for (int i = 0; i < 60; ++i) {
            const auto p =
                model::predict(gpu, random_layer(random, DataType::fp32), model::Launch::kernel);
            REQUIRE(p.ok());
            bad += p->time_s < p->step6_s || p->low_s > p->time_s || p->high_s < p->time_s ? 1 : 0;
        }
        CAPTURE(id);
        CHECK(bad == 0);
    }
}
