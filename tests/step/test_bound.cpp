// Lower bounds of a program: by hand, their order, and that the parts of a gap add up.
#include "analysis/bound/bound.hpp"
#include "analysis/exam/run.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <random>

namespace test_step_bound {

using namespace eyeroof;
using analysis::bound::BoundReport;
using analysis::bound::Wall;
using tests::near;

namespace {

BoundReport bounded(const analysis::Question& question, std::optional<double> measured = {}) {
    auto found = analysis::bound::bound(question, measured);
    for (const auto& d : found.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(found.ok());
    return *std::move(found);
}

model::NetworkGraph network_from(const std::string& yaml) {
    auto file = formats::parse_network_yaml(yaml, "net.yaml");
    REQUIRE(file.ok());
    return {file->network, file->edges};
}

// 10 SMs at 1 GHz, 1 TFLOP/s in fp32, 100 GB/s of memory, 1 MB of cache.
analysis::Question on_round_gpu(const std::string& yaml) {
    model::Gpu gpu = test::plain_gpu();
    gpu.dram_bytes_per_s = 1e11;
    gpu.l2_bytes_per_s = 1e11;
    gpu.l2_bytes = 1e6;
    return tests::question_of(network_from(yaml), tests::machine_with(gpu));
}

constexpr const char* kTwoAdditions = R"(name: two
layers:
  - {name: a, op: elementwise, rows: 1000, cols: 1000, fn: relu, dtype: fp32}
  - {name: b, op: elementwise, rows: 1000, cols: 1000, fn: relu, dtype: fp32}
)";

} // namespace

TEST_CASE("two pointwise operators move four tensors apart and two fused") {
    const BoundReport report = bounded(on_round_gpu(kTwoAdditions));
    // 4 MB a tensor: each operator 8 MB less 1 MB of cache at 100 GB/s; fused 8 MB in all
    CHECK(report.unfused.time_s == near(2 * 7e6 / 1e11));
    CHECK(report.fused.bytes == near(8e6));
    CHECK(report.fused.time_s == near(7e6 / 1e11));
    CHECK(report.cached.time_s == report.fused.time_s);
    CHECK(report.fused.wall == Wall::memory);
    REQUIRE(report.operators.size() == 2);
    CHECK(report.operators[0].bound.time_s == near(7e6 / 1e11));
}

TEST_CASE("a GEMM multiplies at peak, a convolution once an output and pair of channels") {
    const BoundReport gemm = bounded(on_round_gpu(
        "name: one\nlayers:\n  - {name: a, op: gemm, m: 1000, n: 1000, k: 1000, dtype: fp32}\n"));
    CHECK(gemm.fused.arithmetic_s == near(2e9 / 1e12));
    CHECK(gemm.fused.wall == Wall::arithmetic);
    const std::string conv = "name: one\nlayers:\n  - {name: a, op: conv2d, c: 64, h: 32, w: 32, "
                             "k: 64, r: 3, s: 3, pad: 1, dtype: fp32";
    const double once = 2.0 * 32 * 32 * 64 * 64 / 1e12;
    CHECK(bounded(on_round_gpu(conv + "}\n")).fused.arithmetic_s == near(once));
    // with strides of 2 each phase of the filter is a filter of its own: 2 x 2 of the 9 taps
    CHECK(bounded(on_round_gpu(conv + ", stride: 2}\n")).fused.arithmetic_s ==
          near(4.0 * once / 4.0));
}

TEST_CASE("a GEMM between tensors that are there before and after moves what its cache demands") {
    analysis::Question question = on_round_gpu(
        "name: one\nlayers:\n  - {name: a, op: gemm, m: 20000, n: 20000, k: 20000, dtype: fp32}\n");
    auto& gpu = std::get<model::Gpu>(question.machine.kind);
    gpu.registers_bytes_per_sm = gpu.shared_bytes_per_sm = 262144.0;
    const BoundReport report = bounded(question);
    const double words = (1e6 + 10 * 2 * 262144.0) / 4.0;
    const double bytes = 4.0 * (2.0 * 8e12 / std::sqrt(words) - 2.0 * words);
    CHECK(report.cached.bytes == near(bytes));
    CHECK(report.unfused.bytes == near(bytes));
    CHECK(report.fused.bytes == near(3.0 * 4e8 * 4.0));
    CHECK(report.cached.bytes > report.fused.bytes);
}

TEST_CASE("a norm of rows that the chip cannot hold reads them twice, fused or not") {
    const std::string yaml = "name: one\nlayers:\n"
                             "  - {name: a, op: elementwise, rows: 2, cols: 50000000, fn: relu, "
                             "dtype: fp32}\n"
                             "  - {name: b, op: layernorm, rows: 2, cols: 50000000, dtype: fp32}\n";
    analysis::Question question = on_round_gpu(yaml);
    auto& gpu = std::get<model::Gpu>(question.machine.kind);
    gpu.registers_bytes_per_sm = gpu.shared_bytes_per_sm = 262144.0;
    const double chip = 1e6 + 10 * 2 * 262144.0;
    const BoundReport report = bounded(question);
    CHECK(report.cached.bytes == near(report.fused.bytes + 2.0 * (2e8 - chip)));
    // rows that fit cost nothing more, nor does a norm whose rows are a part of what was made
    const std::string small = "name: one\nlayers:\n  - {name: b, op: layernorm, rows: 1000, cols: "
                              "100000, dtype: fp32}\n";
    const BoundReport held = bounded(on_round_gpu(small));
    CHECK(held.cached.bytes == held.fused.bytes);
}

TEST_CASE("statistics of a batch behind a convolution need its input again") {
    const auto net = [](const char* images) {
        return fmt::format("name: one\nlayers:\n  - {{name: a, op: conv2d, n: 64, c: 32, h: 128, "
                           "w: 128, k: 64, r: 3, s: 3, pad: 1, dtype: fp32}}\n  - {{name: b, op: "
                           "batchnorm, rows: 64, cols: 1048576, {}dtype: fp32}}\n",
                           images);
    };
    analysis::Question question = on_round_gpu(net("n: 64, "));
    auto& gpu = std::get<model::Gpu>(question.machine.kind);
    gpu.registers_bytes_per_sm = gpu.shared_bytes_per_sm = 262144.0;
    const double chip = 1e6 + 10 * 2 * 262144.0;
    const BoundReport report = bounded(question);
    const double input = 64.0 * 32 * 128 * 128 * 4;
    CHECK(report.cached.bytes == near(report.fused.bytes + input - chip));
    const BoundReport running = bounded(on_round_gpu(net("")));
    CHECK(running.cached.bytes == running.fused.bytes);
}

TEST_CASE("the roofline of a program counts direct convolution and a cold cache") {
    const std::string conv = "name: one\nlayers:\n  - {name: a, op: conv2d, c: 64, h: 32, w: 32, "
                             "k: 64, r: 3, s: 3, pad: 1, dtype: fp32}\n";
    const BoundReport report = bounded(on_round_gpu(conv));
    CHECK(report.roofline.arithmetic_s == near(9.0 * report.fused.arithmetic_s));
    CHECK(report.roofline.memory_s == near(report.fused.bytes / 1e11));
    CHECK(report.roofline.time_s >= report.fused.time_s);
}

TEST_CASE("bounds are ordered and below the prediction on every kind of machine") {
    for (const char* network : {"resnet18", "alexnet", "bert-base:layers=2", "mobilenet-v1"}) {
        for (const char* machine : {"t4", "h100-sxm-80gb", "a100-sxm-40gb", "l40s", "mi100"}) {
            CAPTURE(network);
            CAPTURE(machine);
            const auto question = tests::catalog_question(network, machine);
            const auto report = analysis::run(question);
            const BoundReport bound = bounded(question);
            CHECK(bound.fused.time_s <= bound.cached.time_s);
            CHECK(bound.cached.time_s <= bound.unfused.time_s);
            CHECK(bound.unfused.time_s <= report->timeline.kernels_s);
            CHECK(bound.fused.time_s > 0.0);
        }
    }
}

TEST_CASE("random programs of random operators have ordered bounds below their kernels' time") {
    std::mt19937 random(20261125);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int program = 0; program < 40; ++program) {
        std::string yaml = "name: random\nlayers:\n";
        for (int i = 0, n = pick(1, 8); i < n; ++i) {
            const int rows = 1 << pick(0, 14), cols = 1 << pick(0, 14);
            const std::string size = fmt::format("rows: {}, cols: {}", rows, cols);
            const std::string body =
                std::array{fmt::format("op: gemm, m: {}, n: {}, k: {}", rows, cols, pick(1, 4096)),
                           fmt::format("op: conv2d, n: {}, c: {}, h: 64, w: 65, k: {}, r: 3, s: 3",
                                       pick(1, 32), pick(1, 128), pick(1, 128)),
                           "op: softmax, " + size,
                           "op: layernorm, " + size,
                           fmt::format("op: batchnorm, rows: {}, cols: {}, n: 1", rows, cols),
                           "op: elementwise, fn: permute, " + size,
                           "op: elementwise, fn: scan, " + size,
                           "op: elementwise, fn: add, " + size,
                           fmt::format("op: avgpool, n: {0}, c: 1, h: 1, w: {1}, r: 1, s: {1}",
                                       rows, cols)}[static_cast<std::size_t>(pick(0, 8))];
            yaml += fmt::format("  - {{name: a{}, {}, dtype: {}}}\n", i, body,
                                pick(0, 1) == 0 ? "fp32" : "fp16");
        }
        CAPTURE(yaml);
        const char* const machine = std::array{"t4", "a100-sxm-40gb", "h100-sxm-80gb", "l40s",
                                               "mi300x"}[static_cast<std::size_t>(pick(0, 4))];
        auto question = tests::question_of(
            network_from(yaml), tests::machine_with(tests::catalog_gpu(machine), machine));
        question.scenario.compiled = pick(0, 1) == 1;
        const auto report = analysis::run(question);
        REQUIRE(report.ok());
        const BoundReport bound = bounded(question);
        CHECK(bound.fused.time_s <= bound.cached.time_s);
        CHECK(bound.cached.time_s <= bound.unfused.time_s);
        CHECK(bound.unfused.time_s <= report->timeline.kernels_s * (1.0 + 1e-9));
        double sum = 0.0;
        for (const auto& part : bound.gap) {
            CHECK(part.seconds >= 0.0);
            sum += part.seconds;
        }
        CHECK(sum == near(bound.predicted_s));
    }
}

