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
    return analysis::step::fuse(*graph).operators.size();
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

} // namespace test_step_reductions_fused
