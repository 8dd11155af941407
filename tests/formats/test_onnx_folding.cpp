// Values that a graph computes from its sizes: each operator by hand, as constant folding in ONNX
// Runtime gives them.
#include "formats/onnx/fold.hpp"
#include "tests/formats/onnx_graphs.hpp"

#include <cmath>
#include <map>

namespace test_formats_onnx_folding {

using namespace eyeroof;
using namespace eyeroof::tests;
using formats::onnx::Attribute;
using formats::onnx::Constant;
using formats::onnx::OnnxNode;

namespace {

using Numbers = std::vector<double>;

struct Folded {
    std::string op;
    std::vector<Constant> operands;
    std::map<std::string, Attribute> attributes;
    Ints dims;
    Numbers values;
};

Attribute number(std::int64_t i) {
    Attribute a;
    a.i = i;
    return a;
}

Attribute numbers(Ints ints) {
    Attribute a;
    a.ints = std::move(ints);
    return a;
}

Attribute word(std::string s) {
    Attribute a;
    a.s = std::move(s);
    return a;
}

Constant whole(Ints dims, Numbers values) {
    return onnx_constant(kWhole, std::move(dims), std::move(values));
}

Constant real(Ints dims, Numbers values) {
    return onnx_constant(kReal, std::move(dims), std::move(values));
}

void hold(const std::vector<Folded>& all) {
    for (const Folded& f : all) {
        CAPTURE(f.op);
        GraphMaker maker;
        std::vector<std::string> names;
        for (std::size_t i = 0; i < f.operands.size(); ++i) {
            names.push_back("operand" + std::to_string(i));
            maker.constant(names.back(), f.operands[i]);
        }
        maker.node(f.op, names, {"y"}).attributes = f.attributes;
        const auto costed = walked(maker.graph);
        const formats::onnx::Value& y = costed.values.at("y");
        CHECK(y.dims == f.dims);
        REQUIRE(y.values.has_value());
        CHECK(*y.values == f.values);
        CHECK(costed.layers.front().empty()); // known before the network runs
    }
}

} // namespace

TEST_CASE("functions of one element and of two follow broadcasting") {
    hold({{"Reciprocal", {real({2}, {4, 0.5})}, {}, {2}, {0.25, 2}},
          {"Neg", {whole({2}, {3, -4})}, {}, {2}, {-3, 4}},
          {"Ceil", {real({2}, {1.25, -1.25})}, {}, {2}, {2, -1}},
          {"Floor", {real({2}, {1.25, -1.25})}, {}, {2}, {1, -2}},
          {"Round", {real({3}, {0.5, 1.5, 2.25})}, {}, {3}, {0, 2, 2}}, // halves to even
          {"Sqrt", {real({1}, {9})}, {}, {1}, {3}},
          {"Not", {onnx_constant(kTruth, {2}, {1, 0})}, {}, {2}, {0, 1}},
          {"Add",
           {whole({2, 1}, {1, 2}), whole({3}, {10, 20, 30})},
           {},
           {2, 3},
           {11, 21, 31, 12, 22, 32}},
          {"Div", {whole({2}, {7, -7}), whole({}, {2})}, {}, {2}, {3, -3}},
          {"Div", {real({1}, {7}), real({}, {2})}, {}, {1}, {3.5}},
          {"Mod", {whole({2}, {-7, 7}), whole({}, {3})}, {}, {2}, {2, 1}},
          {"Mod", {whole({1}, {-7}), whole({}, {3})}, {{"fmod", number(1)}}, {1}, {-1}},
          {"Max", {whole({2}, {1, 9}), whole({}, {4}), whole({1}, {6})}, {}, {2}, {6, 9}},
          {"LessOrEqual", {whole({2}, {1, 9}), whole({}, {4})}, {}, {2}, {1, 0}},
          {"Where",
           {onnx_constant(kTruth, {2, 1}, {1, 0}), whole({2}, {1, 2}), whole({}, {7})},
           {},
           {2, 2},
           {1, 2, 7, 7}},
          {"Clip", {whole({3}, {-5, 2, 9}), whole({}, {0}), whole({}, {4})}, {}, {3}, {0, 2, 4}},
          {"Cast", {real({2}, {2.75, -2.75})}, {{"to", number(kWhole)}}, {2}, {2, -2}}});
}

TEST_CASE("reductions follow their axes, kept or not") {
    const Constant table = whole({2, 3}, {1, 5, 3, 4, 2, 6});
    hold({{"ReduceMin", {table}, {{"axes", numbers({1})}}, {2, 1}, {1, 2}},
          {"ReduceMax", {table}, {{"axes", numbers({0})}, {"keepdims", number(0)}}, {3}, {4, 5, 6}},
          {"ReduceProd", {table}, {{"keepdims", number(0)}}, {}, {720}},
          {"ReduceSum", {table, whole({1}, {-1})}, {}, {2, 1}, {9, 12}},
          {"ReduceMean", {real({2}, {1, 4})}, {}, {1}, {2.5}},
          // ln(e^0) = 0 along each row of one
          {"ReduceLogSumExp", {real({2, 1}, {0, 0})}, {{"axes", numbers({1})}}, {2, 1}, {0, 0}},
          {"ReduceProd", {whole({0}, {})}, {{"keepdims", number(0)}}, {}, {1}}, // of nothing
          {"ReduceSum", {table}, {{"noop_with_empty_axes", number(1)}}, {2, 3}, {1, 5, 3, 4, 2, 6}},
          {"ArgMax", {table}, {{"axis", number(1)}, {"keepdims", number(0)}}, {2}, {1, 2}},
          {"CumSum", {whole({3}, {1, 2, 3}), whole({}, {0})}, {}, {3}, {1, 3, 6}},
          {"CumSum",
           {whole({3}, {1, 2, 3}), whole({}, {0})},
           {{"exclusive", number(1)}, {"reverse", number(1)}},
           {3},
           {5, 3, 0}}});
}

TEST_CASE("operators that select, repeat and scatter keep values") {
    const Constant table = whole({2, 3}, {1, 2, 3, 4, 5, 6});
    hold({{"Gather", {table, whole({2}, {2, -3})}, {{"axis", number(1)}}, {2, 2}, {3, 1, 6, 4}},
          {"GatherElements", {table, whole({2, 1}, {2, 0})}, {{"axis", number(1)}}, {2, 1}, {3, 4}},
          {"GatherND", {table, whole({2, 2}, {0, 1, 1, 2})}, {}, {2}, {2, 6}},
          {"Expand", {whole({2, 1}, {1, 2}), whole({2}, {1, 3})}, {}, {2, 3}, {1, 1, 1, 2, 2, 2}},
          {"Tile", {whole({2}, {1, 2}), whole({1}, {2})}, {}, {4}, {1, 2, 1, 2}},
          {"Concat",
           {table, whole({2, 1}, {7, 8})},
           {{"axis", number(1)}},
           {2, 4},
           {1, 2, 3, 7, 4, 5, 6, 8}},
          {"Pad",
           {whole({2}, {1, 2}), whole({2}, {1, 2}), whole({}, {9})},
           {},
           {5},
           {9, 1, 2, 9, 9}},
          {"ScatterElements",
           {whole({3}, {0, 0, 0}), whole({2}, {2, 0}), whole({2}, {5, 6})},
           {},
           {3},
           {6, 0, 5}},
          {"ScatterND",
           {table, whole({1, 1}, {1}), whole({1, 3}, {7, 8, 9})},
           {},
           {2, 3},
           {1, 2, 3, 7, 8, 9}},
          {"Trilu", {table}, {{"upper", number(0)}}, {2, 3}, {1, 0, 0, 4, 5, 0}},
          {"OneHot",
           {whole({2}, {1, 0}), whole({}, {2}), whole({2}, {0, 9})},
           {},
           {2, 2},
           {0, 9, 9, 0}},
          {"NonZero", {table}, {}, {2, 6}, {0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}},
          {"NonZero", {whole({4}, {0, 3, 0, 1})}, {}, {1, 2}, {1, 3}}});
    hold({{"Pad",
           {whole({2}, {1, 2}), whole({2}, {0, 1})},
           {{"mode", word("constant")}},
           {3},
           {1, 2, 0}}});
}

TEST_CASE("a split's pieces keep their values") {
    GraphMaker maker;
    maker.constant("x", whole({2, 3}, {1, 2, 3, 4, 5, 6})).constant("sizes", whole_vector({1, 2}));
    maker.node("Split", {"x", "sizes"}, {"a", "b"}).attributes["axis"].i = 1;
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("a").values == Numbers{1, 4});
    CHECK(costed.values.at("b").values == Numbers{2, 3, 5, 6});
}

