// Eyeriss v1 against its published tables: Chen et al., IEEE JSSC 52(1), 2017, Tables III, V and
// VI. Mappings and footprints must be equal; latencies are measured on silicon and judged by their
// error.
#include "analysis/exam/run.hpp"
#include "hwdb/catalog.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace test_analysis_eyeriss {

using namespace eyeroof;
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

Machine eyeriss() {
    auto machine = hwdb::load_machine_file(eyeroof::tests::source_dir() +
                                           "/hwdb/accelerators/eyeriss-v1.yaml");
    REQUIRE(machine.ok());
    return *std::move(machine);
}

Layer conv(std::string name, Count n, Count c, Count hw, Count k, Count rs, Count stride, Count pad,
           Count groups, double input_zeros = 0.0, double output_zeros = 0.0) {
    ConvShape s{n, c, hw, hw, k, rs, rs, {stride, stride}, {pad, pad}, {1, 1}, groups};
    Layer layer;
    layer.name = std::move(name);
    layer.op = Op::conv2d;
    layer.shape = s;
    layer.input_zeros = input_zeros;
    layer.output_zeros = output_zeros;
    return layer;
}

// Table V's zeros in the ifmaps; a layer's outputs are the next layer's inputs.
Network alexnet() {
    Network network{"alexnet", "AlexNet", "JSSC 2017", {}};
    network.layers = {conv("conv1", 4, 3, 227, 96, 11, 4, 0, 1, 0.0001, 0.387),
                      conv("conv2", 4, 96, 27, 256, 5, 1, 2, 2, 0.387, 0.725),
                      conv("conv3", 4, 256, 13, 384, 3, 1, 1, 1, 0.725, 0.793),
                      conv("conv4", 4, 384, 13, 384, 3, 1, 1, 2, 0.793, 0.776),
                      conv("conv5", 4, 384, 13, 256, 3, 1, 1, 2, 0.776, 0.776)};
    return network;
}

struct Published {
    const char* parameters; // Table III
    double allocated;       // Table V, active PEs
    double averaged;        // MACs / (passes * cycles of a pass)
    double processing_ms;   // Table V
    double total_ms;        // Table V
    Count input_bytes;      // Table III: 15.5 kB is n q r ((e-1) U + R) W * 2 B = 15890 B …
    Count psum_bytes;       // … and 72.2 kB is n m e F * 2 B = 73920 B
};

// Averaged, e.g. conv1: 55 rows in strips of 7 are 8 passes, 11 * 2 * 55 / 8 = 151.25.
const std::vector<Published> kTable = {
    {"m=96 n=1 e=7 p=16 q=1 r=1 t=2", 154, 151.25, 16.5, 20.9, 15890, 73920},
    {"m=64 n=1 e=27 p=16 q=2 r=1 t=1", 135, 135, 39.2, 41.9, 3844, 93312},
    {"m=64 n=4 e=13 p=16 q=4 r=1 t=4", 156, 156, 21.8, 23.6, 7200, 86528},
    {"m=64 n=4 e=13 p=16 q=3 r=2 t=2", 156, 156, 16.0, 18.4, 10800, 86528},
    {"m=64 n=4 e=13 p=16 q=3 r=2 t=2", 156, 156, 10.0, 10.5, 10800, 86528}};

Count tile_bytes(const analysis::LayerReport& layer, const std::string& level,
                 const std::string& tensor) {
    for (const analysis::TrafficRow& row : layer.traffic) {
        if (row.level == level && row.tensor == tensor) {
            return row.tile_bytes;
        }
    }
    return 0;
}

} // namespace

TEST_CASE("the row-stationary mapper finds the published mappings of AlexNet") {
    const auto report = analysis::run(alexnet(), eyeriss());
    REQUIRE(report.ok());
    for (std::size_t i = 0; i < kTable.size(); ++i) {
        const analysis::LayerReport& layer = report->layers[i];
        CAPTURE(layer.layer.name);
        CHECK(layer.mapping_text.substr(0, layer.mapping_text.find('\n')) == kTable[i].parameters);
        CHECK(layer.active.allocated == kTable[i].allocated);
        CHECK(layer.active.averaged == near(kTable[i].averaged, 1e-12));
        CHECK(tile_bytes(layer, "GLB", "input") == kTable[i].input_bytes);
        CHECK(tile_bytes(layer, "GLB", "output") == kTable[i].psum_bytes);
    }
}

TEST_CASE("strips that the array or the buffer cannot hold are not looked at") {
    // One for each of the billion rows would take minutes.
    const auto pass_of = [](Count rows) {
        Network network{"rows", "rows", "", {}};
        network.layers.emplace_back();
        network.layers.front().name = "rows";
        network.layers.front().op = Op::gemm;
        network.layers.front().shape = GemmShape{.m = rows, .n = 64, .k = 4096};
        const auto report = analysis::run(network, eyeriss());
        REQUIRE(report.ok());
        const std::string& text = report->layers.front().mapping_text;
        return text.substr(0, text.find('\n'));
    };
    CHECK(pass_of(1'000'000'000) == pass_of(100'000));
}

TEST_CASE("inputs and partial sums in stores of their own need room for one of them in each") {
    // conv2 keeps 3844 B of inputs (a bank of 4 KiB) and 93,312 B of partial sums (23 banks), and
    // the dataflow leaves banks free.
    Machine machine = eyeriss();
    auto& accelerator = std::get<Accelerator>(machine.kind);
    const Count left = accelerator.dataflows.front().free_banks;
    auto& stores = accelerator.levels[1].stores;
    REQUIRE(stores.size() == 1);
    stores.push_back(stores.front());
    stores[0].operands = {Operand::input};
    stores[0].capacity_bytes = (1 + left) * 4096;
    stores[1].operands = {Operand::output};
    stores[1].capacity_bytes = (23 + left) * 4096;
    const Network conv2{"conv2", "conv2", "JSSC 2017", {alexnet().layers[1]}};
    const auto report = analysis::run(conv2, machine);
    REQUIRE(report.ok());
    const analysis::LayerReport& layer = report->layers.front();
    CHECK(layer.mapping_text.substr(0, layer.mapping_text.find('\n')) == kTable[1].parameters);
}

