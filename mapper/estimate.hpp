// Energy and cycles from the factors of a space: exact energy, and cycles that are exact for
// perfect factors and never too high otherwise. On a node of the trees both are lower bounds.
// Called by every strategy, millions of times a second: nothing here allocates once it is made.
// Knows no mapping: only columns.
#pragma once

#include "mapper/space.hpp"
#include "mapper/waits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::mapper {

struct Estimate {
    double energy_pj = 0.0;
    double cycles = 0.0;
};

// What is decided of the factors that a product was made of: nothing; all trips in space; all.
enum class Known { little, space, all };

// By level; least energies that are not known bound nothing.
inline constexpr double kUnbounded = -std::numeric_limits<double>::infinity();
inline constexpr std::array<double, kMaxLevels> kNoFloors = {
    kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded, kUnbounded};

// Cycles that no mapping of a task falls below by the first three steps of Eyexam.
struct Steps {
    double workload = 1.0; // all MACs at once
    double dataflow = 1.0; // dimensions that may lie on no axis run in time
    double units = 1.0;    // as many at a time as there are units

    bool operator==(const Steps&) const = default;
};
Steps least_steps(const Task& task);

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
    double fanout(std::size_t level) const { return fanout_[level]; } // instances below one

    // ---- orders ---------------------------------------------------------------------------------
    // Every combination of orders of the blocks.
    const std::vector<std::vector<BlockOrder>>& combinations() const { return combinations_; }
    // Combinations (indices) in which the same operands rest, block by block: what is left open
    // is which window slides first.
    const std::vector<std::vector<std::size_t>>& families() const { return families_; }
    // From here on only these combinations are meant.
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
    double value(double energy_pj, double cycles) const; // infinite beyond the limits

    // Of the links into a level, those variants that meant combinations have.
    std::vector<std::uint8_t> variants_into(std::size_t level) const;
    // The columns that fits_level() and into_level_pj() read then.
    std::vector<bool> read_into(std::size_t level) const;

    // What crosses the networks below level 0 and below `edge` when the loops of each block run in
    // these orders; all trips are known. After relaxed().
    Crossing crossing(const std::vector<BlockOrder>& orders, std::size_t edge,
                      const double* product) const;
    // Combinations that are meant, and the energy of one; after choose() on the same product.
    const std::vector<std::size_t>& meant() const { return meant_; }
    void choose(const double* product);
    double energy_pj(std::size_t combination) const;
    double least_cycles() const { return least_cycles_; }

    // Cycles of the units, at least, by what is left of the fan-outs while not all trips in space
    // are decided; for relaxed().
    void set_steps_left(double cycles) { steps_left_ = cycles; }

    // ---- step 7 ---------------------------------------------------------------------------------
    // Cycles that come on top of those of the units at least, to drain the array.
    void set_ramp(double cycles) { ramp_ = cycles; }
    double ramp() const { return ramp_; }

    // ---- floors ---------------------------------------------------------------------------------
    // Least energy of the links into `level` alone.
    double into_level_pj(const double* product, std::size_t level);
    // Least energy of the links into each level in any mapping; relaxed() and order_bound() use it.
    void set_floors(const std::array<double, kMaxLevels>& floors) { floors_ = floors; }
    const std::array<double, kMaxLevels>& floors() const { return floors_; }

  private:
    friend class Evaluator;

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

        // Whole banks, once per buffer, as in the validation of mappings. words(column)
        template <class Words> bool holds(Words words) const {
            double need = 0.0;
            for (std::size_t n = 0; n < count; ++n) {
                const double bytes = words(tiles[n].column) * tiles[n].bytes;
                if (bytes > capacity) {
                    return false;
                }
                need += whole ? bytes : std::ceil(std::ceil(bytes) / bank) * bank;
            }
            return need * buffers <= capacity;
        }
    };
    struct Active { // variants that some meant combination has
        std::array<std::uint8_t, kMaxVariants> variants{};
        std::size_t count = 0;

        bool operator==(const Active&) const = default;
    };
    struct Chosen { // of a choice, for the last product
        std::size_t variant = 0;
        double pj = 0.0;
    };
    struct Pacer { // a store's or a network's finite bandwidth, one way or both
        enum class Way : std::uint8_t { read, write, down, up };
        struct Part {
            Way way = Way::read;
            std::uint8_t operand = 0;
            double cycles_per_word = 0.0; // of partial results, where the operand is produced …
            double cycles_saved = 0.0;    // … which the complete ones, once each, take less
        };
        std::size_t level = 0;
        std::array<Part, 2 * model::kOperands> parts{};
        std::size_t count = 0;
    };

    void list_combinations();
    void list_families();
    void list_choices();
    void list_terms();
    void list_fits();
    void list_pacers();
    void add_pacer(std::size_t level, const Pacer& pacer);
    void tabulate(const double* product, Known known);
    double terms_pj(std::size_t link, std::size_t v, const double* product) const;
    template <class Each> void tabulate_sums(const double* product, Known known, Each each);
    std::size_t variant_at(const Link& link, std::size_t back,
                           const std::vector<BlockOrder>& orders) const;
    std::size_t least_variant(const Link& link, const Active& some, const double* product) const;
    const Chosen& chosen(std::size_t link, std::size_t combination) const {
        return chosen_[link][choice_of_[combination * space_->links.size() + link]];
    }
    double cycles_under(std::size_t combination, const double* product) const;
    bool even_lanes(const double* product) const;
    template <class Energy> double with_floors(Energy energy) const;
    double pace(const std::array<std::size_t, kMaxLinks>& variants, const double* product,
                Known known) const;
    double least_pace(const double* product, Known known);
    Crossing crossing_of(const Words& words, std::size_t edge) const;
    void move(const std::array<std::size_t, kMaxLinks>& variants, const double* product,
              Known known, Words& words) const;
    double trade_pj(std::size_t below, double returned, double lanes, double cost, double gain,
                    const double* product) const;
    template <class Count>
    void add_words(const Link& link, std::size_t o, Count count, double& fresh, bool& bounded,
                   Known known, const double* product, Words& words) const;
    double cycles_of(const Words& words, const double* product, Known known) const;
    double unit_cycles(const double* product) const {
        return std::max({product[space_->steps], least_steps_, steps_left_});
    }

    const Space* space_;
    const Task* task_;
    Objective objective_;
    std::size_t levels_;
    double macs_;
    double units_;
    Steps least_;        // of every mapping
    double least_steps_; // … by the third step: all units at work all the time
    double steps_left_ = 0.0;
    double ramp_ = 0.0;  // cycles after those of the units
    bool ramps_ = false; // does step 7 count?
    std::optional<Waits> waits_;
    double waited_ = 0.0;     // cycles with the waits of step 7, of the last product
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
    std::vector<std::size_t> meant_;                        // combinations
    std::vector<std::vector<Active>> choices_;              // of each link, one of each kind
    std::vector<std::uint32_t> choice_of_;                  // by combination and link
    std::vector<std::vector<std::uint32_t>> meant_choices_; // of each link
    std::vector<std::vector<Chosen>> chosen_;               // of each link, by choice
    std::vector<Active> active_;                            // by link

    // Of the last product: energy of each link's variants, what no order changes, cycles at least.
    std::array<std::array<double, kMaxVariants>, kMaxLinks> pj_{};
    std::array<double, kMaxLinks> least_pj_{};
    std::array<double, kMaxLevels> floors_ = kNoFloors;
    double base_pj_ = 0.0;
    double least_cycles_ = 0.0;
    Limit limit_ = Limit::none;
};

} // namespace eyeroof::mapper
