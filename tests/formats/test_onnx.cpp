// ONNX models as networks. The graphs of tests/data/onnx are written by tests/data/make_onnx.py;
// none holds a weight.
#include "formats/catalog.hpp"
#include "formats/onnx/convert.hpp"
#include "tests/fuzz/onnx.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace test_formats_onnx {

using namespace eyeroof;
using eyeroof::tests::near;
using formats::onnx::ConvertedModel;
using formats::onnx::Sizes;
using model::Op;

namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(tests::source_dir()) / "tests/data/onnx";

ConvertedModel model_of(const std::string& name, const Sizes& sizes = {}) {
    auto converted = formats::onnx::load_onnx(kModels / (name + ".onnx"), sizes);
    for (const Diagnostic& d : converted.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(converted.ok());
    return *converted;
}

model::NetworkTotals totals(const std::string& name, const Sizes& sizes = {}) {
    return totals_of(model_of(name, sizes).network).value();
}

std::vector<model::Layer> layers_of(const ConvertedModel& model, Op op) {
    std::vector<model::Layer> found;
    std::copy_if(model.network.layers.begin(), model.network.layers.end(),
                 std::back_inserter(found), [&](const model::Layer& l) { return l.op == op; });
    return found;
}

std::string bytes_of(const std::string& name) {
    std::ifstream file(kModels / (name + ".onnx"), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("classification models have the published MACs and parameters without a weight") {
    const auto resnet = totals("resnet50", {{"batch", 1}});
    CHECK(resnet.macs == 4'089'184'256);    // as the catalog's own; 4.089 G by torchvision
    CHECK(resnet.parameters == 25'557'032); // torchvision, num_params
    const auto mobilenet = totals("mobilenet_v2");
    CHECK(mobilenet.macs == near(0.301e9, 0.005)); // the same source
    CHECK(mobilenet.parameters == 3'504'872);
    const auto efficient = totals("efficientnet_b0");
    CHECK(efficient.macs == near(0.386e9, 0.005));
    CHECK(efficient.parameters == 5'288'548);
    CHECK(totals("resnet50", {{"batch", 8}}).macs == 8 * resnet.macs);
}

TEST_CASE("sizes that are worked out in the graph are followed, attention is recognised") {
    const auto layer = model_of("bert_layer", {{"batch", 2}, {"seq", 128}});
    // 12 words hidden^2 + 2 sequences seq^2 hidden
    const Count macs = 12 * 256 * 768 * 768 + 2 * 2 * 128 * 128 * 768;
    CHECK(totals_of(layer.network)->macs == macs);
    CHECK(layer.attentions == 1);
    CHECK(layers_of(layer, Op::embedding).size() == 1);
    CHECK(model::parameters_of(layers_of(layer, Op::embedding)[0]) == 30522 * 768);
    const auto fused = model_of("bert_layer", {{"batch", 2}, {"seq", 128}, {"fused", 1}});
    REQUIRE(layers_of(fused, Op::attention).size() == 1);
    CHECK(std::get<model::AttentionShape>(layers_of(fused, Op::attention)[0].shape) ==
          model::AttentionShape{2, 12, 128, 128, 64});
    CHECK(layers_of(fused, Op::softmax).empty());
    CHECK(totals_of(fused.network)->macs == macs);
}

TEST_CASE("attention as one operator sees its cache") {
    const auto op = model_of("attention_op", {{"batch", 2}, {"past", 1023}});
    REQUIRE(op.network.layers.size() == 1);
    CHECK(std::get<model::AttentionShape>(op.network.layers[0].shape) ==
          model::AttentionShape{2, 32, 1, 1024, 128, 8});
    const auto grouped = model_of("group_query");
    CHECK(std::get<model::AttentionShape>(layers_of(grouped, Op::attention)[0].shape) ==
          model::AttentionShape{2, 32, 1, 1025, 128, 8, true});
    const auto packed = layers_of(grouped, Op::gemm).at(0);
    CHECK(packed.types.weight == model::DataType::int4);
    CHECK(model::parameters_of(packed) == 4096 * 4096);
}

TEST_CASE("convolutions of every kind have the MACs of their formula") {
    const auto model = model_of("convolutions");
    // grouped; depthwise, strided; dilated; strided along the height; transposed; three
    // dimensions; one
    const Count macs = 32 * 32 * 64 * 4 * 9 + 32 * 16 * 32 * 25 + 32 * 16 * 32 * 32 * 9 +
                       32 * 8 * 32 * 32 * 9 + 32 * 8 * 32 * 16 * 4 + 8 * 4 * 16 * 64 * 4 * 27 +
                       8 * 1024 * 8 * 4;
    CHECK(totals_of(model.network)->macs == macs);
    CHECK(layers_of(model, Op::conv2d).size() == 7);
    CHECK(layers_of(model, Op::conv2d)[4].direction == model::Direction::bwd_data);
}

TEST_CASE("recurrent layers run step after step") {
    const auto model = model_of("recurrent");
    // LSTM of 256 in two directions on 10 x 4 words of 128, GRU of 256 on words of 512
    const Count macs = 2 * 10 * 4 * 1024 * (128 + 256) + 10 * 4 * 768 * (512 + 256);
    CHECK(totals_of(model.network)->macs == macs);
    CHECK(totals_of(model.network)->parameters ==
          2 * (1024 * (128 + 256) + 2048) + 768 * (512 + 256) + 1536);
}

TEST_CASE("quantised operators keep their types, however they are written") {
    const auto convolutions = layers_of(model_of("quantised"), Op::conv2d);
    REQUIRE(convolutions.size() == 3);
    for (const model::Layer& layer : convolutions) {
        CAPTURE(layer.name);
        CHECK(layer.types.input == model::DataType::int8);
        CHECK(layer.types.weight == model::DataType::int8);
    }
    CHECK(convolutions[2].types.output == model::DataType::int32);
}

TEST_CASE("Einsum, norms and a file's own functions are costed") {
    CHECK(totals("einsum").macs == 2 * 2 * 8 * 128 * 128 * 64 + 2 * 128 * 512 * 512);
    CHECK(totals("einsum").parameters == 512 * 512);
    CHECK(layers_of(model_of("norms"), Op::layernorm).size() == 3);
    CHECK(totals("functions").macs == 4 * (64 * 128 + 128 * 32));
    CHECK(totals("functions").parameters == 64 * 128 + 128 * 32);
}

TEST_CASE("operators without a cost are reported in one list with their counts and reasons") {
    const auto converted = formats::onnx::load_onnx(kModels / "control_flow.onnx");
    REQUIRE(converted.ok());
    REQUIRE(converted.diagnostics().size() == 1);
    const Diagnostic& warning = converted.diagnostics().items()[0];
    CHECK(warning.code == "not-costed");
    CHECK(warning.message ==
          "1 of 4 operators (25.0 %) is not costed: Loop (1: its number of iterations depends on "
          "the data; it may multiply)");
    CHECK(converted->network.uncosted.front().name == "Loop4");
}

TEST_CASE("sizes that are missing are asked for by name, unknown ones are told") {
    const auto missing = formats::onnx::load_onnx(kModels / "bert_layer.onnx");
    REQUIRE(missing.diagnostics().size() == 2);
    CHECK(missing.diagnostics().items()[0].code == "missing-dimension");
    CHECK(missing.diagnostics().items()[1].hint.find("--dim seq=1") != std::string::npos);
    const auto wrong =
        formats::onnx::load_onnx(kModels / "resnet50.onnx", {{"batch", 1}, {"btach", 2}});
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.diagnostics().items()[0].code == "unknown-parameter");
    CHECK(wrong.diagnostics().items()[0].hint == "did you mean 'batch'?");
}

TEST_CASE("a graph that waits for itself, half a file and other bytes are refused") {
    const auto code = [](const Result<ConvertedModel>& result) {
        REQUIRE_FALSE(result.ok());
        return result.diagnostics().items().front().code;
    };
    CHECK(code(formats::onnx::load_onnx(kModels / "cyclic.onnx")) == "cyclic-graph");
    CHECK(code(formats::onnx::load_onnx(kModels)) == "file-not-found");
    CHECK(code(formats::onnx::parse_onnx("", "x.onnx")) == "no-layers");
    CHECK(code(formats::onnx::parse_onnx("\x08\x0a:\xff\xff\xff\xff\x7f", "x.onnx")) == "bad-onnx");
    const std::string whole = bytes_of("bert_layer");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK(tests::broken_promise_onnx(whole.substr(0, size)) == "");
    }
}

TEST_CASE("a model changed at any byte breaks no promise") {
    for (const std::string name : {"quantised", "recurrent", "einsum", "functions", "norms"}) {
        CAPTURE(name);
        const std::string whole = bytes_of(name);
        for (std::size_t at = 0; at < whole.size(); ++at) {
            std::string changed = whole;
            for (const char value : {'\0', '\x7f', '\xff'}) {
                changed[at] = value;
                CHECK(tests::broken_promise_onnx(changed) == "");
            }
        }
    }
}

TEST_CASE("a model is taken wherever a network is, with its sizes behind the name") {
    const auto network =
        formats::load_network((kModels / "resnet50.onnx").string() + ":batch=4", {});
    REQUIRE(network.ok());
    CHECK(network->id == "resnet50");
    CHECK(totals_of(*network)->macs == 4 * Count{4'089'184'256});
}

} // namespace test_formats_onnx
