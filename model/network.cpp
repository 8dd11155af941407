#include "model/network.hpp"

#include <fmt/format.h>

namespace eyeroof::model {

namespace {

// target += value * times; false when that does not fit.
bool accumulate(Count& target, Count value, Count times) {
    const auto product = checked_mul(value, times);
    const auto sum = product ? checked_add(target, *product) : std::nullopt;
    target = sum.value_or(target);
    return sum.has_value();
}

std::optional<Count> weight_bytes_of(const Layer& layer) {
    const auto bits = checked_mul(parameters_of(layer), storage_bits(layer.types.weight));
    return bits ? std::optional(ceil_div(*bits, 8)) : std::nullopt;
}

std::string layer_field(std::size_t i) {
    return fmt::format("layers[{}]", i);
}

// The dimension that a larger batch multiplies.
Count& batch_dimension(Layer& layer) {
    struct Pick {
        Op op;
        Count& operator()(ConvShape& s) const { return s.n; }
        Count& operator()(GemmShape& s) const { return s.batch; }
        Count& operator()(PoolShape& s) const { return s.n; }
        Count& operator()(RowsShape& s) const { return op == Op::batchnorm ? s.cols : s.rows; }
        Count& operator()(ElementwiseShape& s) const { return s.rows; }
        Count& operator()(AttentionShape& s) const { return s.batch; }
        Count& operator()(MoeShape& s) const { return s.m; }
    };
    return std::visit(Pick{layer.op}, layer.shape);
}

} // namespace

Result<NetworkTotals> totals_of(const Network& network) {
    NetworkTotals totals;
    Diagnostics found;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const Layer& layer = network.layers[i];
        auto work = work_of(layer);
        if (!work) {
            work.diagnostics().place({}, layer_field(i));
            found.append(work.diagnostics());
            continue;
        }
        const auto bytes = weight_bytes_of(layer);
        const bool fits = accumulate(totals.macs, work->macs, layer.count) &&
                          accumulate(totals.flops, work->flops, layer.count) &&
                          accumulate(totals.parameters, parameters_of(layer), layer.count) &&
                          bytes && accumulate(totals.weight_bytes, *bytes, layer.count);
        if (!fits) {
            found.error("overflow", "the network's totals do not fit 63 bits",
                        "look for a count or a dimension that is too large", {}, layer_field(i));
            break;
        }
    }
    if (found.has_errors()) {
        return found;
    }
    return totals;
}

Result<Network> with_batch(const Network& network, Count batch) {
    if (batch < 1 || batch > kMaxDimension) {
        return Result<Network>::failure("bad-batch", fmt::format("the batch is {}", batch),
                                        fmt::format("use a batch of 1 to {}", kMaxDimension));
    }
    Network grown = network;
    Diagnostics found;
    for (std::size_t i = 0; i < grown.layers.size(); ++i) {
        Count& dimension = batch_dimension(grown.layers[i]);
        const auto product = checked_mul(dimension, batch);
        if (!product || *product > kMaxDimension) {
            found.error("overflow",
                        fmt::format("{} times a batch of {} is more than a dimension may be",
                                    dimension, batch),
                        "use a smaller batch", {}, layer_field(i));
            continue;
        }
        dimension = *product;
    }
    if (found.has_errors()) {
        return found;
    }
    return grown;
}

} // namespace eyeroof::model
