// Attention as one operator, of ONNX and of com.microsoft, and what stands beside it in decoders.
#include "tests/formats/onnx_graphs.hpp"

namespace test_formats_onnx_attention {

using namespace eyeroof;
using namespace eyeroof::tests;
using formats::onnx::ConvertedModel;
using formats::onnx::kFloat;
using formats::onnx::kHalf;
using formats::onnx::OnnxNode;
using model::AttentionShape;

namespace {

constexpr int kByte = 2; // of TensorProto.DataType

struct Input {
    std::string name;
    Ints dims;
};

// One node of half-precision inputs, with these attributes.
ConvertedModel one_node(std::string op, const std::vector<Input>& inputs,
                        const std::vector<std::pair<std::string, std::int64_t>>& attributes,
                        const std::string& domain = "") {
    GraphMaker maker;
    maker.graph.opset = 25;
    std::vector<std::string> names;
    for (const Input& input : inputs) {
        names.push_back(input.name);
        if (!input.name.empty()) {
            maker.input(input.name, input.dims, kHalf);
        }
    }
    OnnxNode& node = maker.node(std::move(op), names, {"y"});
    node.domain = domain;
    for (const auto& [name, value] : attributes) {
        node.attributes[name].i = value;
    }
    return converted(maker.output("y").graph);
}

AttentionShape shape_of(const ConvertedModel& model) {
    REQUIRE(model.network.layers.size() == 1);
    return std::get<AttentionShape>(model.network.layers[0].shape);
}

constexpr const char* kMicrosoft = "com.microsoft";

} // namespace

TEST_CASE("heads that share keys read the cache once a group") {
    const auto model = one_node("GroupQueryAttention",
                                {{"q", {1, 1, 8192}},
                                 {"k", {1, 1, 1024}},
                                 {"v", {1, 1, 1024}},
                                 {"pk", {1, 8, 8191, 128}},
                                 {"pv", {1, 8, 8191, 128}}},
                                {{"num_heads", 64}, {"kv_num_heads", 8}}, kMicrosoft);
    CHECK(shape_of(model) == AttentionShape{1, 64, 1, 8192, 128, 8, true});
    const auto work = model::work_of(model.network.layers[0]);
    CHECK(work->bytes() == 2 * (2 * 8 * 8192 * 128 + 2 * 64 * 128));
    const auto plain = one_node(
        "Attention", {{"q", {2, 32, 128, 64}}, {"k", {2, 8, 128, 64}}, {"v", {2, 8, 128, 64}}},
        {{"is_causal", 1}});
    CHECK(shape_of(plain) == AttentionShape{2, 32, 128, 128, 64, 8, true});
    CHECK(macs_of(plain) == 2 * 2 * 32 * 64 * 128 * 129 / 2);
}

TEST_CASE("causal queries behind the last key see all keys") {
    const auto wide =
        one_node("Attention", {{"q", {1, 4, 30, 32}}, {"k", {1, 4, 10, 32}}, {"v", {1, 4, 10, 32}}},
                 {{"is_causal", 1}});
    CHECK(macs_of(wide) == 2 * 4 * 32 * (55 + 20 * 10));
}

TEST_CASE("keys and values in the queries' tensor are no wider queries") {
    const auto packed = one_node("GroupQueryAttention", {{"qkv", {2, 16, (32 + 2 * 8) * 64}}},
                                 {{"num_heads", 32}, {"kv_num_heads", 8}}, kMicrosoft);
    CHECK(shape_of(packed) == AttentionShape{2, 32, 16, 16, 64, 8, true});
    const auto stacked = one_node("MultiHeadAttention", {{"qkv", {2, 16, 8, 3, 64}}},
                                  {{"num_heads", 8}, {"unidirectional", 1}}, kMicrosoft);
    CHECK(shape_of(stacked) == AttentionShape{2, 8, 16, 16, 64, 0, true});
    const auto crossed =
        one_node("MultiHeadAttention", {{"q", {2, 16, 512}}, {"kv", {2, 40, 8, 2, 64}}},
                 {{"num_heads", 8}}, kMicrosoft);
    CHECK(shape_of(crossed) == AttentionShape{2, 8, 16, 40, 64});
}

TEST_CASE("values have a size of their own") {
    const auto model = one_node(
        "Attention", {{"q", {1, 128, 64, 192}}, {"k", {1, 128, 64, 192}}, {"v", {1, 128, 64, 128}}},
        {});
    CHECK(shape_of(model) == AttentionShape{1, 128, 64, 64, 192, 0, false, 0, 128});
    CHECK(macs_of(model) == 128 * 64 * 64 * (192 + 128));
    const auto joined =
        one_node("Attention", {{"q", {2, 4, 24}}, {"k", {2, 6, 24}}, {"v", {2, 6, 30}}},
                 {{"q_num_heads", 3}, {"kv_num_heads", 3}});
    CHECK(macs_of(joined) == 2 * 3 * 4 * 6 * (8 + 10));
}

TEST_CASE("a causal query without a cache sees the first keys, one with a cache all before it") {
    const std::vector<Input> cross = {
        {"q", {1, 2, 4, 8}}, {"k", {1, 2, 6, 8}}, {"v", {1, 2, 6, 8}}};
    CHECK(macs_of(one_node("Attention", cross, {{"is_causal", 1}})) == 2 * 2 * 8 * (1 + 2 + 3 + 4));
    std::vector<Input> cached = cross;
    cached.insert(cached.end(), {{"", {}}, {"pk", {1, 2, 10, 8}}, {"pv", {1, 2, 10, 8}}});
    cached[1].dims = cached[2].dims = {1, 2, 4, 8};
    CHECK(macs_of(one_node("Attention", cached, {{"is_causal", 1}})) ==
          2 * 2 * 8 * (11 + 12 + 13 + 14));
}

TEST_CASE("a window limits the keys that a query sees") {
    const std::vector<Input> inputs = {
        {"q", {1, 8, 4096, 64}}, {"k", {1, 8, 4096, 64}}, {"v", {1, 8, 4096, 64}}};
    const auto left = one_node("Attention", inputs, {{"is_causal", 1}, {"left_window_size", 127}});
    CHECK(macs_of(left) == 2 * 8 * 64 * (128 * 129 / 2 + (4096 - 128) * 128));
    const auto both =
        one_node("Attention", inputs, {{"left_window_size", 100}, {"right_window_size", 27}});
    CHECK(shape_of(both) == AttentionShape{1, 8, 4096, 4096, 64, 0, false, 128});
    const auto grouped =
        one_node("GroupQueryAttention", {{"qkv", {1, 4096, 48 * 128}}},
                 {{"num_heads", 32}, {"kv_num_heads", 8}, {"local_window_size", 256}}, kMicrosoft);
    CHECK(macs_of(grouped) == Count{2} * 32 * 128 * (256 * 257 / 2 + (4096 - 256) * 256));
}

TEST_CASE("the first attention of com.microsoft projects its input, also without padding") {
    GraphMaker maker;
    maker.input("x", {2, 16, 64}).input("words", {20, 64}).input("places", {2, 16}, 6);
    maker.input("ends", {3}, 6);
    maker.constant("w", onnx_weights({64, 160})).constant("b", onnx_weights({160}));
    OnnxNode& whole = maker.node("Attention", {"x", "w", "b"}, {"y"});
    whole.domain = kMicrosoft;
    whole.attributes["num_heads"].i = 4;
    whole.attributes["unidirectional"].i = 1;
    whole.attributes["qkv_hidden_sizes"].ints = {64, 64, 32};
    const auto attributes = whole.attributes;
    OnnxNode& packed = maker.node("PackedAttention", {"words", "w", "b", "places", "ends"}, {"z"});
    packed.domain = kMicrosoft;
    packed.attributes = attributes;
    const auto model = converted(maker.output("y").output("z").graph);
    REQUIRE(model.network.layers.size() == 4);
    CHECK(totals_of(model.network)->parameters == 64 * 160 + 160);
    CHECK(std::get<AttentionShape>(model.network.layers[1].shape) ==
          AttentionShape{2, 4, 16, 16, 16, 0, true, 0, 8});
    // 20 words are at most two sequences of up to 16
    CHECK(std::get<model::GemmShape>(model.network.layers[2].shape).m == 20);
    CHECK(std::get<AttentionShape>(model.network.layers[3].shape).batch == 2);
}

TEST_CASE("heads that make no sense are refused") {
    for (const auto& [heads, shared] : {std::pair(0, 0), std::pair(5, 2), std::pair(7, 7)}) {
        GraphMaker maker;
        maker.input("x", {2, 16, 64}).constant("w", onnx_weights({64, 64}));
        maker.node("MatMul", {"x", "w"}, {"q"});
        OnnxNode& node = maker.node("GroupQueryAttention", {"q", "q", "q"}, {"y"});
        node.domain = kMicrosoft;
        node.attributes["num_heads"].i = heads;
        node.attributes["kv_num_heads"].i = shared;
        CHECK(converted(maker.output("y").graph).network.uncosted.size() == 1);
    }
}

TEST_CASE("experts are read in both orders of their weights, with and without a gate") {
    constexpr Count kTokens = 6, kWidth = 16, kInner = 24, kExperts = 4, kChosen = 2;
    const auto experts = [](const Ints& first, const Ints& second, bool gate, const char* op,
                            int element, std::int64_t bits) {
        const bool scales = std::string(op) == "QMoE";
        GraphMaker maker;
        maker.input("x", {kTokens, kWidth}).input("r", {kTokens, kExperts});
        maker.constant("a", onnx_weights(first, element)).constant("s", onnx_weights({4}));
        maker.constant("b", onnx_weights(second, element))
            .constant("c", onnx_weights(first, element));
        std::vector<std::string> names = {"x", "r"};
        for (const char* weights : {"a", "b", "c"}) {
            names.emplace_back(weights != std::string("c") || gate ? weights : "");
            names.insert(names.end(), scales ? 2 : 1, "");
            scales ? void(names[names.size() - 2] = "s") : void();
        }
        OnnxNode& node = maker.node(op, names, {"y"});
        node.domain = kMicrosoft;
        node.attributes["k"].i = kChosen;
        node.attributes["expert_weight_bits"].i = bits;
        return *totals_of(converted(maker.output("y").graph).network);
    };
    const Ints out_in = {kExperts, kInner, kWidth}, in_out = {kExperts, kWidth, kInner};
    const Count routed = kTokens * kChosen * kWidth * kInner;
    const Count weights = kExperts * kWidth * kInner;
    for (const auto& [first, second] : {std::pair(out_in, in_out), std::pair(in_out, out_in)}) {
        for (const bool gate : {false, true}) {
            const auto all = experts(first, second, gate, "MoE", kFloat, 8);
            CHECK(all.macs == (gate ? 3 : 2) * routed);
            CHECK(all.parameters == (gate ? 3 : 2) * weights);
        }
    }
    // as many outputs as inputs: the second product's weights tell
    CHECK(
        experts({kExperts, kWidth, kWidth}, {kExperts, kWidth / 2, kWidth}, false, "MoE", kFloat, 8)
            .macs == 3 * kTokens * kChosen * kWidth * kWidth / 2);
    const Ints beside = {kExperts, 2 * kInner, kWidth};
    CHECK(experts(beside, in_out, false, "MoE", kFloat, 8).macs == 3 * routed);
    const auto packed = experts({kExperts, kInner, kWidth / 2}, {kExperts, kWidth, kInner / 2},
                                true, "QMoE", kByte, 4);
    CHECK(packed.macs == 3 * routed);
    CHECK(packed.parameters == 3 * weights);
}

TEST_CASE("a state is read and written word by word, and corrected where the rule says so") {
    GraphMaker maker;
    maker.graph.opset = 27;
    maker.input("q", {2, 5, 8 * 16}).input("k", {2, 5, 4 * 16}).input("v", {2, 5, 4 * 12});
    OnnxNode& node = maker.node("LinearAttention", {"q", "k", "v"}, {"y", "state"});
    node.attributes["q_num_heads"].i = 8;
    node.attributes["kv_num_heads"].i = 4;
    const Count cell = 2 * 5 * 16 * 12;
    CHECK(macs_of(converted(maker.graph)) == cell * (8 + 4 + 4));
    maker.graph.nodes[0].attributes["update_rule"].s = "gated";
    CHECK(macs_of(converted(maker.graph)) == cell * (8 + 4));
}

TEST_CASE("a causal convolution keeps the last words, and its channels stand apart") {
    GraphMaker maker;
    maker.graph.opset = 27;
    maker.input("x", {2, 6, 10});
    maker.constant("w", onnx_weights({6, 1, 4})).constant("b", onnx_weights({6}));
    maker.node("CausalConvWithState", {"x", "w", "b"}, {"y", "state"});
    maker.node("SwiGLU", {"y", "y"}, {"z"});
    const auto model = converted(maker.output("z").graph);
    CHECK(macs_of(model) == 2 * 6 * 10 * 4);
    CHECK(totals_of(model.network)->parameters == 6 * 4 + 6);
    CHECK(model.network.uncosted.empty());
}

} // namespace test_formats_onnx_attention
