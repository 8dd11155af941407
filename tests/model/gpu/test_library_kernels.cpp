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
    CHECK(layer_time(gpu, kernels, layer, serving_library("vllm-0.24")));
    CHECK_FALSE(layer_time(gpu, kernels, layer, serving_library("vllm-0.23")));
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

namespace {

LibraryCell attention_cell(double start) {
    LibraryCell cell = constant_cell(start);
    cell.added.resize(4);
    cell.joined.resize(5);
    return cell;
}

Layer attention_layer(AttentionShape shape) {
    Layer layer;
    layer.op = Op::attention;
    layer.shape = shape;
    return layer; // of fp16
}

} // namespace

TEST_CASE("both types of 16 bits run the same kernels, and latent attention has its own") {
    LibraryCells cells;
    cells.cells["attention_context||bf16/bf16|vllm|"] = attention_cell(10.0);
    cells.cells["mla_context||bf16/bf16|vllm|"] = constant_cell(20.0);
    cells.cells["mla_generation||bf16/bf16|vllm|"] = constant_cell(30.0);
    const MachineKernels kernels = kernels_of(cells);
    const auto seconds = [&](const AttentionShape& shape) {
        const auto time = layer_time(test::plain_gpu(), kernels, attention_layer(shape),
                                     serving_library("vllm-0.24"));
        return time ? time->time_s : 0.0;
    };
    CHECK(seconds({.batch = 1, .groups = 8, .m = 64, .n = 64, .k = 128, .causal = true}) ==
          near(10e-6));
    CHECK(
        seconds({.batch = 1, .groups = 8, .m = 64, .n = 64, .k = 192, .causal = true, .v = 128}) ==
        near(20e-6));
    CHECK(seconds({.batch = 1,
                   .groups = 8,
                   .m = 1,
                   .n = 64,
                   .k = 576,
                   .kv_heads = 1,
                   .causal = true,
                   .v = 512}) == near(30e-6));
    // No table has values of other sizes.
    CHECK(seconds({.batch = 1, .groups = 8, .m = 64, .n = 64, .k = 96, .causal = true, .v = 64}) ==
          0.0);
}

TEST_CASE("a prediction takes the named library's constants, and says where there are none") {
    LibraryCells cells;
    cells.cells["gemm||fp8|vllm|cutlass"] = constant_cell(10.0);
    cells.cells["gemm||fp8|vllm|"] = constant_cell(40.0);
    cells.cells["gemm||fp8|vllm|"].versions = "0.24.0, 0.25.0";
    cells.cells["gemm||fp8|vllm|"].machines["here"] = {0.0, 0.8, 1.25};
    Gpu gpu = test::plain_gpu();
    int readings = 0;
    gpu.kernels = std::make_shared<const KernelShelf>([&] {
        ++readings;
        return Result<MachineKernels>(kernels_of(cells));
    });
    Layer layer;
    layer.op = Op::gemm;
    layer.shape = GemmShape{1, 64, 128, 256};
    layer.types = {DataType::fp8, DataType::fp8, DataType::fp16};
    const auto said = [&](const char* library, Timing timing = Timing::kernel) {
        return *predict(gpu, layer, software_from_name(library, DataType::fp8), timing);
    };
    CHECK(said("").form.served.empty());
    CHECK(readings == 0); // no library asked
    const GpuPrediction served = said("vllm-0.24");
    CHECK(served.time_s == near(40e-6));
    CHECK(served.low_s == near(40e-6 * 0.8));
    CHECK(served.form.text() == "vllm 0.24.0, 0.25.0");
    CHECK(said("vllm cutlass").time_s == near(10e-6));
    CHECK(said("vllm cutlass").form.text() == "vllm, cutlass");
    CHECK(readings == 1);
    CHECK(said("vllm-0.24", Timing::eager).form.served.empty()); // constants are of kernels alone
    const GpuPrediction other = said("sglang-0.5");
    CHECK(other.form.served.empty());
    REQUIRE_FALSE(other.notes.empty());
    CHECK(other.notes.front().starts_with("sglang 0.5 was not measured"));
}

TEST_CASE("constants that cannot be read are an error of the prediction that asks for them") {
    Gpu gpu = test::plain_gpu();
    gpu.kernels = std::make_shared<const KernelShelf>(
        [] { return Result<MachineKernels>::failure("bad-numbers", "they are none", ""); });
    Layer layer;
    layer.op = Op::gemm;
    layer.shape = GemmShape{1, 64, 128, 256};
    const auto p = predict(gpu, layer, software_from_name("vllm", DataType::fp16));
    REQUIRE_FALSE(p);
    CHECK(p.diagnostics().items().front().code == "bad-numbers");
    CHECK(predict(gpu, layer, software_from_name("cublas 12", DataType::fp16)));
}

