// What a reader of ONNX models must not do: look at weights, or hold what means nothing.
#include "formats/onnx/operators.hpp"
#include "formats/onnx/read_graph.hpp"
#include "formats/onnx/step.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace test_formats_onnx_limits {

using namespace eyeroof;
using namespace eyeroof::formats::onnx;

namespace {

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value > 0x7F; value >>= 7U) {
        bytes += static_cast<char>((value & 0x7FU) | 0x80U);
    }
    return bytes + static_cast<char>(value);
}

std::string number(std::uint32_t field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}

// The beginning of a field of so many bytes.
std::string opening(std::uint32_t field, std::size_t bytes) {
    return varint(field << 3U | 2U) + varint(bytes);
}

std::string bytes(std::uint32_t field, const std::string& content) {
    return opening(field, content.size()) + content;
}

std::string product_node() {
    return bytes(1, bytes(1, "x") + bytes(1, "w") + bytes(2, "y") + bytes(4, "MatMul"));
}

// A model whose last bytes are `weights` of a tensor that stand in field `field`.
std::string model_until_weights(std::uint32_t field, std::size_t weights) {
    const std::string tensor =
        number(1, 4096) + number(1, 4096) + number(2, 1) + bytes(8, "w") + opening(field, weights);
    const std::string graph = product_node() + opening(5, tensor.size() + weights) + tensor;
    return number(1, 8) + opening(7, graph.size() + weights) + graph;
}

} // namespace

