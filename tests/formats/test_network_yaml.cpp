#include "formats/expression.hpp"
#include "formats/layer_csv.hpp"
#include "formats/network_graph.hpp"
#include "formats/network_yaml.hpp"
#include "model/workload/graph_edges.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_formats_network_yaml {

using namespace eyeroof;
using formats::evaluate;
using formats::parse_network_yaml;
using formats::Variables;
using formats::write_edges;
using formats::write_network_yaml;
using model::totals_of;

namespace {

const std::string kTwoLayers = "name: Toy\n"
                               "source: made up\n"
                               "parameters:\n"
                               "  width: {default: 1, min: 0.25, max: 2, meaning: channels}\n"
                               "  size: 8\n"
                               "defaults: {dtype: int8}\n"
                               "layers:\n"
                               "  - {name: a, op: conv2d, c: 3, h: =size, w: =size, k: =16*width, "
                               "r: 3, s: 3, stride: 2x1, pad: 1}\n"
                               "  - {op: gemm, count: 2, dtype: fp16/int4/fp32, m: 1, n: 10, k: "
                               "=16*width*size/2*size, when: width >= 1}\n";

model::Network network_of(const std::string& text, const Variables& given = {}) {
    auto file = parse_network_yaml(text, "dir/toy.yaml", given);
    for (const Diagnostic& d : file.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(file.ok());
    return file->network;
}

Diagnostic error_of(const std::string& text, const Variables& given = {}) {
    const auto file = parse_network_yaml(text, "toy.yaml", given);
    REQUIRE_FALSE(file.ok());
    for (const Diagnostic& d : file.diagnostics()) {
        INFO(to_string(d));
        CHECK(file.diagnostics().size() == 1);
    }
    return file.diagnostics().items().front();
}

Diagnostic layer_error(const std::string& layer) {
    return error_of("layers:\n  - {" + layer + "}\n");
}

} // namespace

TEST_CASE("in training a layer and a view may have more rows") {
    const std::string text = "parameters: {new: 8}\n"
                             "layers:\n"
                             "  - {name: a, op: gemm, m: =new, n: 4, k: 4}\n"
                             "  - {name: head, op: gemm, m: 1, n: 16, k: 4, in_training: =new}\n"
                             "graph:\n"
                             "  - {run: a, reads: input}\n"
                             "  - {view: last, reads: a, elements: 4, in_training: =new}\n"
                             "  - {run: head, reads: last}\n";
    auto file = parse_network_yaml(text, "toy.yaml");
    REQUIRE(file.ok());
    CHECK(totals_of(file->network)->macs == 8 * 16 + 64);
    const auto again =
        parse_network_yaml(formats::write_network_yaml(file->network) +
                               formats::write_edges(*file->edges, file->network.layers),
                           "toy.yaml");
    REQUIRE(again.ok());
    const auto trained = model::in_training({again->network, again->edges});
    CHECK(totals_of(trained->network)->macs == 8 * 16 + 8 * 64);
    CHECK(trained->edges->steps[1].elements == 32);
    CHECK(*model::in_training(*trained) == *trained);
    CHECK(layer_error("op: gemm, m: 1, n: 1, k: 1, in_training: 0").code == "bad-dimension");
}

TEST_CASE("a block stands for its layers, with values of its own, as often as it is used") {
    const std::string text =
        "parameters: {width: 2}\n"
        "let: {wide: =8*width, wider: =2*wide}\n"
        "blocks:\n"
        "  one:\n"
        "    - {name: a, op: gemm, m: 1, n: =n, k: =wide, bias: 1}\n"
        "    - {name: b, op: elementwise, rows: 1, cols: =n, fn: relu, when: relu}\n"
        "  two:\n"
        "    - {block: one, name: first, n: =n, relu: 0}\n"
        "    - {block: one, count: 3, n: =n+i, relu: 1}\n"
        "layers:\n"
        "  - {block: two, name: x, repeat: 2, n: =wider}\n"
        "  - {block: one, name: y, n: 5, relu: 0, when: width > 2}\n";
    const auto layers = network_of(text).layers;
    REQUIRE(layers.size() == 6);
    CHECK(layers[0].name == "x1_first_a");
    CHECK(layers[1].name == "x1_a");
    CHECK(layers[1].count == 3);
    CHECK(layers[5].name == "x2_b");
    CHECK(std::get<model::GemmShape>(layers[1].shape) == model::GemmShape{1, 1, 32, 16});
    CHECK(std::get<model::GemmShape>(layers[4].shape).n == 33); // i is 1 the second time
    CHECK(model::parameters_of(layers[0]) == 32 * 16 + 32);
    CHECK(network_of(text, {{"width", 3}}).layers.size() == 7);
}

TEST_CASE("mistakes in blocks are told once, where they stand") {
    const std::string start = "blocks:\n  one:\n    - {op: gemm, m: 1, n: =size, k: 3}\nlayers:\n";
    const auto missing = error_of(start + "  - {block: one, repeat: 100}\n");
    CHECK(missing.code == "unknown-parameter");
    CHECK(missing.where.line == 3);
    CHECK(error_of(start + "  - {block: on, size: 2}\n").hint == "did you mean 'one'?");
    CHECK(error_of(start + "  - {block: one, size: 2, count: 0}\n").code == "bad-dimension");
    CHECK(error_of(start + "  - {block: one, size: 2, repeat: 1000000}\n").code ==
          "too-many-layers");
    CHECK(error_of("blocks:\n  one:\n    - {block: one}\nlayers:\n  - {block: one}\n").code ==
          "unknown-block"); // none uses itself
    CHECK(error_of("let: {a: =b}\nlayers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n").code ==
          "unknown-parameter");
    CHECK(error_of("variants: {v: {x: 1}}\nlayers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n").code ==
          "unknown-parameter");
    CHECK(layer_error("op: softmax, rows: 1, cols: 2, bias: 1").code == "unused-value");
    CHECK(layer_error("op: gemm, m: 1, n: 2, k: 3, parameters: 0.5").code == "not-a-number");
}

TEST_CASE("an embedding's table is not the rows that are looked up") {
    const auto layers = network_of("layers:\n  - {op: embedding, rows: 8, cols: 16, n: 1000}\n"
                                   "  - {op: embedding, rows: 8, cols: 16, n: 2}\n")
                            .layers;
    CHECK(model::parameters_of(layers[0]) == 16000);
    CHECK(work_of(layers[0])->tensors[1].elements == 8 * 16);
    CHECK(work_of(layers[1])->tensors[1].elements == 2 * 16); // no line is moved twice
    CHECK(layer_error("op: softmax, rows: 1, cols: 2, n: 9").code == "unused-value");
}

TEST_CASE("a network file gives its layers with expressions worked out") {
    const model::Network network = network_of(kTwoLayers);
    CHECK(network.id == "toy");
    CHECK(network.name == "Toy");
    CHECK(network.source == "made up");
    REQUIRE(network.layers.size() == 2);
    const auto& conv = std::get<model::ConvShape>(network.layers[0].shape);
    CHECK(conv.k == 16);
    CHECK(conv.stride == model::Extent2{2, 1});
    CHECK(network.layers[0].types.input == model::DataType::int8);
    CHECK(network.layers[1].name == "layer2");
    CHECK(network.layers[1].count == 2);
    CHECK(network.layers[1].types.weight == model::DataType::int4);
    CHECK(std::get<model::GemmShape>(network.layers[1].shape).k == 512); // 16 * 8 / 2 * 8
}

TEST_CASE("given parameters change sizes and leave layers out") {
    const model::Network network = network_of(kTwoLayers, {{"width", 0.5}});
    REQUIRE(network.layers.size() == 1);
    CHECK(std::get<model::ConvShape>(network.layers[0].shape).k == 8);
    CHECK(error_of(kTwoLayers, {{"width", 4.0}}).code == "out-of-range");
    CHECK(error_of(kTwoLayers, {{"widht", 1.0}}).hint == "did you mean 'width'?");
    CHECK(error_of(kTwoLayers, {{"width", 0.33}}).code == "not-a-number"); // 5.28 channels, and
    // nothing is said of the second layer, which is left out
}

TEST_CASE("a network that is written is read back the same") {
    const model::Network network = network_of(kTwoLayers);
    model::Network again = network_of(formats::write_network_yaml(network));
    CHECK(again == network);
    model::Network odd = network;
    odd.name = "quotes \" and \\ and\nlines: #";
    odd.layers[0].name = "{=1}";
    CHECK(network_of(formats::write_network_yaml(odd)) == odd);
}

TEST_CASE("wrong layers are reported where they stand, with field and hint") {
    const Diagnostic zero = layer_error("op: gemm, m: 0, n: 2, k: 3");
    CHECK(zero.code == "bad-dimension");
    CHECK(zero.field == "layers[0].m");
    CHECK(zero.where.line == 2);
    CHECK(zero.where.column == 19);
    CHECK(layer_error("op: gemm, m: 1, n: 2, k: 3, grops: 3").hint == "did you mean 'groups'?");
    CHECK(layer_error("op: gemm, m: 1, n: 2").message == "gemm needs a value for k");
    CHECK(layer_error("op: gemm, m: nan, n: 2, k: 3").code == "not-a-number");
    CHECK(layer_error("op: gemm, m: 1000000000000, n: 2, k: 3").code == "bad-dimension");
    CHECK(layer_error("op: gemm, m: =1/0, n: 2, k: 3").code == "expression");
    CHECK(layer_error("op: gemm, m: =seq, n: 2, k: 3").code == "unknown-parameter");
    CHECK(layer_error("op: gem, m: 1, n: 2, k: 3").hint == "did you mean 'gemm'?");
    CHECK(layer_error("op: conv2d, c: 4, h: 2, w: 9, k: 4, r: 3, s: 3").code == "window-too-large");
    CHECK(layer_error("op: conv2d, c: 4, h: 9, w: 9, k: 6, r: 3, s: 3, groups: 4").field ==
          "layers[0].groups");
    CHECK(layer_error("op: softmax, rows: 4, cols: [5]").code == "wrong-type");
}

TEST_CASE("wrong documents are refused") {
    CHECK(error_of("name: x\n").code == "missing-key");
    CHECK(error_of("layers: []\n").code == "too-few");
    CHECK(error_of("layers:\n  - {op: gemm, m: 1, n: 2, k: 3, when: 0}\n").code == "no-layers");
    CHECK(error_of("layres: []\nlayers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n").code ==
          "unknown-key");
    CHECK(error_of("layers:\n  - {op: gemm, m: 1, m: 2, n: 2, k: 3}\n").code == "duplicate-key");
    CHECK(error_of("defaults: {stride: 2}\nlayers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n").code ==
          "unknown-key");
}

TEST_CASE("names hold no control characters, not even escaped ones") {
    CHECK(layer_error("name: \"a\\b\", op: gemm, m: 1, n: 2, k: 3").code == "bad-name");
    CHECK(error_of("name: \"\\e[2J\"\nlayers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n").code ==
          "bad-name");
}

TEST_CASE("expressions follow the usual precedence") {
    const Variables v = {{"width", 0.5}, {"n", 3.0}};
    const auto value = [&](const char* text) { return evaluate(text, v).value(); };
    CHECK(value("1 + 2 * 3") == 7.0);
    CHECK(value("(1 + 2) * 3") == 9.0);
    CHECK(value("8 / 2 / 2") == 2.0);
    CHECK(value("7 - 2 - 1") == 4.0);
    CHECK(value("-n + 4") == 1.0);
    CHECK(value("2 * -n") == -6.0);
    CHECK(value("ceil(n / 2) + floor(n / 2) + round(2.4)") == 5.0);
    CHECK(value("32 * width") == 16.0);
    CHECK(value("n >= 3") == 1.0);
    CHECK(value("n < 3") == 0.0);
    CHECK(value("n <= 3") == 1.0);
    CHECK(value("n > 3") == 0.0);
    CHECK(value("n > 2") == 1.0);
    CHECK(value("n != 3") == 0.0);
    CHECK(value("n != 2") == 1.0);
    CHECK(value("1 + 1 == 2") == 1.0);
}

TEST_CASE("operators without a cost are read back as written, and warn") {
    const std::string text = "layers:\n  - {op: gemm, m: 2, n: 3, k: 4}\n"
                             "operators: 9\n"
                             "uncosted:\n"
                             "  - {op: NonZero, why: its sizes are not known, count: 2}\n"
                             "  - {op: DeformConv, name: dcn, may_multiply: true}\n";
    const auto read = parse_network_yaml(text, "toy.yaml");
    REQUIRE(read.ok());
    const model::Network& network = read->network;
    CHECK(network.operators == 9);
    REQUIRE(network.uncosted.size() == 2);
    CHECK(network.uncosted[0] ==
          model::Uncosted{"DeformConv", "dcn", "it has no cost here", 1, true});
    CHECK(network.uncosted[1] ==
          model::Uncosted{"NonZero", "", "its sizes are not known", 2, false});
    REQUIRE(read.diagnostics().size() == 1);
    CHECK(read.diagnostics().items().front().code == "not-costed");
    const std::string written = formats::write_network_yaml(network);
    const auto back = parse_network_yaml(written, "back.yaml");
    REQUIRE(back.ok());
    CHECK(back->network.uncosted == network.uncosted);
    CHECK(back->network.operators == 9);
}

TEST_CASE("more operators without a cost than operators are an error") {
    CHECK(error_of("layers:\n  - {op: gemm, m: 2, n: 3, k: 4}\noperators: 1\n"
                   "uncosted:\n  - {op: NonZero, count: 2}\n")
              .code == "out-of-range");
}

TEST_CASE("broken expressions say what is wrong and never run away") {
    for (const std::string bad : {"", "1 +", "(1", "1)", "2 ** 3", "width height", "1/0", "floor 2",
                                  "@", "1e5", "0x10", "nan", "inf", "=1"}) {
        CAPTURE(bad);
        CHECK_FALSE(evaluate(bad, {}).ok());
    }
    CHECK_FALSE(evaluate(std::string(5000, '('), {}).ok());
    CHECK_FALSE(evaluate(std::string(150, '('), {}).ok());
    CHECK_FALSE(evaluate(std::string(190, '-'), {}).ok());
    const auto near = evaluate("widht * 2", {{"width", 1.0}});
    CHECK(near.diagnostics().items()[0].hint == "did you mean 'width'?");
}

} // namespace test_formats_network_yaml
