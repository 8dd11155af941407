// What step 7 adds to the cycles of steps 1 to 6 at least, before all trips are known. Called for
// every node of the search.
// Knows of a family of orders which operands may rest in the units' stores.
//
// Of the operands that are kept inside the array at most one rests there, the others stream; what
// rests is waited for where its store is single buffered, and so is what the outermost memory
// brings to such stores, whatever bursts it meets. So, for the operand c that rests,
//   T >= max(compute, streams of all but c) + drain + max(waits for c, waits for the outermost)
// and the least over all c that may rest (or none) holds for all orders of the family.
#pragma once

#include "mapper/space.hpp"
#include "mapper/ways.hpp"

namespace eyeroof::mapper {

class Waits {
  public:
    explicit Waits(const Space& space);

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
    std::vector<ChannelCycles> at_edge_;
    std::vector<ChannelCycles> at_outermost_;
    model::OperandSet all_;
    model::OperandSet inside_; // kept inside the array
    model::OperandSet late_edge_;
    model::OperandSet late_outer_;
    model::OperandSet candidates_;
    bool none_ = false; // may nothing that is kept inside rest?
};

} // namespace eyeroof::mapper
