// Closed forms of training memory as the field prints them: bytes a parameter, bytes of a
// transformer layer's activations. Called by `eyeroof memory` and by tests that hold the graph's
// own sums against them. Knows no graph.
// Sources: Korthikanti et al., arXiv:2205.05198 (activations); Rajbhandari et al., arXiv:1910.02054
// (mixed precision with Adam); Dettmers et al., arXiv:2110.02861 (8-bit states).
#pragma once

#include "study/step/graph.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace eyeroof::study::step {

// How weights, gradients and states are kept. mixed: 16-bit weights and gradients, an fp32 copy of
// the weights beside the states. fp32_gradients: the same with fp32 gradients (Megatron). pure:
// states in the weights' own type and no copy. eight_bit: states of one byte, and the copy.
enum class Regime { usual, mixed, fp32_gradients, pure, eight_bit };
std::optional<Regime> regime_from_name(std::string_view name);
std::vector<std::string> regime_names(); // "usual", "mixed", "fp32-gradients", "pure", "8bit"

// Beside weights of `type`. usual: usual_precision().
Precision precision_of(Regime regime, model::DataType type, std::string_view optimizer);

// Bytes of one transformer layer's activations, 2-byte elements: b sequences of s tokens, hidden h,
// a heads, over t devices of tensor parallelism.
//   none             s b h (10 + 24/t + 5 a s/(h t));  sequence: s b h/t (34 + 5 a s/h)
//   selective        34 s b h/t (attention's core is computed again);  full: 2 s b h
enum class Kept { all, sequence, selective, full };
double layer_activation_bytes(double b, double s, double h, double a, double t, Kept kept);

} // namespace eyeroof::study::step
