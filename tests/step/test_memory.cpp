// Memory over a step: lifetimes, closed forms of the field, batches.
#include "analysis/exam/run.hpp"
#include "analysis/program/footprint.hpp"
#include "report/answer/write.hpp"
#include "report/step/memory_answer.hpp"
#include "tests/near.hpp"
#include "tests/scenario/fixture.hpp"
#include "tests/step/step_fixture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace test_step_memory {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using namespace eyeroof::report;
using analysis::Regime;
using eyeroof::tests::near;
using tests::graph_of;

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

// Bytes of one transformer layer's activations, 2-byte elements: b sequences of s tokens, hidden h,
// a heads, over t devices of tensor parallelism.
//   none             s b h (10 + 24/t + 5 a s/(h t));  sequence: s b h/t (34 + 5 a s/h)
//   selective        34 s b h/t (attention's core is computed again);  full: 2 s b h
enum class Kept { all, sequence, selective, full };

double layer_activation_bytes(double b, double s, double h, double a, double t, Kept kept) {
    const double sbh = s * b * h;
    switch (kept) {
    case Kept::all:
        return sbh * (10.0 + 24.0 / t + 5.0 * a * s / (h * t));
    case Kept::sequence:
        return sbh / t * (34.0 + 5.0 * a * s / h);
    case Kept::selective:
        return 34.0 * sbh / t;
    case Kept::full:
        return 2.0 * sbh;
    }
    return 0.0;
}

// Another way to the peak: the sum over all tensors for every operator, by who reads and writes.
Count peak_by_search(const Graph& graph) {
    Count peak = 0;
    const std::size_t n = graph.operators.size();
    for (std::size_t at = 0; at < n; ++at) {
        Count sum = 0;
        for (TensorId t = 0; t < graph.tensors.size(); ++t) {
            const Tensor& tensor = graph.tensors[t];
            bool before = tensor.role == Role::weight || tensor.role == Role::optimizer ||
                          tensor.role == Role::state || tensor.role == Role::input;
            bool after = tensor.role == Role::weight || tensor.role == Role::optimizer ||
                         tensor.role == Role::state;
            bool used_before = false;
            for (std::size_t i = 0; i < n; ++i) {
                const auto reads = graph.reads_of(graph.operators[i]);
                const auto writes = graph.writes_of(graph.operators[i]);
                const bool uses = std::count(reads.begin(), reads.end(), t) > 0 ||
                                  std::count(writes.begin(), writes.end(), t) > 0;
                used_before = used_before || (uses && i <= at);
                after = after || (uses && i >= at);
            }
            after = after || (tensor.output && used_before);
            sum += (before || used_before) && after ? tensor.bytes : 0;
        }
        peak = std::max(peak, sum);
    }
    return peak;
}

// Activations that the forward half hands to the backward half, for one layer of a network: the
// difference between networks of five and four.
double kept_a_layer(const std::string& network, const std::string& more) {
    const auto kept = [&](int layers) {
        const Graph graph =
            graph_of(network + ":layers=" + std::to_string(layers) + more, true, "adam");
        const auto lives = lifetimes_of(graph);
        std::size_t last_forward = 0;
        for (std::size_t i = 0; i < graph.operators.size(); ++i) {
            last_forward = graph.operators[i].kind == model::Issued::forward ? i : last_forward;
        }
        double bytes = 0.0;
        for (std::size_t t = 0; t < lives.size(); ++t) {
            // Statistics of norms (two numbers a row) are left out of the printed formulas.
            const Tensor& tensor = graph.tensors[t];
            const bool norm =
                tensor.layer != kNone && graph.layers[tensor.layer].op == model::Op::layernorm &&
                tensor.bytes ==
                    8 * std::get<model::RowsShape>(graph.layers[tensor.layer].shape).rows;
            if (tensor.role == Role::activation && !norm && lives[t].first <= last_forward &&
                lives[t].last > last_forward) {
                bytes += static_cast<double>(tensor.bytes);
            }
        }
        return bytes;
    };
    return kept(5) - kept(4);
}

} // namespace

