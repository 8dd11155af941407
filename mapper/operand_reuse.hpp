// Step 7 of whole mappings, from the factors of a space: which operand's tile rests in each block,
// over which of its loops, and the reported time that follows. Called at the leaves of the search.
//
// What a mapping moves depends on orders as BlockOrder says: what rests does so over all loops that
// do not move it. Its time depends on more: how often each tile changes. With the innermost loops
// of a block that leave an operand at rest (each loop leaves at most one) all these are known, so
// that every order of loops falls into one of the classes that are tried here, and moves no less
// than the class with the same operand at rest over all loops that do not move it.
#pragma once

#include "mapper/estimate.hpp"
#include "model/cost/latency.hpp"

#include <map>

namespace eyeroof::mapper {

class OperandReuse {
  public:
    // The estimator means the same orders in every call. Both must outlive it.
    OperandReuse(const Space& space, Estimator& estimator);

    struct Good {
        double value = 0.0; // at least
        std::vector<BlockOrder> orders;
    };
    // The orders of these chains, of those combinations that the estimator means, whose value is
    // not above `cut`, best first. After Estimator::relaxed() with Known::all.
    std::vector<Good> good(const std::array<std::uint32_t, kGroups>& chains, const double* product,
                           double cut);
    // The value of the best of them; endless where there is none.
    double least(const std::array<std::uint32_t, kGroups>& chains, const double* product,
                 double cut);

  private:
    struct Reuse { // of a block
        std::optional<model::Operand> operand;
        BlockOrder order;
    };
    struct Block {
        model::DimSet dims; // with more than one trip
        // Trips of this block and those outside it together, those without work left out.
        std::array<double, model::kDims> advances{};
        // Of each of its orders, what may rest; for the dimensions `listed`.
        std::vector<const std::vector<Reuse>*> reuses;
        std::optional<model::DimSet> listed;
    };
    using Chosen = std::array<const Reuse*, kMaxLevels>;
    using BlockDims = std::array<std::uint8_t, kMaxLevels>; // as bits
    struct Tried {                                          // a combination
        double least = 0.0;                                 // no value of it is lower
        double pj = 0.0;
        std::size_t combination = 0;
    };
    struct CrossingOf {
        std::uint32_t resting = 0; // the operand of each block, and whether it rests over loops
        Crossing crossing;
    };

    void list_dims(const std::array<std::uint32_t, kGroups>& chains);
    void list_reuses(std::size_t block);
    const std::vector<std::uint32_t>& possible();
    void list_tried(const std::array<std::uint32_t, kGroups>& chains, const double* product,
                    double cut);
    void try_combination(const Tried& tried);
    void load(const std::array<std::uint32_t, kGroups>& chains);
    void load_blocks(const std::array<std::uint32_t, kGroups>& chains);
    void load_dim(model::Dim dim, const Split& split);
    void load_tiles();
    double hops_of(const std::array<std::uint32_t, kGroups>& chains);
    bool waiting(std::size_t block, model::Operand o) const;
    // The operand among whose orders those are tried in which `o`, or nothing, rests.
    model::Operand owner(std::size_t block, std::optional<model::Operand> o) const;
    std::vector<Reuse> make_reuses(std::size_t block, const BlockOrder& order) const;
    void add_reuse(std::size_t block, const BlockOrder& order, model::Operand o,
                   std::vector<Reuse>& reuses) const;
    void add_streaming(std::size_t block, const BlockOrder& order,
                       std::vector<Reuse>& reuses) const;
    bool stays_apart(const BlockOrder& order, model::DimSet first) const;
    bool slides_apart(std::size_t block, const BlockOrder& order, model::DimSet may_slide,
                      bool others) const;
    void try_all(std::size_t block, const Tried& tried);
    const Crossing& crossing();
    double changes(model::Operand o, std::size_t to) const;
    double least_cycles(const Crossing& crossing) const;

    const Space& space_;
    const Task& task_;
    Estimator& estimator_;
    std::size_t levels_;
    std::size_t edge_;
    std::size_t last_ = 0; // the innermost block whose loops the time depends on
    model::OperandSet present_;
    model::OperandSet kept_inside_;
    model::PerOperand<std::size_t> next_{}; // the first level below the outermost that keeps it
    std::vector<ChannelCost> at_edge_;
    std::vector<ChannelCost> at_outermost_;

    std::vector<std::uint8_t> order_at_; // by combination and level: index of its order

    // Of the leaf:
    const double* product_ = nullptr;
    std::array<Block, kMaxLevels> blocks_{};
    model::OperandSet early_edge_;
    model::OperandSet early_outer_;
    double hops_ = 0.0;
    double instances_ = 1.0;
    double compute_ = 1.0;
    double steps_ = 1.0;
    std::vector<Tried> tried_;
    Chosen chosen_{};
    std::vector<BlockOrder> orders_;
    std::vector<CrossingOf> crossings_; // of the combination that is tried
    double cut_ = 0.0;
    bool best_only_ = false;
    double least_ = 0.0; // value so far
    std::vector<Good> found_;

    // Known from leaves before:
    model::Mapping mapping_; // of the leaf: what is kept, trips in any order, no axes
    std::array<std::uint32_t, kGroups> loaded_{}; // chains that mapping_ and the advances are of
    std::map<model::Extents, double> known_hops_;
    std::map<std::array<std::size_t, 3>, std::vector<Reuse>> known_reuses_; // block, order, dims
    std::map<BlockDims, std::vector<std::uint32_t>> known_possible_;
    std::size_t most_possible_ = 0; // combinations in it, and its entries
};

} // namespace eyeroof::mapper
