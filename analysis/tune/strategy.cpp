#include "analysis/tune/strategy.hpp"

#include "analysis/tune/strategy_parts.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::tune {

namespace {

constexpr std::array<std::string_view, 6> kNames = {"random", "grid",     "genetic",
                                                    "anneal", "analytic", "learned"};

// A strategy that draws points of a space.
class Drawing : public Strategy {
  public:
    Drawing(const SearchTask& search_task, const StrategyOptions& options)
        : space_(search_task.space), rng_(options.seed) {}

  protected:
    const Space& space_; // NOLINT: of this file's strategies alone
    Rng rng_;            // NOLINT
};

class RandomStrategy final : public Drawing {
  public:
    using Drawing::Drawing;

    std::vector<Proposal> propose(std::size_t n, const History& history) override {
        Batch batch(space_, history, n);
        batch.fill(rng_);
        return batch.take();
    }
};

// All points one after the other, each knob's middle values before its ends, the first knobs
// fastest.
class GridStrategy final : public Strategy {
  public:
    explicit GridStrategy(const SearchTask& search_task) : space_(search_task.space) {
        for (const Knob& knob : space_.knobs()) {
            orders_.push_back(middle_first(knob.values.size()));
        }
    }

    std::vector<Proposal> propose(std::size_t n, const History& history) override {
        Batch batch(space_, history, n);
        constexpr Count kMisses = 10'000'000; // invalid ones in a row
        for (Count missed = 0; !batch.full() && missed < kMisses; ++missed, ++next_) {
            if (next_ >= space_.size()) {
                break;
            }
            const Point point = at(next_);
            if (space_.valid(point) && batch.add(point)) {
                missed = 0;
            }
        }
        return batch.take();
    }

  private:
    // 0 … n - 1 as halves, quarters, eighths of the range.
    static std::vector<std::uint32_t> middle_first(std::size_t n) {
        std::vector<std::uint32_t> order;
        std::vector<bool> taken(n, false);
        for (std::size_t parts = 2; order.size() < n; parts *= 2) {
            for (std::size_t part = 1; part < 2 * parts; part += 2) {
                const std::size_t at = std::min(n - 1, part * n / (2 * parts));
                if (parts > 4 * n) { // what rounding has missed
                    for (std::size_t i = 0; i < n; ++i) {
                        if (!taken[i]) {
                            taken[i] = true;
                            order.push_back(static_cast<std::uint32_t>(i));
                        }
                    }
                    break;
                }
                if (!taken[at]) {
                    taken[at] = true;
                    order.push_back(static_cast<std::uint32_t>(at));
                }
            }
        }
        return order;
    }
    Point at(Count index) const {
        Point point = space_.at(index);
        for (std::size_t knob = 0; knob < orders_.size(); ++knob) {
            point.digit[knob] = orders_[knob][point.digit[knob]];
        }
        return point;
    }
    const Space& space_;
    std::vector<std::vector<std::uint32_t>> orders_;
    Count next_ = 0;
};

double fitness(const Trial& trial) {
    return trial.outcome.ok() ? 1.0 / trial.outcome.cost : 0.0;
}

// The best so far are parents: tournaments of three, each knob from either, one knob in ten again.
class GeneticStrategy final : public Drawing {
  public:
    GeneticStrategy(const SearchTask& search_task, const StrategyOptions& options)
        : Drawing(search_task, options), options_(options) {}

    std::vector<Proposal> propose(std::size_t n, const History& history) override {
        Batch batch(space_, history, n);
        if (history.size() < options_.first) {
            batch.fill(rng_);
            return batch.take();
        }
        constexpr std::size_t kPopulation = 32;
        std::vector<Trial> parents = history.trials();
        std::stable_sort(parents.begin(), parents.end(),
                         [](const Trial& a, const Trial& b) { return fitness(a) > fitness(b); });
        parents.resize(std::min(parents.size(), kPopulation));
        for (int tries = 0; !batch.full() && tries < 500; ++tries) {
            const Point child = bred(winner(parents), winner(parents));
            if (space_.valid(child)) {
                batch.add(child);
            }
        }
        batch.fill(rng_);
        return batch.take();
    }

  private:
    const Point& winner(const std::vector<Trial>& sorted) {
        std::size_t best = sorted.size() - 1;
        for (int n = 0; n < 3; ++n) {
            best = std::min<std::size_t>(best, rng_.below(sorted.size()));
        }
        return sorted[best].point;
    }
    Point bred(const Point& a, const Point& b) {
        Point child;
        for (std::size_t knob = 0; knob < space_.knobs().size(); ++knob) {
            child.digit[knob] = rng_.with_chance(0.5) ? a.digit[knob] : b.digit[knob];
            if (rng_.with_chance(0.1)) {
                child.digit[knob] =
                    static_cast<std::uint32_t>(rng_.below(space_.knobs()[knob].values.size()));
            }
        }
        return child;
    }