TEST_CASE("bytes a parameter are those that the field prints") {
    using model::DataType;
    const auto sum = [](Regime regime, DataType type, const char* optimizer) {
        const Precision p = precision_of(regime, type, optimizer);
        return model::storage_bits(type) / 8.0 + p.gradient + p.optimizer;
    };
    CHECK(sum(Regime::usual, DataType::fp32, "sgd") == 8.0);
    CHECK(sum(Regime::usual, DataType::fp32, "sgd_momentum") == 12.0);
    CHECK(sum(Regime::usual, DataType::fp32, "adam") == 16.0);
    CHECK(sum(Regime::mixed, DataType::bf16, "adam") == 16.0);
    CHECK(sum(Regime::usual, DataType::fp16, "adam") == 16.0);
    CHECK(sum(Regime::fp32_gradients, DataType::bf16, "adam") == 18.0);
    CHECK(sum(Regime::pure, DataType::bf16, "adam") == 8.0);
    CHECK(sum(Regime::eight_bit, DataType::bf16, "adam") == 10.0);
    // 18 bytes a parameter over t x p devices, parameters 12 L h^2 (Korthikanti et al.).
    const auto gib = [&](double layers, double h, double devices) {
        return sum(Regime::fp32_gradients, DataType::bf16, "adam") * 12.0 * layers * h * h /
               devices / kGiB;
    };
    CHECK(gib(48, 6144, 8) == near(45.5625, 1e-12));
    CHECK(gib(96, 12288, 64) == near(45.5625, 1e-12));
    CHECK(gib(128, 25600, 512) == near(32.96, 1e-3));
}

TEST_CASE("activations of transformer layers are those of the published table, to the digit") {
    struct Row {
        double b, h, a, layers, p, v; // of t 8
        double none, selective;       // GiB on the first stage
    };
    const Row rows[] = {{4, 6144, 64, 48, 1, 1, 59.25, 9.5625},
                        {1, 12288, 96, 96, 8, 3, 66.84375, 12.3515625},
                        {1, 20480, 128, 105, 35, 3, 114.0234375, 23.076171875},
                        {1, 25600, 160, 128, 64, 1, 131.25, 26.5625}};
    for (const Row& row : rows) {
        const double layers =
            row.v > 1 ? row.layers * (1.0 + (row.p - 1.0) / (row.p * row.v)) : row.layers;
        const auto gib = [&](Kept kept) {
            return layers * layer_activation_bytes(row.b, 2048, row.h, row.a, 8, kept) / kGiB;
        };
        CHECK(gib(Kept::all) == near(row.none, 1e-12));
        CHECK(gib(Kept::selective) == near(row.selective, 1e-12));
    }
    const auto share = [](Kept kept) {
        return 100.0 * layer_activation_bytes(1, 2048, 12288, 96, 8, kept) /
               layer_activation_bytes(1, 2048, 12288, 96, 8, Kept::all);
    };
    CHECK(share(Kept::sequence) == near(61.96, 1e-4));
    CHECK(share(Kept::full) == near(8.70, 1e-3));
}

TEST_CASE("the graph keeps what the formula says: s b h (34 + 5 a s / h) a layer") {
    for (const int seq : {64, 128, 384}) {
        const double expected = layer_activation_bytes(1, seq, 1024, 16, 1, Kept::all);
        const double kept =
            kept_a_layer("bert", ",hidden=1024,heads=16,dropout=1,seq=" + std::to_string(seq));
        CHECK(kept == near(expected, 1e-12));
    }
}

TEST_CASE("the peak is the largest sum of what lives, found another way") {
    for (const char* name : {"resnet18", "bert-base:layers=2,seq=16", "alexnet",
                             "llama-3.2-1b:layers=2,new=1,context=9"}) {
        for (const bool training : {false, true}) {
            CAPTURE(name);
            const Graph graph = graph_of(name, training);
            CHECK(memory_of(graph).peak == peak_by_search(graph));
        }
    }
}

