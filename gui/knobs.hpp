// What can be turned on a machine: clock, axes, buffers, bandwidths, peaks.
// Used by the what-if pane.
// Knows no widget.
#pragma once

#include "model/machine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace eyeroof::gui {

struct Knob {
    std::string name; // "DRAM bandwidth"
    std::string unit; // of value, for format_si; empty for counts
    double value = 0.0;
    bool whole = false; // only whole numbers
    std::function<void(model::Machine&, double)> set;
};

// In the machine's order, outermost memory first. Unlimited and unknown quantities have no knob.
std::vector<Knob> knobs_of(const model::Machine& machine);

} // namespace eyeroof::gui