TEST_CASE("real numbers are rounded to float32 after each operator") {
    // 800/224 in float32 times 224 is 800 exactly; in float64 it is 799.9999999999999
    GraphMaker maker;
    maker.constant("side", real({}, {224})).constant("wanted", real({}, {800}));
    maker.node("Div", {"wanted", "side"}, {"scale"});
    maker.node("Mul", {"scale", "side"}, {"size"});
    maker.node("Floor", {"size"}, {"whole"});
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("scale").values == Numbers{static_cast<double>(800.0F / 224.0F)});
    CHECK(costed.values.at("whole").values == Numbers{800});
}

TEST_CASE("a detector's transform is followed: an image is scaled to at least 800 pixels") {
    // As torchvision exports it: min and max of the sizes, 800 / min or 1333 / max, the smaller.
    GraphMaker maker;
    maker.input("image", {3, 320, 480});
    maker.constant("last", whole_vector({-2}))
        .constant("end", whole_vector({9223372036854775807.0}))
        .constant("axis", whole_vector({0}))
        .constant("least", real({}, {800}))
        .constant("most", real({}, {1333}))
        .constant("one", real({1}, {1}));
    maker.node("Shape", {"image"}, {"sizes"});
    maker.node("Slice", {"sizes", "last", "end", "axis"}, {"hw"});
    maker.node("ReduceMin", {"hw"}, {"small"}).attributes["keepdims"].i = 0;
    maker.node("ReduceMax", {"hw"}, {"large"}).attributes["keepdims"].i = 0;
    maker.node("Cast", {"small"}, {"small_real"}).attributes["to"].i = kReal;
    maker.node("Cast", {"large"}, {"large_real"}).attributes["to"].i = kReal;
    maker.node("Reciprocal", {"small_real"}, {"by_small"});
    maker.node("Mul", {"by_small", "least"}, {"up"});
    maker.node("Div", {"most", "large_real"}, {"limit"});
    maker.node("Min", {"up", "limit"}, {"scale"});
    maker.node("Unsqueeze", {"scale", "axis"}, {"scale1"});
    maker.node("Concat", {"one", "scale1", "scale1"}, {"scales"}).attributes["axis"].i = 0;
    maker.node("Resize", {"image", "", "scales"}, {"scaled"});
    maker.output("scaled");
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("scale").values == Numbers{2.5}); // 1333/480 is larger
    CHECK(costed.values.at("scaled").dims == Ints{3, 800, 1200});
    CHECK(converted(maker.graph).network.uncosted.empty());
}

