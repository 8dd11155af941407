// Published figures of the catalog's accelerators beside what is predicted of them, and what the
// types of layers mean on a machine with words of its own.
#include "analysis/calibrate/machines.hpp"
#include "analysis/exam/run.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/published_reader.hpp"
#include "hwdb/technology_reader.hpp"
#include "report/answer/write.hpp"
#include "report/calibrate/validation_answers.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace test_analysis_machines {

using namespace eyeroof;
using tests::near;

namespace {

const std::filesystem::path& source() {
    static const std::filesystem::path path = tests::source_dir();
    return path;
}

model::Machine machine(const std::string& id) {
    auto loaded = hwdb::load_machine(id, std::vector{source() / "hwdb"});
    REQUIRE(loaded.ok());
    return *std::move(loaded);
}

model::Network network(const std::string& reference) {
    auto loaded = formats::load_network(reference, {source() / "examples/networks"});
    REQUIRE(loaded.ok());
    return *std::move(loaded);
}

analysis::Scenario by_rules() {
    analysis::Scenario scenario;
    scenario.policy = analysis::MappingPolicy::dataflow;
    return scenario;
}

const model::Technology& technology() {
    static const auto read = hwdb::load_technology(std::vector{source() / "hwdb"});
    REQUIRE(read.ok());
    return *read;
}

analysis::MachineTable table(const std::string& id) {
    const auto published = hwdb::load_published(source() / "hwdb/published" / (id + ".yaml"));
    REQUIRE(published.ok());
    const auto tables = analysis::validate_machines(
        {*published},
        [](const std::string& r) {
            return model::NetworkGraph{network(r), {}};
        },
        [](const std::string& m) { return machine(m); }, &technology(), by_rules());
    REQUIRE(tables.ok());
    return tables->front();
}

double error_of(const analysis::MachineTable& table, const std::string& row) {
    for (const analysis::PublishedResult& result : table.rows) {
        if (result.row.name == row) {
            return result.error();
        }
    }
    FAIL("no row " << row);
    return 0.0;
}

// A description in a file of its own, read back as published figures.
Result<hwdb::PublishedTable> published(const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() / "eyeroof_published_test.yaml";
    std::ofstream(path) << text;
    auto read = hwdb::load_published(path);
    std::filesystem::remove(path);
    return read;
}

} // namespace

TEST_CASE("four of the TPU's applications are within 20 % of silicon, by shapes of equal layers") {
    const analysis::MachineTable tpu = table("tpu-v1");
    for (const char* name : {"MLP0", "MLP1", "LSTM0", "CNN0"}) {
        CAPTURE(name);
        CHECK(std::abs(error_of(tpu, name)) <= 0.20);
    }
    // Their shapes are not published, and their counters say that equal layers are wrong for them.
    CHECK(error_of(tpu, "LSTM1") > 0.20);
    CHECK(error_of(tpu, "CNN1") > 0.20);
}

TEST_CASE("what a published figure counts in another way is told step by step beside the error") {
    const auto read = published("eyeroof: published/1\ntitle: t\nsource: a paper\nmachine: tpu-v1\n"
                                "network: tpu-mlp0\nrows:\n"
                                "  - name: a\n    tera_ops: 6.8\n    explained:\n"
                                "      - {step: 4, factor: 1.6, why: shallow}\n"
                                "      - {step: 7, factor: 1.25, why: waits}\n");
    REQUIRE(read.ok());
    const analysis::PublishedResult twice{read->rows[0], 13.6, "6 weight DRAM"};
    CHECK(twice.error() == tests::near(1.0, 1e-12));
    CHECK(twice.unexplained() == tests::within(1e-12, 0.0));
    const analysis::PublishedResult half{read->rows[0], 6.8, "6 weight DRAM"};
    CHECK(half.unexplained() == tests::near(-0.5, 1e-12));
    const std::string text =
        report::to_markdown(report::machines_validated({{"t", "t", {half}, {}, {}}}));
    CHECK(text.find("step 4, x1.60: shallow; step 7, x1.25: waits; -50.0 % left once these steps "
                    "are counted") != std::string::npos);
}

TEST_CASE("an explanation names one of seven steps, its factor and why") {
    const auto read = published("eyeroof: published/1\ntitle: t\nsource: a paper\nmachine: m\n"
                                "network: n\nrows:\n  - name: a\n    total_ms: 1\n    explained:\n"
                                "      - {step: 8, factor: 1.6, why: w}\n"
                                "      - {step: 4, factor: 0, why: w}\n"
                                "      - {step: 4, factor: 2}\n");
    REQUIRE_FALSE(read.ok());
    CHECK(read.diagnostics().size() == 3);
}

