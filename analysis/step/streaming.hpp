// Weights that stay on the host and are copied when an operator needs them.
// For the optimizations of `eyeroof improve`.
#pragma once

#include "analysis/program/timeline.hpp"

namespace eyeroof::analysis::step {

struct Streamed {
    double time_s = 0.0;
    Count buffers = 0; // the two largest operators' weights: one in use, one on its way
    Count weights = 0; // that need not stay
};

// Each operator's weights are copied while the one before it runs:
//   copied_i = max(copied_{i-1}, ended_{i-2}) + w_i / B
//   ended_i  = max(ended_{i-1}, copied_i) + t_i
// with t_i so that without copies the sum is `line`'s time. Shared weights come for each use.
Streamed stream_weights(const Graph& graph, const Timeline& line, double bytes_per_s);

} // namespace eyeroof::analysis::step
