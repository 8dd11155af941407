// Machines of levels that leave zeros out: what is exact, what never happens, and mistakes in
// files.
#include "analysis/sparse/levels_exam.hpp"
#include "analysis/sparse/machine.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "model/cost/leakage.hpp"
#include "model/sparse/dense_equivalent.hpp"
#include "model/sparse/waiting.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_sparse_levels {

using namespace eyeroof;
using eyeroof::tests::near;
using model::Operand;
using model::sparse::Densities;

namespace {

const std::filesystem::path kSource = tests::source_dir();
const std::vector<std::filesystem::path> kFolders{kSource / "hwdb"};

analysis::SparseLevels eyeriss() {
    const auto loaded = analysis::load_sparse_machine("eyeriss-v2", kFolders);
    REQUIRE(loaded.ok());
    return std::get<analysis::SparseLevels>(loaded->kind);
}

model::Network small_network() {
    model::Network network;
    network.id = "small";
    model::Layer layer;
    layer.name = "conv";
    layer.op = model::Op::conv2d;
    model::ConvShape conv;
    conv.c = 16;
    conv.k = 32;
    conv.h = conv.w = 14;
    conv.r = conv.s = 3;
    conv.pad = {1, 1};
    layer.shape = conv;
    network.layers.push_back(layer);
    layer.name = "fc";
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, 1, 64, 512};
    network.layers.push_back(layer);
    return network;
}

analysis::Scenario quick() {
    analysis::Scenario scenario;
    scenario.search_nodes = 5000;
    scenario.threads = 1;
    return scenario;
}

// Searches also say how long they took.
std::vector<analysis::LayerReport> without_clock(std::vector<analysis::LayerReport> layers) {
    for (analysis::LayerReport& layer : layers) {
        for (mapper::Certificate& certificate : layer.certificates) {
            certificate.time_s = 0.0;
        }
    }
    return layers;
}

analysis::Report examined(const analysis::SparseLevels& machine, Densities densities) {
    const auto question = tests::question_of(small_network(), machine.machine, quick());
    const auto report =
        analysis::run_sparse(question, machine, std::vector<Densities>(2, densities));
    REQUIRE(report.ok());
    return *report;
}

} // namespace

TEST_CASE("tensors without zeros give exactly the dense report") {
    const auto machine = eyeriss();
    const auto dense = analysis::run(small_network(), machine.machine, quick());
    REQUIRE(dense.ok());
    const auto sparse = examined(machine, {1.0, 1.0, 1.0});
    CHECK(without_clock(sparse.layers) == without_clock(dense->layers));
    CHECK(sparse.total == dense->total);
}

TEST_CASE("step 7 names the slowest PE where waiting for it takes more than all stalls") {
    const auto machine = eyeriss();
    for (const analysis::LayerReport& layer : examined(machine, {}).layers) {
        CHECK(layer.steps[6].limit != "slowest PE");
    }
    const analysis::LayerReport conv = examined(machine, {0.5, 0.5, 0.5}).layers.front();
    const double at_work_s = static_cast<double>(conv.macs) / conv.steps[4].macs_per_cycle /
                             machine.accelerator().clock_hz;
    REQUIRE(conv.split.compute_s - at_work_s >
            conv.split.on_chip_stall_s + conv.split.dram_stall_s);
    CHECK(conv.steps[6].limit == "slowest PE");
    CHECK(conv.steps[6].kind == model::Limit::latency);
}

TEST_CASE("gating saves energy and no cycle, skipping saves both") {
    auto machine = eyeriss();
    const Densities half{0.5, 0.5, 0.5};
    const auto dense = examined(machine, {});
    const auto skipped = examined(machine, half);
    for (model::sparse::LevelRules& level : machine.rules.levels) {
        level.formats = {};
        for (model::sparse::LeftOut& rule : level.left_out) {
            rule.how = model::sparse::Saving::gate;
        }
    }
    machine.rules.units->how = model::sparse::Saving::gate;
    const auto gated = examined(machine, half);
    CHECK(gated.total.energy_j < 0.9 * dense.total.energy_j);
    CHECK(skipped.total.energy_j < gated.total.energy_j);
    CHECK(skipped.total.time_s < dense.total.time_s);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(gated.layers[i].macs == dense.layers[i].macs);
        CHECK(gated.layers[i].split.compute_s >= dense.layers[i].split.compute_s * 0.999);
        CHECK(skipped.layers[i].macs ==
              static_cast<Count>(0.25 * static_cast<double>(dense.layers[i].macs) + 0.5));
    }
}