TEST_CASE("beyond the aims, each of the published figures names the steps that differ") {
    for (const char* id : {"tpu-v1", "nvdla"}) {
        for (const analysis::PublishedResult& row : table(id).rows) {
            CAPTURE(row.row.name);
            CHECK(std::abs(row.unexplained()) <= 0.20);
        }
    }
}

TEST_CASE("Eyeriss v2's mesh gains on MobileNet what the paper prints, within 10 %") {
    const analysis::MachineTable eyeriss = table("eyeriss-v2");
    CHECK(std::abs(error_of(eyeriss, "MobileNet")) <= 0.10);
    CHECK(*eyeriss.mape <= 0.10); // the recalled rows do not count
}

TEST_CASE("figures of a machine are told with their confidence, recalled ones never in a mean") {
    const std::string text =
        report::to_text(report::machines_validated({table("eyeriss-v2")}), 120);
    CHECK(text.find("unsourced") != std::string::npos);
    CHECK(text.find("without unsourced figures") != std::string::npos);
    const auto simba = report::machines_validated({table("simba")});
    CHECK(report::to_csv(simba).find("simba,ResNet-50,simba,,,resnet50,frames/s,1988,") !=
          std::string::npos);
    CHECK(report::to_json(simba).find("\"eyeroof/published/2\"") != std::string::npos);
}

TEST_CASE("published figures that cannot be read are refused, each with its place") {
    const auto read = published("eyeroof: published/1\ntitle: t\nsource: a paper\nmachine: m\n"
                                "rows:\n"
                                "  - {name: a, network: n}\n"
                                "  - {name: b, network: n, total_ms: 1, frames_per_s: 2}\n"
                                "  - {name: c, network: n, processing_speedup: 2}\n"
                                "  - {name: d, network: n, total_ms: -1}\n"
                                "  - {name: e, total_ms: 1, colour: red}\n");
    REQUIRE_FALSE(read.ok());
    std::vector<int> lines;
    for (const auto& found : read.diagnostics()) {
        lines.push_back(found.where.line);
    }
    CHECK(lines == std::vector{6, 7, 8, 9, 10, 10});
}

TEST_CASE("int8 results leave a systolic array's memory as int8") {
    auto layers = network("resnet50");
    for (model::Layer& layer : layers.layers) {
        layer.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
    }
    auto systolic = hwdb::load_machine("systolic:32x32", std::vector{source() / "hwdb"});
    REQUIRE(systolic.ok());
    const auto report = analysis::run(layers, *systolic, by_rules());
    REQUIRE(report.ok());
    CHECK(report.diagnostics().empty()); // the words are those of the layers
    double results = 0.0;
    double moved = 0.0;
    for (const analysis::LayerReport& layer : report->layers) {
        const double count = static_cast<double>(layer.layer.count);
        moved += count * layer.outer_bytes;
        for (const analysis::TrafficRow& row : layer.traffic) {
            results += row.level == "memory" && row.tensor == "output"
                           ? count * static_cast<double>(row.write_bytes)
                           : 0.0;
        }
    }
    // An image's results of 54 layers at one byte each: 10.6 M in the 53 convolutions, 1000 in fc.
    CHECK(results < 11.2e6);
    MESSAGE("ResNet-50 on systolic:32x32 moves " << moved * 1e-6 << " MB");
}

TEST_CASE("a type whose words the machine has not is refused, layers' own types are told once") {
    analysis::Scenario scenario = by_rules();
    scenario.data_type = model::DataType::fp32;
    const auto refused = analysis::run(network("tpu-mlp0"), machine("tpu-v1"), scenario);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items().front().code == "unsupported-type");
    CHECK(refused.diagnostics().items().front().message ==
          "TPU v1 computes with 8-bit data, fp32 has 32");
    scenario.data_type = model::DataType::int8;
    CHECK(analysis::run(network("tpu-mlp0"), machine("tpu-v1"), scenario).ok());

    const auto told = analysis::run(network("alexnet"), machine("nvdla-small"), by_rules());
    REQUIRE(told.ok());
    REQUIRE(told.diagnostics().size() == 1);
    CHECK(told.diagnostics().items().front().code == "other-words");
    CHECK(
        analysis::run(network("alexnet"), machine("eyeriss-v1"), by_rules()).diagnostics().empty());
}

namespace {

model::Network max_pooling() { // 64 images of 224 x 224 int8, of which a quarter leaves
    model::Layer pool;
    pool.name = "pool";
    pool.op = model::Op::maxpool;
    model::PoolShape shape;
    shape.c = 64;
    shape.h = shape.w = 224;
    shape.r = shape.s = 2;
    shape.stride = {2, 2};
    pool.shape = shape;
    pool.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
    return {"pool", "pool", "", {pool}};
}

} // namespace

