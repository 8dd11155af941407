#include "model/gpu/predict.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace test_model_gpu_predict {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::DataType;
using model::Layer;
using model::Timing;

namespace {

model::GpuPrediction at(const model::Gpu& gpu, const Layer& layer, Timing timing = Timing::kernel) {
    const auto p = model::predict(gpu, layer, {}, timing);
    REQUIRE(p.ok());
    return *p;
}

double intensity(const Layer& layer) {
    const auto work = model::work_of(layer);
    REQUIRE(work.ok());
    return static_cast<double>(work->flops) / static_cast<double>(work->bytes());
}

Layer rows(model::Op op, Count r, Count c) {
    Layer layer;
    layer.op = op;
    layer.shape = model::RowsShape{r, c};
    layer.types = {DataType::fp32, DataType::fp32, DataType::fp32};
    return layer;
}

std::vector<Layer> assorted_layers() {
    std::mt19937 random(7);
    const auto dim = [&](int most) {
        return static_cast<Count>(1 + random() % static_cast<unsigned>(most));
    };
    std::vector<Layer> layers;
    for (int i = 0; i < 150; ++i) {
        const DataType type = i % 2 == 0 ? DataType::fp32 : DataType::fp16;
        layers.push_back(test::gemm(dim(4000), dim(4000), dim(9000), type));
        Layer batched = test::gemm(dim(500), dim(500), dim(700), type, dim(200));
        batched.op = model::Op::bmm;
        layers.push_back(batched);
        Layer c = test::conv(dim(300), dim(300), 6 + dim(60),
                             i % 3 == 0   ? 1
                             : i % 3 == 1 ? 3
                                          : 5,
                             type);
        c.direction = static_cast<model::Direction>(i % 3);
        layers.push_back(c);
        layers.push_back(rows(model::Op::softmax, dim(20000), dim(4000)));
        layers.push_back(rows(model::Op::layernorm, dim(20000), dim(4000)));
    }
    return layers;
}

} // namespace

TEST_CASE("the 4096 x 1024 linear layer: arithmetic at batch 512, memory at batch 1") {
    // 2 x 512 x 4096 x 1024 / (2 (512 x 1024 + 1024 x 4096 + 512 x 4096)) = 315.08 FLOP/B
    const Layer large = test::gemm(512, 4096, 1024);
    CHECK(intensity(large) == near(315.08, 0.0001));
    const Layer small = test::gemm(1, 4096, 1024);
    CHECK(intensity(small) == near(0.9988, 0.0001));
    model::Gpu gpu = test::v100_sxm2();
    gpu.calibration.record(model::KernelClass::tensor_gemm).launch = {};
    CHECK(at(gpu, large).limiter != "DRAM bandwidth");
    CHECK(at(gpu, small).limiter == "DRAM bandwidth");
}

TEST_CASE("8192 x 128 x 8192 is memory bound on a V100") {
    // 2 x 8192 x 128 x 8192 FLOP over 138.4 MB is 124.1 FLOP/B, below the ridge of 138.9
    const Layer layer = test::gemm(8192, 8192, 128);
    CHECK(intensity(layer) == near(124.1, 0.001));
    const auto p = at(test::v100_sxm2(), layer);
    CHECK(p.limiter == "DRAM bandwidth");
    CHECK(p.limiter_step >= 6); // the roof, or what DRAM sustains of it
}

TEST_CASE("no time lies below its own step 6, and no bound rises") {
    for (const model::Gpu& gpu : {test::v100_sxm2(), test::a100_sxm_40()}) {
        for (const Layer& layer : assorted_layers()) {
            const auto p = at(gpu, layer);
            REQUIRE(p.time_s >= p.step6_s * (1.0 - 1e-12));
            REQUIRE(p.machine_step6_s <= p.step6_s * (1.0 + 1e-12));
            REQUIRE(!model::check_chain(p.steps, "kernel").has_errors());
            REQUIRE(!model::check_chain(p.machine_steps, "machine").has_errors());
            REQUIRE(p.low_s <= p.time_s);
            REQUIRE(p.high_s >= p.time_s);
        }
    }
}

