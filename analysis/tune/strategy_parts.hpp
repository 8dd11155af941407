// Common parts of strategies: batches of distinct points, and annealing on a score.
#pragma once

#include "analysis/tune/strategy.hpp"

#include <span>

namespace eyeroof::analysis::tune {

// Points of a batch, each once and none of the history.
class Batch {
  public:
    Batch(const Space& space, const History& history, std::size_t wanted)
        : space_(space), history_(history), wanted_(wanted) {}

    bool full() const { return proposals_.size() >= wanted_; }
    bool add(const Point& point, double score = 0.0);
    // Random points until it is full or the space seems to be exhausted.
    void fill(Rng& rng);
    std::vector<Proposal> take() { return std::move(proposals_); }

  private:
    const Space& space_;
    const History& history_;
    std::size_t wanted_;
    std::vector<Proposal> proposals_;
    std::unordered_set<Count> in_;
};

// Higher is better; of many points at once.
using Score = std::function<std::vector<double>(std::span<const Point>)>;

struct AnnealOptions {
    std::size_t chains = 64;
    int steps = 100;
    int patience = 40; // steps without a new point among the best
    std::size_t keep = 64;
};

// Parallel simulated annealing with energy -score, temperature from one deviation of the first
// scores to 0, one random knob a move. The best points that were met and are not in the history,
// best first; `chains` are where it begins and where it ended.
std::vector<Proposal> anneal_on(const Space& space, const Score& score, const History& history,
                                const AnnealOptions& options, std::vector<Point>& chains, Rng& rng,
                                const std::stop_token& stop);

std::unique_ptr<Strategy> make_learned(const SearchTask& search_task,
                                       const StrategyOptions& options, std::stop_token stop);

} // namespace eyeroof::analysis::tune
