#include "profiles/operator_fit.hpp"

#include <numeric>
#include <utility>

namespace eyeroof::profiles {

namespace {

using model::Direction;

// The product that a layer of products computes, its gradients included. Folded: the batch, whose
// weights are shared, counts as rows.
model::GemmShape product_of(const model::Layer& layer, const model::GemmShape& shape, bool folded) {
    model::GemmShape product = shape;
    if (folded) {
        product.m *= std::exchange(product.batch, 1);
    }
    if (layer.direction == Direction::bwd_data) {
        std::swap(product.n, product.k);
    } else if (layer.direction == Direction::bwd_weight) {
        product = {product.batch, product.k, product.n, product.m};
    }
    return product;
}

bool same_product(const model::GemmShape& a, const model::GemmShape& b) {
    const bool straight = a.m == b.m && a.n == b.n;
    const bool exchanged = a.m == b.n && a.n == b.m;
    return a.batch == b.batch && a.k == b.k && (straight || exchanged);
}

bool share_weights(const model::Layer& a, const model::Layer& b) {
    return a.op != model::Op::bmm && b.op != model::Op::bmm;
}

bool same_direction(Direction layer, const OperatorLayer& op) {
    return op.repeats == 2 ? layer != Direction::fwd : layer == op.layer.direction;
}

// What an approximate operator does not know is taken from the layer.
model::ConvShape known_of(const OperatorLayer& op, const model::ConvShape& other,
                          const model::ConvShape& layer) {
    model::ConvShape known = other;
    if (op.approximate) {
        known.stride = layer.stride;
        known.pad = layer.pad;
        known.dilation = layer.dilation;
    }
    return known;
}

BatchRatio ratio(Count measured, Count layer) {
    const Count common = std::gcd(measured, layer);
    return {measured / common, layer / common};
}

std::optional<BatchRatio> apart(const model::ConvShape& layer, model::ConvShape op) {
    const Count batch = std::exchange(op.n, layer.n);
    return op == layer && batch != layer.n ? std::optional(ratio(batch, layer.n)) : std::nullopt;
}

// Only forward: in the gradient of the weights the batch is summed over.
std::optional<BatchRatio> apart(const model::GemmShape& layer, const model::GemmShape& op) {
    const bool rows = layer.batch == op.batch && layer.n == op.n && layer.k == op.k;
    if (rows && layer.m != op.m) {
        return ratio(op.m, layer.m);
    }
    const bool batches = layer.m == op.m && layer.n == op.n && layer.k == op.k;
    return batches && layer.batch != op.batch ? std::optional(ratio(op.batch, layer.batch))
                                              : std::nullopt;
}

} // namespace

bool fits(const model::Layer& layer, const OperatorLayer& op) {
    const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
    const auto* other = std::get_if<model::GemmShape>(&op.layer.shape);
    if (gemm != nullptr && other != nullptr) {
        const bool folded = share_weights(layer, op.layer);
        return same_product(product_of(layer, *gemm, folded), product_of(op.layer, *other, folded));
    }
    const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
    const auto* other_conv = std::get_if<model::ConvShape>(&op.layer.shape);
    return conv != nullptr && other_conv != nullptr && same_direction(layer.direction, op) &&
           *conv == known_of(op, *other_conv, *conv);
}

std::optional<BatchRatio> batch_apart(const model::Layer& layer, const OperatorLayer& op) {
    const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
    const auto* other = std::get_if<model::GemmShape>(&op.layer.shape);
    if (gemm != nullptr && other != nullptr && layer.direction == Direction::fwd) {
        const bool folded = share_weights(layer, op.layer);
        return apart(product_of(layer, *gemm, folded), product_of(op.layer, *other, folded));
    }
    const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
    const auto* other_conv = std::get_if<model::ConvShape>(&op.layer.shape);
    if (conv != nullptr && other_conv != nullptr && same_direction(layer.direction, op)) {
        return apart(*conv, known_of(op, *other_conv, *conv));
    }
    return std::nullopt;
}

} // namespace eyeroof::profiles