TEST_CASE("a prediction without reasons has the same times and the same steps") {
    for (const model::Gpu& gpu : {test::v100_sxm2(), test::a100_sxm_40()}) {
        for (const Layer& layer : assorted_layers()) {
            const auto whole = at(gpu, layer);
            const auto p = model::predict(gpu, layer, {}, Timing::kernel, model::Detail::time);
            REQUIRE(p.ok());
            REQUIRE(p->time_s == whole.time_s);
            REQUIRE(p->low_s == whole.low_s);
            REQUIRE(p->high_s == whole.high_s);
            REQUIRE(p->launch_s == whole.launch_s);
            REQUIRE(p->step6_s == whole.step6_s);
            REQUIRE(p->bytes == whole.bytes);
            for (std::size_t i = 0; i < model::kSteps; ++i) {
                REQUIRE(p->steps[i].macs_per_cycle == whole.steps[i].macs_per_cycle);
                REQUIRE(p->steps[i].reason.empty());
            }
        }
    }
}

TEST_CASE("more memory bandwidth is never slower") {
    const model::Gpu gpu = test::v100_sxm2();
    model::Gpu faster = gpu;
    faster.dram_bytes_per_s *= 1.5;
    for (const Layer& layer : assorted_layers()) {
        REQUIRE(at(faster, layer).time_s <= at(gpu, layer).time_s * (1.0 + 1e-9));
    }
}

TEST_CASE("Winograd beats the direct count, and its bound counts what it multiplies") {
    const auto p = at(test::v100_sxm2(), test::conv(256, 256, 56, 3));
    CHECK(p.form.algorithm.find("Winograd") != std::string::npos);
    CHECK(p.form.text().starts_with(p.form.algorithm));
    // F(4x4,3x3): 36 products over tiles of 16 outputs, 16 x 9 / 36 = 4 times fewer than direct
    CHECK(p.steps[2].macs_per_cycle > p.units);
    CHECK(p.steps[2].macs_per_cycle <= 4.0 * p.units);
    CHECK(!p.notes.empty());
}

TEST_CASE(
    "the best kernel of a machine may be Winograd on vector lanes, and never on tensor cores") {
    const auto gpu = test::v100_sxm2();
    const auto times_the_peak = [&](Count filter, DataType type) {
        const auto p = at(gpu, test::conv(256, 256, 56, filter, type));
        return p.machine_steps[2].macs_per_cycle / p.units;
    };
    CHECK(times_the_peak(3, DataType::fp32) > 1.0);
    CHECK(times_the_peak(3, DataType::fp32) <= 4.0); // 9 x 16 MACs in 36 products
    CHECK(times_the_peak(5, DataType::fp32) > 1.0);
    CHECK(times_the_peak(5, DataType::fp32) <= 6.25); // 25 x 16 in 64
    CHECK(times_the_peak(7, DataType::fp32) <= 1.0);
    CHECK(times_the_peak(3, DataType::fp16) <= 1.0);
}

TEST_CASE("without tensor cores attention is two products a head, and its gradient five") {
    for (const auto direction : {model::Direction::fwd, model::Direction::bwd_data}) {
        Layer layer;
        layer.op = model::Op::attention;
        layer.shape = model::AttentionShape{2, 4, 64, 96, 32};
        layer.types = {DataType::fp32, DataType::fp32, DataType::fp32};
        layer.direction = direction;
        const auto kernel = model::kernel_of(test::v100_sxm2(), layer, *model::work_of(layer));
        REQUIRE(kernel.ok());
        CHECK(kernel->products.size() == (direction == model::Direction::fwd ? 2 : 5));
        for (const model::Product& p : kernel->products) {
            CHECK(p.batch == near(8.0));
            CHECK(p.m * p.n * p.k == near(64.0 * 96.0 * 32.0));
        }
        const auto times = [&](double m, double n, double k) {
            return std::ranges::count_if(kernel->products, [&](const model::Product& p) {
                return p.m == m && p.n == n && p.k == k;
            });
        };
        const bool forward = direction == model::Direction::fwd;
        CHECK(times(64.0, 96.0, 32.0) == (forward ? 1 : 2)); // Q K^T; dO V^T
        CHECK(times(64.0, 32.0, 96.0) == 1);                 // P V; dS K
        CHECK(times(96.0, 32.0, 64.0) == (forward ? 0 : 2)); // P^T dO, dS^T Q
    }
}

TEST_CASE("three channels cost tensor cores as much as a whole chunk of them") {
    const auto gpu = test::v100_sxm2();
    const auto seconds = [&](Count channels) { // channels last: no pass changes the layout
        return at(gpu, test::conv(channels, 64, 56, 3, DataType::fp16)).time_s;
    };
    const double three = seconds(3);
    const double chunk = seconds(32);
    CHECK(three > 0.5 * chunk);
    CHECK(three <= chunk);
}

