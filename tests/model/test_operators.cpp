// The table of operators agrees with the enumeration, the shapes and the counts of work.
#include "model/workload/layer.hpp"
#include "model/workload/operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_model_operators {

using namespace eyeroof::model;

namespace {

Shape small_shape(ShapeKind kind) {
    switch (kind) {
    case ShapeKind::conv:
        return ConvShape{1, 4, 8, 8, 4, 3, 3};
    case ShapeKind::gemm:
        return GemmShape{2, 4, 4, 4};
    case ShapeKind::pool:
        return PoolShape{1, 4, 8, 8, 2, 2};
    case ShapeKind::rows:
        return RowsShape{4, 8};
    case ShapeKind::elementwise:
        return ElementwiseShape{4, 8, "relu"};
    case ShapeKind::attention:
        return AttentionShape{1, 2, 4, 4, 8};
    case ShapeKind::moe:
        break;
    }
    return MoeShape{4, 8, 8, 2, 4};
}

Layer layer_of(const OperatorTraits& traits) {
    Layer layer;
    layer.name = "l";
    layer.op = traits.op;
    layer.shape = small_shape(traits.shape);
    return layer;
}

} // namespace

TEST_CASE("operators stand in the table in the order of their enumeration, each name once") {
    std::size_t n = 0;
    for (const OperatorTraits& traits : operators()) {
        CHECK(static_cast<std::size_t>(traits.op) == n++);
        CHECK(&traits_of(traits.op) == &traits);
        CHECK(op_from_name(traits.name) == traits.op);
        CHECK(op_name(traits.op) == traits.name);
    }
    CHECK(n > 10);
}

TEST_CASE("every operator is valid with its shape, with no other, and with its gradients alone") {
    for (const OperatorTraits& traits : operators()) {
        CAPTURE(traits.name);
        Layer layer = layer_of(traits);
        CHECK_FALSE(validate(layer).has_errors());
        CHECK(work_of(layer).ok());
        layer.direction = Direction::bwd_data;
        CHECK(validate(layer).has_errors() != traits.input_gradient);
        layer.direction = Direction::bwd_weight;
        CHECK(validate(layer).has_errors() != traits.weight_gradient);
        layer.direction = Direction::fwd;
        for (const OperatorTraits& other : operators()) {
            layer.shape = small_shape(other.shape);
            CHECK(validate(layer).has_errors() == (other.shape != traits.shape));
        }
    }
}

TEST_CASE("an operator of one matrix in and one out takes what its row says of every element") {
    std::size_t seen = 0;
    for (const OperatorTraits& traits : operators()) {
        if (traits.flops == 0) {
            continue;
        }
        CAPTURE(traits.name);
        Layer layer = layer_of(traits);
        layer.shape = RowsShape{10, 30};
        CHECK(work_of(layer)->flops == traits.flops * 300);
        CHECK(work_of(layer)->bytes_read() == 600); // fp16
        CHECK(work_of(layer)->bytes_written() == 600);
        layer.direction = Direction::bwd_data;
        CHECK(work_of(layer)->flops == traits.gradient_flops * 300);
        CHECK(work_of(layer)->bytes_read() == (traits.keeps_output ? 1200 : 600));
        ++seen;
    }
    CHECK(seen >= 2);
}

} // namespace test_model_operators