TEST_CASE("an operator without a nest waits for the network or store of its own tensors") {
    const double in = 64.0 * 224 * 224;
    const auto tpu = analysis::run(max_pooling(), machine("tpu-v1"), by_rules());
    REQUIRE(tpu.ok());
    CHECK(tpu->layers[0].outer_bytes == near(1.25 * in));
    CHECK(tpu->total.time_s == near(in / 14e9)); // the host's link, not that of the weights
    auto slow = machine("npu-int8");             // 51.2 GB/s both ways, and a vector unit
    auto& outer = std::get<model::Accelerator>(slow.kind).levels[0];
    outer.stores[0].read_bytes_per_cycle = 1.0;
    const auto npu = analysis::run(max_pooling(), slow, by_rules());
    REQUIRE(npu.ok());
    CHECK(npu->total.time_s == near(in / 1e9)); // a byte a cycle of 1 GHz
    std::get<model::Accelerator>(slow.kind).vector_unit.reset();
    CHECK(analysis::run(max_pooling(), slow, by_rules())->total.time_s == near(in / 1e9));
}

TEST_CASE("an operator without a nest costs the energy of its words in the outermost memory") {
    model::Network network = max_pooling();
    network.layers[0].types = {model::DataType::int16, model::DataType::int16,
                               model::DataType::int16};
    const auto report = analysis::run(network, machine("eyeriss-v1"), by_rules());
    REQUIRE(report.ok());
    CHECK(report->total.energy_j - report->total.leakage_j ==
          near(1.25 * 64 * 224 * 224 * 200e-12));
}

TEST_CASE("a filter larger than the machine's control supports is reported") {
    model::Layer conv;
    conv.name = "conv";
    conv.op = model::Op::conv2d;
    model::ConvShape shape;
    shape.c = shape.k = 8;
    shape.h = shape.w = 64;
    shape.r = shape.s = 15;
    conv.shape = shape;
    conv.types = {model::DataType::int16, model::DataType::int16, model::DataType::int16};
    const auto report =
        analysis::run({"big", "big", "", {conv}}, machine("eyeriss-v1"), by_rules());
    REQUIRE(report.ok());
    REQUIRE(report.diagnostics().size() == 1);
    CHECK(report.diagnostics().items().front().code == "max-filter");
    CHECK(report.diagnostics().items().front().message ==
          "1 layer has a larger filter (15 x 15) than Eyeriss v1 supports (12 x 32)");
    shape.r = 12;
    conv.shape = shape;
    CHECK(analysis::run({"big", "big", "", {conv}}, machine("eyeriss-v1"), by_rules())
              .diagnostics()
              .empty());
}

TEST_CASE("groups run beside each other on Simba's PEs") {
    model::Layer depthwise;
    depthwise.name = "dw";
    depthwise.op = model::Op::conv2d;
    model::ConvShape shape;
    shape.n = 1;
    shape.c = shape.k = shape.groups = 512;
    shape.h = shape.w = 14;
    shape.r = shape.s = 3;
    shape.pad = {1, 1};
    depthwise.shape = shape;
    depthwise.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
    const auto report =
        analysis::run({"dw", "depthwise", "", {depthwise}}, machine("simba"), by_rules());
    REQUIRE(report.ok());
    // 576 PEs hold one group each; a lane of one of them works, for a group has one kernel
    CHECK(report->layers.front().active.allocated >= 256.0);
    CHECK(report->layers.front().active.allocated <= 576.0);
}

TEST_CASE("pooling has no MACs on an array either") {
    model::Layer pool;
    pool.name = "pool";
    pool.op = model::Op::maxpool;
    pool.shape = model::PoolShape{1, 64, 56, 56, 2, 2, {2, 2}, {0, 0}};
    const auto report = analysis::run({"p", "pool", "", {pool}}, machine("eyeriss-v1"), by_rules());
    REQUIRE(report.ok());
    CHECK(report->layers.front().macs == 0);
    CHECK(report->total.macs == 0.0);
}

TEST_CASE("AlexNet on Eyeriss v1 without the rules that were inferred from VGG-16") {
    auto scenario = by_rules();
    scenario.batch = 4;
    scenario.layers = "CONV.";
    auto printed = machine("eyeriss-v1");
    auto& rules = std::get<model::Accelerator>(printed.kind).dataflows.front();
    CHECK(rules.free_banks == 1);
    CHECK(rules.repeats_on_one_axis);
    rules.free_banks = 0;
    rules.repeats_on_one_axis = false;
    const auto with = analysis::run(network("alexnet"), machine("eyeriss-v1"), scenario);
    const auto without = analysis::run(network("alexnet"), printed, scenario);
    REQUIRE(with.ok());
    REQUIRE(without.ok());
    const double silicon_ms[] = {16.5, 39.2, 21.8, 16.0, 10.0}; // JSSC 2017, Table V
    for (std::size_t i = 0; i < 5; ++i) {
        const double a = with->layers[i].processing_time_s * 1e3 / silicon_ms[i] - 1.0;
        const double b = without->layers[i].processing_time_s * 1e3 / silicon_ms[i] - 1.0;
        MESSAGE(with->layers[i].layer.name << ": " << 100.0 * a << " % with the rules, "
                                           << 100.0 * b << " % without");
        CHECK(std::abs(a) <= 0.08);
    }
}

