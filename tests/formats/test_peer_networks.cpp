#include "formats/catalog.hpp"
#include "formats/conv_roles.hpp"
#include "formats/maestro.hpp"
#include "formats/network_readers.hpp"
#include "formats/zigzag.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

namespace test_formats_peer_networks {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::formats;

namespace {

std::string sample(const std::string& name) {
    std::ifstream file(eyeroof::tests::source_dir() + "/tests/fuzz/corpus/" + name,
                       std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Count macs(const Layer& layer) {
    return work_of(layer)->macs;
}

bool says(const Diagnostics& found, const std::string& part) {
    for (const Diagnostic& d : found) {
        if (to_string(d).find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST_CASE("a window lies along rows where a position of its own takes the columns") {
    const TensorsOf position{true, true, false};
    ConvRoles free;
    CHECK(free.window("a", "b", true) == std::optional(false));
    CHECK(free.dims().at("a") == Dim::Q);
    CHECK(free.dims().at("b") == Dim::S);
    ConvRoles taken;
    REQUIRE(taken.place("OX", position));
    REQUIRE(taken.dims().at("OX") == Dim::Q);
    CHECK(taken.window("a", "b", true) == std::optional(true));
    CHECK(taken.dims().at("a") == Dim::P);
    CHECK(taken.dims().at("b") == Dim::R);
    CHECK_FALSE(taken.window("c", "d", false).has_value());
}

TEST_CASE("MAESTRO's layers become convolutions of padded inputs and matrix products") {
    const auto network = parse_maestro(sample("maestro/small.m"), "small.m");
    REQUIRE(network);
    CHECK(network->name == "Small");
    REQUIRE(network->layers.size() == 5);
    // (229 - 7) / 2 + 1 = 112 positions each way, 4 images.
    CHECK(macs(network->layers[0]) == Count{4} * 64 * 3 * 7 * 7 * 112 * 112);
    const auto& depth = std::get<ConvShape>(network->layers[1].shape);
    CHECK(depth.groups == 64);
    CHECK(macs(network->layers[1]) == Count{64} * 9 * 56 * 56);
    CHECK(macs(network->layers[2]) == Count{32} * 4 * 4 * 9 * 56 * 56); // per group
    CHECK(std::get<GemmShape>(network->layers[3].shape) == GemmShape{1, 128, 64, 256});
    CHECK(network->layers[4].op == Op::bmm);
    CHECK(std::get<GemmShape>(network->layers[4].shape) == GemmShape{12, 128, 128, 64});
}

TEST_CASE("what MAESTRO's file has wrong is told with line, column and the nearest name") {
    const auto types = parse_maestro(sample("maestro/wrong.m"), "w.m");
    REQUIRE_FALSE(types);
    CHECK(says(types.diagnostics(), "w.m:1:29: error: layers of type LSTM are not read"));
    CHECK(says(types.diagnostics(), "'0' is no number from 1"));
    CHECK(types.diagnostics().items()[1].hint.find("Constant NAME") != std::string::npos);
    const auto key = parse_maestro(sample("maestro/key.m"), "k.m");
    REQUIRE_FALSE(key);
    CHECK(says(key.diagnostics(), "k.m:2:23: error: a layer has no 'Strid'"));
    CHECK(says(key.diagnostics(), "did you mean 'Stride'?"));
    const auto open = parse_maestro("Network A {\n Layer B { Type: CONV", "o.m");
    REQUIRE_FALSE(open);
    CHECK(says(open.diagnostics(), "o.m:2:"));
    const auto transposed = parse_maestro(
        "Network A { Layer B { Type: LSTM Dimensions { K: 1, C: 1, R: 2, S: 2, Y: 4, X: 4 } } }",
        "t.m");
    CHECK(says(transposed.diagnostics(), "layers of type LSTM are not read"));
}

TEST_CASE("ZigZag's list of layers is read by the tensors that its dimensions address") {
    const auto network = parse_zigzag(sample("zigzag/list.yaml"), "list.yaml");
    REQUIRE(network);
    REQUIRE(network->layers.size() == 5);
    const auto& stem = std::get<ConvShape>(network->layers[0].shape);
    CHECK(network->layers[0].name == "stem");
    CHECK(stem.stride == Extent2{2, 2});
    CHECK(stem.pad == Extent2{3, 3});
    CHECK(stem.p() == 112);
    CHECK(macs(network->layers[0]) == Count{118013952}); // ResNet's conv1
    CHECK(network->layers[0].types.input == DataType::int8);
    CHECK(network->layers[1].op == Op::maxpool);
    CHECK(std::get<PoolShape>(network->layers[1].shape).p() == 56);
    CHECK(network->layers[2].op == Op::elementwise);
    CHECK(macs(network->layers[3]) == Count{2} * 768 * 128 * 3072);
    CHECK(macs(network->layers[4]) == Count{12} * 64 * 128 * 128); // heads lie in all tensors
    CHECK(std::get<ConvShape>(network->layers[4].shape).groups == 12);
}

TEST_CASE("ZigZag's Python form is read as well, tuples and all") {
    const auto network = parse_zigzag(sample("zigzag/python.py"), "python.py");
    REQUIRE(network);
    REQUIRE(network->layers.size() == 2); // the input is no layer
    const auto& depth = std::get<ConvShape>(network->layers[0].shape);
    CHECK(depth.groups == 32);
    CHECK(depth.pad == Extent2{1, 1});
    CHECK(depth.h == 56);
    CHECK(macs(network->layers[1]) == Count{64} * 32 * 56 * 56);
}

TEST_CASE("a word that ZigZag's workloads do not have is an error") {
    const auto code = [](const std::string& equation, const std::string& more) {
        const auto network =
            parse_zigzag("- id: 0\n  operator_type: Conv\n  equation: " + equation +
                             "\n  loop_dims: [B, K, C]\n  loop_sizes: [2, 3, 4]\n" + more,
                         "w.yaml");
        return network.ok() ? std::string() : network.diagnostics().items()[0].code;
    };
    CHECK(code("O[b][k]+=W[k][c]*I[b][c]", "").empty());
    CHECK(code("O[b][k]=+W[k][c]*I[b][c]", "") == "unsupported"); // no addition of elements
    CHECK(code("O[b][k]+=W[k][c]I[b][c]", "") == "unsupported");
    CHECK(code("O[b][k]+=W[k][c]*", "") == "unsupported");
    CHECK(code("O[b][k]+=W[k][c]*I[b][c]", "  operand_precison: {I: 8}\n") == "unknown-key");
    CHECK(code("O[b][k]+=W[k][c]*I[b][c]", "  operand_precision: {I: 8, O_final: 8}\n").empty());
    CHECK(code("O[b][k]+=W[k][c]*I[b][c]", "  operand_precision: {I: 8, Q: 8}\n") ==
          "unknown-operand");
    CHECK_FALSE(
        code("O[b][k]+=W[k][c]*I[b][c]", "  operand_precision: {O: wide, O_final: 8}\n").empty());
    CHECK(code("O[b][k]+=W[k][e]*I[b][e]", "") == "unknown-dimension"); // C is in no tensor
    const auto typed = parse_zigzag("- id: 0\n  operator_type: Teleport\n  equation: "
                                    "O[b]=I[b]+W[b]\n  loop_dims: [B]\n  loop_sizes: [2]\n",
                                    "w.yaml");
    REQUIRE_FALSE(typed.ok());
    CHECK(typed.diagnostics().items()[0].code == "unknown-operator");
}

TEST_CASE("what ZigZag's file has wrong is told with line and column") {
    const auto network = parse_zigzag(sample("zigzag/wrong.yaml"), "w.yaml");
    REQUIRE_FALSE(network);
    CHECK(says(network.diagnostics(), "w.yaml:1:21: error: 'O[b][' is no equation"));
    CHECK(says(network.diagnostics(), "1 sizes stand beside 2 dimensions"));
    CHECK(says(network.diagnostics(), "w.yaml:2:104: error: 0 is too small"));
    const auto two = parse_zigzag(sample("zigzag/keyed.yaml"), "k.yaml");
    REQUIRE_FALSE(two);
    CHECK(says(two.diagnostics(), "does not fit a convolution"));
}

TEST_CASE("the catalog tells the peers' files by their content") {
    const auto reader = [](const std::string& text) {
        const NetworkReader* found = network_reader_of(text);
        return found != nullptr ? found->name : std::string_view();
    };
    CHECK(reader(sample("maestro/small.m")) == "maestro");
    CHECK(reader(sample("zigzag/list.yaml")) == "zigzag");
    CHECK(reader(sample("zigzag/python.py")) == "zigzag");
    CHECK(reader(sample("timeloop/gemm.yaml")) == "timeloop");
    for (const std::string own : {"Network, M, N\n1, 2, 3\n", "Network: 3\n"}) {
        CHECK(reader(own).empty());
    }
    CHECK(own_format("Network, M, N\n1, 2, 3\n") == OwnFormat::layer_csv);
    CHECK(own_format("Network: 3\n") == OwnFormat::network_yaml);
}

} // namespace test_formats_peer_networks
