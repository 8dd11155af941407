// How a framework casts the operands of products in 8 bits, by hand and on a whole GPU.
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_model_gpu_casts {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

Gpu with_fp8() {
    Gpu gpu = test::plain_gpu();
    gpu.calibration.tensor_gemm = test::plain_matmul();
    gpu.calibration.tensor_gemm.quantise_s = 9e-6;
    gpu.calibration.tensor_gemm.fused_cast_s = 4e-6;
    return gpu;
}

double body_s(DataType type, ByteCast cast) {
    const Layer layer = test::gemm(64, 64, 64, type);
    return kernel_of(with_fp8(), layer, *work_of(layer), {.cast = cast})->body_s;
}

} // namespace

TEST_CASE("a framework's name and version tell how it casts") {
    constexpr DataType fp8 = DataType::fp8;
    CHECK(software_from_name("TRTLLM 1.0.0", fp8).cast == ByteCast::kernels);
    CHECK(software_from_name("TRTLLM 1.3.0rc20 fp8_block", fp8).cast == ByteCast::fused);
    CHECK(software_from_name("VLLM 0.14.0", fp8).cast == ByteCast::slow);
    CHECK(software_from_name("vllm 0.19.0", fp8).cast == ByteCast::fused);
    CHECK(software_from_name("vllm 1.0", fp8).cast == ByteCast::fused);
    CHECK(software_from_name("vllm", fp8).cast == ByteCast::usual); // of which there are both
    CHECK(software_from_name("SGLang 0.5.6", DataType::int8).cast == ByteCast::slow);
    CHECK(software_from_name("SGLang 0.5.6", fp8).cast == ByteCast::fused);
    CHECK(software_from_name("vllm-0.19", fp8).cast == ByteCast::fused);
    CHECK(software_from_name("vllm-0.14", fp8).cast == ByteCast::slow);
    CHECK(software_from_name("quantized", fp8).cast == ByteCast::given);
    CHECK(software_from_name("trtllm-1.3 quantized", DataType::int8).cast == ByteCast::given);
    CHECK(software_from_name("TensorRT-LLM 1.0", DataType::int8).cast == ByteCast::fused);
    CHECK(software_from_name("cublas 12", fp8).cast == ByteCast::usual);
    CHECK(software_from_name("", fp8).cast == ByteCast::usual);
}

TEST_CASE("a cast takes kernels of its own or one quick one, the likeliest where none is named") {
    const double kernels = body_s(DataType::fp8, ByteCast::kernels);
    CHECK(kernels - body_s(DataType::fp8, ByteCast::fused) == near(9e-6 - 4e-6));
    CHECK(body_s(DataType::fp8, ByteCast::usual) == near(kernels));
    CHECK(body_s(DataType::int8, ByteCast::kernels) - body_s(DataType::int8, ByteCast::fused) ==
          near(9e-6));
    CHECK(body_s(DataType::int8, ByteCast::usual) == near(body_s(DataType::int8, ByteCast::fused)));
    CHECK(body_s(DataType::fp16, ByteCast::kernels) ==
          near(body_s(DataType::fp16, ByteCast::fused)));
}

TEST_CASE("operands that are quantized already take no time, in every type of few bits") {
    const auto cast_s = [](DataType type, ByteCast cast) {
        return body_s(type, cast) - body_s(type, ByteCast::given);
    };
    CHECK(cast_s(DataType::fp8, ByteCast::kernels) == near(9e-6));
    CHECK(cast_s(DataType::fp8, ByteCast::fused) == near(4e-6));
    CHECK(cast_s(DataType::int8, ByteCast::kernels) == near(9e-6));
    CHECK(cast_s(DataType::fp16, ByteCast::kernels) == near(0.0));
}

TEST_CASE("types of four bits are cast in one quick kernel where no library is named") {
    Gpu gpu = with_fp8();
    gpu.rate(DataType::nvfp4) = gpu.rate(DataType::fp8);
    const Layer layer = test::gemm(64, 64, 64, DataType::nvfp4);
    const auto seconds = [&](ByteCast cast) {
        return kernel_of(gpu, layer, *work_of(layer), {.cast = cast})->body_s;
    };
    CHECK(seconds(ByteCast::usual) == near(seconds(ByteCast::fused)));
    CHECK(seconds(ByteCast::kernels) - seconds(ByteCast::fused) == near(5e-6));
}

