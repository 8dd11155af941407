// Sizes that depend on the data: counted at their upper bounds, and reported as such.
#include "formats/onnx/fold.hpp"
#include "tests/formats/onnx_graphs.hpp"

#include <algorithm>
#include <limits>

namespace test_formats_onnx_bounds {

using namespace eyeroof;
using namespace eyeroof::tests;

namespace {

// Of 500 boxes in 3 classes at most 100 a class are kept; a product on a row for each of them.
GraphMaker detector() {
    GraphMaker maker;
    maker.input("boxes", {1, 500, 4}).input("scores", {1, 3, 500}).input("features", {500, 64});
    maker.constant("most", onnx_constant(kWhole, {}, {100}))
        .constant("weights", onnx_weights({64, 10}))
        .constant("last", onnx_constant(kWhole, {}, {2}));
    maker.node("NonMaxSuppression", {"boxes", "scores", "most"}, {"kept"});
    maker.node("Gather", {"kept", "last"}, {"which"}).attributes["axis"].i = 1;
    maker.node("Gather", {"features", "which"}, {"rows"});
    maker.node("MatMul", {"rows", "weights"}, {"y"});
    maker.output("y");
    return maker;
}

bool warns(const Diagnostics& found, const std::string& code) {
    return std::any_of(found.begin(), found.end(),
                       [&](const Diagnostic& d) { return d.code == code; });
}

} // namespace

TEST_CASE("what suppression keeps is at most so many boxes a class, and the product is counted") {
    const auto model = formats::onnx::convert(detector().graph, "made.onnx");
    REQUIRE(model.ok());
    CHECK(macs_of(*model) == 300 * 64 * 10);
    CHECK(model->network.uncosted.empty());
    CHECK(warns(model.diagnostics(), "upper-bound"));
    CHECK(model->network.source.find("upper bounds") != std::string::npos);
}

TEST_CASE("the smallest of a bound and a number is a bound, and whether it is 0 is open") {
    GraphMaker maker = detector();
    maker.constant("few", whole_vector({40}))
        .constant("zero", whole_vector({0}))
        .constant("axis", whole_vector({0}));
    maker.node("Shape", {"which"}, {"number"});
    maker.node("Min", {"number", "few"}, {"fewer"});
    maker.node("Slice", {"y", "zero", "fewer", "axis"}, {"top"});
    maker.node("Equal", {"number", "zero"}, {"none"});
    maker.node("Less", {"number", "zero"}, {"negative"});
    maker.output("top");
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("number").values == std::vector<double>{300});
    CHECK(costed.values.at("fewer").bounds);
    CHECK(costed.values.at("top").dims == Ints{40, 10});
    CHECK(costed.values.at("top").at_most);
    CHECK_FALSE(costed.values.at("none").values.has_value());             // 0 to 300
    CHECK(costed.values.at("negative").values == std::vector<double>{0}); // no size is
}

TEST_CASE("a bound that takes elements away takes none") {
    GraphMaker maker = detector();
    maker.constant("end", whole_vector({500}))
        .constant("axis", whole_vector({0}))
        .constant("step", onnx_constant(kWhole, {}, {1}))
        .constant("limit", onnx_constant(kWhole, {}, {500}));
    maker.node("Shape", {"which"}, {"number"});
    maker.node("Slice", {"features", "number", "end", "axis"}, {"rest"}); // from 0 to 300 on
    maker.node("Squeeze", {"number", "axis"}, {"first"});
    maker.node("Range", {"first", "limit", "step"}, {"places"});
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("rest").dims == Ints{500, 64});
    CHECK(costed.values.at("rest").at_most);
    CHECK_FALSE(costed.values.at("places").known());
}

TEST_CASE("numbers that no size can be give no size, and nothing breaks") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(formats::onnx::whole_of(nan) == 0);
    CHECK(formats::onnx::whole_of(1e300) == std::numeric_limits<std::int64_t>::max());
    CHECK(formats::onnx::whole_of(-1e300) == std::numeric_limits<std::int64_t>::min());
    CHECK(formats::onnx::whole_of(-2.75) == -2);
    GraphMaker maker;
    maker.input("boxes", {1, 50, 4}).input("scores", {1, 3, 50});
    maker.constant("most", onnx_constant(kReal, {}, {nan}));
    maker.node("NonMaxSuppression", {"boxes", "scores", "most"}, {"kept"});
    CHECK(walked(maker.graph).values.at("kept").dims == Ints{150, 3}); // all
}

