// Energy and cycles from the factors of a space: exact energy, and cycles that are exact for
// perfect factors and never too high otherwise. On a node of the trees both are lower bounds.
// Called by every strategy, millions of times a second: nothing here allocates once it is made.
// Knows no mapping: only columns.
#pragma once

#include "mapper/space.hpp"

namespace eyeroof::mapper {

struct Estimate {
    double energy_pj = 0.0;
    double cycles = 0.0;
};

// What is decided of the factors that a product was made of: nothing; all trips in space; all.
enum class Known { little, space, all };

using Factors6 = std::array<const double*, kGroups>; // a row of columns of each group

class Estimator {
  public:
    explicit Estimator(const Space& space);

    // ---- products over groups, one a column: those that fits() reads, then the others ----------
    void multiply_tiles(const Factors6& factors, double* product) const;
    void multiply_rest(const Factors6& factors, double* product) const;
    // All columns of all groups but one …
    void multiply_others(const Factors6& factors, std::size_t apart, double* product) const;
    // … and that one on top.
    void complete_tiles(const double* others, const double* last, double* product) const;
    void complete_rest(const double* others, const double* last, double* product) const;

    // Why nothing below a node can be a mapping.
    enum class Misfit { none, fanout, capacity, utilization };
    Misfit misfit(const double* product) const;
    bool fits(const double* product) const { return misfit(product) == Misfit::none; }
    bool fits_level(const double* product, std::size_t level) const;

    // ---- orders ---------------------------------------------------------------------------------
    // Every combination of orders of the blocks.
    const std::vector<std::vector<BlockOrder>>& combinations() const { return combinations_; }
    // Combinations (indices) in which the same operands rest, block by block: what is left open
    // is which window slides first.
    const std::vector<std::vector<std::size_t>>& families() const { return families_; }
    // From here on only these combinations are meant.
    void restrict_to(const std::vector<std::size_t>& combinations);

    // ---- values ---------------------------------------------------------------------------------
    // Which part of a bound is above the cut: energy at the full rate of all units (Eyexam's third
    // step), the trips in time (fourth), or the bandwidths (sixth).
    enum class Limit { none, units, steps, bandwidth };

    // Each operand at its best order, whether or not one order is best for all. Stops as soon as
    // the bound is above `cut`; limit() then says by which part.
    double relaxed(const double* product, Known known, double cut);
    Limit limit() const { return limit_; }
    // After relaxed() on the same product: the same bound with one order of loops for all operands,
    // as far as needed to see that it is not above `cut`.
    double order_bound(const double* product, double cut) const;
    // After relaxed() with Known::all: orders whose value is not above `cut`, best first. Where
    // values are exact the best one only.
    std::vector<std::pair<double, std::size_t>> good_orders(const double* product,
                                                            double cut) const;
    bool exact() const { return exact_; }
    double value(double energy_pj, double cycles) const; // infinite beyond the limits

    // One mapping in closed form: the factors' leaves under one combination. Only the columns that
    // it needs are multiplied. {inf, inf} when it does not fit.
    Estimate evaluate(const Factors6& factors, std::size_t combination, double* product);
    // The same for neighbours that differ in one group: the product of the others (from
    // multiply_others()) and that group's leaf.
    Estimate evaluate_beside(const double* others, const double* last, std::size_t combination,
                             double* product);

    // ---- floors ---------------------------------------------------------------------------------
    // Least energy of the links into `level` alone.
    double into_level_pj(const double* product, std::size_t level);
    // Least energy of the links into each level in any mapping; relaxed() and order_bound() use it.
    void set_floors(const std::array<double, kMaxLevels>& floors) { floors_ = floors; }
    const std::array<double, kMaxLevels>& floors() const { return floors_; }

