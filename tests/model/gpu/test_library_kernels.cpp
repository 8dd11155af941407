// Kernels of serving libraries: what a name says, which constants a call takes, and its time worked
// out by hand.
#include "model/gpu/library_cells.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

namespace test_model_gpu_library_kernels {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

// Ten microseconds, whatever the work.
LibraryCell constant_cell(double start) {
    LibraryCell cell;
    cell.added = {start, 0.0, 0.0};
    cell.joined = {0.0, 0.0, 0.0, 0.0};
    cell.low = 0.8;
    cell.high = 1.25;
    return cell;
}

LibraryCall product(std::string library, std::string kernel = "") {
    LibraryCall call;
    call.op = "gemm";
    call.type = "fp8";
    call.library = std::move(library);
    call.kernel = std::move(kernel);
    call.of(CallSize::m) = 64.0;
    call.of(CallSize::n) = 128.0;
    call.of(CallSize::k) = 256.0;
    return call;
}

MachineKernels kernels_of(LibraryCells cells) {
    return {{std::make_shared<const LibraryCells>(std::move(cells))}, "here"};
}

} // namespace

TEST_CASE("a name tells a serving library, its version, its kernel, and its operands") {
    const ServingLibrary sglang = serving_library("sglang-0.5 fa3");
    CHECK(sglang.name == "sglang");
    CHECK(sglang.version == "0.5");
    CHECK(sglang.kernel == "fa3");
    const ServingLibrary trt = serving_library("TensorRT-LLM 1.3.0rc20 fp8_block");
    CHECK(trt.name == "trtllm");
    CHECK(trt.blocks);
    CHECK(serving_library("vllm 0.24 quantized").quantized);
    CHECK(serving_library("cublas 12").name.empty());
    CHECK(serving_library("trtllm static").name.empty());
}

TEST_CASE("names of libraries are known by a word in them, and others are not") {
    for (const char* name : {"sglang-0.5", "vllm-0.24", "trtllm-1.3", "cublas-13", "hipblaslt-1.3",
                             "aiter", "cuBLAS 10", "pytorch 2.1"}) {
        CHECK_MESSAGE(is_known_library(name), name);
    }
    CHECK_FALSE(is_known_library("sglnag"));
    CHECK_FALSE(is_known_library(""));
    CHECK(known_libraries().find("aiter") != std::string::npos);
}

TEST_CASE("parts of a product are its bytes, its operations, and its start at the data sheet") {
    const Gpu gpu = test::plain_gpu();
    const CallParts parts = parts_of(gpu, product("vllm"), LibraryKind::product);
    CHECK(parts.added[0] == near(1e-6));
    // 2 x 64 x 128 x 256 at 16 TFLOP/s
    CHECK(parts.joined[3] == near(2.0 * 64 * 128 * 256 / 16e12));
    CHECK(parts.axes.size() == call_axes(LibraryKind::product).size());
}

TEST_CASE("every kind has as many axes as its calls give, and hats that sum to one on each") {
    for (const char* op : {"gemm", "attention_context", "mla_generation", "moe", "dsa_context",
                           "gdn_context", "mhc_pre", "quantize", "moe_dispatch"}) {
        const bool block = std::string(op) == "dsa_context";
        const auto kind = library_kind(op, block ? "network" : "");
        REQUIRE_MESSAGE(kind, op);
        LibraryCall call = product("vllm");
        call.op = op;
        call.sizes.fill(8.0);
        const CallParts parts = parts_of(test::plain_gpu(), call, *kind);
        CHECK(parts.axes.size() == call_axes(*kind).size());
        double sum = 0.0;
        for (const double weight : shape_weights(parts, *kind)) {
            CHECK(weight >= 0.0);
            sum += weight;
        }
        CHECK(sum == near(static_cast<double>(call_axes(*kind).size())));
    }
    CHECK_FALSE(library_kind("conv2d"));
}