TEST_CASE("positions of what is not zero are at most as many as there are elements") {
    GraphMaker maker;
    maker.input("mask", {6, 7});
    maker.node("NonZero", {"mask"}, {"where"});
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("where").dims == Ints{2, 42});
    CHECK(costed.values.at("where").at_most);
}

TEST_CASE("two bounds of one size meet at the smaller") {
    GraphMaker maker;
    maker.input("a", {6}).input("b", {9}).input("row", {6, 4});
    maker.node("NonZero", {"a"}, {"i"}); // [1, at most 6]
    maker.node("NonZero", {"b"}, {"j"}); // [1, at most 9]
    maker.node("Add", {"i", "j"}, {"sum"});
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("sum").dims == Ints{1, 6});
}

TEST_CASE("regions, grids and offsets have their operators' sizes") {
    GraphMaker maker;
    maker.input("map", {1, 16, 20, 30})
        .input("regions", {50, 4})
        .input("image", {50}, kWhole)
        .input("grid", {1, 5, 6, 2})
        .input("offsets", {1, 18, 18, 28});
    maker.constant("w", onnx_weights({8, 16, 3, 3}));
    auto& align = maker.node("RoiAlign", {"map", "regions", "image"}, {"aligned"});
    align.attributes["output_height"].i = 7;
    align.attributes["output_width"].i = 5;
    maker.node("GridSample", {"map", "grid"}, {"sampled"});
    maker.node("DeformConv", {"map", "w", "offsets"}, {"deformed"});
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("aligned").dims == Ints{50, 16, 7, 5});
    CHECK(costed.values.at("sampled").dims == Ints{1, 16, 5, 6});
    CHECK(costed.values.at("deformed").dims == Ints{1, 8, 18, 28});
    maker.output("deformed");
    CHECK(macs_of(converted(maker.graph)) == 8 * 16 * 9 * 18 * 28);
}

TEST_CASE("an operator without a cost is listed with its first node, products apart from others") {
    GraphMaker maker;
    maker.input("x", {4, 8}).input("y", {3, 5});
    maker.constant("w", onnx_weights({8, 2}));
    maker.node("Relu", {"x"}, {"r"});
    maker.node("StringSplit", {"x"}, {"s"});
    auto& own = maker.node("FancyLayer", {"x"}, {"f"});
    own.domain = "my.ops";
    maker.node("MatMul", {"x", "y"}, {"bad"}); // 8 against 3
    const auto model = formats::onnx::convert(maker.graph, "made.onnx");
    REQUIRE(model.ok());
    const auto& uncosted = model->network.uncosted;
    REQUIRE(uncosted.size() == 3);
    CHECK(uncosted_products(model->network) == 2);
    CHECK(uncosted_share(model->network) == 3.0 / 4.0);
    CHECK(uncosted[0] ==
          model::Uncosted{"my.ops.FancyLayer", "FancyLayer_f", "it has no cost here", 1, true});
    CHECK(uncosted[1].op == "MatMul");
    CHECK(uncosted[1].may_multiply);
    CHECK(uncosted[2].op == "StringSplit");
    CHECK_FALSE(uncosted[2].may_multiply);
    CHECK(warns(model.diagnostics(), "not-costed"));
}

TEST_CASE("flattening at an axis from the end counts from behind") {
    const auto flat = [](std::int64_t axis) {
        GraphMaker maker;
        maker.input("x", {2, 3, 4});
        maker.node("Flatten", {"x"}, {"y"}).attributes["axis"].i = axis;
        maker.output("y");
        return walked(maker.graph).values.at("y").dims;
    };
    CHECK(flat(1) == Ints{2, 12});
    CHECK(flat(-1) == Ints{6, 4});
    CHECK(flat(-2) == Ints{2, 12});
}

} // namespace test_formats_onnx_bounds
