// Closed forms of training memory as the field prints them: bytes per parameter, bytes of a
// transformer layer's activations. Sources: Korthikanti et al., arXiv:2205.05198 (activations);
// Rajbhandari et al., arXiv:1910.02054 (mixed precision with Adam); Dettmers et al.,
// arXiv:2110.02861 (8-bit states).
#pragma once

#include "analysis/scenario/scenario.hpp"

#include <string_view>

namespace eyeroof::analysis::step {

// Bytes per parameter beside the weights in the layers' own type.
struct Precision {
    double gradient = 4.0;
    double optimizer = 0.0; // states and, where weights are shorter than fp32, a copy in fp32

    bool operator==(const Precision&) const = default;
};

// Beside weights of `type`. usual: gradients in the weights' type; states in fp32 (sgd 0,
// sgd_momentum 4, adam 8 bytes) and 4 more for a copy in fp32 where keeps_fp32_weights(type).
Precision precision_of(Regime regime, model::DataType type, std::string_view optimizer);

} // namespace eyeroof::analysis::step