TEST_CASE("timings order as the host's share in them") {
    const auto gpu = test::v100_sxm2();
    const Layer layer = test::gemm(128, 128, 128);
    const double eager = at(gpu, layer, Timing::eager).time_s;
    const double stream = at(gpu, layer, Timing::stream).time_s;
    const double graph = at(gpu, layer, Timing::graph).time_s;
    CHECK(eager > stream);
    CHECK(stream > graph);
    CHECK(at(gpu, layer, Timing::eager).limiter == "launch");
}

TEST_CASE("a gather takes as long for wide elements as for narrow, and longer on fewer SMs") {
    const auto gpu = test::v100_sxm2();
    Layer wide = rows(model::Op::embedding, 100000, 512);
    Layer narrow = wide;
    narrow.types = {DataType::fp16, DataType::fp16, DataType::fp16};
    CHECK(at(gpu, narrow).time_s == near(at(gpu, wide).time_s));
    CHECK(at(gpu, narrow).limiter == "SM cycles per element");
    model::Gpu half = gpu;
    half.sms = 40;
    model::Gpu faster_memory = gpu;
    faster_memory.dram_bytes_per_s *= 2.0;
    const double body = at(gpu, narrow).time_s - at(gpu, narrow).launch_s;
    CHECK(at(half, narrow).time_s - at(half, narrow).launch_s == near(2.0 * body, 0.001));
    CHECK(at(faster_memory, narrow).time_s == near(at(gpu, narrow).time_s));
}

TEST_CASE("a norm whose rows in flight outgrow the L2 reads them from DRAM again") {
    // 80 SMs of 2048 threads hold 1280 rows of 128 threads: 5 MB of 1024 floats, 42 MB of 8192.
    const auto gpu = test::v100_sxm2();
    const auto per_byte = [&](Count r, Count c) {
        const auto p = at(gpu, rows(model::Op::layernorm, r, c));
        return (p.time_s - p.launch_s) / p.bytes;
    };
    CHECK(per_byte(16384, 8192) > 1.05 * per_byte(131072, 1024));
    model::Gpu roomy = gpu;
    roomy.l2_bytes *= 100.0;
    roomy.calibration.memory.resident_l2 = 0.0;
    model::Gpu plain = gpu;
    plain.calibration.memory.resident_l2 = 0.0;
    const Layer long_rows = rows(model::Op::layernorm, 16384, 8192);
    CHECK(at(roomy, long_rows).time_s < at(plain, long_rows).time_s);
}

TEST_CASE("what a kernel takes beyond its work is cycles, what the host takes is not") {
    const auto gpu = test::v100_sxm2();
    model::Gpu slow = gpu;
    slow.boost_hz /= 2.0;
    const Layer tiny = test::gemm(8, 8, 8);
    CHECK(at(slow, tiny, Timing::kernel).launch_s > 1.5 * at(gpu, tiny, Timing::kernel).launch_s);
    CHECK(at(slow, tiny, Timing::eager).launch_s == near(at(gpu, tiny, Timing::eager).launch_s));
}

TEST_CASE("an interval is the kind's own, and twice as wide for a kind that was not measured") {
    model::Gpu gpu = test::v100_sxm2();
    auto& record = gpu.calibration.record(model::KernelClass::memory);
    record.band.low = 0.8;
    record.band.high = 1.25;
    record.kinds["softmax_kernel"] = {0.9, 1.1, 0.05, 0.05, 100, "test"};
    const auto known = at(gpu, rows(model::Op::softmax, 4096, 1000));
    CHECK(known.high_s / known.time_s == near(1.1));
    const auto unknown = at(gpu, rows(model::Op::layernorm, 4096, 1000));
    CHECK(unknown.high_s / unknown.time_s == near(1.25 * 1.25));
}

TEST_CASE("errors are told apart where another kernel, or the host, is in the time") {
    const Layer softmax = rows(model::Op::softmax, 4096, 1000);
    CHECK(model::row_kind(softmax, {}, Timing::eager) == "softmax");
    CHECK(model::row_kind(softmax, {}, Timing::graph) == "softmax_kernel");
    CHECK(model::row_kind(test::gemm(8, 8, 8)) == "gemm");
    CHECK(model::row_kind(test::gemm(8, 8, 8, DataType::fp8)) == "gemm_fp8");
    CHECK(model::row_kind(test::gemm(8, 8, 8, DataType::nvfp4)) == "gemm_nvfp4");
    CHECK(model::alignment_share(96, 4.25 / 8.0) == model::alignment_share(96, 0.5)); // mxfp4
}