TEST_CASE("NVDLA's estimates of five configurations come out within 12 %, three within 8 %") {
    const analysis::MachineTable nvdla = table("nvdla");
    int close = 0;
    for (const char* name : {"2048 MACs", "1024 MACs", "512 MACs", "256 MACs", "128 MACs"}) {
        CAPTURE(name);
        const double error = std::abs(error_of(nvdla, name));
        CHECK(error <= 0.12);
        close += error <= 0.08 ? 1 : 0;
    }
    CHECK(close >= 3);
}

TEST_CASE("cells and ADCs of an in-memory array add up to the published efficiency") {
    // 2304 cells of 4.21 fJ and one conversion of 1.79 pJ are 4608 operations: 401 TOPS/W.
    const auto found = table("cimu-65nm");
    REQUIRE(found.rows.size() == 8);
    CHECK(found.rows[0].predicted == tests::near(4608.0 / (2304 * 0.00421 + 1.79), 1e-3));
    CHECK(std::abs(found.rows[0].error()) < 0.01);
    CHECK(std::abs(found.rows[1].error()) < 0.01);
    CHECK(std::abs(found.rows[2].error()) < 0.1); // the density leaves control out
    CHECK(found.rows[7].error() > 0.1);           // eight bits wait for memories on the chip
}

TEST_CASE("a row of a chip whose compiler searches is predicted with the best mapping") {
    const auto chip = table("stm32n6");
    const auto resnet = std::find_if(chip.rows.begin(), chip.rows.end(),
                                     [](const auto& r) { return r.row.name == "ResNet-50"; });
    REQUIRE(resnet != chip.rows.end());
    CHECK(resnet->row.searched);
    hwdb::PublishedTable by_dataflow{"t", "t", {resnet->row}};
    by_dataflow.rows.front().searched = false;
    by_dataflow.rows.push_back(resnet->row); // each of them is run for itself
    const auto both = analysis::validate_machines(
        {by_dataflow},
        [](const std::string& r) {
            return model::NetworkGraph{network(r), {}};
        },
        [](const std::string& m) { return machine(m); }, nullptr, by_rules());
    REQUIRE(both.ok());
    const auto& rows = both->front().rows;
    CHECK(rows[1].predicted == tests::near(resnet->predicted, 1e-12));
    CHECK(rows[0].predicted > 10.0 * rows[1].predicted); // its filters come again for each row
}

TEST_CASE("figures that were read after the predictions have the errors that the manual states") {
    CHECK(*table("stm32n6").mape == tests::within(0.005, 0.280));
    CHECK(*table("bm1688").mape == tests::within(0.005, 0.329));
    CHECK(*table("ethos-u85").unseen_mape == tests::within(0.005, 0.519));
}

TEST_CASE("rows may have the power of a chip, and are refused where there is none") {
    const auto power = table("eyeriss-v1-power");
    CHECK(power.rows.size() == 6);
    CHECK(power.rows.back().predicted > 50.0);
    const auto efficiency = table("eyeriss-v2-power");
    REQUIRE(efficiency.rows.size() == 2);
    CHECK(efficiency.rows[0].predicted > efficiency.rows[1].predicted); // depth-wise is worse
    const auto read = published(R"(eyeroof: published/1
title: Wrong
source: A test
machine: eyeriss-v1
rows: [{name: one, network: alexnet, array_tera_ops_per_w: 3}]
)");
    REQUIRE(read.ok());
    const auto tables = analysis::validate_machines(
        {*read},
        [](const std::string& r) {
            return model::NetworkGraph{network(r), {}};
        },
        [](const std::string& m) { return machine(m); }, &technology(), by_rules());
    REQUIRE_FALSE(tables.ok());
    CHECK(tables.diagnostics().begin()->code == "no-figure");
}

TEST_CASE("zeros are coded away only where a network of the outermost memory does that") {
    const auto spared = [](const char* on) {
        const auto report = analysis::run(network("alexnet"), machine(on), by_rules());
        REQUIRE(report.ok());
        double bytes = 0.0;
        for (const analysis::LayerReport& layer : report->layers) {
            CHECK(layer.zeros_bytes >= 0.0);
            bytes += layer.zeros_bytes;
        }
        return bytes;
    };
    CHECK(spared("neuflow") == 0.0);
    CHECK(spared("eyeriss-v1") > 0.0);
}

} // namespace test_analysis_machines
