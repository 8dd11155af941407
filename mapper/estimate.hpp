// Energy and cycles from the factors of a space: exact energy, and cycles that are exact for
// perfect factors and never too high otherwise. On a node of the trees both are lower bounds.
#pragma once

#include "mapper/bandwidth_cycles.hpp"
#include "mapper/fits.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::mapper {

struct Estimate {
    double energy_pj = 0.0;
    double cycles = 0.0;
};

// By level; least energies that are not known bound nothing.
inline constexpr double kUnbounded = -std::numeric_limits<double>::infinity();
inline constexpr std::array<double, kMaxLevels> kNoLowerBounds = {
    kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded};

// Cycles that no mapping of a task falls below by the first three steps of Eyexam.
struct Steps {
    double workload = 1.0; // all MACs at once
    double dataflow = 1.0; // dimensions that may lie on no axis run in time
    double units = 1.0;    // as many at a time as there are units

    bool operator==(const Steps&) const = default;
};
Steps least_steps(const Task& task);

class Estimator {
  public:
    explicit Estimator(const Space& space);

    const Products& products() const { return products_; }
    const Fits& fits() const { return fits_; }
    const OrderChoices& orders() const { return orders_; }
    // From here on only these combinations of orders are meant.
    void restrict_to(const std::vector<std::size_t>& combinations);

    // ---- values ---------------------------------------------------------------------------------
    // The first step of Eyexam whose cycles put a bound above the cut: energy with all MACs at
    // once, with what the dataflow must do one after the other, with the units there are, the trips
    // in time (step 4), the bandwidths (step 6), or the filling and draining (step 7).
    enum class Limit { none, workload, dataflow, units, steps, bandwidth, ramps };

    // Each operand at its best order, whether or not one order is best for all. Stops as soon as
    // the bound is above `cut`; limit() then says by which part.
    double relaxed(const double* product, Known known, double cut);
    Limit limit() const { return limit_; }
    // After relaxed() on the same product: the same bound with one order of loops for all operands,
    // as far as needed to see that it is not above `cut`.
    double order_bound(const double* product, double cut);
    // After relaxed() with Known::all: orders whose value is not above `cut`, best first. Where
    // values are sure to be exact the best one only.
    std::vector<std::pair<double, std::size_t>> good_orders(const double* product, double cut);
    // Are energies those of model::cost_of(), and cycles where all instances have as much to do?
    bool exact() const { return exact_; }
    // Of energy without what leaks in so many cycles, which follows the last product; infinite
    // beyond the limits.
    double value(double switching_pj, double cycles) const;
    double value(const Estimate& whole) const; // all energy there is

    // What crosses the networks below level 0 and below `edge` when the loops of each block run in
    // these orders; all trips are known. After relaxed().
    Crossing crossing(const std::vector<BlockOrder>& orders, std::size_t edge,
                      const double* product) const;
    // From here on the variants of links are those of this product, which must stay as it is, …
    void choose(const double* product);
    // … and this is the energy of a combination with them.
    double energy_pj(std::size_t combination);
    double least_cycles() const { return least_cycles_; }

    // Cycles of the units, at least, by what is left of the fan-outs while not all trips in space
    // are decided; for relaxed().
    void set_steps_left(double cycles) { steps_left_ = cycles; }

    // ---- step 7 ---------------------------------------------------------------------------------
    // Cycles that come on top of those of the units at least, to drain the array.
    void set_ramp(double cycles) { ramp_ = cycles; }
    double ramp() const { return ramp_; }

    // ---- lower bounds ---------------------------------------------------------------------------
    // Least energy of the links into `level` alone.
    double into_level_pj(const double* product, std::size_t level);
    // Least energy of the links into each level in any mapping; relaxed() and order_bound() use it.
    void set_lower_bounds(const std::array<double, kMaxLevels>& lower_bounds) {
        lower_bounds_ = lower_bounds;
    }
    const std::array<double, kMaxLevels>& lower_bounds() const { return lower_bounds_; }

  private:
    friend class Evaluator;