TEST_CASE("processing latency of AlexNet is within 8 % of silicon per layer and 2 % in sum") {
    const auto report = analysis::run(alexnet(), eyeriss());
    REQUIRE(report.ok());
    double processing_ms = 0.0;
    for (std::size_t i = 0; i < kTable.size(); ++i) {
        const analysis::LayerReport& layer = report->layers[i];
        CAPTURE(layer.layer.name);
        const double ms = layer.processing_time_s * 1e3;
        MESSAGE(layer.layer.name << " processing " << ms << " ms, silicon "
                                 << kTable[i].processing_ms);
        CHECK(std::abs(ms / kTable[i].processing_ms - 1.0) <= 0.08);
        processing_ms += ms;
    }
    CHECK(std::abs(processing_ms / 103.5 - 1.0) <= 0.02);
}

TEST_CASE("total latency of AlexNet with DRAM stalls is within 10 % of silicon") {
    const auto report = analysis::run(alexnet(), eyeriss());
    REQUIRE(report.ok());
    for (std::size_t i = 0; i < kTable.size(); ++i) {
        const analysis::LayerReport& layer = report->layers[i];
        CAPTURE(layer.layer.name);
        const double ms = layer.time_s * 1e3;
        MESSAGE(layer.layer.name << " total " << ms << " ms, silicon " << kTable[i].total_ms);
        CHECK(std::abs(ms / kTable[i].total_ms - 1.0) <= 0.10);
    }
    CHECK(std::abs(report->total.time_s * 1e3 / 115.3 - 1.0) <= 0.10);
}

TEST_CASE("under Timeloop's counting everything overlaps, so step 7 takes nothing") {
    analysis::Scenario scenario;
    scenario.counting = Counting::timeloop;
    const auto report = analysis::run(alexnet(), eyeriss(), scenario);
    REQUIRE(report.ok());
    for (const analysis::LayerReport& layer : report->layers) {
        CAPTURE(layer.layer.name);
        CHECK(layer.steps[6].macs_per_cycle == near(layer.steps[5].macs_per_cycle, 1e-12));
    }
}

TEST_CASE("under Timeloop's counting, where networks have no bandwidth, none bounds the machine") {
    analysis::Scenario scenario;
    scenario.counting = Counting::timeloop;
    for (const Count rows : {1, 8, 64, 512}) {
        Layer product;
        product.name = "product";
        product.op = Op::gemm;
        product.shape = GemmShape{1, rows, 512, 512};
        const auto report = analysis::run({"one", "One", "", {product}}, eyeriss(), scenario);
        CAPTURE(rows);
        REQUIRE(report.ok()); // "internal-bound": the mapping was faster than the DRAM's network
        const analysis::LayerReport& layer = report->layers.front();
        CHECK(layer.machine_steps[5].limit == "nothing");
        CHECK(layer.machine_steps[6].macs_per_cycle == layer.machine_steps[5].macs_per_cycle);
    }
}

TEST_CASE("FC6 lies on the DRAM roof, and that is what limits it") {
    Layer fc6;
    fc6.name = "FC6";
    fc6.op = Op::gemm;
    fc6.shape = GemmShape{1, 1, 4096, 9216};
    Network network{"fc", "FC6", "", {fc6}};
    const auto report = analysis::run(network, eyeriss());
    REQUIRE(report.ok());
    const analysis::LayerReport& layer = report->layers[0];
    CHECK(layer.limiter_step == 6);
    CHECK(layer.limit == Limit::outer_memory);
    CHECK(layer.limiter.find("DRAM") != std::string::npos);
    CHECK(layer.limits.saves_most() == 6);
    // Step 4 idles 93 % of the array, and mending it would save nothing.
    CHECK(layer.steps[3].macs_per_cycle < 0.08 * report->machine.units);
    CHECK(layer.limits.without[3] > 0.999 * layer.time_s);
    double sum = layer.limits.at_work;
    for (const double share : layer.limits.share) {
        sum += share;
    }
    CHECK(std::abs(sum / layer.time_s - 1.0) < 1e-9);
    double lost_s = 0.0;
    for (const analysis::Loss& loss : report->worst) {
        lost_s += loss.lost_s;
    }
    CHECK(lost_s <= layer.time_s); // three losses of one layer were more than all its time
}

TEST_CASE("a layer off the array is held by arithmetic where that is what takes longer") {
    Layer act;
    act.name = "act";
    act.op = Op::elementwise;
    act.shape = ElementwiseShape{1000, 1000, "relu"};
    Machine fast = eyeriss();
    for (auto& channel : std::get<Accelerator>(fast.kind).levels[0].channels) {
        channel.down_bytes_per_cycle = channel.up_bytes_per_cycle = 1e6;
    }
    const Network network{"act", "act", "", {act}};
    const auto slow = analysis::run(network, eyeriss());
    const auto quick = analysis::run(network, fast);
    REQUIRE(slow.ok());
    REQUIRE(quick.ok());
    CHECK(slow->layers[0].limit == Limit::outer_memory);
    CHECK(slow->layers[0].limiter_step == 6);
    CHECK(quick->layers[0].limit == Limit::arithmetic);
    CHECK(quick->layers[0].limiter_step == 3);
    CHECK(quick->layers[0].split.dram_stall_s == 0.0);
}

} // namespace test_analysis_eyeriss