TEST_CASE("fewer words that are not zero never take longer, and never less than their own MACs") {
    const auto machine = eyeriss();
    double before = 1e300;
    for (const double d : {1.0, 0.8, 0.5, 0.25, 0.1}) {
        const auto report = examined(machine, {d, d, d});
        CAPTURE(d);
        CHECK(report.total.time_s <= before * 1.02); // searches of 5,000 nodes
        before = report.total.time_s;
        for (const analysis::LayerReport& layer : report.layers) {
            CHECK(layer.cycles * layer.units >= static_cast<double>(layer.macs) * (1.0 - 1e-9));
            CHECK(layer.utilization <= 1.0);
            for (std::size_t i = 1; i < model::kSteps; ++i) {
                CHECK(layer.steps[i].macs_per_cycle <=
                      layer.steps[i - 1].macs_per_cycle * (1.0 + 1e-9));
            }
            double shares = layer.limits.at_work;
            for (const double share : layer.limits.share) {
                shares += share;
            }
            CHECK(shares == near(layer.time_s, 1e-6));
        }
    }
}

TEST_CASE("a PE that skips takes a product's effectual MACs, one that gates all of them") {
    // Wu et al.'s small cases: 16 terms with 4 inputs not zero; 8 x 8 x 8 at 0.25 and 0.5.
    const auto machine = eyeriss();
    model::sparse::Rules rules = machine.rules;
    rules.units->leaders = {Operand::input};
    const auto skip = dense_equivalent_of(machine.accelerator(), rules, {0.25, 1.0, 1.0});
    CHECK(16.0 * skip.cycles_a_step == 4.0);
    CHECK(16.0 * skip.effectual == 4.0);
    const auto both = dense_equivalent_of(machine.accelerator(), machine.rules, {0.25, 0.5, 1.0});
    CHECK(512.0 * both.cycles_a_step == 64.0);
    rules.units->how = model::sparse::Saving::gate;
    const auto gate = dense_equivalent_of(machine.accelerator(), rules, {0.275, 0.446133, 0.403});
    CHECK(gate.cycles_a_step == 1.0);
    CHECK(598081536.0 * gate.machine.mac_pj / machine.accelerator().mac_pj ==
          near(164472422.4, 1e-9));
}

TEST_CASE("formats that would take more bits than plain words are not used") {
    const auto machine = eyeriss();
    const auto dense = dense_equivalent_of(machine.accelerator(), machine.rules, {1.0, 1.0, 1.0});
    CHECK(dense.plain());
    CHECK(dense.machine == machine.accelerator());
    const auto sparse = dense_equivalent_of(machine.accelerator(), machine.rules, {0.2, 0.2, 0.2});
    CHECK(sparse.bytes[0][index(Operand::weight)] < 0.5);
    // Weights in columns of 12: d (8 + 4) bits and 16 offsets of 7 bits for 15 columns.
    CHECK(sparse.bytes[0][index(Operand::weight)] * 8.0 >
          0.2 * 12.0 + 16.0 * 7.0 / (15.0 * 12.0) - 1e-9);
}

TEST_CASE("two lanes that share an odd number of weights wait for each other") {
    const auto machine = eyeriss();
    const auto report = examined(machine, {0.6, 0.4, 0.6});
    CHECK(report.layers[0].notes.front().find("partial lanes") != std::string::npos);
    CHECK(report.layers[0].steps[3].reason.find("lanes") != std::string::npos);
}

namespace {

Diagnostics mistakes(const std::string& text) {
    const auto machine = analysis::parse_sparse_machine(
        "eyeroof: sparse-machine/1\nkind: levels\nname: x\nsource: mine\nconfidence: user\n"
        "machine: eyeriss-v2\nlevels:\n" +
            text,
        "x.yaml", kFolders);
    REQUIRE(!machine.ok());
    return machine.diagnostics();
}

bool says_at(const Diagnostics& found, const std::string& code, int line) {
    return std::any_of(found.begin(), found.end(), [&](const auto& one) {
        return one.code == code && one.where.line == line && one.where.column > 0;
    });
}

} // namespace

