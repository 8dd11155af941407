// What passes the stores and networks of a level, the outermost memory's above all, and what its
// limits are called.
#pragma once

#include "model/accelerator/accelerator.hpp"

#include <string>

namespace eyeroof::model {

// Bytes of each operand that pass one instance of a level, towards the PEs and away from them.
struct PassingBytes {
    PerOperand<double> down{}, up{};

    bool operator==(const PassingBytes&) const = default;
};

// Cycles that the stores and networks of one instance take at least, all at once: of each the
// longer of down / down rate and up / up rate, or their sum where both directions share the rate.
double passing_cycles(const Level& level, const PassingBytes& bytes);

// What one instance's networks carry towards the PEs, or, where that is less, its stores read;
// bytes per cycle.
double bytes_per_cycle_below(const Level& level);

// Both directions at once, results alone going up; bytes per cycle. No split of so many bytes
// between operands passes faster.
double most_bytes_per_cycle(const Level& level);

// The network below the outermost memory where all words cross the same one: "DRAM link". One
// resource has one name, whichever step or engine it slows. Several networks, or one without a
// name: "outermost memory".
inline std::string outermost_name(const Accelerator& accelerator) {
    const auto& channels = accelerator.levels.front().channels;
    const bool one = channels.size() == 1 && !channels.front().name.empty();
    return one ? channels.front().name : "outermost memory";
}

} // namespace eyeroof::model
