// What an operator must do, inferred from its name and the dimensions it was called with: a layer.
#pragma once

#include "model/workload/layer.hpp"
#include "profiles/measurement.hpp"

#include <optional>

namespace eyeroof::profiles {

// linear, addmm, mm, bmm, baddbmm, matmul and the convolutions, forward and backward; "gemm" and
// "conv2d" of the host measurement. nullopt for every other operator and for dimensions that do not
// fit together. `approximate` is set where the shape alone does not say everything: a convolution
// without its stride and padding.
struct OperatorLayer {
    model::Layer layer;
    bool approximate = false;
    int repeats = 1; // 2 where one call does the work of the layer twice (both gradients)
    // Of such a call's gradient of the data: fwd for a transposed convolution.
    model::Direction data_direction = model::Direction::bwd_data;

    bool operator==(const OperatorLayer&) const = default;
};
std::optional<OperatorLayer> layer_of(const Operator& op);

// "float" -> fp32, "c10::Half" -> fp16 …; nullopt for names that are none of the numeric types.
std::optional<model::DataType> data_type_of(std::string_view framework_type);

// Whether this operator's dimensions tell its work: the one to look for among enclosing operators.
bool carries_shape(std::string_view op_name);

} // namespace eyeroof::profiles