TEST_CASE("a call takes its kernel's constants, else its library's, else those of any library") {
    LibraryCells cells;
    cells.cells["gemm||fp8|vllm|cutlass_scaled_mm"] = constant_cell(10.0);
    cells.cells["gemm||fp8|vllm|"] = constant_cell(20.0);
    cells.cells["gemm||fp8||"] = constant_cell(40.0);
    const MachineKernels kernels = kernels_of(cells);
    const Gpu gpu = test::plain_gpu();
    const auto seconds = [&](const LibraryCall& call) {
        return library_time(gpu, kernels, call)->time_s;
    };
    CHECK(seconds(product("vllm", "cutlass_scaled_mm")) == near(10e-6));
    CHECK(seconds(product("vllm", "cutlass_scaled")) == near(10e-6)); // cut by a table
    CHECK(seconds(product("vllm", "triton")) == near(20e-6));
    CHECK(seconds(product("vllm")) == near(20e-6));
    CHECK(seconds(product("sglang")) == near(40e-6));
    CHECK_FALSE(library_time(gpu, kernels, product("sglang"))->exact);
    LibraryCall other = product("vllm");
    other.type = "nvfp4";
    CHECK_FALSE(library_time(gpu, kernels, other));
}

TEST_CASE("versions before the first that was measured are not served by its constants") {
    LibraryCells cells;
    cells.cells["gemm||fp8|vllm|"] = constant_cell(10.0);
    cells.cells["gemm||fp8|vllm|"].versions = "0.24.0, 0.25.0";
    const MachineKernels kernels = kernels_of(cells);
    Layer layer;
    layer.op = Op::gemm;
    layer.shape = GemmShape{1, 64, 128, 256};
    layer.types = {DataType::fp8, DataType::fp8, DataType::fp16};
    const Gpu gpu = test::plain_gpu();
    CHECK(layer_time(gpu, kernels, layer, serving_library("vllm 0.27.1")));
    CHECK(layer_time(gpu, kernels, layer, serving_library("vllm")));
    CHECK_FALSE(layer_time(gpu, kernels, layer, serving_library("vllm 0.14.0")));
    CHECK_FALSE(layer_time(gpu, kernels, layer, serving_library("sglang 0.5.14")));
}

TEST_CASE("operands that are quantized already save the library's cast, at most half") {
    LibraryCells cells;
    cells.cells["gemm||fp8|sglang|"] = constant_cell(10.0);
    cells.cells["quantize||bf16_to_fp8|sglang|"] = constant_cell(2.0);
    cells.cells["quantize||bf16_to_fp8|sglang|"].added = {2.0};
    const MachineKernels kernels = kernels_of(cells);
    Layer layer;
    layer.op = Op::gemm;
    layer.shape = GemmShape{1, 64, 128, 256};
    layer.types = {DataType::fp8, DataType::fp8, DataType::fp16};
    const auto time =
        layer_time(test::plain_gpu(), kernels, layer, serving_library("sglang 0.5.14 quantized"));
    REQUIRE(time);
    CHECK(time->time_s == near(8e-6));
}

TEST_CASE("joined parts overlap by their power, and the shape and the machine correct the sum") {
    LibraryCell cell;
    cell.added = {0.0, 0.0, 0.0};
    cell.joined = {0.0, 1.0, 0.0, 1.0};
    cell.power = 1.0;
    CallParts parts;
    parts.added = {1.0, 1.0, 1.0};
    parts.joined = {0.0, 3.0, 0.0, 4.0};
    parts.axes = {64.0, 128.0, 256.0, 1.0, 1.0};
    CHECK(cell_seconds(cell, parts, LibraryKind::product) == near(7.0));
    cell.power = 2.0;
    CHECK(cell_seconds(cell, parts, LibraryKind::product) == near(5.0));
    cell.shape.assign(shape_weights(parts, LibraryKind::product).size(), std::log(2.0) / 5.0);
    CHECK(cell_seconds(cell, parts, LibraryKind::product) == near(10.0));
}

TEST_CASE("machines of one family run the same kernels: 10.0 and 10.3, not 12.0") {
    Gpu gpu;
    gpu.arch = GpuArch::blackwell;
    gpu.compute_capability = "10.3";
    CHECK(kernel_family(gpu) == "sm_100");
    gpu.compute_capability = "12.0";
    CHECK(kernel_family(gpu) == "sm_120");
    gpu.arch = GpuArch::ada;
    gpu.compute_capability = "8.9";
    CHECK(kernel_family(gpu) == "sm_89");
    gpu.arch = GpuArch::amd;
    gpu.compute_capability = "gfx950";
    CHECK(kernel_family(gpu) == "gfx950");
}

} // namespace test_model_gpu_library_kernels
