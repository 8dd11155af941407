// Whether a measured operator does the work of a layer.
#pragma once

#include "model/workload/layer.hpp"
#include "profiles/operator_work.hpp"

#include <optional>

namespace eyeroof::profiles {

// Products fit when their work is the same: [m, k] x [k, n] may be stored transposed, so that m and
// n may be exchanged, and a batch that shares its weights is folded into m. The gradients of a
// product are products themselves: bwd_data is [m, n] x [n, k], bwd_weight [k, m] x [m, n]. Of an
// approximate convolution only what is known must agree. An operator that computes both gradients
// (`repeats` 2) fits the layer of either.
bool fits(const model::Layer& layer, const OperatorLayer& op);

// In lowest terms.
struct BatchRatio {
    Count measured = 1, layer = 1;

    auto operator<=>(const BatchRatio&) const = default;
};

// The operator's batch over the layer's, where nothing but the batch keeps them from fitting.
std::optional<BatchRatio> batch_apart(const model::Layer& layer, const OperatorLayer& op);

} // namespace eyeroof::profiles