TEST_CASE("the parts of a gap add up to the measured time, or to the predicted one") {
    const auto question = tests::catalog_question("resnet18", "a100-sxm-40gb");
    for (const std::optional<double> measured : {std::optional<double>{}, std::optional(2.71e-3)}) {
        const BoundReport report = bounded(question, measured);
        double sum = 0.0;
        for (const auto& part : report.gap) {
            sum += part.seconds;
        }
        CHECK(sum == near(report.time_s()));
        CHECK((report.gap.back().name == "unexplained") == measured.has_value());
    }
}

TEST_CASE("a change is the same program run otherwise, fastest first") {
    auto question = tests::catalog_question("resnet18", "a100-sxm-40gb");
    const BoundReport report = bounded(question);
    REQUIRE(report.changes.size() >= 3);
    CHECK(std::is_sorted(report.changes.begin(), report.changes.end(),
                         [](const auto& a, const auto& b) { return a.time_s < b.time_s; }));
    question.scenario.launch = model::Launch::graph;
    const auto captured = analysis::run(question);
    const auto at = std::find_if(report.changes.begin(), report.changes.end(),
                                 [](const auto& c) { return c.name == "captured graph"; });
    REQUIRE(at != report.changes.end());
    CHECK(at->time_s == captured->total.time_s);
}

