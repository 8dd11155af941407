// One operand that stays on the host: weights that come when they are needed, or activations that
// leave after the forward half and come back for their gradients.
#pragma once

#include "analysis/program/memory.hpp"
#include "analysis/program/timeline.hpp"

#include <optional>

namespace eyeroof::analysis::step {

enum class Operand { weights, activations };

// A copy of so many bytes takes start_s + bytes / bytes_per_s; both directions run side by side.
struct Link {
    double bytes_per_s = 0.0, start_s = 0.0;

    bool operator==(const Link&) const = default;
};
// PCIe, pinned, as copy_seconds() has it; 0 B/s where the machine has no link.
Link pcie_of(const model::Gpu& gpu);

struct Streamed {
    double time_s = 0.0, alone_s = 0.0; // of the step, with and without copies
    Count to_device = 0, to_host = 0;   // bytes, a step
    Count streamed = 0, of = 0;         // bytes of tensors that leave, and of those that could
    std::size_t tensors = 0;            // that leave
    Count part = 0;                     // bytes, at most, of what is copied at once
    Memory memory;                      // of the step that streams, its buffers included
    bool fits = false;                  // within the limit
    std::vector<std::pair<OperatorId, double>> waits; // for copies, s; the longest first

    double exposed_s() const { return time_s - alone_s; }
};

// Errors: "usage" for weights in training, whose update needs them, and for activations in
// inference, which keeps none; "no-link" where the link has no bandwidth.
Diagnostics check_stream(Operand operand, bool training, const Link& link);

// What streams is least: in the order of the time that hides a byte, until the peak is within the
// limit. `line` and `memory` are those of the step that keeps everything.
//
// Weights: two buffers. An operator's weights are cut into parts where whole ones leave no room for
// them, at least 1 MiB each. Part i, with what its share of the operator takes, t_i:
//   copied_i = max(copied_{i-1}, ended_{i-2}) + b_i / B
//   ended_i  = max(ended_{i-1}, copied_i) + t_i
//
// Activations that a gradient reads: two are on their way in each direction. The operator behind
// the next one's last forward use waits until a tensor has left; a tensor comes once the gradient
// of the one before the last has run. Where that is above the limit, operators wait for tensors
// that would be there early or late at the peak.
Streamed stream(const Graph& graph, const Timeline& line, const Memory& memory, Operand operand,
                const Link& link, Count limit);

} // namespace eyeroof::analysis::step
