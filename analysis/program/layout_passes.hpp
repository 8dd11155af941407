// Kernels that change the layout of tensors around convolutions, as operators of the program.
// Called by lower().
#pragma once

#include "analysis/program/costs.hpp"

namespace eyeroof::analysis::step {

// Around each convolution whose kernel wants another layout than its tensors have
// (model/gpu/conv.hpp): a pass of its input to channels last before it, and one of its output to
// channels first behind it. The same program where there is none.
Graph with_layout_passes(const Graph& graph, const model::Gpu& gpu, const SoftwareOf& software);

} // namespace eyeroof::analysis::step
