#include "model/workload/problem.hpp"

#include <doctest/doctest.h>

#include <set>

namespace test_model_problem {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;

namespace {

Layer conv_layer(ConvShape shape, Direction direction = Direction::fwd) {
    Layer layer;
    layer.name = "layer";
    layer.op = Op::conv2d;
    layer.shape = shape;
    layer.direction = direction;
    return layer;
}

Count at(const Problem& p, Dim d) {
    return p.bounds[index(d)];
}

} // namespace

TEST_CASE("a grouped convolution becomes eight loops with channels per group") {
    ConvShape s{.n = 4, .c = 96, .h = 27, .w = 27, .k = 256, .r = 5, .s = 5};
    s.pad = {2, 2};
    s.groups = 2;
    const auto problems = problems_of(conv_layer(s));
    REQUIRE(problems);
    REQUIRE(problems->size() == 1);
    const Problem& p = problems->front();
    CHECK(p.bounds == Extents{4, 2, 128, 48, 27, 27, 5, 5});
    // 4 * 2 * 128 * 48 * 27 * 27 * 25 = 895795200
    CHECK(macs_of(p) == 895795200);
    CHECK(p.produced == Operand::output);
}

TEST_CASE("each direction accumulates another operand over the same loops") {
    const ConvShape s{.n = 2, .c = 3, .h = 8, .w = 8, .k = 5, .r = 3, .s = 3};
    const auto data = problems_of(conv_layer(s, Direction::bwd_data));
    const auto weight = problems_of(conv_layer(s, Direction::bwd_weight));
    REQUIRE(data);
    REQUIRE(weight);
    CHECK(data->front().produced == Operand::input);
    CHECK(weight->front().produced == Operand::weight);
    CHECK(data->front().bounds == weight->front().bounds);
}

TEST_CASE("matrix products put a shared batch on N and a batch of matrices on G") {
    Layer layer;
    layer.op = Op::gemm;
    layer.shape = GemmShape{.batch = 3, .m = 5, .n = 7, .k = 11};
    const auto gemm = problems_of(layer);
    REQUIRE(gemm);
    CHECK(gemm->front().bounds == Extents{3, 1, 7, 11, 5, 1, 1, 1});
    layer.op = Op::bmm;
    const auto bmm = problems_of(layer);
    REQUIRE(bmm);
    CHECK(bmm->front().bounds == Extents{1, 3, 7, 11, 5, 1, 1, 1});
}

TEST_CASE("attention is two matrix products per batch and head") {
    Layer layer;
    layer.name = "att";
    layer.op = Op::attention;
    layer.shape = AttentionShape{.batch = 2, .groups = 16, .m = 384, .n = 384, .k = 64};
    const auto nests = problems_of(layer);
    REQUIRE(nests);
    REQUIRE(nests->size() == 2);
    CHECK(at((*nests)[0], Dim::G) == 32);
    CHECK(at((*nests)[0], Dim::C) == 64);  // Q K^T reduces over the head
    CHECK(at((*nests)[1], Dim::C) == 384); // P V reduces over the keys
}

TEST_CASE("pooling has a window but no weights") {
    Layer layer;
    layer.op = Op::maxpool;
    layer.shape = PoolShape{.n = 1, .c = 64, .h = 112, .w = 112, .r = 2, .s = 2, .stride = {2, 2}};
    const auto nests = problems_of(layer);
    REQUIRE(nests);
    CHECK_FALSE(nests->front().has_weight);
    CHECK(nests->front().bounds == Extents{1, 64, 1, 1, 56, 56, 2, 2});
}

TEST_CASE("operators without a multiply-accumulate nest have none") {
    Layer layer;
    layer.op = Op::softmax;
    layer.shape = RowsShape{.rows = 8, .cols = 8};
    const auto nests = problems_of(layer);
    REQUIRE(nests);
    CHECK(nests->empty());
}

TEST_CASE("a tile's input window counts overlapping rows once") {
    Problem p;
    p.stride = {2, 1};
    // 4 output rows at stride 2 with 3 taps: (4-1)*2 + 3 = 9 rows; 5 columns + 2 = 7
    CHECK(tile_elements(p, Operand::input, {1, 1, 1, 6, 4, 5, 3, 3}) == 6 * 9 * 7);
    // one tap at stride 2 touches every second row only
    CHECK(tile_elements(p, Operand::input, {1, 1, 1, 1, 4, 1, 1, 1}) == 4);
    CHECK(tile_elements(p, Operand::weight, {2, 3, 4, 5, 6, 7, 8, 9}) == 3 * 4 * 5 * 8 * 9);
    CHECK(tile_elements(p, Operand::output, {2, 3, 4, 5, 6, 7, 8, 9}) == 2 * 3 * 4 * 6 * 7);
}

TEST_CASE("distinct input rows equal those of a walk over every output and tap") {
    for (Count stride = 1; stride <= 5; ++stride) {
        for (Count dilation = 1; dilation <= 5; ++dilation) {
            for (Count p = 1; p <= 7; ++p) {
                for (Count r = 1; r <= 5; ++r) {
                    std::set<Count> rows;
                    for (Count i = 0; i < p; ++i) {
                        for (Count j = 0; j < r; ++j) {
                            rows.insert(i * stride + j * dilation);
                        }
                    }
                    Problem problem;
                    problem.stride = {stride, 1};
                    problem.dilation = {dilation, 1};
                    CHECK(tile_elements(problem, Operand::input, {1, 1, 1, 1, p, 1, r, 1}) ==
                          static_cast<Count>(rows.size()));
                }
            }
        }
    }
}

TEST_CASE("in scatter form P walks over input rows and outputs are what they reach") {
    Problem p;
    p.bounds = {1, 1, 1, 1, 9, 1, 4, 1};
    p.form = ConvForm::scatter;
    CHECK(loop_bounds(p)[index(Dim::P)] == 12); // 9 + 4 - 1 rows
    CHECK(macs_of(p) == 36);
    CHECK(tile_elements(p, Operand::input, {1, 1, 1, 1, 5, 1, 3, 1}) == 5);
    CHECK(tile_elements(p, Operand::output, {1, 1, 1, 1, 5, 1, 3, 1}) == 7);  // 5 + 3 - 1
    CHECK(tile_elements(p, Operand::output, {1, 1, 1, 1, 12, 1, 4, 1}) == 9); // no more than all
}

} // namespace test_model_problem