    struct Term { // energy: coefficient times cost factor
        double pj = 0.0;
        std::size_t cost_factor = 0;
    };
    struct Chosen {                // of a choice
        std::uint64_t product = 0; // products_chosen_ when it was computed
        std::size_t variant = 0;
        double pj = 0.0;
    };
    void list_energies();
    void list_sums();
    void list_terms();
    void tabulate(const double* product, Known known);
    void list_leaks();
    // pJ per cycle of the levels' instances, at least; `spatial(i)`: trips in space below level i.
    template <class Spatial> double leak_rate(Spatial spatial) const;
    double terms_pj(std::size_t link, std::size_t v, const double* product) const;
    template <class Each> void tabulate_sums(const double* product, Known known, Each each);
    std::size_t least_variant(const Link& link, const Variants& some, const double* product) const;
    const Chosen& chosen(std::size_t link, std::size_t combination);
    double cycles_under(std::size_t combination, const double* product);
    bool even_lanes(const double* product) const;
    template <class Energy> double with_lower_bounds(Energy energy) const;
    double least_bandwidth_cycles(const double* product, Known known);
    double trade_pj(std::size_t below, double returned, double lanes, double cost, double gain,
                    const double* product) const;
    double unit_cycles(const double* product) const {
        return std::max({product[space_->steps], least_steps_, steps_left_});
    }

    const Space* space_;
    const Task* task_;
    Products products_;
    Fits fits_;
    OrderChoices orders_;
    BandwidthCycles bandwidth_cycles_;
    Objective objective_;
    std::size_t levels_;
    double macs_;
    Steps least_;        // of every mapping
    double least_steps_; // … by the third step: all PEs active all the time
    double steps_left_ = 0.0;
    double ramp_ = 0.0;  // cycles after those of the units
    bool ramps_ = false; // does step 7 count?
    std::optional<Stalls> stalls_;
    double stalled_cycles_ = 0.0; // cycles with the stalls of step 7, of the last product
    double made_words_ = 0.0;     // of the produced operand
    bool exact_ = true;           // values are those of model::cost_of(), not only bounds of them
    bool timeloop_ = false;
    // Do lower bounds hold for sums? Where sums of several lanes start from zero two homes further
    // in, what one link costs is saved at the next, and only both together are bounded.
    bool sums_bounded_ = true;
    std::array<std::array<double, model::kOperands>, kMaxLevels> read_pj_{};
    std::array<std::array<double, model::kOperands>, kMaxLevels> write_pj_{};
    std::array<double, kMaxLevels> update_pj_{}; // of the results
    std::array<std::array<double, model::kOperands>, kMaxLevels> hop_pj_{};
    // Of each instance of a level, or of a MAC unit (levels_), and cycle; what never depends on the
    // mapping, a cycle and in all.
    std::array<double, kMaxLevels + 1> leak_pj_{};
    bool gated_ = false; // the instances that leak are those at work
    double fixed_leak_rate_ = 0.0;
    double least_leak_pj_ = 0.0;
    std::vector<std::size_t> sums_;           // links of the produced operand, outermost first
    std::vector<std::vector<Term>> terms_;    // of each link: reads, or a sum's hops
    std::vector<std::vector<Chosen>> chosen_; // of each link, by choice, where asked for
    const double* chosen_product_ = nullptr;
    std::uint64_t products_chosen_ = 0;

    // Of the last product: energy of each link's variants, what no order changes, cycles at least.
    std::array<std::array<double, kMaxVariants>, kMaxLinks> pj_{};
    std::array<double, kMaxLinks> least_pj_{};
    std::array<double, kMaxLevels> lower_bounds_ = kNoLowerBounds;
    double base_pj_ = 0.0;
    double leak_rate_ = 0.0; // pJ per cycle
    double least_cycles_ = 0.0;
    Limit limit_ = Limit::none;
};

template <class Spatial> double Estimator::leak_rate(Spatial spatial) const {
    if (!gated_) {
        return fixed_leak_rate_;
    }
    double pj = leak_pj_[0];
    double instances = 1.0;
    for (std::size_t i = 0; i < levels_; ++i) {
        instances *= spatial(i);
        pj += leak_pj_[i + 1] * instances;
    }
    return pj;
}

} // namespace eyeroof::mapper