TEST_CASE("weights of an ONNX model are not looked at, however they are stored") {
    constexpr std::size_t kPage = 4096, kWeights = 64 * kPage;
    for (const std::uint32_t field : {9U, 10U, 11U}) { // raw_data, double_data, uint64_data
        CAPTURE(field);
        const std::string head = model_until_weights(field, kWeights);
        REQUIRE(head.size() < kPage);
        void* place = mmap(nullptr, kPage + kWeights, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(place != MAP_FAILED);
        char* weights = static_cast<char*>(place) + kPage;
        std::memcpy(weights - head.size(), head.data(), head.size());
        REQUIRE(mprotect(weights, kWeights, PROT_NONE) == 0); // who looks at them crashes
        const auto graph =
            read_graph({weights - head.size(), head.size() + kWeights}, "model.onnx");
        munmap(place, kPage + kWeights);
        REQUIRE(graph.ok());
        CHECK(graph->constants.at("w").dims == std::vector<std::int64_t>{4096, 4096});
        CHECK_FALSE(graph->constants.at("w").values.has_value());
    }
}

TEST_CASE("packed numbers are read as far as they may be a shape: weights as integers too") {
    // 40,000 numbers, then a varint that never ends: it is not reached
    const std::string numbers = std::string(40'000, '\1') + std::string(20, '\xff');
    const std::string model = model_until_weights(7, numbers.size()) + numbers;
    const auto graph = read_graph(model, "model.onnx");
    REQUIRE(graph.ok());
    CHECK_FALSE(graph->constants.at("w").values.has_value());
    const std::string few = std::string(40, '\1') + std::string(20, '\xff');
    const auto broken = read_graph(model_until_weights(7, few.size()) + few, "model.onnx");
    REQUIRE_FALSE(broken.ok());
    CHECK(broken.diagnostics().items()[0].code == "bad-onnx");
}

TEST_CASE("fields that mean nothing, and names without end, are refused before they fill memory") {
    const std::string nothing = number(1, 8) + std::string(4000, 'x'); // field 15, the number 120
    Limits limits;
    limits.fields = 1000;
    const auto idle = read_graph(nothing, "model.onnx", {}, limits);
    REQUIRE_FALSE(idle.ok());
    CHECK(idle.diagnostics().items()[0].code == "too-large");
    limits.fields = 3000;
    CHECK(read_graph(nothing, "model.onnx", {}, limits).diagnostics().items()[0].code ==
          "no-layers");
    std::string inputs;
    for (int i = 0; i < 1000; ++i) {
        inputs += bytes(1, "");
    }
    const std::string wide = number(1, 8) + bytes(7, bytes(1, inputs + bytes(4, "Concat")));
    CHECK(read_graph(wide, "model.onnx").ok());
    limits.stored_bytes = 1000 * sizeof(std::string);
    const auto refused = read_graph(wide, "model.onnx", {}, limits);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items()[0].code == "too-large");
}

TEST_CASE("pages of a mapped model can be given back while it is read") {
    constexpr std::size_t kWeights = std::size_t{40} << 20U; // told after every 32 MiB
    std::string model = model_until_weights(9, kWeights);
    const std::size_t head = model.size();
    model.append(kWeights, '\x11');
    std::size_t passed = 0;
    const auto graph = read_graph(model, "model.onnx", [&](const char* until) {
        passed = static_cast<std::size_t>(until - model.data());
    });
    CHECK(graph.ok());
    CHECK(passed == head + kWeights);
}

TEST_CASE("no operator relies on the outputs that a node should name, nor on its operands") {
    Handlers handlers;
    for (const auto add : {add_products, add_recurrent, add_attention, add_norms, add_elementwise,
                           add_movement, add_views, add_detection, add_sequences, add_quantized}) {
        add(handlers);
    }
    REQUIRE(handlers.size() > 100);
    Value known;
    known.dims = Dims{1, 4, 8, 8};
    known.element = 1;
    for (const auto& [op, handler] : handlers) {
        CAPTURE(op);
        for (std::size_t outputs = 0; outputs <= 2; ++outputs) {
            for (std::size_t inputs = 0; inputs <= 9; ++inputs) {
                OnnxNode node;
                node.op = op;
                node.outputs.assign(outputs, "y");
                formats::onnx::Counted counted;
                Step step(node, 17, std::vector<Value>(inputs, known), counted);
                handler(step);
                CHECK_FALSE(step.outputs.empty());
            }
        }
    }
}

TEST_CASE("no operator relies on the numbers that its attributes and constants hold") {
    Handlers handlers;
    for (const auto add : {add_products, add_recurrent, add_attention, add_norms, add_elementwise,
                           add_movement, add_views, add_detection, add_sequences, add_quantized}) {
        add(handlers);
    }
    const char* const names[] = {"axis",
                                 "axes",
                                 "bits",
                                 "block_size",
                                 "group",
                                 "groups",
                                 "k",
                                 "K",
                                 "N",
                                 "kernel_shape",
                                 "strides",
                                 "pads",
                                 "dilations",
                                 "num_heads",
                                 "hidden_size",
                                 "pooled_shape",
                                 "gather_axis",
                                 "blocksize",
                                 "perm",
                                 "split",
                                 "num_outputs",
                                 "output_shape",
                                 "output_width",
                                 "output_height",
                                 "kv_num_heads",
                                 "output_padding",
                                 "batch_dims",
                                 "to",
                                 "expert_weight_bits",
                                 "scales",
                                 "size",
                                 "keepdims"};
    const Dims shapes[] = {{4}, {4, 8}, {1, 4, 8}, {1, 4, 8, 8}};
    for (const auto& [op, handler] : handlers) {
        CAPTURE(op);
        for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{3}}) {
            CAPTURE(number);
            for (std::size_t count = 0; count <= 4; ++count) {
                OnnxNode node;
                node.op = op;
                node.outputs.assign(2, "y");
                for (const char* name : names) {
                    node.attributes[name].i = number;
                    node.attributes[name].ints.assign(count, number);
                }
                for (const Dims& shape : shapes) {
                    for (const int element : {kFloat, kUint8}) {
                        Value value;
                        value.dims = shape;
                        value.element = element;
                        std::vector<Value> inputs(6, value);
                        inputs[1].dims = Dims{static_cast<std::int64_t>(count)};
                        inputs[1].values.emplace(count, static_cast<double>(number));
                        formats::onnx::Counted counted;
                        Step with_constant(node, 17, inputs, counted);
                        handler(with_constant);
                        Step step(node, 17, std::vector<Value>(6, value), counted);
                        handler(step);
                        CHECK_FALSE(step.outputs.empty());
                    }
                }
            }
        }
    }
}

} // namespace test_formats_onnx_limits