TEST_CASE("weights and states are counted once, activations by the batch") {
    const Graph graph = graph_of("bert-large", true);
    const Memory memory = memory_of(graph);
    // 335,141,888 less 1024 of the last norm's … the catalog's own sum, shared weights once.
    const auto wired = tests::catalog_network("bert-large");
    CHECK(memory.parameters == model::totals_of(wired.network)->parameters);
    CHECK(memory.at_peak[static_cast<std::size_t>(Role::weight)] == 2 * memory.parameters);
    CHECK(memory.at_peak[static_cast<std::size_t>(Role::optimizer)] == 12 * memory.parameters);
    CHECK(memory.resident == 14 * memory.parameters);
}

TEST_CASE("the largest batch fits and the next one does not") {
    const auto wired = tests::catalog_network("resnet50");
    const auto peak = [&](Count batch) -> std::optional<Count> {
        const auto network = model::with_batch(wired.network, batch);
        GraphOptions options;
        options.training = analysis::TrainingOptions{};
        options.batch = batch;
        return memory_of(*make_graph(*network, wired.edges, options)).peak;
    };
    const Count limit = 15'500'000'000;
    const Count batch = largest_batch(limit, 1 << 20, peak);
    CHECK(*peak(batch) <= limit);
    CHECK(*peak(batch + 1) > limit);
    CHECK(largest_batch(1000, 1 << 20, peak) == 0);
    CHECK(largest_batch(limit, 7, peak) == 7);
}

TEST_CASE("relu in place never needs more, and less where a tensor is kept for it alone") {
    const auto wired = tests::catalog_network("resnet50");
    GraphOptions options;
    options.training = analysis::TrainingOptions{};
    const auto plain = make_graph(wired.network, wired.edges, options);
    options.in_place = true;
    const auto over = make_graph(wired.network, wired.edges, options);
    CHECK(over->operators.size() == plain->operators.size());
    // Sums keep nothing: the relu behind each of the sixteen writes over them; norms' outputs too.
    CHECK(memory_of(*over).peak <= memory_of(*plain).peak);
    CHECK(over->tensors.size() < plain->tensors.size());
}

TEST_CASE("the report's JSON and curve carry the same sums") {
    const auto training =
        analysis::run(tests::catalog_question("resnet18", "t4", tests::training_with("adam")));
    REQUIRE(training.ok());
    REQUIRE(training->memory);
    const Memory& memory = *training->memory;
    const MemoryReport report{*training, 1'000'000'000, 3};
    const auto json = nlohmann::json::parse(to_json(memory_answer(report)));
    Count most = 0;
    for (const auto& point : json["curve"]) {
        most = std::max(most, point["bytes"].get<Count>());
    }
    CHECK(most == memory.peak);
    CHECK(json["peak_bytes"].get<Count>() == memory.peak);
    const std::string csv = to_csv(memory_answer(report));
    CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) ==
          training->program.operators.size() + 1);
    CHECK(to_svg_picture(memory_answer(report)).find("</svg>") != std::string::npos);
}

TEST_CASE("keys and values of earlier tokens are in the memory of networks without a graph") {
    const auto states = [](const std::string& network, Count batch) {
        const auto wired = tests::catalog_network(network);
        GraphOptions options;
        options.batch = batch;
        const Memory memory = memory_of(*make_graph(wired.network, wired.edges, options));
        return memory.at_peak[static_cast<std::size_t>(Role::state)];
    };
    // 24 layers of 2 x 8 heads x 64 values in 16 bits, half of which see 128 tokens only.
    const Count per_token = 2 * 8 * 64 * 2;
    CHECK(states("gpt-oss-20b:new=1,context=4096", 16) == 16 * per_token * 12 * (4096 + 127));
    // 61 layers of 512 latent values and 64 of a rotary key.
    CHECK(states("deepseek-v3:new=1,context=4096", 1) == 61 * (512 + 64) * 2 * Count{4096});
    CHECK(states("deepseek-v3:new=16", 1) == 0);
}

