// The factors that a chain contributes to every count: the cost factors of a space. What depends on
// one dimension alone is worked out once for each of its splits, what a window needs once for each
// pair of loop lists.
#pragma once

#include "mapper/space.hpp"
#include "model/nest/flow.hpp"

#include <bitset>
#include <map>
#include <unordered_map>

namespace eyeroof::mapper {

// Stands for a variant that does not apply; finite, so that times 0 pJ it is 0.
inline constexpr double kNever = 1e30;

class CostFactorMaker {
  public:
    explicit CostFactorMaker(const Space& space);

    // The group and the splits of its one or two dimensions that fill() speaks of.
    void prepare(std::size_t group, const std::vector<Split>& first, const std::vector<Split>& taps,
                 const Effort& effort);
    // Cost factors of the chain of these splits (indices); false, and only half done, when its
    // tiles alone overflow a store.
    bool fill(std::size_t first, std::size_t tap, double* out);

  private:
    struct Query { // a cost factor, and what of a link it counts
        std::size_t cost_factor = 0;
        std::size_t link = 0;
        std::size_t closing = 0; // temporal loops of blocks inside this one rest …
        bool free = false;       // … and those of this one, too
        std::size_t merge_from = 0;
        bool merges = false;      // some networks merge: those of merging_ or reducing_
        bool reduces_all = false; // all do
        std::optional<Slide> slide;
        model::nest::Measure measure = model::nest::Measure::received;
        bool leaving = false;
        bool passed = false; // loops inside the closing block must not move the tile
    };
    struct TripsKey { // what the trips of one dimension depend on, besides its split
        bool relevant = false, of_window = false, free = false, passed = false;
        std::size_t child = 0, closing = 0;
        std::bitset<kMaxLevels> merged;
        bool operator==(const TripsKey&) const = default;
    };
    struct Rows { // of all splits of a dimension
        std::vector<double> steps;
        std::vector<double> factors;      // by split and query; windows: kNever or 1
        std::vector<std::uint32_t> loops; // by split and query; of windows
    };

    void list_queries();
    void list_link(std::size_t link);
    bool forwards(const Link& link) const;
    std::vector<bool> merging(const Link& link) const;
    TripsKey trips_key(const Query& query, std::size_t n) const;
    std::vector<std::size_t> first_alike(std::size_t n) const;
    void add_row(std::size_t n, const Split& split, const std::vector<std::size_t>& alike);
    bool counts(const Query& query, const Split& split, std::size_t level) const;
    bool merged(const Query& query, std::size_t level) const;
    bool passes(const Query& query, std::size_t n, const Split& split) const;
    double visits(const Query& query, std::size_t n, const Split& split) const;
    bool window(const Query& query) const;
    std::uint32_t loops_of(const Query& query, std::size_t n, const Split& split);
    bool may_pass_on(const Query& query) const;
    double window_words(const Query& query, std::uint32_t p, std::uint32_t r);
    bool fill_tiles(double* out) const;
    model::Dim dim(std::size_t n) const { return space_.groups[group_].dims[n]; }
    Count bound(std::size_t n) const { return task_.problem.bounds[index(dim(n))]; }

    const Space& space_;
    const Task& task_;
    std::size_t levels_;
    model::nest::Nest empty_;
    std::optional<model::nest::FlowCounter> flow_;
    std::vector<Query> queries_;
    std::vector<std::vector<bool>> merging_; // of each link: does the network below a level merge?

    std::size_t group_ = 0;
    std::array<Rows, 2> rows_;
    std::array<const std::vector<Split>*, 2> splits_{};
    std::array<const Split*, 2> at_{};
    std::array<std::map<std::vector<Count>, std::uint32_t>, 2> known_; // loop lists
    std::array<std::vector<model::nest::FlowCounter::AxisLoops>, 2> loops_;
    struct { // of loops_of, which makes millions of them, nearly all known
        // 0: counted, 1: merged, 2: moves first
        std::vector<std::pair<model::nest::Digit, int>> inner_first;
        model::nest::FlowCounter::AxisLoops result;
        std::vector<Count> key;
    } scratch_;
    std::unordered_map<std::uint64_t, double> words_;
};

} // namespace eyeroof::mapper