namespace {

BoundReport bounded_on(const std::string& network, const std::string& machine,
                       analysis::Scenario scenario = {}) {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};
    const auto loaded = hwdb::load_machine(machine, folders);
    REQUIRE(loaded.ok());
    scenario.search_nodes = 200;
    return bounded(tests::question_of(tests::catalog_network(network), *loaded, scenario));
}

} // namespace

TEST_CASE(
    "the assumptions of a bound state the start of a kernel of products, and hosts have none") {
    CHECK(bounded_on("alexnet", "h100-sxm-80gb")
              .assumptions.find("and 2.2 us for the start of a kernel of products, set below the "
                                "shortest recorded") != std::string::npos);
    analysis::Scenario fp32;
    fp32.data_type = model::DataType::fp32;
    CHECK(bounded_on("alexnet", "laptop-quad-3.1ghz", fp32).assumptions.find("start of a kernel") ==
          std::string::npos);
}

TEST_CASE("a bound on an accelerator counts the words and the levels that the exam counts") {
    analysis::Scenario bf16;
    bf16.data_type = model::DataType::bf16;
    analysis::Scenario int8; // on a machine whose schedule keeps weights from run to run
    int8.data_type = model::DataType::int8;
    int8.policy = analysis::MappingPolicy::dataflow; // searches of 28 layers take minutes
    for (const BoundReport& report :
         {bounded_on("alexnet", "npu-int8"), bounded_on("resnet50", "tpu-v5e", bf16),
          bounded_on("mobilenet-v1", "coral-edge-tpu", int8)}) {
        CAPTURE(report.machine);
        double gap = 0.0;
        for (const auto& part : report.gap) {
            gap += part.seconds;
        }
        CHECK(gap == near(report.predicted_s));
        CHECK(report.fused.time_s <= report.unfused.time_s);
        CHECK(report.unfused.time_s <= report.predicted_s);
        for (const auto& part : report.gap) {
            CHECK(part.seconds >= 0.0);
        }
        for (const auto& op : report.operators) {
            CHECK(op.bound.time_s <= op.predicted_s * (1.0 + 1e-9));
        }
    }
}

