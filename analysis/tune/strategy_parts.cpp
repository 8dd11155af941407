#include "analysis/tune/strategy_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis::tune {

bool Batch::add(const Point& point, double score) {
    if (full() || history_.seen(point) || !in_.insert(space_.index_of(point)).second) {
        return false;
    }
    proposals_.push_back({point, score});
    return true;
}

void Batch::fill(Rng& rng) {
    constexpr int kMisses = 2000;
    for (int missed = 0; !full() && missed < kMisses;) {
        const auto point = space_.draw(rng);
        if (!point) {
            return;
        }
        missed = add(*point) ? 0 : missed + 1;
    }
    if (!full()) { // few points are left: whichever they are
        constexpr Count kSmall = 100'000;
        for (Count index = 0; space_.size() <= kSmall && index < space_.size() && !full();
             ++index) {
            const Point point = space_.at(index);
            if (space_.valid(point)) {
                add(point);
            }
        }
    }
}

namespace {

// The best different points, not in the history.
class Top {
  public:
    Top(const Space& space, const History& history, std::size_t keep)
        : space_(space), history_(history), keep_(keep) {}

    // True when the point is new among them.
    bool offer(const Point& point, double score) {
        if (best_.size() >= keep_ && score <= best_.begin()->first) {
            return false;
        }
        if (history_.seen(point) || !in_.insert(space_.index_of(point)).second) {
            return false;
        }
        best_.emplace(score, point);
        if (best_.size() > keep_) {
            in_.erase(space_.index_of(best_.begin()->second));
            best_.erase(best_.begin());
        }
        return true;
    }
    std::vector<Proposal> take() const {
        std::vector<Proposal> all;
        for (auto at = best_.rbegin(); at != best_.rend(); ++at) {
            all.push_back({at->second, at->first});
        }
        return all;
    }

  private:
    const Space& space_;
    const History& history_;
    std::size_t keep_;
    std::multimap<double, Point> best_;
    std::unordered_set<Count> in_;
};

double deviation(const std::vector<double>& values) {
    double mean = 0.0, squares = 0.0;
    for (const double value : values) {
        mean += value / static_cast<double>(values.size());
    }
    for (const double value : values) {
        squares += (value - mean) * (value - mean) / static_cast<double>(values.size());
    }
    return std::max(std::sqrt(squares), 1e-9);
}

} // namespace

std::vector<Proposal> anneal_on(const Space& space, const Score& score, const History& history,
                                const AnnealOptions& options, std::vector<Point>& chains, Rng& rng,
                                const std::stop_token& stop) {
    Top top(space, history, options.keep);
    while (chains.size() < options.chains) {
        const auto point = space.draw(rng);
        if (!point) {
            return {};
        }
        chains.push_back(*point);
    }
    std::vector<double> now = score(chains);
    for (std::size_t i = 0; i < chains.size(); ++i) {
        top.offer(chains[i], now[i]);
    }
    const double hot = deviation(now);
    int idle = 0;
    for (int step = 0; step < options.steps && idle < options.patience; ++step) {
        if (stop.stop_requested()) {
            return {};
        }
        const double left = 1.0 - static_cast<double>(step) / options.steps;
        std::vector<Point> next = chains;
        for (Point& point : next) {
            point = space.neighbour(point, rng);
        }
        const std::vector<double> then = score(next);
        bool found = false;
        for (std::size_t i = 0; i < chains.size(); ++i) {
            found = top.offer(next[i], then[i]) || found;
            if (rng.with_chance(std::exp(std::min(0.0, (then[i] - now[i]) / (hot * left))))) {
                chains[i] = next[i];
                now[i] = then[i];
            }
        }
        idle = found ? 0 : idle + 1;
    }
    return top.take();
}

} // namespace eyeroof::analysis::tune