  private:
    static constexpr std::size_t kMaxLinks = model::kOperands * kMaxLevels;
    static constexpr std::size_t kMaxVariants = 2 * 4 * kMaxLevels;
    struct Words; // of each level and operand, all instances together
    struct Term { // energy: coefficient times column
        double pj = 0.0;
        std::size_t column = 0;
    };
    struct Fit { // a store and the tiles in it
        struct Tile {
            std::size_t column = 0;
            double bytes = 0.0; // of a word
        };
        std::array<Tile, model::kOperands> tiles{};
        std::size_t count = 0;
        bool whole = true; // no tile takes a part of a byte or of a bank
        double bank = 1.0;
        double buffers = 1.0;
        double capacity = 0.0;
    };
    struct Active { // variants that some meant combination has
        std::array<std::uint8_t, kMaxVariants> variants{};
        std::size_t count = 0;
    };
    struct Pacer { // a store's or a network's finite bandwidth, one way or both
        enum class Way : std::uint8_t { read, write, down, up };
        struct Part {
            Way way = Way::read;
            std::uint8_t operand = 0;
            double cycles_per_word = 0.0;
        };
        std::size_t level = 0;
        std::array<Part, 2 * model::kOperands> parts{};
        std::size_t count = 0;
    };
    struct Plan { // of a combination: what one mapping under it needs
        std::vector<std::pair<std::uint32_t, std::uint32_t>> runs; // of columns: first, end
        std::array<Active, kMaxLinks> variants{};                  // of which one applies
    };

    void list_combinations();
    void list_families();
    void list_terms();
    void list_fits();
    void list_pacers();
    void add_pacer(std::size_t level, const Pacer& pacer);
    const Plan& plan_of(std::size_t combination);
    Estimate of_plan(const Plan& plan, const double* product);
    void tabulate(const double* product, Known known);
    double energy_of(const std::array<std::size_t, kMaxLinks>& variants, const double* product);
    double terms_pj(std::size_t link, std::size_t v, const double* product) const;
    template <class Each> void tabulate_sums(const double* product, Known known, Each each);
    std::size_t variant_at(const Link& link, std::size_t back,
                           const std::vector<BlockOrder>& orders) const;
    std::size_t ordered_variant(std::size_t link, const double* product,
                                const std::vector<BlockOrder>& orders) const;
    Estimate ordered(const double* product, const std::vector<BlockOrder>& orders) const;
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

    const Space* space_;
    const Task* task_;
    Objective objective_;
    std::size_t levels_;
    double macs_;
    double units_;
    double least_steps_;      // all units at work all the time
    double made_words_ = 0.0; // of the produced operand
    bool exact_ = true;       // values are those of model::cost_of(), not only bounds of them
    bool timeloop_ = false;
    // Do floors hold for sums? Where sums of several lanes start from zero two homes further in,
    // what one link costs is saved at the next, and only both together are bounded.
    bool sums_floored_ = true;
    std::size_t tile_columns_ = 0;
    std::array<std::array<double, model::kOperands>, kMaxLevels> read_pj_{};
    std::array<std::array<double, model::kOperands>, kMaxLevels> write_pj_{};
    std::array<std::array<double, model::kOperands>, kMaxLevels> hop_pj_{};
    std::array<double, kMaxLevels> fanout_{};
    std::vector<std::size_t> sums_;        // links of the produced operand, outermost first
    std::vector<std::vector<Term>> terms_; // of each link: reads, or a sum's hops
    std::vector<Pacer> pacers_;
    std::array<std::vector<Fit>, kMaxLevels> fits_;
    std::vector<std::vector<BlockOrder>> combinations_;
    std::vector<std::vector<std::size_t>> families_;
    std::vector<Plan> plans_;        // by combination; without runs: not yet made
    std::vector<std::size_t> meant_; // combinations
    std::vector<Active> active_;     // by link

    // Of the last product: energy of each link's variants, what no order changes, cycles at least.
    std::array<std::array<double, kMaxVariants>, kMaxLinks> pj_{};
    std::array<double, kMaxLinks> least_pj_{};
    std::array<double, kMaxLevels> floors_{};
    double base_pj_ = 0.0;
    double least_cycles_ = 0.0;
    Limit limit_ = Limit::none;
};

} // namespace eyeroof::mapper