    StrategyOptions options_;
};

// Simulated annealing on the measurements themselves: as many chains as a batch has points, the
// temperature falls with every round.
class AnnealStrategy final : public Drawing {
  public:
    using Drawing::Drawing;

    std::vector<Proposal> propose(std::size_t n, const History& history) override {
        Batch batch(space_, history, n);
        accept(history);
        for (std::size_t i = 0; i < chains_.size() && !batch.full(); ++i) {
            for (int tries = 0; tries < 50; ++tries) {
                if (batch.add(space_.neighbour(chains_[i].point, rng_))) {
                    break;
                }
            }
        }
        batch.fill(rng_);
        return batch.take();
    }

  private:
    void accept(const History& history) {
        const auto& trials = history.trials();
        const double best = best_cost(trials);
        const double heat = 0.2 * std::pow(0.8, static_cast<double>(rounds_++));
        for (std::size_t i = 0; known_ < trials.size(); ++known_, ++i) {
            const Trial& trial = trials[known_];
            if (i >= chains_.size()) {
                chains_.push_back(trial);
                continue;
            }
            const double gain = best * (fitness(trial) - fitness(chains_[i]));
            if (rng_.with_chance(std::exp(std::min(0.0, gain / heat)))) {
                chains_[i] = trial;
            }
        }
    }

    std::vector<Trial> chains_;
    std::size_t known_ = 0;
    int rounds_ = 0;
};

// The closed form's own order, best first: found once by annealing on it.
class AnalyticStrategy final : public Strategy {
  public:
    AnalyticStrategy(const SearchTask& search_task, const StrategyOptions& options,
                     std::stop_token stop)
        : search_task_(search_task), rng_(options.seed), stop_(std::move(stop)) {}

    std::vector<Proposal> propose(std::size_t n, const History& history) override {
        if (!ranked_) {
            rank(history);
        }
        Batch batch(search_task_.space, history, n);
        for (; next_ < order_.size() && !batch.full(); ++next_) {
            batch.add(order_[next_].point, order_[next_].score);
        }
        batch.fill(rng_);
        return stop_.stop_requested() ? std::vector<Proposal>{} : batch.take();
    }

  private:
    void rank(const History& history) {
        ranked_ = true;
        const Score score = [this](std::span<const Point> points) {
            std::vector<double> values;
            for (const Point& point : points) {
                values.push_back(-std::log(search_task_.predicted(point)));
            }
            return values;
        };
        AnnealOptions options;
        options.chains = 128;
        options.steps = 300;
        options.patience = 300;
        options.keep = 2048;
        std::vector<Point> chains;
        Rng own(1); // the order belongs to the closed form, not to the seed
        order_ = anneal_on(search_task_.space, score, history, options, chains, own, stop_);
    }

    const SearchTask& search_task_;
    Rng rng_;
    std::stop_token stop_;
    std::vector<Proposal> order_;
    std::size_t next_ = 0;
    bool ranked_ = false;
};

} // namespace

std::string_view strategy_name(StrategyKind kind) {
    return kNames[static_cast<std::size_t>(kind)];
}

std::optional<StrategyKind> strategy_from_name(std::string_view name) {
    const auto* at = std::find(kNames.begin(), kNames.end(), name);
    return at == kNames.end() ? std::nullopt
                              : std::optional(static_cast<StrategyKind>(at - kNames.begin()));
}

std::vector<std::string> strategy_names() {
    return {kNames.begin(), kNames.end()};
}

double transfer_weight(std::size_t measured) {
    constexpr double kHalved = 64.0; // measurements
    constexpr double kLeast = 0.05;
    const double weight = std::exp2(-static_cast<double>(measured) / kHalved);
    return weight < kLeast ? 0.0 : weight;
}

std::unique_ptr<Strategy> make_strategy(const SearchTask& search_task,
                                        const StrategyOptions& options, std::stop_token stop) {
    switch (options.kind) {
    case StrategyKind::random:
        return std::make_unique<RandomStrategy>(search_task, options);
    case StrategyKind::grid:
        return std::make_unique<GridStrategy>(search_task);
    case StrategyKind::genetic:
        return std::make_unique<GeneticStrategy>(search_task, options);
    case StrategyKind::anneal:
        return std::make_unique<AnnealStrategy>(search_task, options);
    case StrategyKind::analytic:
        return std::make_unique<AnalyticStrategy>(search_task, options, std::move(stop));
    case StrategyKind::learned:
        break;
    }
    return make_learned(search_task, options, std::move(stop));
}

} // namespace eyeroof::analysis::tune