TEST_CASE("training on an accelerator reads weights and states once, however it is fused") {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};
    const auto eyeriss = hwdb::load_machine("eyeriss-v1", folders);
    REQUIRE(eyeriss.ok());
    auto question = tests::question_of(network_from("name: one\nlayers:\n  - {name: a, op: gemm, "
                                                    "m: 1, n: 1000, k: 2000, dtype: fp16}\n"),
                                       *eyeriss, tests::training_with("sgd_momentum"));
    question.scenario.policy = analysis::MappingPolicy::dataflow;
    const BoundReport report = bounded(question);
    // the input of the product, and the weights and their momentum, as the update reads them
    CHECK(report.fused.bytes >= 2 * 2 * 2000.0 * 1000.0);
    CHECK(report.fused.bytes <= report.unfused.bytes);
    CHECK(report.fused.memory_s == near(report.fused.bytes / 480e6));
    CHECK(report.fused.time_s <= report.unfused.time_s);
    for (const auto& part : report.gap) {
        CAPTURE(part.name);
        CHECK((part.seconds == 0.0 || part.seconds > 1e-9 * report.predicted_s));
        CHECK(part.reason.find("tensor cores") == std::string::npos);
        CHECK(part.name != "launch");
    }
}

TEST_CASE("a bound on an accelerator counts the links of operands, and operators without nests") {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};
    const auto tpu = hwdb::load_machine("tpu-v1", folders);
    REQUIRE(tpu.ok());
    auto question = tests::question_of(
        network_from("name: one\nlayers:\n  - {name: a, op: maxpool, c: 64, h: 224, w: 224, r: 2, "
                     "s: 2, stride: 2, dtype: int8}\n"),
        *tpu);
    question.scenario.operators = analysis::Operators::all;
    const BoundReport report = bounded(question);
    CHECK(report.fused.bytes == near(1.25 * 64 * 224 * 224));
    CHECK(report.fused.time_s == near(64 * 224 * 224 / 14e9)); // in; its result leaves meanwhile
    CHECK(report.predicted_s == near(report.fused.time_s));
}

TEST_CASE("a mapping moves no less than what is compulsory, in the machine's words") {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};
    const auto npu = hwdb::load_machine("npu-int8", folders);
    REQUIRE(npu.ok());
    auto question = tests::question_of(
        network_from("name: one\nlayers:\n  - {name: a, op: gemm, m: 128, n: 2304, k: 768, dtype: "
                     "fp16}\n"),
        *npu);
    question.scenario.search_nodes = 200;
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    const auto& layer = report->layers.front();
    CHECK(static_cast<double>(layer.bytes) <= layer.outer_bytes);
    CHECK(layer.bytes >= 2304 * 768); // the weights, a byte each
}

TEST_CASE("a measurement below the prediction shortens the parts above the bound") {
    const auto question = tests::catalog_question("resnet18", "a100-sxm-40gb");
    const double predicted = bounded(question).predicted_s;
    const BoundReport report = bounded(question, 0.5 * predicted);
    double sum = 0.0;
    for (const auto& part : report.gap) {
        CHECK(part.seconds >= 0.0);
        sum += part.seconds;
    }
    CHECK(sum == near(0.5 * predicted));
    CHECK(report.gap.back().seconds == 0.0);
    // what is below the bound itself is said
    const auto impossible = analysis::bound::bound(question, 0.5 * report.fused.time_s);
    REQUIRE(impossible.ok());
    REQUIRE(!impossible.diagnostics().empty());
    CHECK(impossible.diagnostics().items().front().code == "below-bound");
    CHECK(impossible->gap.front().seconds == near(0.5 * report.fused.time_s));
}

TEST_CASE("where operators may run beside each other, unfused is the longest sum of a resource") {
    auto question = tests::catalog_question("bert-base:layers=2", "a100-sxm-40gb");
    const BoundReport alone = bounded(question);
    question.scenario.streams = 4;
    const BoundReport beside = bounded(question);
    CHECK(beside.unfused.time_s <= alone.unfused.time_s);
    CHECK(beside.unfused.time_s <= beside.predicted_s);
    CHECK(beside.unfused.memory_s == near(alone.unfused.memory_s));
}

} // namespace test_step_bound
