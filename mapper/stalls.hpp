// What step 7 adds to the cycles of steps 1 to 6 at least, before all trips are known.
//
// Of the operands that are kept inside the array at most one rests there, the others stream; what
// rests stalls the PEs where its store is single buffered, and so is what the outermost memory
// brings to such stores, whatever bursts it meets. So, for the operand c that rests,
//   T >= max(compute, streams of all but c) + drain + max(stalls for c, stalls for the outermost)
// and the least over all c that may rest (or none) holds for all orders of the family.
#pragma once

#include "mapper/channel_costs.hpp"
#include "mapper/space.hpp"

namespace eyeroof::mapper {

class Stalls {
  public:
    explicit Stalls(const Space& space);

    std::size_t edge() const { return edge_; }
    // The operands that rest in these orders, block by block, may rest in the units.
    void clear_candidates() { candidates_ = {}; }
    void add_candidates(const std::vector<BlockOrder>& orders);

    // `crossing`: words, at least; `compute`: cycles of the units, at least; `drain`: of the array.
    double least_cycles(const Crossing& crossing, double compute, double drain,
                        double instances) const;

  private:
    bool surely_late(const Space& space, std::size_t from, model::Operand o) const;
    bool one_step_may_do(const Space& space) const;

    std::size_t edge_;
    std::vector<ChannelCost> at_edge_;
    std::vector<ChannelCost> at_outermost_;
    model::OperandSet all_;
    model::OperandSet inside_; // kept inside the array
    model::OperandSet late_edge_;
    model::OperandSet late_outer_;
    model::OperandSet candidates_;
    bool none_ = false; // may nothing that is kept inside rest?
};

} // namespace eyeroof::mapper