TEST_CASE(
    "a slow cast takes SM cycles an element beside one pass, several kernels several passes") {
    Gpu gpu = test::plain_gpu(); // 10 SMs at 1 GHz
    MatmulTerms terms = test::plain_matmul();
    gpu.calibration.tensor_gemm = terms;
    const Layer layer = test::gemm(1000, 64, 1000, DataType::fp8); // a million activations
    const auto cast_s = [&](ByteCast cast) {
        const auto whole = kernel_of(gpu, layer, *work_of(layer), {.cast = cast});
        gpu.calibration.tensor_gemm.cast_cycles = 0.0;
        gpu.calibration.tensor_gemm.quantise_pass = 0.0;
        return whole->body_s;
    };
    gpu.dram_bytes_per_s = 1e12; // a pass: 3 bytes, 3 us
    const double fused = cast_s(ByteCast::fused);
    gpu.calibration.tensor_gemm.cast_cycles = 0.04; // 4 us of 10 SMs
    CHECK(cast_s(ByteCast::slow) - fused == near(std::hypot(3e-6, 4e-6) - 3e-6));
    gpu.calibration.tensor_gemm.quantise_pass = 2.0;
    CHECK(cast_s(ByteCast::kernels) - fused == near(3e-6));
    const Layer bytes =
        test::gemm(1000, 64, 1000, DataType::int8); // finds each row's maximum first
    const auto int8_s = [&](ByteCast cast) {
        return kernel_of(gpu, bytes, *work_of(bytes), {.cast = cast})->body_s;
    };
    const double given = int8_s(ByteCast::fused);
    gpu.calibration.tensor_gemm.cast_cycles = 0.02;
    CHECK(int8_s(ByteCast::slow) - given == near(std::hypot(3e-6, 4e-6)));
}

TEST_CASE("the interval of an unknown framework holds those of both ways to cast") {
    const Gpu gpu = with_fp8();
    for (const DataType type : {DataType::fp8, DataType::int8}) {
        const Layer layer = test::gemm(64, 256, 1024, type);
        const auto usual = predict(gpu, layer);
        for (const ByteCast cast : {ByteCast::kernels, ByteCast::fused}) {
            const auto known = predict(gpu, layer, {.cast = cast});
            CHECK(usual->low_s <= known->low_s);
            CHECK(usual->high_s >= known->high_s);
        }
    }
}

TEST_CASE("rows of each way to cast are of a kind of their own") {
    const Layer fp8 = test::gemm(64, 64, 64, DataType::fp8);
    const Layer int8 = test::gemm(64, 64, 64, DataType::int8);
    CHECK(row_kind(fp8, {.cast = ByteCast::kernels}) == "gemm_fp8");
    CHECK(row_kind(fp8, {.cast = ByteCast::fused}) == "gemm_fp8_fused");
    CHECK(row_kind(fp8, {.cast = ByteCast::slow}) == "gemm_fp8");
    CHECK(row_kind(int8, {.cast = ByteCast::kernels}) == "gemm_int8_cast");
    CHECK(row_kind(int8, {.cast = ByteCast::slow}) == "gemm_int8_cast");
    CHECK(row_kind(int8) == "gemm_int8");
}

TEST_CASE("a memory's family follows from how its name begins") {
    CHECK(memory_type_from_name("HBM2e") == MemoryType::hbm);
    CHECK(memory_type_from_name("gddr6x") == MemoryType::gddr);
    CHECK(memory_type_from_name("LPDDR5") == MemoryType::lpddr);
    CHECK(memory_type_from_name("DDR4") == MemoryType::ddr);
    CHECK(memory_type_from_name("") == MemoryType::unknown);
    CHECK(memory_type_from_name("core memory") == MemoryType::unknown);
    CHECK(memory_type_name(MemoryType::hbm) == "HBM");
}

} // namespace test_model_gpu_casts
