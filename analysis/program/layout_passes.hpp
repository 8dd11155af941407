// Kernels that change the layout of tensors around convolutions, as operators of the program.
#pragma once

#include "analysis/program/costs.hpp"

#include <functional>

namespace eyeroof::analysis::step {

// Around each convolution whose kernel wants another layout than its tensors have
// (model/gpu/conv.hpp): a pass of its input to channels last before it, and one of its output to
// channels first behind it. The same program where there is none.
Graph with_layout_passes(const Graph& graph, const model::Gpu& gpu, const SoftwareOf& software);

// Of a compiled program whose convolutions run with channels last: a pass of each tensor that is
// there before (inputs, and filters of more than one tap) in front of a marked convolution that
// reads it, and one behind a marked convolution whose result is the program's.
Graph with_turned_tensors(const Graph& graph,
                          const std::function<bool(const model::Layer&)>& marked);

} // namespace eyeroof::analysis::step