TEST_CASE("a type without units is refused by name") {
    const auto p = model::predict(test::v100_sxm2(), test::gemm(64, 64, 64, DataType::fp8));
    REQUIRE(!p.ok());
    CHECK(p.diagnostics().items().front().code == "unsupported-type");
}

TEST_CASE("an interval widens outside the measured range") {
    model::Gpu gpu = test::v100_sxm2();
    auto& record = gpu.calibration.record(model::KernelClass::tensor_gemm);
    record.band.low = 0.9;
    record.band.high = 1.1;
    record.domain.flops_high = 1e9;
    const auto inside = at(gpu, test::gemm(512, 512, 512));     // 2.7e8 FLOP
    const auto outside = at(gpu, test::gemm(8192, 8192, 8192)); // 1.1e12 FLOP
    CHECK(inside.in_domain);
    CHECK_FALSE(outside.in_domain);
    CHECK(outside.high_s / outside.time_s > inside.high_s / inside.time_s);
}

TEST_CASE(
    "every step says its numbers, and the limiter is the name of the step that it points to") {
    for (const model::Gpu& gpu : {test::v100_sxm2(), test::a100_sxm_40()}) {
        for (const Layer& layer : assorted_layers()) {
            const auto p = at(gpu, layer);
            for (const auto& step : p.steps) {
                REQUIRE(!step.reason.empty());
                REQUIRE(!step.limit.empty());
            }
            REQUIRE(p.limiter_step >= 1);
            REQUIRE(p.limiter_step <= 7);
            if (p.limiter != "arithmetic") {
                REQUIRE(p.steps[p.limiter_step - 1].limit == p.limiter);
            } else {
                // Busy for more than half of the units' wall, which is the longer half of the time.
                REQUIRE(p.steps[6].macs_per_cycle > 0.25 * p.units);
            }
        }
    }
}

TEST_CASE("reasons count tiles and waves: 108 CTAs fill one wave of an A100") {
    model::Gpu gpu = test::a100_sxm_40();
    const auto p = at(gpu, test::gemm(2304, 1536, 4096));
    CHECK(p.steps[0].reason.find("14.5 GMAC") != std::string::npos); // 2304 x 1536 x 4096
    CHECK(p.steps[2].reason.find("108 SMs x 1024 MAC/cycle") != std::string::npos);
    CHECK(p.steps[3].reason.find("CTAs of") != std::string::npos);
    CHECK(p.steps[3].reason.find("wave") != std::string::npos);
}

TEST_CASE("rows that are no whole 16 bytes cost tensor cores, and step 4 says so") {
    CHECK(model::alignment_share(1024, 2) == 1.0);
    CHECK(model::alignment_share(1004, 2) == near(std::pow(0.5, 0.25))); // 8 bytes
    CHECK(model::alignment_share(1021, 2) == near(std::pow(0.125, 0.25)));
    CHECK(model::alignment_share(1016, 1) == near(std::pow(0.5, 0.25))); // int8: 16
    CHECK(model::alignment_share(1008, 1) == 1.0);
    const auto gpu = test::a100_sxm_40();
    const auto odd = at(gpu, test::gemm(4096, 4096, 4095));
    const auto even = at(gpu, test::gemm(4096, 4096, 4096));
    CHECK(odd.time_s > 1.3 * even.time_s);
    CHECK(odd.steps[3].reason.find("not whole 16 bytes") != std::string::npos);
    // Rows of n, 4 bytes, are worse than those of k, 8 bytes; on AMD's GPUs those of k alone count.
    const auto both = [](model::GpuArch arch) {
        auto one = test::a100_sxm_40();
        one.arch = arch;
        return at(one, test::gemm(6144, 30522, 1004)).steps[3].reason;
    };
    CHECK(both(model::GpuArch::ampere).find("rows of n = 30522") != std::string::npos);
    CHECK(both(model::GpuArch::amd).find("rows of k = 1004") != std::string::npos);
    const auto vector = at(gpu, test::gemm(4096, 4096, 4095, DataType::fp32));
    CHECK(vector.time_s <= at(gpu, test::gemm(4096, 4096, 4096, DataType::fp32)).time_s * 1.001);
}

