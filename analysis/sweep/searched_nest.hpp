// The best mapping of one nest at many machines that differ in sizes and rates alone, as a search
// at each would find it, by few searches.
//
// A mapping costs no less at a machine than at an easier one. So one search at a machine that is as
// easy as each of some points, for all mappings below the highest of the values known at these,
// finds every mapping that could be better at any of them. Where only a few mappings are (of rates,
// most of the time), hundreds of points need one search; where the best mapping of an easier
// machine runs here, too, at the same cost, none.
// Nor does a mapping take more than s times as long where all rates are 1/s: where rates bound a
// nest, a search at the slowest machine, values so scaled, asks for fewer mappings.
#pragma once

#include "analysis/sweep/ease.hpp"
#include "analysis/sweep/nest_candidate.hpp"
#include "mapper/search.hpp"

#include <optional>
#include <stop_token>

namespace eyeroof::analysis {

// What a search of the nest depends on beside its machine.
struct SearchRules {
    model::Dataflow dataflow;
    mapper::Objective objective;
    mapper::Factors factors = mapper::Factors::perfect;
    std::uint64_t max_nodes = 0;
};

struct SearchedPoint {
    const model::Accelerator* machine = nullptr;
    Ease ease; // of the machine; solve() reduces its axes to the sizes that the nest can use
    double leaking = 0.0;           // pJ per cycle of a machine whose idle units leak
    std::optional<NestFigures> own; // of the dataflow's own mapping, which searches begin with
    // Filled in by solve(): nothing where no mapping was found.
    std::optional<NestFigures> best;
    double value = 0.0; // of it, or of the best known so far
    bool own_is_best = false;
    bool settled = false;
};

class SearchedNest {
  public:
    SearchedNest(model::Problem problem, SearchRules rules)
        : problem_(std::move(problem)), rules_(std::move(rules)) {}

    // Settles all points; what was found for earlier ones begins the search of these. Points stay
    // open where `stop` ends it.
    void solve(const std::vector<SearchedPoint*>& points, const std::stop_token& stop);
    std::uint64_t searches() const { return searches_; }

  private:
    using Points = std::vector<SearchedPoint*>;
    struct Known {
        model::Mapping mapping;
        NestCandidate candidate;
        Ease runs;         // the smallest machine known to run it …
        Ease fails;        // … and the largest known not to; empty: none
        bool used = false; // the best somewhere
    };
    // The sizes and rates that a search is at, and the least value that any mapping has there.
    struct Searched {
        Ease ease;
        double least = 0.0;
        std::size_t found = 0; // mappings
        bool complete = false;
    };

    // Points that one search is for, and the end that it is at.
    struct Chosen {
        Points points;
        bool slow = false;
    };

    void list_usable(const model::Accelerator& machine);
    Ease usable(Ease ease) const;
    double value_of(const NestFigures& figures) const;
    double scale_of(const SearchedPoint& point, const Ease& slowest) const;
    bool runs(Known& known, const SearchedPoint& point) const;
    void consider(Known& known, SearchedPoint& point) const;
    // True: it is the best one so far of some of the points.
    bool add(const model::Mapping& mapping, const model::Accelerator& machine, const Ease& ease,
             const Points& points);
    Points of_largest_array(const Points& open) const;
    Chosen chosen(const Points& open) const;
    Searched search_all(const Chosen& chosen, const std::stop_token& stop);
    void search_one(SearchedPoint& point, const std::stop_token& stop);
    void settle_with(const Searched& searched, const Points& open) const;

    model::Problem problem_;
    SearchRules rules_;
    std::vector<Known> known_;
    std::vector<Searched> proofs_;
    // Of each axis, the trips in space that some mapping has, rising; empty: any number.
    std::vector<std::vector<double>> usable_;
    // Of the values of points that one search is for: it widens while searches find few mappings.
    double window_ = 0.02;
    std::uint64_t searches_ = 0;
};

} // namespace eyeroof::analysis
