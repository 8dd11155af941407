// Reductions that networks hold as pooling of whole rows: a compiler makes one kernel of them and
// of what is pointwise before and after.
#include "analysis/program/fusion.hpp"
#include "tests/step/step_fixture.hpp"

namespace test_step_reductions_fused {

using namespace eyeroof;
using analysis::step::Graph;

namespace {

std::size_t kernels_of(const std::string& yaml) {
    const auto graph = tests::graph_from(yaml);
    for (const auto& d : graph.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(graph.ok());
    return analysis::step::fuse(*graph, 108).operators.size();
}

} // namespace

TEST_CASE("a norm of its parts is one kernel: square, mean, root, division") {
    CHECK(kernels_of(R"(name: rms
defaults: {dtype: fp32}
layers:
  - {name: square, op: elementwise, rows: 64, cols: 512, fn: square}
  - {name: mean, op: avgpool, n: 64, c: 1, h: 1, w: 512, r: 1, s: 512}
  - {name: root, op: elementwise, rows: 64, cols: 1, fn: rsqrt}
  - {name: scale, op: elementwise, rows: 64, cols: 512, fn: mul}
graph:
  - {run: square, reads: input}
  - {run: mean}
  - {run: root}
  - {view: wide, reads: root, elements: 32768, expand: true}
  - {run: scale, reads: [input, wide], output: true}
)") == 1);
}

TEST_CASE("sums of other rows, windows that overlap, and scans are kernels of their own") {
    CHECK(kernels_of(R"(name: sums
defaults: {dtype: fp32}
layers:
  - {name: rows, op: avgpool, n: 64, c: 1, h: 1, w: 512, r: 1, s: 512}
  - {name: all, op: avgpool, n: 1, c: 1, h: 1, w: 64, r: 1, s: 64}
graph:
  - {run: rows, reads: input}
  - {run: all, output: true}
)") == 2);
    CHECK(kernels_of(R"(name: window
defaults: {dtype: fp32}
layers:
  - {name: pool, op: maxpool, n: 1, c: 8, h: 16, w: 16, r: 2, s: 2, stride: 2}
  - {name: act, op: elementwise, rows: 8, cols: 64, fn: relu}
  - {name: sum, op: elementwise, rows: 8, cols: 64, fn: scan}
)") == 3);
}

TEST_CASE("rows that are too few for the device are summed in parts, in kernels of their own") {
    using model::Layer;
    const auto layer = [](model::Op op, model::Shape shape) {
        Layer made;
        made.op = op;
        made.shape = std::move(shape);
        return made;
    };
    const auto kernels = [](const std::vector<Layer>& group) {
        std::vector<const Layer*> members;
        for (const Layer& member : group) {
            members.push_back(&member);
        }
        return analysis::step::kernels_of(members, 108);
    };
    const Layer sum = layer(model::Op::avgpool, model::PoolShape{16, 1, 1, 16384, 1, 16384});
    const Layer wide = layer(model::Op::elementwise, model::ElementwiseShape{16, 16384, "div"});
    const Layer narrow = layer(model::Op::elementwise, model::ElementwiseShape{16, 1, "sqrt"});
    CHECK(kernels({sum}) == 2);         // parts, and the parts' sum
    CHECK(kernels({sum, narrow}) == 2); // which takes what follows on it
    CHECK(kernels({sum, wide}) == 3);   // every element needs the whole sum
    const Layer many = layer(model::Op::avgpool, model::PoolShape{216, 1, 1, 16384, 1, 16384});
    CHECK(kernels({many}) == 1);
    CHECK(kernels({layer(model::Op::softmax, model::RowsShape{16, 16384})}) == 5);
    CHECK(kernels({layer(model::Op::layernorm, model::RowsShape{16, 16384})}) == 3);
    CHECK(kernels({layer(model::Op::layernorm, model::RowsShape{16, 8192})}) == 1);
    CHECK(kernels({layer(model::Op::batchnorm, model::RowsShape{64, 25088, 0, 2})}) == 3);
    CHECK(kernels({layer(model::Op::batchnorm, model::RowsShape{64, 25088})}) == 1);
    CHECK(kernels({wide}) == 1);
}

} // namespace test_step_reductions_fused