TEST_CASE("intervals are wider on machines without rows, and where no size was measured") {
    LibraryCells cells;
    LibraryCell& cell = cells.cells["gemm||fp8|vllm|"] = constant_cell(10.0);
    const auto width = [&](const char* machine) {
        MachineKernels kernels = kernels_of(cells);
        kernels.machine = machine;
        const auto time = library_time(test::plain_gpu(), kernels, product("vllm"));
        return std::log(time->high_s / time->time_s);
    };
    cells.distances[static_cast<std::size_t>(LibraryKind::product)] = {0.07, 0.1, 0.35, 0.2};
    cell.machines["known"] = {0.0, 0.8, 1.25};
    CHECK(width("known") == near(std::log(1.25)));
    CHECK(width("other") == near(std::hypot(std::log(1.25), 0.07)));
    // A machine without rows is as its family is, and the family's spread widens its interval.
    cell.machines["known"].offset = 0.1;
    cell.machines["third"] = {0.3, 0.8, 1.25};
    CHECK(width("other") == near(std::hypot(std::log(1.25), 0.07, 0.2)));
    CHECK(library_time(test::plain_gpu(), kernels_of(cells), product("vllm"))->time_s ==
          near(10e-6 * std::exp(0.2)));
    const CallParts parts = parts_of(test::plain_gpu(), product("vllm"), LibraryKind::product);
    cell.shape.assign(shape_weights(parts, LibraryKind::product).size(), 1e-9);
    CHECK(width("known") == near(std::log(1.25)));
    cell.shape[4] = 0.0; // the place of 64 rows
    CHECK(width("known") == near(std::hypot(std::log(1.25), 0.2)));
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

TEST_CASE("a call without a graph waits for its host, a call in a graph does not") {
    LibraryCells cells;
    cells.cells["gemm||fp8|vllm|"] = constant_cell(10.0);
    cells.cells["gemm||fp8|vllm|"].machines["here"] = {0.0, 0.8, 1.25, 200e-6};
    LibraryCall call = product("vllm");
    CHECK(library_time(test::plain_gpu(), kernels_of(cells), call)->time_s == near(10e-6));
    call.eager = true;
    CHECK(library_time(test::plain_gpu(), kernels_of(cells), call)->time_s == near(200e-6));
    // A kernel as long as the host's call: the eighth root of two.
    cells.cells["gemm||fp8|vllm|"].added = {200.0, 0.0, 0.0};
    CHECK(library_time(test::plain_gpu(), kernels_of(cells), call)->time_s ==
          near(200e-6 * std::pow(2.0, 0.125)));
    // A machine without rows has the mean of the hosts that its family's rows tell of.
    cells.cells["gemm||fp8|vllm|"].added = {10.0, 0.0, 0.0};
    cells.cells["gemm||fp8|vllm|"].machines["graphs"] = {0.0, 0.8, 1.25};
    cells.cells["gemm||fp8|vllm|"].machines["third"] = {0.0, 0.8, 1.25, 400e-6};
    MachineKernels other = kernels_of(cells);
    other.machine = "other";
    CHECK(library_time(test::plain_gpu(), other, call)->time_s == near(300e-6));
}

TEST_CASE("power is what waits and what each busy part takes, and stays below the board's limit") {
    CallParts parts;
    parts.joined = {0.0, 5e-6, 0.0, 0.0};
    const std::vector<double> watts = {0.2, 0.0, 0.4, 0.0, 0.0};
    // 0.2 + 0.4 x half of the time: (1 + 0.4^6)^(-1/6) of 0.4.
    CHECK(power_share(watts, parts, 10e-6) == near(0.4 / std::pow(1.0 + std::pow(0.4, 6), 1 / 6.)));
    CHECK(power_share({0.2, 0.0, 400.0, 0.0, 0.0}, parts, 10e-6) == near(1.0));
    LibraryCells cells;
    cells.cells["gemm||fp8|vllm|"] = constant_cell(10.0);
    Gpu gpu = test::plain_gpu();
    gpu.tdp_w = 500.0;
    CHECK(library_time(gpu, kernels_of(cells), product("vllm"))->energy_j == 0.0);
    cells.cells["gemm||fp8||"].watts = {0.2, 0.0, 0.0, 0.0, 0.0}; // of any library
    CHECK(library_time(gpu, kernels_of(cells), product("vllm"))->energy_j ==
          near(power_share({0.2}, {}, 1.0) * 500.0 * 10e-6));
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
