// Gradients of data parallel training: every learned value has one, sent once and kept whole.
#include "analysis/program/lower.hpp"
#include "analysis/program/memory.hpp"
#include "analysis/scale/scale.hpp"
#include "analysis/scale/transformer.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_scale_gradients {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};
const std::vector<fs::path> kNetworks = {fs::path(tests::source_dir()) / "examples" / "networks"};

Question training_of(const std::string& name, const char* machine = "h100-sxm-80gb") {
    const auto network = formats::load_wired_network(name, kNetworks);
    REQUIRE(network.ok());
    Scenario scenario = tests::training_with("sgd");
    scenario.data_type = model::DataType::fp32;
    return tests::question_of(*network, *hwdb::load_machine(machine, kHwdb), scenario);
}

// Ids of all networks and their variants.
std::vector<std::string> catalog() {
    std::vector<std::string> names;
    const auto heads = formats::list_networks(kNetworks);
    REQUIRE(heads.ok());
    for (const formats::NetworkHead& head : *heads) {
        names.push_back(head.id);
    }
    return names;
}

} // namespace

TEST_CASE("every learned value of every network of the catalog has one gradient") {
    for (const std::string& name : catalog()) {
        const Question question = training_of(name);
        const auto program = lower(question);
        if (!program.ok()) { // a training step itself
            CHECK(program.diagnostics().items()[0].code == "not-forward");
            continue;
        }
        const analysis::step::Memory memory = analysis::step::memory_of(*program);
        const auto totals = model::totals_of(question.network);
        REQUIRE(totals.ok());
        CAPTURE(name);
        CHECK(memory.parameters == totals->parameters);
        CHECK(memory.gradients == 4 * totals->parameters);
    }
}

TEST_CASE("a device sends 4 bytes for each learned value of fp32, whatever its layer") {
    // Biases, norms, shared weights, towers beside each other, chains, experts.
    for (const char* name : {"resnet18", "vgg16", "t5-small", "clip-vit-b-32", "gnmt", "ncf",
                             "whisper-tiny", "yolov8n", "transformer", "gpt2", "dlrm"}) {
        Question question = training_of(name);
        question.scenario.batch = own_batch(question.network);
        const auto report = run(question);
        REQUIRE(report.ok());
        const auto totals = model::totals_of(question.network);
        CAPTURE(name);
        CHECK(device_work(*report).bytes() ==
              tests::near(4.0 * static_cast<double>(totals->parameters)));
    }
}

TEST_CASE("a device sends the bytes of gradients that it has in memory, in every regime") {
    Question question = training_of("resnet18");
    question.scenario.batch = own_batch(question.network);
    for (const model::DataType type : {model::DataType::fp32, model::DataType::fp16}) {
        for (const Regime states :
             {Regime::usual, Regime::mixed, Regime::fp32_gradients, Regime::pure}) {
            question.scenario.data_type = type;
            question.scenario.states = states;
            const auto report = run(question);
            REQUIRE(report.ok());
            const DeviceWork work = device_work(*report);
            const bool half = type == model::DataType::fp16 && states != Regime::fp32_gradients;
            CHECK(work.gradient_bytes == tests::near(half ? 2.0 : 4.0));
            CHECK(work.bytes() == tests::near(training_memory(*report, 0, 8).gradients));
        }
    }
}

TEST_CASE("a shared weight is sent once, with its bias beside it") {
    // A table of 100 x 16, a product of 16 x 32 with a bias, the table again as the head.
    model::Network network;
    network.id = network.name = "tied";
    const auto add = [&](const char* name, model::Op op, model::Shape shape,
                         std::optional<Count> parameters) {
        model::Layer layer;
        layer.name = name;
        layer.op = op;
        layer.shape = std::move(shape);
        layer.parameters = parameters;
        network.layers.push_back(layer);
    };
    add("table", model::Op::embedding, model::RowsShape{8, 16, 100}, std::nullopt);
    add("inner", model::Op::gemm, model::GemmShape{1, 8, 16, 16}, 16 * 16 + 16);
    add("head", model::Op::gemm, model::GemmShape{1, 8, 100, 16}, 0);
    const auto report = run(tests::question_of(network, *hwdb::load_machine("h100-sxm-80gb", kHwdb),
                                               tests::training_with("sgd")));
    REQUIRE(report.ok());
    CHECK(device_work(*report).bytes() == tests::near(2.0 * (1600 + 272))); // fp16
}

