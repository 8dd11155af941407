#include "model/workload/network.hpp"

#include "base/units.hpp"
#include "model/workload/experts.hpp"
#include "model/workload/graph_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    return stored_bytes(layer.types.weight, parameters_of(layer));
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

Count all_counts(const std::vector<Uncosted>& uncosted, bool products_only) {
    Count all = 0;
    for (const Uncosted& u : uncosted) {
        all += !products_only || (u.may_multiply && u.measured_s <= 0.0) ? u.count : 0;
    }
    return all;
}

} // namespace

Count uncosted_operators(const Network& network) {
    return all_counts(network.uncosted, false);
}

Count uncosted_products(const Network& network) {
    return all_counts(network.uncosted, true);
}

Count operators_of(const Network& network) {
    const Count least = uncosted_operators(network);
    const Count layers = least + static_cast<Count>(network.layers.size());
    return network.operators > 0 ? std::max(network.operators, least) : layers;
}

double uncosted_seconds(const Network& network) {
    double sum = 0.0;
    for (const Uncosted& u : network.uncosted) {
        sum += u.measured_s;
    }
    return sum;
}

double uncosted_share(const Network& network) {
    const Count missing = uncosted_operators(network);
    const Count all = operators_of(network);
    return all > 0 ? static_cast<double>(missing) / static_cast<double>(all) : 0.0;
}

std::string uncosted_text(const Network& network) {
    const Count missing = uncosted_operators(network);
    if (missing == 0) {
        return {};
    }
    const Count all = operators_of(network);
    std::string text = fmt::format("{} of {} operators ({:.1f} %) {} not costed: ", missing, all,
                                   100.0 * uncosted_share(network), missing == 1 ? "is" : "are");
    constexpr std::size_t kShown = 8; // of kinds: a trace may have hundreds
    bool first = true;
    for (std::size_t i = 0; i < std::min(kShown, network.uncosted.size()); ++i) {
        const Uncosted& u = network.uncosted[i];
        const std::string time =
            u.measured_s > 0.0 ? fmt::format("; measured {}", format_si(u.measured_s, "s")) : "";
        text += fmt::format("{}{} ({}: {}{}{})", first ? "" : ", ", u.op, u.count, u.why,
                            u.may_multiply ? "; it may multiply" : "", time);
        first = false;
    }
    if (network.uncosted.size() > kShown) {
        text += fmt::format(", and {} more kinds", network.uncosted.size() - kShown);
    }
    return text;
}

Diagnostics uncosted_warning(const Network& network, const std::string& file) {
    Diagnostics found;
    if (!network.uncosted.empty()) {
        found.warning("not-costed", uncosted_text(network),
                      "the network takes longer than its layers; `net show` lists the operators",
                      {file, 0, 0});
    }
    return found;
}

void sort_uncosted(std::vector<Uncosted>& uncosted) {
    std::vector<Uncosted> merged;
    for (Uncosted& u : uncosted) {
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const Uncosted& m) {
            return m.op == u.op && m.why == u.why && m.may_multiply == u.may_multiply;
        });
        if (same != merged.end()) {
            same->count += u.count;
            same->measured_s += u.measured_s;
        } else {
            merged.push_back(std::move(u));
        }
    }
    std::stable_sort(merged.begin(), merged.end(), [](const Uncosted& a, const Uncosted& b) {
        return a.may_multiply != b.may_multiply ? a.may_multiply
               : a.measured_s != b.measured_s   ? a.measured_s > b.measured_s
                                                : a.count > b.count;
    });
    uncosted = std::move(merged);
}

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

namespace {

// Matrices that a batched product learns, as experts are; 0: its second operand is data.
Count learned_matrices(const Layer& layer) {
    const auto* gemm = std::get_if<GemmShape>(&layer.shape);
    const auto each = gemm != nullptr ? checked_mul(gemm->n, gemm->k) : std::nullopt;
    return layer.op == Op::bmm && each.value_or(0) > 0 ? layer.parameters.value_or(0) / *each : 0;
}

// Of `all` learned matrices, those that `batch` samples reach where one reaches gemm.batch of them,
// and the rows that each of them gets. False: too large.
bool spread_over(Count all, Count batch, GemmShape& gemm) {
    const auto rows = checked_mul(gemm.m, gemm.batch);
    const auto grown = rows ? checked_mul(*rows, batch) : std::nullopt;
    const double reached = expected_experts(
        static_cast<double>(batch), static_cast<double>(gemm.batch), static_cast<double>(all));
    gemm.batch = std::max(gemm.batch, static_cast<Count>(reached + 1e-3));
    gemm.m = grown ? ceil_div(*grown, gemm.batch) : kMaxDimension + 1;
    return gemm.m <= kMaxDimension;
}

} // namespace

Result<Network> with_batch(const Network& network, Count batch) {
    if (batch < 1 || batch > kMaxDimension) {
        return Result<Network>::failure("bad-batch", fmt::format("the batch is {}", batch),
                                        fmt::format("use a batch of 1 to {}", kMaxDimension));
    }
    Network grown = network;
    Diagnostics found;
    for (std::size_t i = 0; i < grown.layers.size(); ++i) {
        if (auto* rows = std::get_if<RowsShape>(&grown.layers[i].shape);
            batch > 1 && grown.layers[i].op == Op::embedding && rows->table == 0) {
            rows->table = rows->rows; // more samples look the same lines up
        }
        if (auto* rows = std::get_if<RowsShape>(&grown.layers[i].shape); rows != nullptr) {
            rows->images = checked_mul(rows->images, batch).value_or(kMaxDimension + 1);
            rows->planes = checked_mul(rows->planes, batch).value_or(kMaxDimension + 1);
        }
        Count& dimension = batch_dimension(grown.layers[i]);
        if (const Count all = learned_matrices(grown.layers[i]); batch > 1 && all >= dimension) {
            if (!spread_over(all, batch, std::get<GemmShape>(grown.layers[i].shape))) {
                found.error(
                    "overflow",
                    fmt::format("the rows of a batch of {} are more than a dimension may be",
                                batch),
                    "use a smaller batch", {}, layer_field(i));
            }
            continue;
        }
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

Result<NetworkGraph> in_training(NetworkGraph network) {
    const auto grow = [](Count& size, Count& times) {
        const auto grown = checked_mul(size, std::exchange(times, 1));
        size = grown.value_or(size);
        return grown.has_value();
    };
    bool fits = true;
    for (Layer& layer : network.network.layers) {
        auto* gemm = std::get_if<GemmShape>(&layer.shape);
        fits = grow(gemm != nullptr ? gemm->m : batch_dimension(layer), layer.in_training) && fits;
    }
    for (std::size_t i = 0; network.edges && i < network.edges->steps.size(); ++i) {
        GraphStep& step = network.edges->steps[i];
        fits = (!step.elements || grow(*step.elements, step.in_training)) && fits;
    }
    return fits ? Result<NetworkGraph>(std::move(network))
                : Result<NetworkGraph>::failure("overflow",
                                                "a training step's sizes do not fit 63 bits",
                                                "make the network smaller");
}

} // namespace eyeroof::model