TEST_CASE("a cache of keys and values stays in its own type where weights have 4 bits") {
    const auto memory = [](const std::string& network, std::optional<model::DataType> type) {
        analysis::Scenario scenario;
        scenario.network = network;
        scenario.machine = "b200-sxm";
        scenario.data_type = type;
        const auto program = analysis::lower(eyeroof::tests::resolved(scenario));
        REQUIRE(program.ok());
        return memory_of(*program).at_peak;
    };
    const auto of = [](const auto& at, Role role) { return at[static_cast<std::size_t>(role)]; };
    // With a graph, and as a chain of layers.
    for (const char* network :
         {"llama-3-8b:new=1,context=4096", "gpt-oss-20b:new=1,context=4096"}) {
        CAPTURE(network);
        const auto own = memory(network, model::DataType::bf16);
        const auto narrow = memory(network, model::DataType::mxfp4);
        CHECK(of(narrow, Role::state) == of(own, Role::state));
        CHECK(of(narrow, Role::state) > 0);
        CHECK(of(narrow, Role::weight) < of(own, Role::weight) / 3);
        const auto eight = memory(network, model::DataType::fp8); // asked, and engines have it
        CHECK(of(eight, Role::state) == of(own, Role::state) / 2);
    }
}

TEST_CASE("a data sheet's GB of memory are GiB, and any other size is taken as it stands") {
    model::Gpu gpu;
    gpu.arch = model::GpuArch::ampere;
    gpu.dram_bytes = 80e9; // nvidia-smi: 81,920 MiB
    CHECK(device_bytes(gpu) == 81920.0 * 1048576.0);
    CHECK(capacity_of(gpu) == Count{85'899'345'920} - 500'000'000);
    gpu.dram_bytes = 40.0 * 1073741824.0; // "40 GiB" in a file of one's own
    CHECK(device_bytes(gpu) == gpu.dram_bytes);
    gpu.arch = model::GpuArch::host;
    gpu.dram_bytes = 64e9;
    CHECK(capacity_of(gpu) == Count{64'000'000'000});
}

TEST_CASE("weights in types with a scale a block take its bits, and are as many parameters") {
    const struct {
        model::DataType type;
        double bits;
    } types[] = {{model::DataType::bf16, 16.0},
                 {model::DataType::mxfp8, 8.25},
                 {model::DataType::mxfp4, 4.25},
                 {model::DataType::nvfp4, 4.5}};
    auto wired = tests::catalog_network("llama-3.2-1b:new=1,context=64");
    const auto totals = model::totals_of(wired.network);
    REQUIRE(totals.ok());
    for (const auto& row : types) {
        for (model::Layer& layer : wired.network.layers) {
            layer.types.weight = row.type;
        }
        const auto graph = make_graph(wired.network, wired.edges, {});
        REQUIRE(graph.ok());
        const Memory memory = memory_of(*graph);
        CHECK(memory.parameters == totals->parameters);
        CHECK(static_cast<double>(memory.at_peak[static_cast<std::size_t>(Role::weight)]) ==
              near(static_cast<double>(totals->parameters) * row.bits / 8.0));
    }
}

TEST_CASE("a state of the delta rule is kept in 32 bits, keys and values in the network's type") {
    const Graph graph = graph_of("qwen3-next-80b-a3b:new=1,context=1280");
    const Memory memory = memory_of(graph);
    const double states = 36.0 * 32 * 128 * 128 * 4; // layers x heads x keys x values
    const double cache = 12.0 * 2 * 2 * 256 * 1280 * 2;
    CHECK(static_cast<double>(memory.at_peak[static_cast<std::size_t>(Role::state)]) ==
          near(states + cache));
}

} // namespace test_step_memory
