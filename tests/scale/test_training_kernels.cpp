// Kernels of training frameworks: measured products, fused pointwise ones, and the options that
// recipes of 8 bits imply.
#include "analysis/scale/training_kernels.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "hwdb/kernels_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace test_scale_training_kernels {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;

namespace {

const std::vector<std::filesystem::path> kHwdb = {std::filesystem::path(tests::source_dir()) /
                                                  "hwdb"};

model::Machine machine_of(const char* id) {
    auto machine = hwdb::load_machine(id, kHwdb);
    REQUIRE(machine.ok());
    return *machine;
}

model::MachineKernels kernels_of(const model::Machine& machine) {
    auto kernels = hwdb::load_kernels(std::get<model::Gpu>(machine.kind), machine.id, kHwdb);
    REQUIRE(kernels.ok());
    return *kernels;
}

Transformer wide_decoder() {
    Transformer t;
    t.layers = 4;
    t.hidden = 8192;
    t.heads = 64;
    t.kv_heads = 8;
    t.head_size = 128;
    t.inner = 28672;
    t.vocabulary = 128256;
    t.gated = true;
    t.tied = t.biases = false;
    return t;
}

BlockTimes block_times(const char* gpu, model::DataType type, bool measured, bool compiled) {
    const model::Machine machine = machine_of(gpu);
    TransformerOptions o;
    o.length = 8192;
    o.type = type;
    o.exam.compiled = compiled;
    if (measured) {
        o.kernels = kernels_of(machine);
    }
    BlockExams exams(wide_decoder(), machine, o);
    const auto times = exams.times(Plan{}, {});
    REQUIRE(times.ok());
    return *times;
}

LayerReport product_report(model::Direction direction, model::GemmShape shape) {
    LayerReport report;
    report.layer.op = shape.batch > 1 ? model::Op::bmm : model::Op::gemm;
    report.layer.shape = shape;
    report.layer.direction = direction;
    report.layer.types = {model::DataType::fp8, model::DataType::fp8, model::DataType::bf16};
    report.time_s = 1.0;
    return report;
}

} // namespace

TEST_CASE("products of 8 bits take what measured ones do, products of 16 bits what they took") {
    const BlockTimes without = block_times("gb300", model::DataType::fp8, false, false);
    const BlockTimes with = block_times("gb300", model::DataType::fp8, true, false);
    MESSAGE("forward ", without.forward_s, " by the exam, ", with.forward_s, " as measured");
    // The model's rate of fp8 was chosen on such products: the two may not be far from each other.
    CHECK(with.forward_s != without.forward_s);
    CHECK(std::abs(with.forward_s / without.forward_s - 1.0) < 0.15);
    CHECK(std::abs(with.backward_s / without.backward_s - 1.0) < 0.15);
    const BlockTimes wide = block_times("gb300", model::DataType::bf16, false, false);
    CHECK(block_times("gb300", model::DataType::bf16, true, false).forward_s ==
          near(wide.forward_s));
}

TEST_CASE("a product of a gradient is as large as the product, and one of a weight is not cast") {
    const model::Machine machine = machine_of("gb200");
    const model::MachineKernels measured = kernels_of(machine);
    const TrainingKernels kernels{&std::get<model::Gpu>(machine.kind), &measured, false, 0.0};
    const auto time = [&](model::Direction direction, model::GemmShape shape) {
        const LayerReport report = product_report(direction, shape);
        return kernels.time_s(report, report);
    };
    const model::GemmShape cube{1, 8192, 8192, 8192};
    const double forward = time(model::Direction::fwd, cube);
    CHECK(time(model::Direction::bwd_data, cube) == near(forward));
    CHECK(time(model::Direction::bwd_weight, cube) < forward);
    CHECK(time(model::Direction::bwd_weight, cube) > 0.5 * forward);
    const double flops = 2.0 * 8192.0 * 8192.0 * 8192.0;
    CHECK(flops / forward <
          std::get<model::Gpu>(machine.kind).rate(model::DataType::fp8).flops_per_s);
    // Experts one after the other; a clock that has settled is slower.
    CHECK(time(model::Direction::fwd, {8, 8192, 8192, 8192}) == near(8.0 * forward));
    LayerReport alone = product_report(model::Direction::fwd, cube);
    LayerReport settled = alone;
    settled.time_s = 1.1;
    CHECK(kernels.time_s(settled, alone) == near(1.1 * forward));
}

