// Norms by the library that runs them, worked out by hand with all other terms neutral.
#include "model/gpu/matmul.hpp"
#include "model/gpu/predict.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_model_gpu_norm_kernels {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

// 10 SMs at 1 GHz, 1 GB/s of DRAM and an L2 that keeps nothing: a million elements of 4 bytes.
Layer norm(Direction direction = Direction::fwd) {
    Layer layer;
    layer.op = Op::layernorm;
    layer.shape = RowsShape{1000, 1000};
    layer.types = {DataType::fp32, DataType::fp32, DataType::fp32};
    layer.direction = direction;
    return layer;
}

Gpu streaming() {
    Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = gpu.l2_bytes_per_s = 1e9;
    gpu.l2_bytes = 1.0;
    return gpu;
}

double body_s(const Gpu& gpu, const Layer& layer, NormKernel kernel) {
    MemoryTerms terms = test::plain_memory();
    terms.norm_pass = 1.0;
    terms.norm_cycles = 90.0; // 9 ms of 10 SMs
    return memory_time(gpu, terms, layer, *work_of(layer), kernel).body_s;
}

} // namespace

TEST_CASE("a library's name tells how it normalises") {
    CHECK(software_from_name("cudnn 9.1", DataType::fp16).norm == NormKernel::fused);
    CHECK(software_from_name("torch_compile", DataType::fp16).norm == NormKernel::compiled);
    CHECK(software_from_name("pytorch", DataType::fp16).norm == NormKernel::vector);
    CHECK(software_from_name("PyTorch 2.10", DataType::fp16).norm == NormKernel::vector);
    CHECK(software_from_name("PyTorch 2.1", DataType::fp16).norm == NormKernel::usual);
    CHECK(software_from_name("vllm 0.2", DataType::fp16).norm == NormKernel::usual);
    CHECK(software_from_name("cudnn", DataType::bf16).norm == NormKernel::fused);
}

TEST_CASE("a norm that keeps its rows reads them once, a vectorised one takes few cycles") {
    const double once = static_cast<double>(work_of(norm())->bytes()) / 1e9;
    const double again = 4e6 / 1e9;
    const auto joined = [](double bytes_s, double sm_s) { return std::hypot(bytes_s, sm_s); };
    CHECK(body_s(streaming(), norm(), NormKernel::fused) == near(joined(once, 1e-5)));
    CHECK(body_s(streaming(), norm(), NormKernel::vector) == near(joined(once + again, 1e-5)));
    CHECK(body_s(streaming(), norm(), NormKernel::scalar) == near(joined(once + again, 9e-3)));
}

TEST_CASE("gradients of norms are fused in cuDNN alone") {
    const Layer gradient = norm(Direction::bwd_data);
    const double slow = body_s(streaming(), gradient, NormKernel::scalar);
    CHECK(body_s(streaming(), gradient, NormKernel::compiled) == near(slow));
    CHECK(body_s(streaming(), gradient, NormKernel::vector) == near(slow));
    CHECK(body_s(streaming(), gradient, NormKernel::fused) < 0.8 * slow);
}

TEST_CASE("the gradients of a norm's weights are a kernel that sums over rows") {
    const Layer gradient = norm(Direction::bwd_data);
    const Gpu gpu = streaming();
    const auto body = [&](NormKernel kernel) {
        return memory_time(gpu, test::plain_memory(), gradient, *work_of(gradient), kernel).body_s;
    };
    CHECK(body(NormKernel::scalar) - body(NormKernel::fused) ==
          near(kernel_start_s(gpu) + 9e-6, 1e-3));
}

TEST_CASE("where nothing is told Blackwell's libraries are vectorised, earlier ones are not") {
    Gpu gpu = streaming();
    CHECK(usual_norm(gpu) == NormKernel::scalar);
    gpu.arch = GpuArch::blackwell;
    CHECK(usual_norm(gpu) == NormKernel::vector);
}

TEST_CASE("rows of vectorised norms and of their gradients are kinds of their own") {
    CHECK(row_kind(norm()) == "layernorm_kernel");
    CHECK(row_kind(norm(), {.norm = NormKernel::fused}) == "layernorm_vector");
    CHECK(row_kind(norm(), {.norm = NormKernel::vector}, Timing::eager) == "layernorm");
    CHECK(row_kind(norm(Direction::bwd_data)) == "layernorm_gradient");
}

} // namespace test_model_gpu_norm_kernels