TEST_CASE("formats and rules that the machine cannot have are named with line and column") {
    // Eyeriss v2's buffer holds no weights; only its mesh sends them.
    CHECK(says_at(mistakes("  spad: {left_out: [{how: skip, operand: weight, where: input}]}\n"),
                  "no-metadata", 8));
    CHECK(says_at(mistakes("  spad:\n    formats: {input: [{rank: U, slots: 4}]}\n"
                           "units: {how: skip, where: input}\n"),
                  "no-metadata", 10));
    CHECK(says_at(mistakes("  spad:\n    formats: {input: [{rank: RLE, slots: 4, bits: 99}]}\n"),
                  "out-of-range", 9));
    CHECK(says_at(mistakes("  spade: {}\n"), "unknown-level", 8));
    auto machine = eyeriss();
    machine.rules.levels.resize(2);
    model::Accelerator accelerator = machine.accelerator();
    accelerator.levels[1].channels.clear();
    machine.rules.levels[1].formats[index(Operand::weight)] = {{}};
    const auto found = validate(machine.rules, accelerator);
    CHECK(std::any_of(found.begin(), found.end(), [](const auto& one) {
        return one.code == "no-such-operand" && one.field == "levels.GLB.formats.weight";
    }));
}

TEST_CASE("layers that differ in nothing are examined once, on one thread and on several alike") {
    const auto machine = eyeriss();
    model::Network network = small_network();
    network.layers.push_back(network.layers.front());
    network.layers.back().name = "again";
    network.layers.push_back(network.layers.front());
    network.layers.back().name = "other";
    const std::vector<Densities> densities = {
        {0.5, 0.4, 0.5}, {0.5, 0.1, 1.0}, {0.5, 0.4, 0.5}, {0.5, 0.2, 0.5}};
    auto question = tests::question_of(network, machine.machine, quick());
    std::vector<std::string> told;
    const auto one =
        analysis::run_sparse(question, machine, densities, {},
                             [&](const Progress& progress) { told.push_back(progress.activity); });
    question.scenario.threads = 3;
    const auto several = analysis::run_sparse(question, machine, densities);
    REQUIRE(one.ok());
    REQUIRE(several.ok());
    CHECK(told.size() == 3); // of four layers
    CHECK(without_clock(one->layers) == without_clock(several->layers));
    CHECK(one->total == several->total);
    CHECK(one->layers[2].layer.name == "again");
    CHECK(one->layers[2].time_s == one->layers[0].time_s);
    CHECK(one->layers[3].time_s < one->layers[0].time_s);
    // Alone each is what it is beside the others.
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        model::Network alone = network;
        alone.layers = {network.layers[i]};
        const auto own = analysis::run_sparse(tests::question_of(alone, machine.machine, quick()),
                                              machine, {densities[i]});
        REQUIRE(own.ok());
        CHECK(without_clock(own->layers).front() == without_clock(one->layers)[i]);
    }
}

TEST_CASE("words that the layers have and the machine has not are told once, of all layers") {
    const auto machine = eyeriss();
    const auto report =
        analysis::run_sparse(tests::question_of(small_network(), machine.machine, quick()), machine,
                             std::vector<Densities>(2, {0.5, 0.5, 0.5}));
    REQUIRE(report.ok());
    std::size_t times = 0;
    for (const Diagnostic& d : report.diagnostics()) {
        times += d.code == "other-words" ? 1 : 0;
    }
    REQUIRE(times == 1);
    CHECK(report.diagnostics().begin()->message.find("2 fp16 layers are evaluated") !=
          std::string::npos);
}

TEST_CASE("what leaks leaks for as long as lanes and units wait, too") {
    auto machine = eyeriss();
    auto& accelerator = std::get<model::Accelerator>(machine.machine.kind);
    accelerator.mac_leak_pj = 0.25;
    const auto report = examined(machine, {0.5, 0.4, 0.5});
    for (const analysis::LayerReport& layer : report.layers) {
        CAPTURE(layer.layer.name);
        const double leaks_pj = model::least_leak_pj_per_cycle(accelerator); // all units, always
        CHECK(leaks_pj == near(0.25 * 384.0, 1e-12));
        CHECK(layer.leakage_j == near(leaks_pj * layer.cycles * 1e-12, 1e-9));
        CHECK(layer.energy_j > layer.leakage_j);
    }
}

} // namespace test_sparse_levels