TEST_CASE("division of whole numbers by zero gives no value, and nothing breaks") {
    GraphMaker maker;
    maker.constant("a", whole_vector({4})).constant("zero", whole_vector({0}));
    maker.node("Div", {"a", "zero"}, {"y"});
    const auto costed = walked(maker.graph);
    CHECK_FALSE(costed.values.at("y").values.has_value());
}

TEST_CASE("a cast to the type that a tensor has is no operator, one to another type is") {
    const auto operators = [](int to) {
        GraphMaker maker;
        maker.input("x", {16, 64}).constant("weights", onnx_weights({64, 8}));
        maker.node("MatMul", {"x", "weights"}, {"product"});
        maker.node("Cast", {"product"}, {"same"}).attributes["to"].i = to;
        maker.node("Relu", {"same"}, {"y"});
        maker.output("y");
        const auto made = formats::onnx::convert(maker.graph, "made.onnx");
        REQUIRE(made.ok());
        CHECK(made->network.uncosted.empty());
        std::vector<std::string> names;
        for (const auto& step : made->edges->steps) {
            if (step.kind == model::GraphStepKind::run) {
                const auto& shape = made->network.layers[step.layer].shape;
                const auto* e = std::get_if<model::ElementwiseShape>(&shape);
                names.push_back(e == nullptr ? "product" : e->fn);
            }
        }
        return names;
    };
    constexpr int kHalf = 10;
    CHECK(operators(kReal) == std::vector<std::string>{"product", "relu"});
    CHECK(operators(kHalf) == std::vector<std::string>{"product", "cast", "relu"});
}

} // namespace test_formats_onnx_folding