TEST_CASE("fused pointwise kernels take their bytes, and never longer than kernels of their own") {
    for (const char* gpu : {"a100-sxm-80gb", "h100-sxm-80gb", "gb300"}) {
        const model::Machine machine = machine_of(gpu);
        const TrainingKernels kernels{&std::get<model::Gpu>(machine.kind), nullptr, true, 1e-12};
        LayerReport report;
        report.layer.op = model::Op::elementwise;
        report.layer.shape = model::ElementwiseShape{1 << 20, 1 << 10, "swiglu"};
        report.bytes = 6LL << 30;
        report.time_s = 1.0;
        CHECK(kernels.time_s(report, report) == near(6.0 * 1073741824e-12, 0.01));
        report.time_s = 1e-6;
        CHECK(kernels.time_s(report, report) == 1e-6);
    }
}

TEST_CASE("recipes of 8 bits sum gradients in 16 and hide tensor messages, those of 4 do not") {
    TransformerOptions o;
    Plan plan;
    plan.tensor = 4;
    plan.sequence = true;
    CHECK(gradient_bytes_of(o) == 4.0);
    CHECK_FALSE(hides_tensor(plan, o));
    o.type = model::DataType::fp8;
    CHECK(gradient_bytes_of(o) == 2.0);
    CHECK(hides_tensor(plan, o));
    o.overlap_tensor = false;
    CHECK_FALSE(hides_tensor(plan, o));
    o.overlap_tensor.reset();
    o.type = model::DataType::nvfp4;
    CHECK_FALSE(hides_tensor(plan, o));
    plan.sequence = false;
    o.type = model::DataType::fp8;
    CHECK_FALSE(hides_tensor(plan, o));
}

TEST_CASE("a step with experts or fewer bits has an interval of its own") {
    Transformer t = wide_decoder();
    const auto width = [&](model::DataType type) {
        const ErrorBand& band = step_band(t, type);
        CHECK(band.low < band.high);
        return band.high / band.low;
    };
    const double wide = width(model::DataType::bf16);
    const double narrow = width(model::DataType::mxfp8);
    CHECK(width(model::DataType::nvfp4) == narrow);
    t.experts = 8;
    CHECK(width(model::DataType::bf16) > std::max(narrow, wide));
}

TEST_CASE("a step is never slower over links of more bandwidth") {
    const auto fabric = hwdb::load_fabric("gb200-nvl72", kHwdb);
    REQUIRE(fabric.ok());
    BlockTimes times;
    times.forward_s = 1e-3;
    times.backward_s = 2e-3;
    for (const Count tensor : {1, 2, 4}) {
        for (const Count pipeline : {1, 2}) {
            for (const int zero : {0, 1, 3}) {
                Plan plan;
                plan.tensor = tensor;
                plan.sequence = tensor > 1;
                plan.pipeline = pipeline;
                plan.data = 16;
                plan.zero = zero;
                TransformerOptions o;
                o.batch = 64;
                o.length = 8192;
                model::Fabric faster = *fabric;
                double last = 1e30;
                for (int doubled = 0; doubled < 4; ++doubled) {
                    const double now =
                        transformer_step(wide_decoder(), plan, o, faster, times, 0.0, 1e12).time_s;
                    CAPTURE(plan.text());
                    CHECK(now <= last * (1.0 + 1e-9));
                    last = now;
                    for (model::FabricLevel& level : faster.levels) {
                        level.bytes_per_s *= 2.0;
                    }
                }
            }
        }
    }
}

} // namespace test_scale_training_kernels
