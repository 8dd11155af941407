// What of a graph's constants is learned: the same number however long the sequences are that it
// was exported for.
#include "tests/formats/onnx_graphs.hpp"

namespace test_formats_onnx_parameters {

using namespace eyeroof;
using namespace eyeroof::tests;
using formats::onnx::OnnxNode;

namespace {

// Causal attention of one head over n words, with a mask that is made of a stored square, another
// that is the sum of two stored ones, and positions that turn the queries.
Count parameters_at(std::int64_t n) {
    GraphMaker maker;
    maker.input("x", {2, n, 16});
    maker.constant("square", onnx_weights({n, n})).constant("table", onnx_weights({1, n, 16}));
    maker.constant("zero", onnx_constant(kReal, {}, {0})).constant("w", onnx_weights({16, 16}));
    maker.constant("scale", onnx_weights({16}));
    maker.node("MatMul", {"x", "w"}, {"q"});
    maker.node("Mul", {"q", "table"}, {"turned"});
    maker.node("Mul", {"turned", "scale"}, {"scaled"});
    maker.node("Transpose", {"x"}, {"k"}).attributes["perm"].ints = {0, 2, 1};
    maker.node("MatMul", {"scaled", "k"}, {"scores"});
    maker.node("Trilu", {"square"}, {"half"});
    maker.node("Equal", {"half", "zero"}, {"seen"});
    maker.node("Where", {"seen", "zero", "square"}, {"mask"});
    maker.constant("far", onnx_weights({n, n})).constant("near", onnx_weights({n, n}));
    maker.node("Add", {"far", "near"}, {"both"});
    maker.node("Add", {"scores", "mask"}, {"once"});
    maker.node("Add", {"once", "both"}, {"twice"});
    maker.node("Softmax", {"twice"}, {"shares"});
    maker.node("MatMul", {"shares", "x"}, {"y"});
    return totals_of(converted(maker.output("y").graph).network)->parameters;
}

} // namespace

TEST_CASE("masks and tables of positions are not learned, vectors are") {
    CHECK(parameters_at(8) == 16 * 16 + 16);
    CHECK(parameters_at(64) == 16 * 16 + 16);
}

TEST_CASE("angles of positions and tables that are looked up by them are not learned") {
    GraphMaker maker;
    maker.input("x", {1, 7, 16}).input("ids", {7}, kWhole).input("places", {1, 7, 1});
    maker.constant("cosines", onnx_weights({64, 16})).constant("words", onnx_weights({9, 16}));
    maker.constant("rates", onnx_weights({1, 1, 16})).constant("two", onnx_weights({}));
    maker.node("Gather", {"words", "ids"}, {"e"});
    maker.node("Mul", {"e", "two"}, {"scaled"}); // an embedding that is scaled is learned
    maker.node("Gather", {"cosines", "ids"}, {"c"});
    maker.node("Mul", {"x", "c"}, {"turned"});
    maker.node("MatMul", {"places", "rates"}, {"angles"});
    maker.node("Sin", {"angles"}, {"s"});
    maker.node("Mul", {"turned", "s"}, {"t"});
    maker.node("Add", {"t", "scaled"}, {"y"});
    CHECK(totals_of(converted(maker.output("y").graph).network)->parameters == 9 * 16);
}

TEST_CASE("a weight by its norm counts what is stored") {
    GraphMaker maker;
    maker.input("x", {2, 3, 8, 8});
    maker.constant("v", onnx_weights({4, 3, 3, 3})).constant("g", onnx_weights({4, 1, 1, 1}));
    maker.constant("n", onnx_constant(kReal, {}, {2}));
    maker.node("Div", {"v", "n"}, {"even"});
    maker.node("Mul", {"even", "g"}, {"w"});
    maker.node("Conv", {"x", "w"}, {"y"});
    CHECK(totals_of(converted(maker.output("y").graph).network)->parameters == 4 * 27 + 4);
}

TEST_CASE("pieces of one stored tensor count it once") {
    GraphMaker maker;
    maker.input("x", {5, 8});
    maker.constant("w", onnx_weights({8, 24})).constant("sizes", whole_vector({8, 16}));
    maker.node("Split", {"w", "sizes"}, {"a", "b"}).attributes["axis"].i = 1;
    maker.node("MatMul", {"x", "a"}, {"y"});
    maker.node("MatMul", {"x", "b"}, {"z"});
    CHECK(totals_of(converted(maker.output("y").output("z").graph).network)->parameters == 8 * 24);
}

TEST_CASE("bounds of a clipped activation are not learned") {
    GraphMaker maker;
    maker.input("x", {5, 8});
    maker.constant("low", onnx_constant(kReal, {}, {0}))
        .constant("high", onnx_constant(kReal, {}, {6}));
    maker.node("Clip", {"x", "low", "high"}, {"y"});
    CHECK(totals_of(converted(maker.output("y").graph).network)->parameters == 0);
}

TEST_CASE("scales and sizes of a resized image may be those of some axes") {
    const auto resized = [](const formats::onnx::Constant& sizes, std::size_t place) {
        GraphMaker maker;
        maker.graph.opset = 19;
        maker.input("x", {1, 3, 10, 10});
        maker.constant("s", sizes).constant("w", onnx_weights({8, 3, 1, 1}));
        std::vector<std::string> inputs(place, "");
        inputs.front() = "x";
        inputs.emplace_back("s");
        maker.node("Resize", inputs, {"r"}).attributes["axes"].ints = {2, -1};
        maker.node("Conv", {"r", "w"}, {"y"});
        return macs_of(converted(maker.output("y").graph));
    };
    CHECK(resized(onnx_constant(kReal, {2}, {2, 3}), 2) == 20 * 30 * 24);
    CHECK(resized(whole_vector({20, 30}), 3) == 20 * 30 * 24);
}

TEST_CASE("a part of an image is scaled by its share of each axis") {
    GraphMaker maker;
    maker.graph.opset = 19;
    maker.input("x", {1, 3, 10, 12});
    maker.constant("part", onnx_constant(kReal, {8}, {0, 0, 0.5, 0.25, 1, 1, 1, 0.75}))
        .constant("s", onnx_constant(kReal, {4}, {1, 1, 4, 2}))
        .constant("w", onnx_weights({8, 3, 1, 1}));
    maker.node("Resize", {"x", "part", "s"}, {"r"}).attributes["coordinate_transformation_mode"].s =
        "tf_crop_and_resize";
    maker.node("Conv", {"r", "w"}, {"y"});
    CHECK(macs_of(converted(maker.output("y").graph)) == 20 * 12 * 24);
}

TEST_CASE("peepholes of a recurrent layer are learned, too") {
    GraphMaker maker;
    maker.input("x", {5, 2, 24});
    maker.constant("w", onnx_weights({1, 160, 24}))
        .constant("r", onnx_weights({1, 160, 40}))
        .constant("p", onnx_weights({1, 120}));
    maker.node("LSTM", {"x", "w", "r", "", "", "", "", "p"}, {"y"});
    CHECK(totals_of(converted(maker.output("y").graph).network)->parameters ==
          160 * (24 + 40) + 120);
}

TEST_CASE("images in blocks of channels and with channels last are convolved as they are stored") {
    GraphMaker maker;
    maker.input("x", {1, 20, 8, 8}).input("z", {1, 8, 8, 20});
    maker.constant("blocked", onnx_weights({32, 24, 3, 3}))
        .constant("w", onnx_weights({32, 20, 3, 3}));
    maker.node("ReorderInput", {"x"}, {"a"}).domain = "com.microsoft.nchwc";
    OnnxNode& first = maker.node("Conv", {"a", "blocked"}, {"b"});
    first.domain = "com.microsoft.nchwc";
    first.attributes["pads"].ints = {1, 1, 1, 1};
    OnnxNode& out = maker.node("ReorderOutput", {"b"}, {"y"});
    out.domain = "com.microsoft.nchwc";
    out.attributes["channels"].i = 30;
    OnnxNode& last = maker.node("NhwcConv", {"z", "w"}, {"u"});
    last.domain = "com.microsoft";
    last.attributes["pads"].ints = {1, 1, 1, 1};
    maker.output("y").output("u");
    CHECK(macs_of(converted(maker.graph)) == 64 * 9 * 32 * (24 + 20));
    const auto values = walked(maker.graph).values;
    CHECK(values.at("y").dims == Ints{1, 30, 8, 8});
    CHECK(values.at("u").dims == Ints{1, 8, 8, 32});
}

} // namespace test_formats_onnx_parameters
