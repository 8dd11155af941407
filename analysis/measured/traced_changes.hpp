// Changes of a program that its trace suggests, with an upper bound of each saving.
#pragma once

#include "analysis/measured/traced.hpp"

namespace eyeroof::analysis {

// Cause of the kernels that change the layout of a convolution's tensors.
inline constexpr const char* kLayoutPass = "a pass between layouts around a convolution";

// Those that save at least 1 % of the step, the largest first. What each saves is at most that:
// they overlap, and none adds up with another.
std::vector<TracedChange> changes_of(const formats::TraceNetwork& trace, const Traced& traced);

} // namespace eyeroof::analysis
