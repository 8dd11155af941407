// Energy and cycles from the factors of a space: exact energy, and cycles that are exact for
// perfect factors and never too high otherwise. On a node of the trees both are lower bounds.
// Called by every strategy, millions of times a second.
// Knows no mapping: only columns.
#pragma once

#include "mapper/space.hpp"

namespace eyeroof::mapper {

struct Estimate {
    double energy_pj = 0.0;
    double cycles = 0.0;
};

class Estimator {
  public:
    // What is decided of the factors that a product was made of: nothing; all trips in space; all.
    enum class Known { little, space, all };

    explicit Estimator(const Space& space);

    // Products over groups, one a column: those that fits() reads, then the others.
    void multiply_tiles(const std::array<const double*, kGroups>& factors, double* product) const;
    void multiply_rest(const std::array<const double*, kGroups>& factors, double* product) const;

    // Do the tiles fit, and the trips in space the fan-outs (axes apart)?
    bool fits(const double* product) const;

    // Each operand at its best order, whether or not one order is best for all.
    double relaxed(const double* product, Known known);
    // After relaxed() on the same product: the same bound with one order of loops for all operands,
    // as far as needed to see that it is not above `cut`.
    double order_bound(double cut) const;
    // After relaxed() with Known::all: orders whose value is not above `cut`, best first. Where
    // values are exact the best one only.
    std::vector<std::pair<double, std::size_t>> good_orders(const double* product,
                                                            double cut) const;
    bool exact() const { return exact_; }
    // After relaxed() with Known::all: one order.
    Estimate ordered(const double* product, const std::vector<BlockOrder>& orders) const;

    // Energy of the links into `level` alone, after a tabulation of `product`: at least, with one
    // order for all. Used to find the floors.
    double into_level_pj(const double* product, std::size_t level, bool one_order);
    bool fits_level(const double* product, std::size_t level) const;
    // Least energy of the links into each level in any mapping; relaxed() and order_bound() use it.
    void set_floors(const std::array<double, kMaxLevels>& floors) { floors_ = floors; }

    // Every combination of orders of the blocks.
    const std::vector<std::vector<BlockOrder>>& combinations() const { return combinations_; }

  private:
    static constexpr std::size_t kMaxLinks = model::kOperands * kMaxLevels;
    static constexpr std::size_t kMaxVariants = 2 * 4 * kMaxLevels;
    struct Words; // of each level and operand, per instance

    // The objective; infinite beyond the limits on energy and cycles.
    double value(double energy_pj, double cycles) const;
    void list_combinations();
    void tabulate(const double* product, Known known);
    void tabulate_reads(std::size_t link, const double* product);
    void tabulate_sums(const double* product, Known known);
    double hops_pj(const Link& link, std::size_t v, const double* product) const;
    std::size_t ordered_variant(std::size_t link, const std::vector<BlockOrder>& orders) const;
    template <class Energy> double with_floors(Energy energy) const;
    double pace(const std::array<std::size_t, kMaxLinks>& variants, const double* product,
                Known known) const;
    double least_pace(const double* product, Known known) const;
    double trade_pj(std::size_t below, double returned, double lanes, double cost, double gain,
                    const double* product) const;
    template <class Count>
    void add_words(const Link& link, std::size_t o, Count count, double& fresh, bool& bounded,
                   Known known, const double* product, Words& words) const;
    double cycles_of(const Words& words, const double* product, Known known) const;

    const Space& space_;
    const Task& task_;
    Objective objective_;
    std::size_t levels_;
    double macs_;
    double units_;
    double made_words_ = 0.0; // of the produced operand
    bool exact_ = true;       // values are those of model::cost_of(), not only bounds of them
    bool paced_ = false;      // some store or network has a finite bandwidth
    std::size_t tile_columns_ = 0;
    std::array<std::array<double, model::kOperands>, kMaxLevels> read_pj_{};
    std::array<std::array<double, model::kOperands>, kMaxLevels> write_pj_{};
    std::array<std::array<double, model::kOperands>, kMaxLevels> hop_pj_{};
    std::array<double, kMaxLevels> fanout_{};
    std::vector<std::size_t> sums_; // links of the produced operand, outermost first
    std::vector<std::vector<BlockOrder>> combinations_;

    // Of the last product: energy of each link's variants, what no order changes, cycles at least.
    std::array<std::array<double, kMaxVariants>, kMaxLinks> pj_{};
    std::array<double, kMaxLevels> floors_{};
    double base_pj_ = 0.0;
    double least_cycles_ = 0.0;
};

} // namespace eyeroof::mapper
