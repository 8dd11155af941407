// Selection of candidates: one interface for all strategies, which receive the measured trials and
// propose the next ones.
// Driven by search.cpp and by the studies.
#pragma once

#include "analysis/trials/search_task.hpp"
#include "analysis/tune/trees.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <vector>

namespace eyeroof::analysis::tune {

enum class StrategyKind { random, grid, genetic, anneal, analytic, learned };
std::string_view strategy_name(StrategyKind kind);
std::optional<StrategyKind> strategy_from_name(std::string_view name);
std::vector<std::string> strategy_names();

// What other layers' or machines' measurements have taught: higher for better points. Its weight
// halves with every 64 measurements of the search task itself (AutoTVM).
using GlobalModel = std::function<std::vector<float>(const Table&)>;
// 2^(-n/64), 0 below 0.05.
double transfer_weight(std::size_t measured);

struct StrategyOptions {
    StrategyKind kind = StrategyKind::learned;
    std::uint64_t seed = 1;
    std::size_t batch = 16; // between two fits
    unsigned features = kAllFeatures;
    TreeOptions trees;
    double epsilon = 0.05;    // share of a batch that is drawn at random
    double diversity = 0.3;   // what a knob value that the batch has not yet is worth
    double uncertainty = 0.0; // deviations over four bootstrapped fits that are added to a score
    bool prior = false;       // trees learn what the closed form misses (residual); the first
                              // batch is the closed form's
    // The first batch, the same random points for all strategies that begin with one.
    std::size_t first = 16;
    GlobalModel global; // of transfer; none: none
};

// What was measured, and which points were.
class History {
  public:
    explicit History(const Space& space) : space_(&space) {}

    void add(Trial trial) {
        seen_.insert(space_->index_of(trial.point));
        trials_.push_back(std::move(trial));
    }
    const std::vector<Trial>& trials() const { return trials_; }
    bool seen(const Point& point) const { return seen_.contains(space_->index_of(point)); }
    std::size_t size() const { return trials_.size(); }

  private:
    const Space* space_;
    std::vector<Trial> trials_;
    std::unordered_set<Count> seen_;
};

struct Proposal {
    Point point;
    double score = 0.0; // of the strategy; 0: none
};

class Strategy {
  public:
    virtual ~Strategy() = default;
    // At most n points that were not measured yet, all different and valid; none: the space is
    // exhausted, or the strategy was asked to stop.
    virtual std::vector<Proposal> propose(std::size_t n, const History& history) = 0;
};

// The search task must outlive it.
std::unique_ptr<Strategy> make_strategy(const SearchTask& search_task,
                                        const StrategyOptions& options, std::stop_token stop = {});

} // namespace eyeroof::analysis::tune
