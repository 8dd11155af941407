// What differs between generations of memories and kernels, worked out by hand with all other
// terms neutral.
#include "model/gpu/attention.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_memory_generations {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

Layer elements(const char* fn) {
    Layer layer;
    layer.op = Op::elementwise;
    layer.shape = ElementwiseShape{1000, 1000, fn};
    layer.types = {DataType::fp32, DataType::fp32, DataType::fp32};
    return layer;
}

double body_s(const Gpu& gpu, const MemoryTerms& terms, const char* fn) {
    const Layer layer = elements(fn);
    return memory_time(gpu, terms, layer, *work_of(layer)).body_s;
}

} // namespace

TEST_CASE("GDDR and HBM before Volta stream at 0.83 of what later HBM does") {
    Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    gpu.l2_bytes_per_s = 1e9;
    const double recent = body_s(gpu, test::plain_memory(), "add");
    CHECK(recent == near(12e6 / 1e9));
    for (const GpuArch older : {GpuArch::pascal, GpuArch::turing, GpuArch::ada}) {
        gpu.arch = older;
        CHECK(body_s(gpu, test::plain_memory(), "add") == near(recent / 0.83));
    }
    gpu.arch = GpuArch::ampere;
    CHECK(body_s(gpu, test::plain_memory(), "add") == near(recent)); // no memory is named
    gpu.memory_type = MemoryType::hbm;
    CHECK(body_s(gpu, test::plain_memory(), "add") == near(recent));
    gpu.memory_type = MemoryType::gddr;
    CHECK(body_s(gpu, test::plain_memory(), "add") == near(recent / 0.83));
    gpu.arch = GpuArch::pascal;
    gpu.memory_type = MemoryType::hbm;
    CHECK(body_s(gpu, test::plain_memory(), "add") == near(recent / 0.83));
}

TEST_CASE("an L2 of two partitions streams at 0.6 of its bandwidth") {
    Gpu gpu = test::plain_gpu();
    gpu.arch = GpuArch::ampere;
    gpu.dram_bytes_per_s = 1e9;
    gpu.l2_bytes_per_s = 10e9;
    gpu.l2_bytes = 1e9; // holds all
    MemoryTerms terms = test::plain_memory();
    terms.resident_l2 = 1.0;
    CHECK(body_s(gpu, terms, "add") == near(12e6 / 10e9));
    gpu.compute_capability = "8.0";
    CHECK(body_s(gpu, terms, "add") == near(12e6 / 6e9));
}

TEST_CASE("the sum of three tensors is two kernels, each of two tensors") {
    Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = gpu.l2_bytes_per_s = 1e9;
    gpu.boost_hz = 3e9;
    gpu.calibration.record(KernelClass::memory).launch[static_cast<std::size_t>(Timing::kernel)] =
        2e-6; // at 1.5 GHz
    CHECK(body_s(gpu, test::plain_memory(), "add3") ==
          near(2.0 * body_s(gpu, test::plain_memory(), "add") + 1e-6));
}

TEST_CASE("int8 on DP4A is a plain call, without a cast or scales") {
    MatmulTerms terms = test::plain_matmul();
    const Product product{1, 4096, 4096, 4096, 1, 1};
    const std::vector<CtaTile> tile = {{128, 128}};
    const auto time = [&](bool early) {
        return matmul_time(test::plain_gpu(), DataType::int8, terms, product, tile, {1}, early)
            .body_s;
    };
    const double own = time(true);
    const double tensor = time(false);
    terms.int8_s = 1e-3;
    CHECK(time(true) == near(own));
    CHECK(time(false) == near(tensor + 1e-3));
}

TEST_CASE("attention in fp8 multiplies in 16 bits before Hopper") {
    AttentionTerms terms;
    terms.overlap = 100.0;
    terms.score_cycles = terms.cta_cycles = 0.0;
    const auto compute_s = [&](GpuArch arch, DataType type) {
        Gpu gpu = test::plain_gpu();
        gpu.arch = arch;
        gpu.calibration.tensor_gemm = test::plain_matmul();
        Layer layer;
        layer.op = Op::attention;
        layer.shape = AttentionShape{5, 4, 256, 256, 128};
        layer.types = {type, type, type};
        return attention_time(gpu, type, terms, layer, *work_of(layer)).compute_s;
    };
    const double wide = compute_s(GpuArch::ada, DataType::fp16);
    CHECK(compute_s(GpuArch::ada, DataType::fp8) == near(wide));
    CHECK(compute_s(GpuArch::hopper, DataType::fp8) == near(wide / 2.0));
}

} // namespace test_model_gpu_memory_generations
