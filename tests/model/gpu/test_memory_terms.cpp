// Every term of memory operators, of launches and of intervals, worked out by hand.
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_model_gpu_memory_terms {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::DataType;
using model::Layer;
using model::MemoryTerms;
using model::Op;
using model::Timing;

namespace {

Layer layer_of(Op op, model::Shape shape) {
    Layer layer;
    layer.op = op;
    layer.shape = std::move(shape);
    layer.types = {DataType::fp32, DataType::fp32, DataType::fp32};
    return layer;
}

Layer rows(Op op, Count count, Count cols) {
    return layer_of(op, model::RowsShape{count, cols});
}

Layer elements(const char* fn, Count count, Count cols) {
    return layer_of(Op::elementwise, model::ElementwiseShape{count, cols, fn});
}

model::Gpu gpu_of_memory() { // 1 GB/s from DRAM, 4 GB/s from L2
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e9;
    gpu.l2_bytes_per_s = 4e9;
    return gpu;
}

double body(const MemoryTerms& terms, const Layer& layer, const model::Gpu& gpu = gpu_of_memory()) {
    return model::memory_time(gpu, terms, layer, *model::work_of(layer)).body_s;
}

double bytes(const Layer& layer) {
    return static_cast<double>(model::work_of(layer)->bytes());
}

} // namespace

TEST_CASE("softmax keeps rows of 1024 elements in registers and reads longer ones again") {
    MemoryTerms terms = test::plain_memory();
    terms.softmax_pass = 0.5;
    const Layer held = rows(Op::softmax, 64, 1024);
    CHECK(body(terms, held) == near(bytes(held) / 1e9));
    // Ten SMs hold two rows each; L2 holds as much: half of what is read again comes from it.
    model::Gpu gpu = gpu_of_memory();
    gpu.max_threads_per_sm = 2048;
    gpu.l2_bytes = 20.0 * 4.0 * 1025;
    const Layer longer = rows(Op::softmax, 64, 1025);
    const double again = 0.5 * 4.0 * 64 * 1025 * (0.5 / 1e9 + 0.5 / 4e9);
    CHECK(body(terms, longer, gpu) == near(bytes(longer) / 1e9 + again));
    // Only softmax does: a normalization has a term of its own, elements have no rows.
    terms.norm_pass = 0.0;
    const Layer normalized = rows(Op::layernorm, 64, 1025);
    CHECK(body(terms, normalized, gpu) == near(bytes(normalized) / 1e9));
    const Layer added = elements("add", 64, 1025);
    CHECK(body(terms, added, gpu) == near(bytes(added) / 1e9));
}

TEST_CASE("copies reach 0.8 of a link, of which one direction is half of what is published") {
    model::Gpu gpu = gpu_of_memory();
    gpu.pcie_bytes_per_s = 10e9;
    gpu.link_bytes_per_s = 100e9;
    const double moved = 4.0 * 1000 * 1000;
    CHECK(body(test::plain_memory(), elements("h2d", 1000, 1000), gpu) == near(2e-6 + moved / 8e9));
    CHECK(body(test::plain_memory(), elements("peer", 1000, 1000), gpu) ==
          near(2e-6 + moved / 40e9));
}

TEST_CASE("tensors that L2 keeps between calls are read at its pace, by how well they fit") {
    MemoryTerms terms = test::plain_memory();
    terms.resident_l2 = 0.5;
    terms.resident_sharpness = 2.0;
    terms.resident_gain = 0.5;                      // 2 GB/s
    const Layer relu = elements("relu", 1000, 125); // 1 MB, of which L2 keeps 0.5 MB: a quarter
    CHECK(body(terms, relu) == near(1e6 * (0.75 / 1e9 + 0.25 / 2e9)));
    terms.dram_share = 0.5;
    CHECK(body(terms, relu) == near(1e6 * (0.75 / 0.5e9 + 0.25 / 2e9)));
}

TEST_CASE("a norm reads its rows twice, from L2 what those in flight leave there") {
    MemoryTerms terms = test::plain_memory();
    terms.norm_pass = 0.5;
    model::Gpu gpu = gpu_of_memory();
    gpu.max_threads_per_sm = 256; // two rows an SM: 20 in flight
    // As much in flight as L2 holds: half is lost.
    gpu.l2_bytes = 20.0 * 4.0 * 500;
    const Layer norm = rows(Op::layernorm, 1000, 500);
    const double again = 0.5 * 4.0 * 1000 * 500 * (0.5 / 1e9 + 0.5 / 4e9);
    CHECK(body(terms, norm, gpu) == near(bytes(norm) / 1e9 + again));
    // As much on an SM as its L1 holds: that keeps half, where it shares a memory with the CTAs.
    gpu.shared_bytes_per_sm = 2.0 * 4.0 * 500;
    CHECK(body(terms, norm, gpu) == near(bytes(norm) / 1e9 + again / 2.0));
    gpu.arch = model::GpuArch::amd; // two memories
    CHECK(body(terms, norm, gpu) == near(bytes(norm) / 1e9 + again));
    gpu = gpu_of_memory();
    gpu.max_threads_per_sm = 256;
    gpu.l2_bytes = 20.0 * 4.0 * 500;
    // Batch norm has every channel in flight: fifty times what L2 holds.
    const Layer batch = rows(Op::batchnorm, 1000, 500);
    const double lost = 1.0 / (1.0 + std::pow(1.0 / 50.0, 0.75));
    CHECK(body(terms, batch, gpu) ==
          near(bytes(batch) / 1e9 + 0.5 * 4.0 * 1000 * 500 * (lost / 1e9 + (1 - lost) / 4e9)));
}

TEST_CASE(
    "softmax reads long rows again, from DRAM what neither its rows in flight nor calls leave") {
    MemoryTerms terms = test::plain_memory();
    terms.softmax_pass = 1.5;
    model::Gpu gpu = gpu_of_memory();
    gpu.max_threads_per_sm = 1024; // a row an SM: 10 in flight
    const Layer layer = rows(Op::softmax, 1000, 2000);
    const double input = 4.0 * 1000 * 2000;
    gpu.l2_bytes = 10.0 * 4.0 * 2000 / 16.0;
    double lost = 1.0 / (1.0 + 0.25); // the square root of a sixteenth
    CHECK(body(terms, layer, gpu) ==
          near(bytes(layer) / 1e9 + 1.5 * input * (lost / 1e9 + (1 - lost) / 4e9)));
    terms.resident_l2 = 4.0 * bytes(layer) / gpu.l2_bytes / 16.0; // keeps a quarter of the tensors
    terms.resident_sharpness = 1.0;
    terms.resident_gain = 1.0;
    lost *= 0.75;
    CHECK(body(terms, layer, gpu) == near(bytes(layer) * (0.75 / 1e9 + 0.25 / 4e9) +
                                          1.5 * input * (lost / 1e9 + (1 - lost) / 4e9)));
}

TEST_CASE("gates, functions, rotations and norms take cycles of an SM beside their bytes") {
    const auto joined = [](double bytes_s, double cycles, double count) {
        return std::hypot(bytes_s, cycles * count / 1e10); // ten SMs at 1 GHz
    };
    MemoryTerms terms = test::plain_memory();
    terms.gated_cycles = 70.0;
    terms.function_cycles = 30.0;
    terms.rope_cycles = 20.0;
    terms.norm_cycles = 50.0;
    for (const auto& [layer, cycles] :
         std::vector<std::pair<Layer, double>>{{elements("swiglu", 1000, 500), 70.0},
                                               {elements("gelu", 1000, 500), 30.0},
                                               {elements("relu", 1000, 500), 0.0},
                                               {rows(Op::rope, 1000, 500), 20.0},
                                               {rows(Op::layernorm, 1000, 500), 50.0}}) {
        CAPTURE(cycles);
        CHECK(body(terms, layer) == near(joined(bytes(layer) / 1e9, cycles, 500e3)));
    }
}

TEST_CASE("a gather takes the longer of its cycles and its bytes") {
    MemoryTerms terms = test::plain_memory();
    terms.gather_cycles = 10.0;
    const Layer gather = rows(Op::embedding, 1000, 500);
    CHECK(body(terms, gather) == near(bytes(gather) / 1e9));
    terms.gather_cycles = 200.0;
    CHECK(body(terms, gather) == near(200.0 * 500e3 / 1e10));
}

TEST_CASE("row reductions start once, and take a while for each row of an SM") {
    MemoryTerms terms = test::plain_memory();
    terms.start_s = 2e-6;
    terms.row_s = 1e-7;
    const Layer softmax = rows(Op::softmax, 500, 100);
    CHECK(body(terms, softmax) == near(2e-6 + bytes(softmax) / 1e9 + 1e-7 * 500 / 10));
    const Layer relu = elements("relu", 500, 100);
    CHECK(body(terms, relu) == near(2e-6 + bytes(relu) / 1e9));
}

namespace {

model::GpuPrediction predicted(const model::Gpu& gpu, Timing timing = Timing::kernel) {
    const auto p = model::predict(gpu, test::relu_of_a_megabyte(), {}, timing);
    REQUIRE(p.ok());
    return *p;
}

model::Gpu with_launch_costs() {
    model::Gpu gpu = gpu_of_memory();
    gpu.calibration.memory = test::plain_memory();
    gpu.calibration.record(model::KernelClass::memory).launch = {5e-5, 8e-6, 4e-6, 3e-6};
    return gpu;
}

} // namespace

TEST_CASE("step 6 moves what stays in L2 between calls at the rate of the SMs' ports to it") {
    model::Gpu gpu = gpu_of_memory();
    gpu.calibration.memory = test::plain_memory();
    CHECK(predicted(gpu).step6_s == near(1e6 / 1e9));
    MemoryTerms& terms = gpu.calibration.memory;
    terms.resident_l2 = 4.0 * 1e6 / gpu.l2_bytes / 16.0; // keeps a quarter
    CHECK(predicted(gpu).step6_s == near(0.75 * 1e6 / 1e9 + 0.25 * 1e6 / (64.0 * 10 * 1e9)));
}

TEST_CASE("a kernel's own launch is cycles, told at 1.5 GHz, and never above back-to-back calls") {
    model::Gpu gpu = with_launch_costs();
    gpu.boost_hz = 1.0e9;
    CHECK(predicted(gpu, Timing::kernel).launch_s == near(6e-6, 1e-6)); // 4 us x 1.5
    CHECK(predicted(gpu, Timing::graph).launch_s == near(4.5e-6, 1e-6));
    CHECK(predicted(gpu, Timing::stream).launch_s == near(8e-6, 1e-6)); // the host's: no clock
    gpu.boost_hz = 0.3e9;
    CHECK(predicted(gpu, Timing::kernel).launch_s == near(8e-6, 1e-6));
}

TEST_CASE("intervals widen by a third for each decade outside the rows, and for what is unknown") {
    model::Gpu gpu = with_launch_costs();
    model::ClassRecord& record = gpu.calibration.record(model::KernelClass::memory);
    record.band.low = 0.9;
    record.band.high = 1.2;
    record.domain = {0.0, 1e30, 0.0, 1e30};
    const auto high = [&] {
        const auto p = predicted(gpu);
        return p.high_s / p.time_s;
    };
    CHECK(high() == near(1.2));
    record.domain.bytes_high = 1e5; // 1 MB is a decade outside
    CHECK(high() == near(std::pow(1.2, 4.0 / 3.0)));
    record.domain = {0.0, 0.0, 0.0, 0.0}; // as of copies, whose rows count no operations
    CHECK(high() == near(1.2));
    record.domain = {0.0, 1e30, 0.0, 1e30};
    record.binds = {{"dram", 0.01}, {"sm", 0.99}}; // hardly any row was bound by DRAM
    CHECK(high() == near(std::pow(1.2, 1.5)));
    record.binds = {{"dram", 0.5}};
    CHECK(high() == near(1.2));
    record.kinds = {{"softmax", {}}}; // rows of another kind alone
    CHECK(high() == near(1.2 * 1.2));
    record.kinds["elementwise_kernel"] = {0.8, 1.1, 0.1, 0.1, 9, "rows"};
    CHECK(high() == near(1.1));
}

TEST_CASE("no interval reaches below what step 6 allows") {
    model::Gpu gpu = with_launch_costs();
    gpu.calibration.record(model::KernelClass::memory).band.low = 0.1;
    const auto p = predicted(gpu);
    CHECK(p.low_s >= p.step6_s);
    CHECK(p.low_s <= p.time_s);
    CHECK(p.step6_s == near(1e6 / 1e9));
    CHECK(p.low_s == near(p.step6_s));
}

TEST_CASE(
    "a pipe runs at its own clock, and an L2 of two partitions is wide and half within reach") {
    model::Gpu gpu = test::plain_gpu();
    gpu.tensor_hz = 2e9;
    CHECK(model::pipe_clock_hz(gpu, DataType::fp16) == 2e9);
    CHECK(model::pipe_clock_hz(gpu, DataType::fp32) == 1e9);
    gpu.dram_bytes_per_s = 1e9;
    gpu.l2_bytes_per_s = 0.0; // not published
    gpu.compute_capability = "7.5";
    CHECK(model::l2_bandwidth(gpu) == near(0.65 * 32 * 10 * 1e9));
    CHECK(model::l2_reach_bytes(gpu) == 1e6);
    gpu.compute_capability = "9.0";
    CHECK(model::l2_bandwidth(gpu) == near(0.55 * 64 * 10 * 1e9));
    CHECK(model::l2_reach_bytes(gpu) == 0.5e6);
}

TEST_CASE(
    "a scan walks along its rows, an SM's one after the other, and picked elements count by 32") {
    const MemoryTerms terms = test::plain_memory();
    const model::Gpu gpu = test::plain_gpu(); // 10 SMs at 1 GHz, endless memory
    CHECK(body(terms, elements("scan", 5, 1000), gpu) == near(6.6e-6));
    CHECK(body(terms, elements("scan", 40, 1000), gpu) == near(4 * 6.6e-6));
    CHECK(body(terms, elements("pick", 1, 33), gpu) == near(2 * 650e-9));
}

TEST_CASE("a maximum's position is written beside it, eight bytes each") {
    const MemoryTerms terms = test::plain_memory();
    const Layer pool =
        layer_of(Op::maxpool, model::PoolShape{1, 4, 100, 100, 2, 2, {2, 2}, {0, 0}});
    const double elements = 4.0 * 50 * 50;
    CHECK(body(terms, pool) == near(std::hypot((bytes(pool) + 8.0 * elements) / 1e9,
                                               3.2 * elements / 1e10))); // 10 SMs, 1 GHz
    Layer mean = pool;
    mean.op = Op::avgpool;
    CHECK(body(terms, mean) == near(bytes(mean) / 1e9));
}

TEST_CASE("a batch norm with running statistics and channels first starts a CTA a plane") {
    const MemoryTerms terms = test::plain_memory();
    model::RowsShape shape{1000, 8};
    shape.planes = 8; // of one element
    const Layer layer = layer_of(Op::batchnorm, shape);
    CHECK(body(terms, layer, test::plain_gpu()) == near(8000.0 * 1.25e-9));
    shape.planes = 3; // is no divisor of the columns
    CHECK(model::validate(layer_of(Op::batchnorm, shape)).has_errors());
}

TEST_CASE("an element of a maximum takes 3.2 cycles of an SM") {
    const MemoryTerms terms = test::plain_memory();
    const Layer pool =
        layer_of(Op::maxpool, model::PoolShape{1, 4, 100, 100, 2, 2, {2, 2}, {0, 0}});
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e15;
    gpu.l2_bytes_per_s = 1e15;
    CHECK(body(terms, pool, gpu) == near(3.2 * 4 * 50 * 50 / (gpu.sms * gpu.boost_hz), 1e-3));
}

TEST_CASE("statistics of a batch with channels first take one CTA a channel") {
    model::Gpu gpu = test::plain_gpu(); // 10 SMs, each holding 4 CTAs of 512 threads
    gpu.max_threads_per_sm = 2048;
    const MemoryTerms terms = test::plain_memory();
    // A channel of 8 images of 64 x 64: three transfers of 32768 elements, 512 vectors of 4 a round
    // of 680 cycles. 40 channels run at once.
    const double rounds = 3.0 * 32768.0 / (512.0 * 4.0);
    const Layer whole = layer_of(Op::batchnorm, model::RowsShape{40, 32768, 0, 8});
    CHECK(body(terms, whole, gpu) == near(rounds * 680e-9));
    const Layer twice = layer_of(Op::batchnorm, model::RowsShape{80, 32768, 0, 8});
    CHECK(body(terms, twice, gpu) == near(2.0 * rounds * 680e-9));
    // An image of 63 x 63 elements is no multiple of a vector: single elements.
    const Layer odd = layer_of(Op::batchnorm, model::RowsShape{40, 8 * 3969, 0, 8});
    CHECK(body(terms, odd, gpu) == near(3.0 * 8.0 * 3969.0 / 512.0 * 680e-9));
    // A load is 4 elements in half precision, too; a gradient reads x and its gradient twice.
    Layer half = whole;
    half.types = {DataType::fp16, DataType::fp16, DataType::fp16};
    CHECK(body(terms, half, gpu) == near(rounds * 680e-9));
    Layer gradient = whole;
    gradient.direction = model::Direction::bwd_data;
    CHECK(body(terms, gradient, gpu) == near(5.0 / 3.0 * rounds * 680e-9));
    // Running statistics, channels last, and a compiler's kernels do not walk.
    const Layer running = rows(Op::batchnorm, 40, 32768);
    CHECK(body(terms, running, gpu) < 1e-12);
    const auto work = *model::work_of(whole);
    using model::Layout;
    using model::NormKernel;
    CHECK(model::memory_time(gpu, terms, whole, work, NormKernel::usual, Layout::channels_last)
              .body_s < 1e-12);
    CHECK(model::memory_time(gpu, terms, whole, work, NormKernel::compiled).body_s < 1e-12);
}

TEST_CASE("copies that address each element take SM cycles, but none within a compiler's kernel") {
    const model::Gpu gpu = test::plain_gpu(); // 10 SMs at 1 GHz
    const MemoryTerms terms = test::plain_memory();
    CHECK(body(terms, elements("permute", 1000, 1000), gpu) == near(0.8 * 1e6 / 1e10));
    CHECK(body(terms, elements("concat", 1000, 1000), gpu) == near(1.2 * 1e6 / 1e10));
    CHECK(body(terms, elements("add", 1000, 1000), gpu) < 1e-12);
    CHECK(body(terms, elements("strided_add", 1000, 1000), gpu) == near(0.8 * 1e6 / 1e10));
    const Layer layer = elements("permute", 1000, 1000);
    CHECK(model::memory_time(gpu, terms, layer, *model::work_of(layer), model::NormKernel::compiled)
              .body_s < 1e-12);
}

TEST_CASE("a copy that transposes waits for an L2 sector of each element, unless it is compiled") {
    model::Gpu gpu = test::plain_gpu(); // 10 SMs at 1 GHz
    gpu.l2_bytes_per_s = 1e12;
    const MemoryTerms terms = test::plain_memory();
    const Layer layer = elements("transpose", 1000, 1000);
    const double addressed = 0.8 * 1e6 / 1e10;
    CHECK(body(terms, layer, gpu) == near(addressed + 32e6 / 1e12));
    CHECK(model::memory_time(gpu, terms, layer, *model::work_of(layer), model::NormKernel::compiled)
              .body_s < 1e-5);
    gpu.arch = model::GpuArch::amd;
    CHECK(body(terms, layer, gpu) == near(addressed + 64e6 / 1e12));
}

TEST_CASE("a sum along an outer axis joins its parts through memory, one along rows does not") {
    const model::Gpu gpu = test::plain_gpu(); // 1 GHz
    const MemoryTerms terms = test::plain_memory();
    Layer layer;
    layer.op = Op::avgpool;
    layer.shape = model::PoolShape{1, 1, 64, 32, 64, 1}; // 64 rows of 32 columns
    CHECK(body(terms, layer, gpu) == near(9000e-9, 1e-3));
    CHECK(model::memory_time(gpu, terms, layer, *model::work_of(layer), model::NormKernel::compiled)
              .body_s < 1e-8);
    layer.shape = model::PoolShape{32, 1, 1, 64, 1, 64};
    CHECK(body(terms, layer, gpu) < 1e-8);
    layer.shape = model::PoolShape{1, 1, 64, 32, 3, 1}; // a window that slides
    CHECK(body(terms, layer, gpu) < 1e-8);
}

TEST_CASE("softmax of long unaligned rows waits for each round of single elements") {
    model::Gpu gpu = test::plain_gpu();
    gpu.max_threads_per_sm = 2048; // two CTAs of 1024 threads an SM, 20 rows at once
    const MemoryTerms terms = test::plain_memory();
    const auto in_fp16 = [](Count count, Count cols) {
        Layer layer = rows(Op::softmax, count, cols);
        layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
        return layer;
    };
    // 3137 elements: no whole round of 8192 in vectors, 4 of 1024 elements, read three times.
    CHECK(body(terms, in_fp16(40, 3137), gpu) == near(2.0 * 12.0 * 800e-9));
    // 9001: one round in vectors, one of the 809 that are left.
    CHECK(body(terms, in_fp16(20, 9001), gpu) == near(6.0 * 800e-9));
    CHECK(body(terms, in_fp16(40, 3136), gpu) < 1e-12);
    CHECK(body(terms, rows(Op::softmax, 40, 3137), gpu) < 1e-12);
}

TEST_CASE("warps share out rows of softmax that are shorter than they are wide") {
    MemoryTerms terms = test::plain_memory();
    terms.row_s = 1e-6; // 10 SMs
    const model::Gpu gpu = test::plain_gpu();
    CHECK(body(terms, rows(Op::softmax, 1000, 32), gpu) == near(1e-4));
    CHECK(body(terms, rows(Op::softmax, 1000, 6), gpu) == near(1e-4 * 8.0 / 32.0));
    CHECK(body(terms, rows(Op::softmax, 1000, 128), gpu) == near(1e-4));
}

TEST_CASE("a row above 64 KiB is one CTA's walk, as many beside each other as SMs hold") {
    model::Gpu gpu = test::plain_gpu(); // 10 SMs at 1 GHz
    gpu.max_threads_per_sm = 2048;      // 16 CTAs of 128 threads each
    const MemoryTerms terms = test::plain_memory();
    // 2^20 fp32 elements, 16 bytes a load: 2048 rounds of 128 threads, 256 of 1024, 680 cycles
    // each.
    const double norm = 3.0 * 2048.0 * 680e-9;
    CHECK(body(terms, rows(Op::layernorm, 1, 1048576), gpu) == near(norm));
    CHECK(body(terms, rows(Op::layernorm, 160, 1048576), gpu) == near(norm));
    CHECK(body(terms, rows(Op::layernorm, 320, 1048576), gpu) == near(2.0 * norm));
    CHECK(body(terms, rows(Op::softmax, 4, 1048576), gpu) == near(4.0 * 256.0 * 680e-9));
    const Layer layer = rows(Op::layernorm, 1, 1048576);
    CHECK(model::memory_time(gpu, terms, layer, *model::work_of(layer), model::NormKernel::compiled)
              .body_s < norm / 100.0);
}

TEST_CASE("scans of many rows share an SM's lanes") {
    const model::Gpu gpu = test::plain_gpu(); // 10 SMs at 1 GHz
    const MemoryTerms terms = test::plain_memory();
    CHECK(body(terms, elements("scan", 10, 1000), gpu) == near(6.6e-6));
    CHECK(body(terms, elements("scan", 40, 1000), gpu) == near(4.0 * 6.6e-6));
    CHECK(body(terms, elements("scan", 400, 1000), gpu) == near(4.0 * 6.6e-6));
    CHECK(body(terms, elements("scan", 4000, 1000), gpu) == near(400.0 * 0.31e-6));
}

} // namespace test_model_gpu_memory_terms