TEST_CASE("a chain's gradients do not end at a look-up in its middle") {
    // Twice embedding, norm, head, loss, as the ends of a decoder are examined.
    model::Network ends = ends_network(gpt(2, 64, 2, 1000, 0, false), BlockCut{});
    for (model::Layer& layer : ends.layers) {
        layer.count = 2;
    }
    const auto program = lower(tests::question_of(ends, *hwdb::load_machine("h100-sxm-80gb", kHwdb),
                                                  tests::training_with("sgd")));
    REQUIRE(program.ok());
    for (const char* name : {"head.bwd_weight", "head.bwd_data", "embedding.bwd_weight"}) {
        const auto layer = std::find_if(program->layers.begin(), program->layers.end(),
                                        [&](const model::Layer& l) { return l.name == name; });
        CAPTURE(name);
        REQUIRE(layer != program->layers.end());
        CHECK(layer->count == 2);
    }
}

TEST_CASE("gradients stand whole beside the activations until they are sent") {
    const Question question = training_of("googlenet", "k40m");
    const auto report = run(question);
    REQUIRE(report.ok());
    const double weights = 4.0 * 6'998'552;
    const DeviceMemory plain = training_memory(*report, 0, 8);
    CHECK(plain.gradients == tests::near(weights));
    CHECK(plain.weights == tests::near(weights));
    CHECK(device_work(*report).bytes() == tests::near(plain.gradients));
    CHECK(training_memory(*report, 1, 8).gradients == tests::near(weights));
    CHECK(training_memory(*report, 2, 8).gradients == tests::near(weights / 8));
    CHECK(training_memory(*report, 3, 8).weights == tests::near(weights / 8));
    // Never less than what one step alone reaches.
    CHECK(plain.total() >= static_cast<double>(report->memory->peak));
}

TEST_CASE("no step is faster than the peak of the arithmetic that it uses allows") {
    double highest = 0.0;
    for (const char* name : {"vgg16", "resnet50", "googlenet", "alexnet", "unet-medical", "gpt2",
                             "bert-large", "mobilenet-v2"}) {
        for (const char* machine :
             {"a100-sxm-80gb", "h100-sxm-80gb", "v100-sxm2-16gb", "k40m", "rtx-3090", "mi250x"}) {
            for (const model::DataType type : {model::DataType::fp32, model::DataType::fp16}) {
                Question question = training_of(name, machine);
                question.scenario.data_type = type;
                question.scenario.batch = 8 * own_batch(question.network);
                const auto report = run(question);
                if (!report.ok()) {
                    CHECK(report.diagnostics().items()[0].code == "unsupported-type");
                    continue;
                }
                double kernels_s = 0.0;
                for (const LayerReport& layer : report->layers) {
                    kernels_s += layer.time_s * static_cast<double>(layer.layer.count);
                }
                CAPTURE(name);
                CAPTURE(machine);
                CHECK(seconds_at_peak(*report) > 0.0);
                CHECK(seconds_at_peak(*report) <= kernels_s);
                highest = std::max(highest, seconds_at_peak(*report) / kernels_s);
            }
        }
    }
    MESSAGE("highest share of the peak: ", highest);
}

TEST_CASE(
    "the peak by hand: of the type that is computed in, and of Winograd's fewer multiplications") {
    // 64 to 128 channels on 56 x 56 outputs of 32 images; nothing below asks for the input's
    // gradient, so its multiply-accumulates are done forward and for the weights' gradient.
    const model::Machine machine = *hwdb::load_machine("a100-sxm-80gb", kHwdb);
    const auto& gpu = std::get<model::Gpu>(machine.kind);
    const auto at_peak_s = [&](model::ConvShape shape, model::DataType type) {
        model::Network network;
        network.id = network.name = "conv";
        model::Layer layer;
        layer.name = "conv";
        layer.op = model::Op::conv2d;
        layer.shape = shape;
        layer.types = {type, type, type};
        network.layers = {layer};
        const auto report = run(tests::question_of(network, machine, tests::training_with("sgd")));
        REQUIRE(report.ok());
        return seconds_at_peak(*report);
    };
    const double outputs = 32.0 * 56 * 56 * 128 * 64; // times taps
    CHECK(at_peak_s({32, 64, 56, 56, 128, 1, 1}, model::DataType::tf32) ==
          tests::near(2 * 2 * outputs / gpu.rate(model::DataType::tf32).flops_per_s));
    // F(4x4, 3x3): 36 multiplications for 4 x 4 outputs of 9 taps, a quarter of 144, in fp32.
    CHECK(at_peak_s({32, 64, 56, 56, 128, 3, 3, {1, 1}, {1, 1}}, model::DataType::fp32) ==
          tests::near(2 * 2 * outputs * 9 / 4 / gpu.rate(model::DataType::fp32).flops_per_s));
}

} // namespace test_scale_gradients
