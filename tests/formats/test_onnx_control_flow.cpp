// Loop, Scan and If: bodies are counted as often as they run.
#include "tests/formats/onnx_graphs.hpp"

#include <algorithm>

namespace test_formats_onnx_control_flow {

using namespace eyeroof;
using namespace eyeroof::tests;
using formats::onnx::Constant;
using formats::onnx::OnnxNode;

namespace {

Constant one(double value, int element = kWhole) {
    return onnx_constant(element, {}, {value});
}

// x = x W, where W [n, n] stands around the loop. Goes on as long as `condition` says.
GraphMaker product_body(const std::string& condition) {
    GraphMaker body;
    body.input("i", {}, kWhole).input("go", {}, kTruth).input("h", {3, 16});
    body.node("MatMul", {"h", "W"}, {"next"});
    if (condition == "always") {
        body.constant("yes", one(1, kTruth)).output("yes");
    } else if (condition == "counted") { // i + 1 < 5
        body.constant("step", one(1)).constant("end", one(5));
        body.node("Add", {"i", "step"}, {"after"});
        body.node("Less", {"after", "end"}, {"more"});
        body.output("more");
    } else { // by the data
        body.constant("limit", one(0.5, kReal));
        body.node("ReduceSum", {"next"}, {"sum"}).attributes["keepdims"].i = 0;
        body.node("Greater", {"sum", "limit"}, {"more"});
        body.output("more");
    }
    return body.output("next");
}

GraphMaker looping(const std::string& trips, const GraphMaker& body) {
    GraphMaker maker;
    maker.input("x", {3, 16});
    maker.constant("W", onnx_weights({16, 16}))
        .constant("seven", one(7))
        .constant("endless", one(9223372036854775807.0))
        .constant("yes", one(1, kTruth));
    maker.node("Loop", {trips, "yes", "x"}, {"y"}).attributes["body"].graph = body.shared();
    return maker.output("y");
}

constexpr Count kProduct = 3 * 16 * 16;

} // namespace

TEST_CASE("a loop of known length counts its body so often, and its weights once") {
    const auto model = converted(looping("seven", product_body("always")).graph);
    CHECK(macs_of(model) == 7 * kProduct);
    CHECK(totals_of(model.network)->parameters == 16 * 16);
    CHECK(model.network.uncosted.empty());
}

// x = x W, with W among the states that the loop hands on, or changed on the way.
GraphMaker carrying(const std::string& way) {
    GraphMaker body;
    body.input("i", {}, kWhole).input("go", {}, kTruth).input("h", {3, 16}).input("V", {16, 16});
    body.constant("yes", one(1, kTruth));
    body.node("Transpose", {"V"}, {"turned"});
    body.node("MatMul", {"h", "turned"}, {"next"});
    body.node(way, {"V"}, {"V2"});
    body.output("yes").output("next").output("V2");
    GraphMaker maker;
    maker.input("x", {3, 16});
    maker.constant("W", onnx_weights({16, 16}))
        .constant("seven", one(7))
        .constant("yes", one(1, kTruth));
    maker.node("Loop", {"seven", "yes", "x", "W"}, {"y", "V3"}).attributes["body"].graph =
        body.shared();
    maker.node("MatMul", {"y", "V3"}, {"z"});
    return maker.output("z");
}

TEST_CASE("a weight that a loop hands on is learned, and counts once, also behind the loop") {
    const auto model = converted(carrying("Identity").graph);
    CHECK(macs_of(model) == 8 * kProduct);
    CHECK(totals_of(model.network)->parameters == 16 * 16);
    const auto changing = converted(carrying("Tanh").graph); // a state that begins with a constant
    CHECK(macs_of(changing) == 8 * kProduct);
    CHECK(totals_of(changing.network)->parameters == 0);
}

TEST_CASE("weights that a scan takes apart are learned, each slice once") {
    GraphMaker body;
    body.input("h", {3, 16}).input("V", {16, 16});
    body.node("MatMul", {"h", "V"}, {"next"});
    body.output("next");
    GraphMaker maker;
    maker.input("x", {3, 16});
    maker.constant("W", onnx_weights({5, 16, 16}));
    OnnxNode& scan = maker.node("Scan", {"x", "W"}, {"y"});
    scan.attributes["body"].graph = body.shared();
    scan.attributes["num_scan_inputs"].i = 1;
    const auto model = converted(maker.output("y").graph);
    CHECK(macs_of(model) == 5 * kProduct);
    CHECK(totals_of(model.network)->parameters == 5 * 16 * 16);
}

TEST_CASE("weights that a branch chooses are learned, those of either") {
    const auto branch = [](const std::string& name) {
        GraphMaker body;
        body.node("Identity", {name}, {"chosen"});
        body.output("chosen");
        return body.shared();
    };
    GraphMaker maker;
    maker.input("x", {3, 16}).input("c", {}, kTruth);
    maker.constant("A", onnx_weights({16, 16})).constant("B", onnx_weights({16, 16}));
    OnnxNode& either = maker.node("If", {"c"}, {"W"});
    either.attributes["then_branch"].graph = branch("A");
    either.attributes["else_branch"].graph = branch("B");
    maker.node("MatMul", {"x", "W"}, {"y"});
    const auto model = converted(maker.output("y").graph);
    CHECK(macs_of(model) == kProduct);
    CHECK(totals_of(model.network)->parameters == 2 * 16 * 16);
}

TEST_CASE("a loop that counts for itself ends where its condition does") {
    const auto model = converted(looping("endless", product_body("counted")).graph);
    CHECK(macs_of(model) == 5 * kProduct);
}

TEST_CASE("a loop that may end early is counted at its limit, and says so") {
    const auto model =
        formats::onnx::convert(looping("seven", product_body("data")).graph, "made.onnx");
    REQUIRE(model.ok());
    CHECK(macs_of(*model) == 7 * kProduct);
    CHECK(model.diagnostics().items().front().code == "upper-bound");
}

TEST_CASE("a loop without a limit whose end the data decides is not costed, and may multiply") {
    GraphMaker maker = looping("endless", product_body("data"));
    maker.node("Relu", {"y"}, {"z"});
    maker.node("Relu", {"x"}, {"r"});
    const auto model = formats::onnx::convert(maker.graph, "made.onnx");
    REQUIRE(model.ok());
    CHECK(uncosted_products(model->network) == 1);
    const auto loop = std::find_if(model->network.uncosted.begin(), model->network.uncosted.end(),
                                   [](const model::Uncosted& u) { return u.op == "Loop"; });
    REQUIRE(loop != model->network.uncosted.end());
    CHECK(loop->why == "its number of iterations depends on the data");
    CHECK(loop->name == "Loop_y");
}

TEST_CASE("sizes that grow from one iteration to the next are followed") {
    // A cache of k rows grows by one a step: products of 16 with 1, 2, 3 and 4 rows.
    GraphMaker body;
    body.input("i", {}, kWhole).input("go", {}, kTruth).input("cache", {0, 16});
    body.constant("yes", one(1, kTruth));
    body.node("Concat", {"cache", "row"}, {"grown"}).attributes["axis"].i = 0;
    body.node("Transpose", {"grown"}, {"turned"});
    body.node("MatMul", {"row", "turned"}, {"scores"});
    body.output("yes").output("grown");
    GraphMaker maker;
    maker.input("row", {1, 16});
    maker.constant("four", one(4)).constant("start", onnx_weights({0, 16}));
    maker.node("Loop", {"four", "", "start"}, {"y"}).attributes["body"].graph = body.shared();
    maker.output("y");
    const auto model = converted(maker.graph);
    CHECK(macs_of(model) == 16 * (1 + 2 + 3 + 4));
    CHECK(walked(maker.graph).values.at("y").dims == Ints{4, 16});
}

TEST_CASE("a scan runs its body for each slice and stacks what it gives") {
    GraphMaker body;
    body.input("state", {1, 8}).input("slice", {1, 8});
    body.node("Add", {"state", "slice"}, {"sum"});
    body.node("MatMul", {"sum", "U"}, {"next"});
    body.output("next").output("sum");
    GraphMaker maker;
    maker.input("h", {1, 8}).input("xs", {20, 1, 8});
    maker.constant("U", onnx_weights({8, 8}));
    OnnxNode& scan = maker.node("Scan", {"h", "xs"}, {"last", "all"});
    scan.attributes["body"].graph = body.shared();
    scan.attributes["num_scan_inputs"].i = 1;
    maker.output("all");
    CHECK(macs_of(converted(maker.graph)) == 20 * 8 * 8);
    CHECK(walked(maker.graph).values.at("all").dims == Ints{20, 1, 8});
}

namespace {

// A product with 16 or with 4 columns.
GraphMaker branching() {
    GraphMaker wide;
    wide.constant("weights", onnx_weights({16, 16}));
    wide.node("MatMul", {"x", "weights"}, {"out"});
    wide.output("out");
    GraphMaker narrow;
    narrow.constant("weights", onnx_weights({16, 4}));
    narrow.node("MatMul", {"x", "weights"}, {"out"});
    narrow.output("out");
    GraphMaker maker;
    maker.input("x", {3, 16}).input("flag", {}, kTruth);
    maker.constant("sixteen", one(16)).constant("last", one(1));
    maker.node("Shape", {"x"}, {"sizes"});
    maker.node("Gather", {"sizes", "last"}, {"cols"});
    maker.node("Equal", {"cols", "sixteen"}, {"matches"});
    maker.node("Not", {"matches"}, {"differs"});
    OnnxNode& node = maker.node("If", {"matches"}, {"y"});
    node.attributes["then_branch"].graph = wide.shared();
    node.attributes["else_branch"].graph = narrow.shared();
    return maker.output("y");
}

GraphMaker branching_by(const std::string& condition) {
    GraphMaker maker = branching();
    maker.graph.nodes.back().inputs = {condition};
    return maker;
}

} // namespace

TEST_CASE("a branch whose condition follows from the sizes stands in the place of the If") {
    CHECK(macs_of(converted(branching_by("matches").graph)) == 3 * 16 * 16);
    const auto narrow = converted(branching_by("differs").graph);
    CHECK(macs_of(narrow) == 3 * 16 * 4);
    CHECK(totals_of(narrow.network)->parameters == 16 * 4);
}

TEST_CASE("of two branches that the data decides between the costlier is counted") {
    const auto model = formats::onnx::convert(branching_by("flag").graph, "made.onnx");
    REQUIRE(model.ok());
    CHECK(macs_of(*model) == 3 * 16 * 16);
    CHECK(totals_of(model->network)->parameters == 16 * 16);
    CHECK(walked(branching_by("flag").graph).values.at("y").dims == Ints{3, 16});
    CHECK(model.diagnostics().items().front().code == "upper-bound");
}

TEST_CASE("a loop within a branch within a loop is followed") {
    GraphMaker branch;
    GraphMaker inner = product_body("always");
    branch.constant("two", one(2)).constant("yes", one(1, kTruth));
    branch.node("Loop", {"two", "yes", "h"}, {"looped"}).attributes["body"].graph = inner.shared();
    branch.output("looped");
    GraphMaker other;
    other.node("Identity", {"h"}, {"same"});
    other.output("same");
    GraphMaker body;
    body.input("i", {}, kWhole).input("go", {}, kTruth).input("h", {3, 16});
    body.constant("yes", one(1, kTruth)).constant("three", one(3));
    body.node("Less", {"i", "three"}, {"early"}); // in three of seven iterations
    OnnxNode& node = body.node("If", {"early"}, {"next"});
    node.attributes["then_branch"].graph = branch.shared();
    node.attributes["else_branch"].graph = other.shared();
    body.output("yes").output("next");
    const auto model = formats::onnx::convert(looping("seven", body).graph, "made.onnx");
    REQUIRE(model.ok());
    CHECK(macs_of(*model) == 3 * 2 * kProduct); // the number of the iteration decides
    CHECK(model.diagnostics().items().empty());
    // Of many iterations one walk stands for all: the branch is counted in each, which is reported.
    GraphMaker longer = looping("many", body);
    longer.constant("many", one(1000));
    const auto most = formats::onnx::convert(longer.graph, "made.onnx");
    REQUIRE(most.ok());
    CHECK(macs_of(*most) == 1000 * 2 * kProduct);
    CHECK(most.diagnostics().items().front().code == "upper-bound");
}

TEST_CASE("a body that is run for each element of a list counts each by its size") {
    GraphMaker body;
    body.input("part", {4, 8});
    body.node("MatMul", {"part", "w"}, {"made"});
    GraphMaker maker;
    maker.input("x", {10, 8});
    maker.constant("w", onnx_weights({8, 5})).constant("each", one(4));
    maker.node("SplitToSequence", {"x", "each"}, {"parts"}); // of 4, 4, and 2 rows
    maker.node("SequenceMap", {"parts"}, {"made"}).attributes["body"].graph =
        body.output("made").shared();
    maker.node("ConcatFromSequence", {"made"}, {"y"}).attributes["axis"].i = 0;
    maker.output("y");
    const auto model = converted(maker.graph);
    CHECK(macs_of(model) == 10 * 8 * 5);
    CHECK(totals_of(model.network)->parameters == 8 * 5);
    CHECK(walked(maker.graph).values.at("y").dims == Ints{10, 5});
}

TEST_CASE("lists of tensors are followed through loops") {
    GraphMaker maker;
    maker.input("x", {12, 8});
    maker.constant("w", onnx_weights({8, 5})).constant("each", one(4)).constant("second", one(1));
    maker.node("SplitToSequence", {"x", "each"}, {"parts"});
    maker.node("SequenceAt", {"parts", "second"}, {"part"});
    maker.node("MatMul", {"part", "w"}, {"y"});
    maker.node("SequenceInsert", {"parts", "part"}, {"more"});
    maker.node("ConcatFromSequence", {"more"}, {"joined"}).attributes["axis"].i = 0;
    maker.output("y").output("joined");
    CHECK(macs_of(converted(maker.graph)) == 4 * 8 * 5);
    CHECK(walked(maker.graph).values.at("joined").dims == Ints{16, 8});
}

TEST_CASE("lists of lists are refused") {
    GraphMaker maker;
    maker.input("x", {12, 8});
    maker.node("SequenceConstruct", {"x", "x"}, {"list"});
    maker.node("SequenceConstruct", {"list"}, {"nested"});
    maker.node("SequenceInsert", {"list", "list"}, {"inserted"});
    const auto costed = walked(maker.graph);
    CHECK(costed.values.at("list").items != nullptr);
    CHECK(costed.values.at("nested").items == nullptr);
    CHECK(costed.values.at("inserted").items == nullptr);
}

TEST_CASE("a dynamically quantized LSTM multiplies as the plain one does, in 8 bits") {
    const auto lstm = [](bool quantized) {
        GraphMaker maker;
        maker.input("x", {50, 2, 64}); // 50 steps of 2 sequences
        maker.constant("w", quantized ? onnx_weights({2, 64, 4 * 128}, 3)
                                      : onnx_weights({2, 4 * 128, 64}));
        maker.constant("r", quantized ? onnx_weights({2, 128, 4 * 128}, 3)
                                      : onnx_weights({2, 4 * 128, 128}));
        OnnxNode& node =
            maker.node(quantized ? "DynamicQuantizeLSTM" : "LSTM", {"x", "w", "r"}, {"y"});
        node.domain = quantized ? "com.microsoft" : "";
        return converted(maker.output("y").graph);
    };
    const auto plain = lstm(false);
    const auto quantized = lstm(true);
    CHECK(macs_of(plain) == 2 * 50 * 2 * 4 * 128 * (64 + 128));
    CHECK(macs_of(quantized) == macs_of(plain));
    CHECK(totals_of(quantized.network)->parameters == totals_of(plain.network)->parameters);
    for (const model::Layer& layer : quantized.network.layers) {
        CHECK((layer.op != model::Op::gemm || layer.types.input == model::DataType::int8));
    }
}

} // namespace test_formats_onnx_control_flow
