// What words take on the channels of the two levels that step 7 looks at: the outermost memory's
// and those that feed the units.
#pragma once

#include "mapper/problem_space.hpp"

namespace eyeroof::mapper {

// Words that cross the networks below two levels, all instances together, and the cycles of step 6.
struct Crossing {
    struct Words {
        model::PerOperand<double> down{};
        model::PerOperand<double> up{};
    };
    Words outer; // below level 0
    Words edge;  // below the array's edge
    double bandwidth_cycles = 0.0;
};

// A channel: cycles per word.
struct ChannelCost {
    model::PerOperand<double> down{};
    model::PerOperand<double> up{};
    double saved = 0.0;                // which complete results, once each, take less
    double results = 0.0;              // complete results
    double drain = 1.0;                // cycles per cycle of `up`, for the last results of a pass
    model::PerOperand<double> first{}; // cycles to bring the first tile, where the PEs stall for it
    model::OperandSet operands;
    model::Operand produced = model::Operand::output;
    bool half_duplex = false;

    // Of the words of some operands, one of `instances` shares.
    double cycles(const Crossing::Words& words, model::OperandSet chosen, double instances) const;
};

std::vector<ChannelCost> channel_costs(const Task& task, std::size_t level);

} // namespace eyeroof::mapper
