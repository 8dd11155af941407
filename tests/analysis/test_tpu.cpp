// TPU v1 against Jouppi et al., ISCA 2017, Tables 1 and 3 and its roofline.
#include "analysis/exam/run.hpp"
#include "hwdb/catalog.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace test_analysis_tpu {

using namespace eyeroof;
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

Machine tpu() {
    auto machine =
        hwdb::load_machine_file(eyeroof::tests::source_dir() + "/hwdb/accelerators/tpu-v1.yaml");
    REQUIRE(machine.ok());
    return *std::move(machine);
}

double weight_bytes_per_s(const Machine& machine) {
    const auto& accelerator = std::get<Accelerator>(machine.kind);
    const Channel* channel = channel_of(accelerator.levels.front(), Operand::weight);
    REQUIRE(channel != nullptr);
    return channel->down_bytes_per_cycle * accelerator.clock_hz;
}

Network one_layer(Layer layer) {
    return {"one", "one layer", "", {std::move(layer)}};
}

Layer int8(Layer layer) {
    layer.types = {DataType::int8, DataType::int8, DataType::int8};
    return layer;
}

analysis::Scenario by_rules() {
    analysis::Scenario scenario;
    scenario.policy = analysis::MappingPolicy::dataflow;
    return scenario;
}

} // namespace

TEST_CASE("the TPU's ridge lies at 1350 MACs per weight byte") {
    const Machine machine = tpu();
    // 65536 MACs * 700 MHz / 34 GB/s = 1349
    const double peak = static_cast<double>(mac_units(std::get<Accelerator>(machine.kind))) *
                        std::get<Accelerator>(machine.kind).clock_hz;
    CHECK(peak / weight_bytes_per_s(machine) == near(1350, 0.001));
}

TEST_CASE("memory-bound applications of the TPU lie under the bound that step 6 gives them") {
    struct Row {
        const char* name;
        Count batch; // each weight byte is used once per example: MACs per weight byte = batch
        double bound_tops, measured_tops;
    };
    // bound = 2 * batch * 0.034 TOPS; measured: the paper's Table 3
    const std::vector<Row> rows = {{"MLP0", 200, 13.6, 12.3},
                                   {"MLP1", 168, 11.42, 9.7},
                                   {"LSTM0", 64, 4.35, 3.7},
                                   {"LSTM1", 96, 6.53, 2.8}};
    for (const Row& row : rows) {
        CAPTURE(row.name);
        Layer fc;
        fc.name = row.name;
        fc.op = Op::gemm;
        fc.shape =
            GemmShape{1, row.batch, 2048, 2048}; // tiles of the array, so step 4 takes nothing
        const auto report = analysis::run(one_layer(int8(fc)), tpu(), by_rules());
        REQUIRE(report.ok());
        const analysis::LayerReport& layer = report->layers.front();
        const double bound_tops =
            2.0 * layer.steps[5].macs_per_cycle * report->machine.clock_hz * 1e-12;
        MESSAGE(std::string(row.name)
                << ": bound " << bound_tops << " TOPS, measured " << row.measured_tops
                << ", measured / bound " << row.measured_tops / bound_tops);
        CHECK(bound_tops == near(row.bound_tops, 0.002));
        CHECK(layer.steps[5].limit == "weight DRAM");
        CHECK(row.measured_tops < bound_tops);
        CHECK(layer.steps[3].macs_per_cycle == 65536.0);
    }
}

TEST_CASE("a layer too shallow for the array loses its unused MACs at step 4") {
    Layer conv;
    conv.name = "shallow";
    conv.op = Op::conv2d;
    ConvShape shape;
    shape.n = 32;
    shape.c = 96;  // three eighths of the rows
    shape.k = 512; // twice the columns
    shape.h = shape.w = 28;
    shape.r = shape.s = 1;
    conv.shape = shape;
    const auto report = analysis::run(one_layer(int8(conv)), tpu(), by_rules());
    REQUIRE(report.ok());
    const analysis::LayerReport& layer = report->layers.front();
    CHECK(layer.steps[2].macs_per_cycle == 96.0 * 512.0); // would fit the number of units …
    CHECK(layer.steps[3].macs_per_cycle == 96.0 * 256.0); // … but not their two axes
    CHECK(layer.steps[3].limit == "axis y");
    CHECK(layer.active.allocated == 96.0 * 256.0);
}

} // namespace test_analysis_tpu