TEST_CASE("rows of the result must be whole 16 bytes, too, and on AMD's GPUs those of K alone") {
    model::Gpu gpu = test::plain_gpu();
    const auto rate = [&](model::GpuArch arch, double n, double k) {
        gpu.arch = arch;
        return model::aligned_rate(gpu, {1.0, 6144.0, n, k, 2.0, 2.0});
    };
    CHECK(rate(model::GpuArch::ampere, 30528, 1024) == 1.0);
    CHECK(rate(model::GpuArch::ampere, 30522, 1024) == near(std::pow(0.25, 0.25)));
    CHECK(rate(model::GpuArch::amd, 30522, 1024) == 1.0);
    CHECK(rate(model::GpuArch::ampere, 1024, 1004) == near(std::pow(0.5, 0.25)));
    CHECK(rate(model::GpuArch::hopper, 30528, 1024) == 1.0);
    CHECK(rate(model::GpuArch::hopper, 30522, 1024) == near(0.63 * std::pow(0.25, 0.25)));
    CHECK(rate(model::GpuArch::hopper, 1024, 1004) == near(0.63 * std::pow(0.5, 0.25)));
    CHECK(rate(model::GpuArch::blackwell, 1, 1024) == 1.0); // a matrix times a vector
}

TEST_CASE("a batch of matrices times vectors streams through kernels without tiles") {
    model::Gpu gpu = test::plain_gpu();
    Layer layer = test::gemm(1, 32, 32, DataType::fp32);
    layer.op = Op::bmm;
    std::get<model::GemmShape>(layer.shape).batch = 1024;
    CHECK(model::kernel_class_of(gpu, layer) == model::KernelClass::memory);
    std::get<model::GemmShape>(layer.shape).m = 2;
    CHECK(model::kernel_class_of(gpu, layer) == model::KernelClass::batched);
    std::get<model::GemmShape>(layer.shape).m = 1;
    gpu.arch = model::GpuArch::amd;
    CHECK(model::kernel_class_of(gpu, layer) == model::KernelClass::batched);
}

TEST_CASE("a copy over PCIe is bound by the link, between GPUs by theirs") {
    model::Gpu gpu = test::v100_sxm2();
    gpu.pcie_bytes_per_s = 15.75e9;
    gpu.link_bytes_per_s = 300e9; // both directions
    Layer copy;
    copy.op = model::Op::elementwise;
    copy.types = {DataType::fp32, DataType::fp32, DataType::fp32};
    copy.shape = model::ElementwiseShape{1000, 25000, "h2d"}; // 100 MB
    const auto over_pcie = at(gpu, copy);
    // 100 MB / (0.8 x 15.75 GB/s) = 7.94 ms
    CHECK(over_pcie.time_s == near(7.95e-3, 0.01));
    CHECK(over_pcie.limiter == "link bandwidth");
    CHECK(over_pcie.step6_s == near(100e6 / 15.75e9));
    copy.shape = model::ElementwiseShape{1000, 25000, "peer"};
    CHECK(at(gpu, copy).time_s == near(100e6 / 120e9, 0.03));
    gpu.pcie_bytes_per_s = 0.0;
    copy.shape = model::ElementwiseShape{1, 1, "d2h"};
    CHECK(!model::predict(gpu, copy).ok());
}

TEST_CASE("no fitted share raises a roof") {
    model::Gpu gpu = test::v100_sxm2();
    model::Gpu tuned = gpu;
    for (model::MatmulTerms* terms :
         {&tuned.calibration.tensor_gemm, &tuned.calibration.linear, &tuned.calibration.batched}) {
        terms->l2_share = 100.0;
    }
    for (const Layer& layer : assorted_layers()) {
        CHECK(at(tuned, layer).machine_step6_s == near(at(gpu, layer).machine_step6_s, 1e-12));
    }
}

TEST_CASE("the best kernel's last step is its bandwidth and tiles, and the launch") {
    const auto p = at(test::v100_sxm2(), test::gemm(512, 4096, 1024));
    const double cycles = (p.machine_step6_s + p.launch_s) * p.clock_hz;
    CHECK(p.machine_steps[6].macs_per_cycle * cycles / p.macs == near(1.0, 1e-9));
}

TEST_CASE("shares of a prediction's time add up to it, and the binding step saves something") {
    for (const model::Gpu& gpu : {test::v100_sxm2(), test::a100_sxm_40()}) {
        for (const Layer& layer : assorted_layers()) {
            const auto p = at(gpu, layer);
            double sum = p.limits.at_work;
            for (const double share : p.limits.share) {
                sum += share;
            }
            REQUIRE(std::abs(sum - p.time_s) <= 1e-9 * p.time_s);
            REQUIRE(p.limits.binding == p.limiter_step);
        }
    }
}

} // namespace test_model_gpu_predict
